"""Trains the small readers of ``core/engine/readers`` on the texts of ``training/data``.

    antiphon train reader posts runs/posts
    antiphon train reader abroad runs/abroad
    antiphon train reader drafts runs/drafts

Each reads the training split, keeps the epoch that does best on the development split, packs the weights, fits the
calibration on the development split with these, in Spanish, Italian and Basque on posts of other writers as well, and
writes the file that ships. With ``--from`` and no epoch the weights stay as they are, and what stands beside them is
fitted anew. The test split is never looked at; ``python -m bench.posts`` and ``python -m bench.reader`` measure on it.

What is learnt is in ``training.heads.tasks``, how in ``training.heads.epochs``, what is fitted afterwards in
``training.heads.calibration``.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from sklearn.metrics import roc_auc_score
from torch.nn import functional

from core.engine.backends.encoders import ABOUT, SmallEncoder
from core.engine.readers.networks import pieces_of
from core.engine.readers.probe import PROBE
from core.engine.wording.encoder_text import readable
from core.errors import BadInput, IndexUnavailable
from training.heads.calibration import (
    beside,
    by_language,
    calibration,
    even,
    false_alarms,
    limits,
    long_discount,
    unsure_between,
)
from training.heads.epochs import SEED, TunedNetwork, Values, fine_tuned, logits_of
from training.heads.network import Base, pack
from training.heads.tasks import Task, task_of_drafts, task_of_posts

VALUES: Final = {
    "posts": Values(epochs=5),
    "abroad": Values(epochs=2, learning_rate=3e-4, faster=4.0, base=Base.E5),
    "drafts": Values(epochs=4),
}
"""How a reader begins."""
VALUES_ON: Final = {name: Values(epochs=2 + (name == "posts"), learning_rate=1e-4) for name in VALUES}
"""How one goes on from weights that were trained."""
_OWN_WEIGHTS: Final = "Name what `antiphon train reader` left for this reader, or a file of core/engine/readers."
_LINES: Final = 20
_HIDDEN: Final = 300


def loss_of(logits: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Weighted binary cross-entropy with what the readings say; an output that has no target is not counted."""
    is_labelled = ~torch.isnan(targets)
    losses = functional.binary_cross_entropy_with_logits(logits, torch.nan_to_num(targets), reduction="none")
    return (losses * is_labelled * weights).sum() / (is_labelled * weights).sum()


def task_of(which: str, most: int = 0, *, goes_on: bool = False) -> Task:
    """What a reader learns.

    Args:
        which: ``posts``, ``abroad`` (posts in Spanish, Italian and Basque) or ``drafts``.
        most: texts of each language and split, at most; 0 takes all.
        goes_on: whether it goes on from weights that know most of the texts.

    Raises:
        BadInput: there is no such reader.
    """
    if which not in VALUES:
        raise BadInput(f"There is no reader of {which}.", remedy="Choose posts, abroad or drafts.")
    if which == "drafts":
        return task_of_drafts(most)
    return task_of_posts(most, goes_on=goes_on, is_abroad=which == "abroad")


def train(
    task: Task,
    out: Path,
    values: Values,
    note: Callable[[dict[str, float]], None],
    *,
    save_steps: int,
    begun: Path | None = None,
) -> tuple[TunedNetwork, list[dict[str, Any]]]:
    """Train a reader, write its weights with what is fitted beside them, and tell how it does in each language.

    Args:
        task: what it learns.
        out: the file to write; the checkpoint stands in its folder.
        values: how it learns.
        note: hears of each step.
        save_steps: after how many steps a checkpoint is written.
        begun: the file of weights to go on from.

    Raises:
        BadInput: it holds no weights of this reader.
    """
    if begun:
        _refuse_others(begun, task)
    if begun and not values.epochs:
        return _fitted_anew(task, begun, out, note)
    weights = torch.tensor(task.weights)
    tuned = fine_tuned(
        len(task.outputs),
        task.shown,
        lambda logits, targets: loss_of(logits, targets, weights),
        lambda network: _area(partial(logits_of, network), task),
        values,
        out.parent,
        note,
        save_steps=save_steps,
        begun=begun,
    )
    about: dict[str, Any] = {"outputs": list(task.outputs), "rows": len(task.train)}
    about |= {"epochs": values.epochs, "seed": values.seed}
    pack(tuned.network, about, out)
    table = measured(task, out, about)
    pack(tuned.network, about, out)
    return tuned, table


def _fitted_anew(
    task: Task, begun: Path, out: Path, note: Callable[[dict[str, float]], None]
) -> tuple[TunedNetwork, list[dict[str, Any]]]:
    """The weights as they are, with what is fitted beside them."""
    shutil.copyfile(begun, out)
    about = {name: SmallEncoder(begun).about[name] for name in ("outputs", "rows", "epochs", "seed")}
    table = measured(task, out, about)
    save_file(load_file(begun), out, metadata={ABOUT: json.dumps(about, sort_keys=True)})
    area = _area(SmallEncoder(out).logits, task)
    note({"step": 0, "development": area})
    return TunedNetwork(None, area, area), table


