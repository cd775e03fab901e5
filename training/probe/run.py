"""The run that makes the probe: states, outputs, adapter, pooling, and the two files that ship."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from core.scoring.readers.probe import HATEFUL
from training.heads.routing import Outputs
from training.probe.adapting import Values, adapt, labelled
from training.probe.learning import fit, scores, write
from training.probe.pooling import pooled
from training.probe.states import Load, states_of
from training.probe.texts import Learnt
from training.runs.base import hash_of_base
from training.runs.run import Run

OUTPUTS, ADAPTER = "probe.safetensors", "probe.gguf"


def train(
    run: Run, texts: Learnt, base: str, values: Values, *, save_steps: int = 20
) -> tuple[dict[str, float], dict[str, float], list[dict[str, Any]]]:
    """Train the probe of a GGUF file, and leave its outputs as ``probe.safetensors`` and its adapter as ``probe.gguf``.

    Args:
        run: keeps states and checkpoints, which take most of the time.
        texts: what is learnt and measured on.
        base: the GGUF file.
        values: how the adapter learns.
        save_steps: after how many steps a checkpoint is written.

    Returns:
        scores on the development split, of the outputs over the model without the adapter and with it, and a table of
        what was measured.
    """
    from training.writer.base import Lora, load_base, with_adapter
    from training.writer.export import to_gguf

    folder, outputs, digest = run.folder, Outputs.of_taxonomy(), run.started.base["sha256"]
    out, adapter = folder / OUTPUTS, folder / ADAPTER
    states = _states(texts.texts, digest, lambda: _inner(*load_base(base)), folder / "begun")
    begun = fit(texts, states, outputs)
    before = scores(begun, texts, states, outputs)
    model, tokenizer = load_base(base)
    known = labelled(texts, outputs, tokenizer)
    model = with_adapter(model, Lora(), values.seed)
    adapted = adapt(model, begun, known, folder, values, run.note, save_steps=save_steps)
    del model  # it is loaded once more below, and takes 3 GB
    to_gguf(folder / "adapter", adapter, Path(base))
    stated = hash_of_base(str(adapter))
    measured = folder / f"adapted-{stated[:8]}"
    states = _of_those_measured(texts, stated, lambda: _through(folder / "adapter", base), measured)
    about, table = pooled(texts, states, adapted, outputs)
    about |= {
        "outputs": [HATEFUL, *outputs.at],
        "texts": len(texts.texts),
        "weights": {"sha256": digest, "bytes": Path(base).stat().st_size},
        "adapter": {"sha256": stated, "bytes": adapter.stat().st_size},
    }
    write(adapted, about, out)
    return before, scores(adapted, texts, states, outputs), table


def _of_those_measured(texts: Learnt, by: str, load: Load, folder: Path) -> NDArray[np.float16]:
    """The states of the texts that are not learnt, each in its place; the others are not read, and stay 0."""
    kept = {at for at, _, split, _ in texts.posts if split != "train"}
    places = sorted(kept | {at for at, one in texts.stereotypes if one.split != "train"})
    read = _states([texts.texts[at] for at in places], by, load, folder)
    found = np.zeros((len(texts.texts), read.shape[1]), dtype=np.float16)
    found[places] = read
    return found


def _states(texts: list[str] | Any, by: str, load: Load, folder: Path) -> NDArray[np.float16]:
    with Progress() as progress:
        bar = progress.add_task(f"Reading texts into {folder.name}", total=None)
        return states_of(texts, by, load, folder, lambda done, total: progress.update(bar, completed=done, total=total))


def _inner(model: Any, tokenizer: Any) -> tuple[Any, Any]:
    """A model without its last output."""
    return model.base_model, tokenizer


def _through(adapter: Path, base: str) -> tuple[Any, Any]:
    """The base with its adapter."""
    from peft import PeftModel

    from training.writer.base import load_base

    model, tokenizer = load_base(base)
    return _inner(PeftModel.from_pretrained(model, str(adapter), local_files_only=True).get_base_model(), tokenizer)
