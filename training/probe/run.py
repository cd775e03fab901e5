"""The run that makes the probe: states, fit, pooling, and the file that ships."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.progress import Progress

from core.errors import BadInput
from core.scoring.readers.probe import HATEFUL
from training.heads.routing import Outputs
from training.probe.learning import fit, write
from training.probe.pooling import pooled
from training.probe.states import states_of
from training.probe.texts import learnt
from training.runs.base import hash_of_base


def train_probe(out: Path, base: str, folder: Path, most: int = 0) -> None:
    """Fit the probe of a GGUF file, write it to ``out``, and print what was measured.

    Args:
        folder: keeps the states, which take most of the time.
        most: texts of each kind; 0 takes all.

    Raises:
        BadInput: the base is no GGUF file, or the folder holds something else.
    """
    if not base.endswith(".gguf"):
        raise BadInput(
            "A probe reads the hidden states of the embedded model.",
            remedy="Name its GGUF file, which the first `antiphon demo` puts into ~/.cache/antiphon/models.",
        )
    texts, outputs, digest = learnt(most), Outputs.of_taxonomy(), hash_of_base(base)
    with Progress() as progress:
        bar = progress.add_task("Reading texts", total=None)
        states = states_of(
            texts.texts, base, digest, folder, lambda done, total: progress.update(bar, completed=done, total=total)
        )
    found = fit(texts, states, outputs)
    about, table = pooled(texts, states, found, outputs)
    about |= {
        "outputs": [HATEFUL, *outputs.at],
        "texts": len(texts.texts),
        "weights": {"sha256": digest, "bytes": Path(base).stat().st_size},
    }
    write(found, about, out)
    json.dump({"file": str(out), "bytes": out.stat().st_size, "table": table}, sys.stdout, indent=2, default=float)
    sys.stdout.write("\n")