def _refuse_others(begun: Path, task: Task) -> None:
    try:
        outputs = SmallEncoder(begun).about.get("outputs")
    except IndexUnavailable as err:
        raise BadInput(f"{begun} cannot be read as weights.", remedy=_OWN_WEIGHTS) from err
    if outputs != list(task.outputs):
        raise BadInput(f"{begun} holds the weights of something else.", remedy=_OWN_WEIGHTS)


def _area(logits: Callable[[list[tuple[str, ...]]], NDArray[np.float32]], task: Task) -> float:
    at = list(task.outputs).index(task.main)
    labels = task.targets(task.dev)[:, at] > 0.5
    return float(roc_auc_score(labels, logits(task.texts(task.dev))[:, at]))


def measured(task: Task, out: Path, about: dict[str, Any]) -> list[dict[str, Any]]:
    """Fit what stands beside the weights: calibration, languages, and the limits of use.

    Returns:
        what the main output finds on the development split, by language.
    """
    targets = task.targets(task.dev)
    logits = SmallEncoder(out).logits(task.texts(task.dev))
    at = list(task.outputs).index(task.main)
    is_so, spoken = targets[:, at] > 0.5, np.array([row.language for row in task.dev])
    about["calibration"] = calibration(logits, targets)
    table = by_language(spoken, is_so, _probabilities(logits[:, at], about["calibration"][at]))
    about["spoken"] = [row["language"] for row in table]
    about["languages"] = [row["language"] for row in table if row["known"]]
    is_counted = np.isin(spoken, about["languages"] or spoken)  # in the others its word does not count
    about["calibration"] = calibration(logits[is_counted], targets[is_counted])
    slope, offset = about["calibration"][at]
    main = logits[:, at].astype(np.float64) * slope + offset
    chances = _probabilities(logits[:, at], (slope, offset))
    if task.main == "unfit":
        about["limits"] = limits(chances[is_counted], is_so[is_counted])
        return table
    about["unsure"] = unsure_between(chances[is_counted], is_so[is_counted])
    if task.outside:
        table = _evened(task, out, about, at)
    talk = [(readable(text),) for text in task.talk]
    odds_of_talk = SmallEncoder(out).logits(talk)[:, at].astype(np.float64) * slope + offset
    about["false_alarms"], about["ordinary"] = false_alarms(odds_of_talk), len(talk)
    chance = random.Random(SEED)  # nosec B311 # noqa: S311 - a reproducible sample, no secret
    hateful = np.flatnonzero(is_counted & is_so).tolist()
    hidden = chance.sample(hateful, min(_HIDDEN, len(hateful)))
    longer = [
        pieces_of(readable(_amid_talk(task.dev[row].text, task.talk, chance), task.dev[row].language)) for row in hidden
    ]
    odds_of_pieces = (
        SmallEncoder(out).logits([(piece,) for of_text in longer for piece in of_text])[:, at] * slope + offset
    )
    counts = np.array([len(of_text) for of_text in longer])
    worst = np.maximum.reduceat(odds_of_pieces.astype(np.float64), np.cumsum(counts) - counts)
    about["long"] = long_discount(worst, counts, main[hidden])
    return table


def _evened(task: Task, out: Path, about: dict[str, Any], at: int) -> list[dict[str, Any]]:
    """Fit the reading of each language on our texts and those of other writers, with the limits that follow from it.

    Where the network's own word is not good enough, that of the reader of English helps it.
    """
    home = SmallEncoder(PROBE.with_name("posts.safetensors"))
    own = (SmallEncoder(out).logits, about["calibration"][at])
    networks = (own, (home.logits, home.about["calibration"][at]))
    rows = [*task.dev, *task.outside]
    odds = np.stack([logits(task.texts(rows))[:, at] * fit[0] + fit[1] for logits, fit in networks], axis=1)
    is_so, spoken = task.targets(rows)[:, at] > 0.5, np.array([row.language for row in rows])
    is_ours, read = np.arange(len(rows)) < len(task.dev), np.zeros(len(rows))
    about["odds"] = {}
    for language in about["spoken"]:
        its, ours = spoken == language, is_ours[spoken == language]
        features = odds[its, : 1 if language in about["languages"] else 2]
        bias, *slopes = beside(features[ours], is_so[its][ours])
        sums = bias + features @ slopes
        offset, slope = even(sums[ours], is_so[its][ours], sums[~ours], is_so[its][~ours])
        read[its] = offset + slope * sums
        about["odds"][language] = [
            round(number, 4) for number in (offset + slope * bias, *(slope * number for number in slopes))
        ]
    chances = 1 / (1 + np.exp(-read))
    table = by_language(spoken[is_ours], is_so[is_ours], chances[is_ours])
    counts = np.isin(spoken, about["languages"] or spoken)
    about["unsure"] = unsure_between(chances[counts], is_so[counts])
    return table


def _probabilities(logits: NDArray[np.float32], fitted: tuple[float, float]) -> NDArray[np.float64]:
    chances: NDArray[np.float64] = 1 / (1 + np.exp(-(logits.astype(np.float64) * fitted[0] + fitted[1])))
    return chances


def _amid_talk(text: str, talk: Sequence[str], chance: random.Random) -> str:
    """A post somewhere in a message of twenty lines of ordinary talk."""
    lines = chance.sample(talk, _LINES)
    lines.insert(chance.randrange(_LINES + 1), text)
    return "\n".join(lines)
