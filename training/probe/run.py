"""The run that makes the probe: states, outputs, adapter, pooling, and the two files that ship."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from core.errors import BadInput
from core.scoring.readers.probe import HATEFUL
from training.heads.routing import Outputs
from training.probe.adapting import Values, adapt, labelled
from training.probe.learning import fit, write
from training.probe.pooling import pooled
from training.probe.states import Load, states_of
from training.probe.texts import Learnt, learnt
from training.runs.base import hash_of_base
from training.runs.run import Run, Started, hash_of

LEAST: Final = 12
"""How many texts of each kind, language and split there must be, so that each has some of both answers."""


def train_probe(out: Path, base: str, folder: Path, values: Values, most: int = 0) -> None:
    """Train the probe of a GGUF file: write its outputs to ``out``, its adapter beside it, and print what was measured.

    Args:
        folder: keeps states and checkpoints, which take most of the time.
        values: how the adapter learns.
        most: texts of each kind, language and split; 0 takes all.

    Raises:
        BadInput: the base is no GGUF file, a file cannot be written where it should, the folder holds something else,
            or the texts are too few.
    """
    if not base.endswith(".gguf"):
        raise BadInput(
            "A probe reads the hidden states of the embedded model.",
            remedy="Name its GGUF file, which the first `antiphon demo` puts into ~/.cache/antiphon/models.",
        )
    adapter = out.with_suffix(".gguf")
    if out.suffix == ".gguf" or adapter.resolve() == Path(base).resolve():
        raise BadInput(
            f"The adapter would be written over {adapter}.", remedy="Name another OUT, such as probe.safetensors."
        )
    if not out.parent.is_dir():
        raise BadInput(f"There is no folder {out.parent}.", remedy="Make it, or name another OUT.")
    if 0 < most < LEAST:
        raise BadInput(
            f"{most} texts of each kind are too few to fit pooling and limits on.",
            remedy=f"Take {LEAST} or more for a try, or all.",
        )
    from training.writer.base import Lora, load_base, with_adapter
    from training.writer.export import to_gguf

    texts, outputs, digest = learnt(most), Outputs.of_taxonomy(), hash_of_base(base)
    about_texts = {"texts": len(texts.texts), "hash": hash_of(texts.texts)}
    run = Run(
        folder, Started("probe", "own", asdict(values), {"model": Path(base).name, "sha256": digest}, about_texts)
    )
    begun = fit(texts, _states(texts.texts, digest, lambda: _inner(*load_base(base)), folder / "begun"), outputs)
    model, tokenizer = load_base(base)
    adapted = adapt(
        with_adapter(model, Lora(), values.seed), begun, labelled(texts, outputs, tokenizer), folder, values, run.note
    )
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
    files = {str(file): file.stat().st_size for file in (out, adapter)}
    json.dump({"files": files, "table": table}, sys.stdout, indent=2, default=float)
    sys.stdout.write("\n")


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
