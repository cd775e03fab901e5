"""How well a probability tells two classes apart, and how well it is calibrated. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from bench.measuring.output import Row
from bench.measuring.significance import interval

BINS = 10


@dataclass(frozen=True)
class Labelled:
    """One scorer's probabilities for rows whose class is known.

    ``posts`` names the post of each row; rows of one post are drawn together in the bootstrap. Where the classes are
    not what the scorer predicts, only its order is measured, not its calibration.
    """

    name: str
    probabilities: Sequence[float]
    labels: Sequence[int]
    posts: Sequence[str]
    is_probability_of_label: bool = True


def measures(found: Labelled) -> Row:
    """The AUC with its 95 % interval, the Brier score, and the expected calibration error; ``None`` where undefined."""
    chances, labels = np.asarray(found.probabilities, float), np.asarray(found.labels, int)
    clusters: dict[str, list[int]] = {}
    for place, post in enumerate(found.posts):
        clusters.setdefault(post, []).append(place)

    def of_rows(rows: Sequence[int]) -> float:
        return auc(chances[list(rows)], labels[list(rows)])

    low, high = interval(of_rows, list(clusters.values()))
    return {
        "scorer": found.name,
        "rows": len(labels),
        "AUC": _known(auc(chances, labels)),
        "from": _known(low),
        "to": _known(high),
        "Brier": float(np.mean((chances - labels) ** 2)) if found.is_probability_of_label else None,
        "ECE": calibration_error(chances, labels) if found.is_probability_of_label else None,
    }


def auc(chances: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """The chance that a row of class 1 gets more than one of class 0 (Mann and Whitney); NaN where a class is missing.

    From ranks, since the bootstrap asks a thousand times.
    """
    first, second = chances[labels == 1], chances[labels == 0]
    if not len(first) or not len(second):
        return float("nan")
    above = float(rankdata(np.concatenate([first, second]))[: len(first)].sum()) - len(first) * (len(first) + 1) / 2
    return above / (len(first) * len(second))


def reliability(chances: NDArray[np.float64], labels: NDArray[np.int64]) -> list[Row]:
    """For each of ten bins of equal width that holds rows: their number, mean probability and share of class 1."""
    bins = np.minimum((chances * BINS).astype(int), BINS - 1)
    return [
        {
            "bin": f"{at / BINS:.1f}-{(at + 1) / BINS:.1f}",
            "rows": int(np.sum(bins == at)),
            "said": float(chances[bins == at].mean()),
            "true": float(labels[bins == at].mean()),
        }
        for at in range(BINS)
        if np.any(bins == at)
    ]


def calibration_error(chances: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """The expected calibration error: the mean gap in ``reliability``'s bins, weighted by their rows."""
    bins = np.minimum((chances * BINS).astype(int), BINS - 1)
    gaps = [abs(float(chances[bins == at].sum() - labels[bins == at].sum())) for at in range(BINS)]
    return sum(gaps) / len(labels) if len(labels) else float("nan")


def reliability_of(found: Labelled) -> list[Row]:
    """The reliability table of one scorer; empty where its probabilities are not about the classes."""
    if not found.is_probability_of_label:
        return []
    chances, labels = np.asarray(found.probabilities, float), np.asarray(found.labels, int)
    return [{"scorer": found.name, **row} for row in reliability(chances, labels)]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
