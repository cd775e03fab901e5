"""Trains the two small readers of ``core/scoring/readers`` on the texts of ``training/data``.

    python -m training.heads.readers posts
    python -m training.heads.readers drafts

Each command reads the training split, keeps the epoch that does best on the development split, brings the weights to
eight bits, fits the calibration on the development split with these, and writes the file that ships. The test split is
never looked at; ``python -m bench.posts`` and ``python -m bench.reader`` measure on it. The same data, seed and machine
give the same weights; another machine rounds differently, so that figures move within their noise.

What is learnt is in ``training.heads.tasks``, how in ``training.heads.learning``, what is fitted afterwards in
``training.heads.fitting``.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from torch.nn import functional

from core.llm.backends.encoders import SmallEncoder, pack
from core.scoring.readers.readers import pieces_of
from core.wording.readable import readable
from training.corpus import ordinary
from training.heads.fitting import (
    calibration,
    false_alarms,
    known_languages,
    limits,
    long_discount,
    unsure_between,
)
from training.heads.learning import RATE, SEED, fine_tuned, logits_of
from training.heads.tasks import Task, task_of_drafts, task_of_posts

WEIGHTS: Final = Path("core/scoring/readers")
_EPOCHS: Final = 6
_LINES: Final = 20
_HIDDEN: Final = 300


def loss_of(logits: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Weighted binary cross-entropy with what the readings say; an output that has no target is not counted."""
    known = ~torch.isnan(targets)
    each = functional.binary_cross_entropy_with_logits(logits, torch.nan_to_num(targets), reduction="none")
    return (each * known * weights).sum() / (known * weights).sum()


def trained(task: Task, epochs: int, rate: float = RATE) -> Any:
    """The network after the epoch with the best area under the curve of the main output on the development split."""
    weights = torch.tensor(task.weights)
    return fine_tuned(
        len(task.outputs),
        task.shown,
        lambda logits, targets: loss_of(logits, targets, weights),
        lambda network: _area(network, task),
        epochs=epochs,
        rate=rate,
    )


def _area(network: Any, task: Task) -> float:
    at = list(task.outputs).index(task.main)
    labels = task.targets(task.dev)[:, at] > 0.5
    return float(roc_auc_score(labels, logits_of(network, task.texts(task.dev))[:, at]))


def measured(task: Task, out: Path, about: dict[str, Any]) -> None:
    """Fit what stands beside the weights: calibration, languages, and the limits of use."""
    targets = task.targets(task.dev)
    logits = SmallEncoder(out).logits(task.texts(task.dev))
    at = list(task.outputs).index(task.main)
    said, spoken = targets[:, at] > 0.5, np.array([row.language for row in task.dev])
    about["calibration"] = calibration(logits, targets)
    about["languages"] = known_languages(spoken, said, _probabilities(logits[:, at], about["calibration"][at]))
    mine = np.isin(spoken, about["languages"])
    if mine.any():  # in the others its word does not count
        about["calibration"] = calibration(logits[mine], targets[mine])
    slope, offset = about["calibration"][at]
    main = logits[:, at].astype(np.float64) * slope + offset
    chances = _probabilities(logits[:, at], (slope, offset))
    if task.main == "unfit":
        about["limits"] = limits(chances[mine], said[mine])
        return
    about["unsure"] = unsure_between(chances[mine], said[mine])
    talk = [(readable(text),) for text in ordinary("heldout") if text]
    found = SmallEncoder(out).logits(talk)[:, at].astype(np.float64) * slope + offset
    about["false_alarms"], about["ordinary"] = false_alarms(found), len(talk)
    chance = random.Random(SEED)  # nosec B311 # noqa: S311 - a reproducible sample, no secret
    hateful = np.flatnonzero(mine & said).tolist()
    hidden = chance.sample(hateful, min(_HIDDEN, len(hateful)))
    longer = [pieces_of(readable(_amid_talk(task.dev[row].text, chance), task.dev[row].language)) for row in hidden]
    each = SmallEncoder(out).logits([(piece,) for of_text in longer for piece in of_text])[:, at] * slope + offset
    counts = np.array([len(of_text) for of_text in longer])
    worst = np.maximum.reduceat(each.astype(np.float64), np.cumsum(counts) - counts)
    about["long"] = long_discount(worst, counts, main[hidden])


def _probabilities(logits: NDArray[np.float32], fitted: tuple[float, float]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = 1 / (1 + np.exp(-(logits.astype(np.float64) * fitted[0] + fitted[1])))
    return found


def _amid_talk(text: str, chance: random.Random) -> str:
    """A post somewhere in a message of twenty lines of ordinary talk."""
    lines = chance.sample(list(ordinary("heldout")), _LINES)
    lines.insert(chance.randrange(_LINES + 1), text)
    return "\n".join(lines)


def train_reader(which: str, out: Path, epochs: int = _EPOCHS, rate: float = RATE) -> None:
    """Train the reader of ``posts`` or of ``drafts``, write its weights, and print what was measured."""
    task = task_of_posts() if which == "posts" else task_of_drafts()
    network = trained(task, epochs, rate)
    about = {"outputs": list(task.outputs), "rows": len(task.train), "epochs": epochs, "seed": SEED}
    pack(network, about, out)
    measured(task, out, about)
    pack(network, about, out)
    json.dump({"file": str(out), "bytes": out.stat().st_size, **about}, sys.stdout, indent=2)
    sys.stdout.write("\n")


def main() -> None:
    """Train one reader and write its weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader", choices=("posts", "drafts"))
    parser.add_argument("--epochs", type=int, default=_EPOCHS)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    out = options.out or WEIGHTS / f"{options.reader}.safetensors"
    train_reader(options.reader, out, options.epochs, options.rate)


if __name__ == "__main__":
    main()
