"""Trains the two small readers of ``core/scoring/readers`` on the texts of ``training/data``.

    python -m training.heads.readers posts
    python -m training.heads.readers drafts

Each command reads the training split, keeps the epoch that does best on the development split, brings the weights to
eight bits, fits the calibration on the development split with these, and writes the file that ships. The test split is
never looked at; ``python -m bench.posts`` and ``python -m bench.reader`` measure on it. The same data, seed and machine
give the same weights; another machine rounds differently, so that figures move within their noise.

A word vector changes only where its word occurs; the others come with the package and are not shipped again. What is
learnt is in ``training.heads.tasks``, what is fitted afterwards in ``training.heads.fitting``.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from core.llm.backends.encoders import SmallEncoder, new_network, pack
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
from training.heads.tasks import BATCH, Task, task_of_drafts, task_of_posts

SEED: Final = 7
WEIGHTS: Final = Path("core/scoring/readers")
_RATE: Final = 1.5e-4
_EPOCHS: Final = 6
_WARM: Final = 0.1
_DECAY: Final = 0.01
_LINES: Final = 20
_HIDDEN: Final = 300
_AVERAGED_EACH: Final = 8
_KEPT: Final = 0.95
"""How much of the running mean stays, each time that weights are added to it (every eighth step)."""


def _batches(examples: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(examples), BATCH):
        yield examples[start : start + BATCH]


def loss_of(logits: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Weighted binary cross-entropy with what the readings say; an output that has no target is not counted."""
    known = ~torch.isnan(targets)
    each = functional.binary_cross_entropy_with_logits(logits, torch.nan_to_num(targets), reduction="none")
    return (each * known * weights).sum() / (known * weights).sum()


def trained(task: Task, epochs: int, rate: float = _RATE) -> Any:
    """The network after the epoch with the best area under the curve of the main output on the development split.

    What is measured and kept is the running mean of the weights, which errs less than those of the last step.
    """
    torch.manual_seed(SEED)
    chance = random.Random(SEED)  # nosec B311 # noqa: S311 - a reproducible order, no secret
    network = new_network(len(task.outputs))
    mean = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(_KEPT))  # type: ignore[no-untyped-call]
    vectors, *learning = network.parameters()
    network.encoder.embeddings.word_embeddings.sparse = True  # a step touches few rows of a large table
    optimizers = (
        torch.optim.AdamW(learning, lr=rate, weight_decay=_DECAY, fused=True),
        torch.optim.SparseAdam([vectors], lr=rate),
    )
    steps = epochs * -(-len(task.shown(random.Random(SEED))) // BATCH)  # nosec B311 # noqa: S311 - only counted
    schedules = [torch.optim.lr_scheduler.LambdaLR(one, lambda step: _share(step, steps)) for one in optimizers]
    weights = torch.tensor(task.weights)
    best, kept = -1.0, network.state_dict()
    for epoch in range(epochs):
        network.train()
        losses = []
        for at, batch in enumerate(_batches(task.shown(chance))):
            tokens = network.tokenized([texts for texts, _ in batch])
            targets = torch.tensor(np.stack([target for _, target in batch]))
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = network(tokens)
            loss = loss_of(logits.float(), targets, weights)
            for learner in optimizers:
                learner.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(learning, 1.0)
            for stepping, schedule in zip(optimizers, schedules, strict=True):
                stepping.step()
                schedule.step()
            if at % _AVERAGED_EACH == 0:
                mean.update_parameters(network)
            losses.append(loss.item())
        score = _area(mean.module, task)
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, development AUC {score:.4f}", flush=True)  # noqa: T201
        if score > best:
            best, kept = score, {name: tensor.clone() for name, tensor in mean.module.state_dict().items()}
    network.load_state_dict(kept)
    return network.eval()


def _share(step: int, steps: int) -> float:
    """The share of the learning rate at a step: a straight rise over the first tenth, then a straight fall."""
    warm = max(_WARM * steps, 1)
    return min(step / warm, (steps - step) / max(steps - warm, 1))


def _area(network: Any, task: Task) -> float:
    network.eval()
    at = list(task.outputs).index(task.main)
    texts, labels = task.texts(task.dev), task.targets(task.dev)[:, at] > 0.5
    order = sorted(range(len(texts)), key=lambda row: sum(map(len, texts[row])))
    found = np.empty(len(texts))
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            found[rows] = network(network.tokenized([texts[row] for row in rows]))[:, at].numpy()
    return float(roc_auc_score(labels, found))


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


def train_reader(which: str, out: Path, epochs: int = _EPOCHS, rate: float = _RATE) -> None:
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
    parser.add_argument("--rate", type=float, default=_RATE)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    out = options.out or WEIGHTS / f"{options.reader}.safetensors"
    train_reader(options.reader, out, options.epochs, options.rate)


if __name__ == "__main__":
    main()
