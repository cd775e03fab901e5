"""How a small encoder learns: an epoch after the other, of which the best on the development split is kept.

The same data, seed and machine give the same weights, also where the run was killed in between; another machine rounds
differently.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from core.errors import BadInput
from training.heads.network import Base

if TYPE_CHECKING:
    import torch

SEED: Final = 7
BATCH: Final = 32
_AVERAGED_EACH: Final = 8
_CHECKPOINT: Final = "checkpoint.pt"
Texts = tuple[str, ...]
Example = tuple[Texts, NDArray[np.float32]]
"""One text or a pair, and its targets, shape (outputs,)."""


@dataclass(frozen=True, slots=True)
class Values:
    """How a small encoder learns. ``faster``: how many times the rate what stands over the encoder learns with.

    ``base``: what it begins with, where it does not go on from weights. ``drops``: whether it leaves parts out by
    chance, which takes two cores twice the time.
    """

    epochs: int
    learning_rate: float = 1.5e-4
    faster: float = 1.0
    seed: int = SEED
    base: Base = Base.MINILM
    drops: bool = True


@dataclass(frozen=True, slots=True)
class TunedNetwork:
    """The network after the epoch that scored best, and the scores on the development split before and after."""

    network: Any
    before: float
    after: float


@dataclass
class _Place:
    """How far a run is, and what it keeps.

    Attributes:
        epoch, batch: what is learnt next.
        steps: how many there were.
        chance: as it stood before the order of this epoch was drawn.
        before, best, kept: the score of fresh outputs, the best one, and the weights that have it.
    """

    chance: Any
    before: float
    epoch: int = 0
    batch: int = 0
    steps: int = 0
    best: float = -1.0
    kept: Any = None


def fine_tuned(
    outputs: int,
    shown: Callable[[random.Random], Sequence[Example]],
    loss_of: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    score_of: Callable[[Any], float],
    values: Values,
    folder: Path,
    note: Callable[[dict[str, float]], None] = lambda _: None,
    *,
    save_steps: int = 200,
    begun: Path | None = None,
) -> TunedNetwork:
    """Train a network and keep the epoch that scores best.

    Args:
        shown: the examples of one epoch, in the order in which they are learnt.
        loss_of: of logits, shape (batch, outputs), and of targets, which most often have the same shape.
        score_of: how good a network is on the development split.
        folder: holds the checkpoint; a run that was killed goes on from it.
        note: hears of the loss of each step and the score of each epoch.
        save_steps: after how many steps a checkpoint is written; one is at the end of each epoch, too.
        begun: the file of weights to go on from; without it the outputs are fresh.

    Raises:
        BadInput: there is no epoch.
    """
    if values.epochs < 1:
        raise BadInput("Nothing is learnt in no epoch.", remedy="Set epochs to 1 or more.")
    import torch  # reading the labels needs no model library

    from training.heads.learner import Learner

    chance = _chance(values.seed)
    steps = values.epochs * -(-len(shown(_chance(values.seed))) // BATCH)  # an epoch may show some texts more or fewer
    learner = Learner(outputs, steps, values, begun=begun)
    file = folder / _CHECKPOINT
    if file.exists():
        saved = torch.load(file, weights_only=True)
        place = _Place(**saved["place"])
        learner.go_on_from(saved["learner"])
    else:
        place = _Place(chance.getstate(), score_of(learner.mean))
        note({"step": 0, "development": place.before})
    chance.setstate(place.chance)

    def save() -> None:
        beside = file.with_suffix(".new")
        torch.save({"place": vars(place), "learner": learner.state()}, beside)
        beside.replace(file)

    with Progress() as progress:
        bar = progress.add_task("Learning", total=steps, completed=place.steps)
        while place.epoch < values.epochs:
            for batch in list(_batches(shown(chance)))[place.batch :]:
                loss = learner.learn(batch, loss_of, is_averaged=place.batch % _AVERAGED_EACH == 0)
                place.batch, place.steps = place.batch + 1, place.steps + 1
                note({"step": place.steps, "loss": loss})
                progress.update(bar, completed=place.steps)
                if place.steps % save_steps == 0:
                    save()
            score = score_of(learner.mean)
            note({"step": place.steps, "development": score})
            progress.update(bar, description=f"Epoch {place.epoch + 1} of {values.epochs}: {score:.3f}")
            if score > place.best:
                place.best = score
                place.kept = {name: tensor.clone() for name, tensor in learner.mean.state_dict().items()}
            place.epoch, place.batch, place.chance = place.epoch + 1, 0, chance.getstate()
            save()
    network = learner.mean
    network.load_state_dict(place.kept)
    return TunedNetwork(network, place.before, place.best)


def logits_of(network: Any, texts: Sequence[Texts]) -> NDArray[np.float32]:
    """What a network that is not packed says of texts, shape (texts, outputs)."""
    import torch

    order = sorted(range(len(texts)), key=lambda row: sum(map(len, texts[row])))
    logits = np.empty((len(texts), network.outputs.out_features), dtype=np.float32)
    with torch.inference_mode():
        for rows in _batches(order):
            logits[list(rows)] = network(network.tokenized([texts[row] for row in rows])).numpy()
    return logits


def shuffled(examples: Sequence[Example], chance: random.Random) -> list[Example]:
    """Random order, but texts of like length beside each other within a stretch, which saves padding."""
    mixed = list(examples)
    chance.shuffle(mixed)
    stretch = BATCH * 16
    ordered = list[Example]()
    for start in range(0, len(mixed), stretch):
        part = sorted(mixed[start : start + stretch], key=lambda example: sum(map(len, example[0])))
        batches = [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
        chance.shuffle(batches)
        ordered += [example for batch in batches for example in batch]
    return ordered


def _batches(examples: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(examples), BATCH):
        yield examples[start : start + BATCH]


def _chance(seed: int) -> random.Random:
    return random.Random(seed)  # nosec B311 # noqa: S311 - a reproducible order, no secret
