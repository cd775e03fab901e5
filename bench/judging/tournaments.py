"""Ranking methods on complete sets of verdicts: how much each asks for, and whether it finds the best.

The peers are the seed's round robin of hard verdicts in both orders (CODEOFCONDUCT, section 3), the same round robin on
log-probabilities, and a knockout. A simulated judge's logit for a pair is its scale times the sum of four parts: the
difference of the qualities, its preference for the first place, the order's own noise, and noise that both orders
share. The seeds correlate with the qualities by 0.6.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations, permutations, takewhile
from math import ceil
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bench.measuring.output import Row
from core.llm.profiles import VERDICTS_EACH
from core.stages.judging import ranking
from core.stages.judging.ranking import Tournament

Matrix = Mapping[tuple[int, int], float]
"""The logit of the share that goes to the first of an ordered pair."""
Method = Callable[[Sequence[float], Matrix], tuple[list[int], int]]
"""From seeds and verdicts to the order, best first, and how many verdicts it asked for."""
Truth = Callable[[Matrix, int], list[int]]
"""The right order, best first, from all verdicts and the number of candidates."""
TRIALS = 300
SIZES = (4, 6, 12, 24)
SCALES = (0.1, 1.0, 4.0)
TOP = 3
BUDGETS = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 7.0, 9.0)
"""The limits that are swept, in verdicts for each candidate."""
MARGINS = (0.0, 0.02)
LARGEST_SWEPT = 12
_NO_DOUBT = 1e-12
_RIDGE = 1e-4
_ROUNDING = 1e-9
_BEST, _THREE, _VERDICTS = "best found", "best three found", "verdicts"


@dataclass(frozen=True)
class Trial:
    """One post: the right order, the seeds that a method may see, and every verdict that it may ask for."""

    truth: list[int]
    seeds: Sequence[float]
    matrix: Matrix


def hard_round_robin(seeds: Sequence[float], matrix: Matrix) -> tuple[list[int], int]:
    """The seed: every pair in both orders, one point for the likelier letter."""
    points = dict.fromkeys(range(len(seeds)), 0)
    for (first, second), logit in matrix.items():
        points[first if logit > 0 else second] += 1
    return sorted(points, key=lambda index: -points[index]), len(matrix)


def soft_round_robin(seeds: Sequence[float], matrix: Matrix) -> tuple[list[int], int]:
    """Every pair in both orders, with the logits summed."""
    points = dict.fromkeys(range(len(seeds)), 0.0)
    for (first, second), logit in matrix.items():
        points[first] += logit
        points[second] -= logit
    return sorted(points, key=lambda index: -points[index]), len(matrix)


def knockout(seeds: Sequence[float], matrix: Matrix) -> tuple[list[int], int]:
    """A knockout: the best seed meets the worst, with a verdict in each order; those who lose later rank higher."""
    alive, fallen, calls = sorted(range(len(seeds)), key=lambda index: -seeds[index]), list[int](), 0
    while len(alive) > 1:
        half = len(alive) // 2
        winners = alive[: len(alive) - 2 * half]
        losers = []
        for strong, weak in zip(alive[len(alive) - 2 * half :][:half], reversed(alive), strict=False):
            calls += 2
            wins = matrix[strong, weak] - matrix[weak, strong] > 0
            winners.append(strong if wins else weak)
            losers.append(weak if wins else strong)
        fallen = sorted(losers, key=lambda index: -seeds[index]) + fallen
        alive = sorted(winners, key=lambda index: -seeds[index])
    return alive + fallen, calls


def adaptive(seeds: Sequence[float], matrix: Matrix) -> tuple[list[int], int]:
    """Ours, within its limit of two verdicts a candidate."""
    tournament = Tournament(seeds)
    while len(tournament.asked) < VERDICTS_EACH * len(seeds) and (pair := tournament.next_pair()):
        tournament.add_verdict(*pair, matrix[pair])
    return tournament.order, len(tournament.asked)


def rewards_alone(seeds: Sequence[float], _: Matrix) -> tuple[list[int], int]:
    """No judge at all."""
    return sorted(range(len(seeds)), key=lambda index: -seeds[index]), 0


HARD, SOFT = "round robin, letters (seed)", "round robin, logits"
METHODS: dict[str, Method] = {
    HARD: hard_round_robin,
    SOFT: soft_round_robin,
    "knockout, both orders": knockout,
    "adaptive (ours)": adaptive,
    "rewards alone": rewards_alone,
}


def simulated(size: int, scale: float, chance: random.Random) -> tuple[list[float], list[float], Matrix]:
    """True qualities, seeds and all verdicts of one simulated judge."""
    qualities = [chance.gauss(0, 1) for _ in range(size)]
    seeds = [0.6 * quality + 0.8 * chance.gauss(0, 1) for quality in qualities]
    shared = {pair: chance.gauss(0, 0.5) for pair in combinations(range(size), 2)}
    matrix = {}
    for first, second in permutations(range(size), 2):
        whim = shared[first, second] if first < second else -shared[second, first]
        own = qualities[first] - qualities[second] + 0.5 + 0.7 * chance.gauss(0, 1)
        matrix[first, second] = scale * (own + whim)
    return qualities, seeds, matrix


def simulation(seed: int = 0) -> list[Row]:
    """Every method on the same judges: how often it finds the best and the best three, and how much it asks for."""
    return [row for size in SIZES for row in _table(simulated_trials(size, seed), {"candidates": size})]


def simulated_trials(size: int, seed: int = 0) -> list[Trial]:
    """Judges of all scales, each with its verdicts on other candidates."""
    chance = random.Random(seed + size)  # nosec B311 # noqa: S311 - repeatable, no secret
    judges = [simulated(size, chance.choice(SCALES), chance) for _ in range(TRIALS)]
    return [Trial(_order(qualities), seeds, matrix) for qualities, seeds, matrix in judges]


def recorded_trials(records: Sequence[Mapping[str, Any]], size: int, truth: Truth) -> list[Trial]:
    """Recorded verdicts cut down to the ``size`` candidates with the best seeds, as the engine would choose them.

    Cutting is exact: a verdict on two candidates does not depend on the others.
    """
    trials = []
    for record in records:
        whole = dict(zip(permutations(range(len(record["seeds"])), 2), record["logits"], strict=True))
        kept = _order(record["seeds"])[:size]
        if len(kept) == size:
            matrix = {(a, b): whole[kept[a], kept[b]] for a, b in permutations(range(size), 2)}
            trials.append(Trial(truth(matrix, size), [record["seeds"][index] for index in kept], matrix))
    return trials


def replay(records: Sequence[Mapping[str, Any]], sizes: Sequence[int]) -> list[Row]:
    """Every method on recorded verdicts, compared with each truth, which only the round robins see as a whole."""
    rows: list[Row] = []
    for size in sizes:
        for name, truth in TRUTHS.items():
            trials = recorded_trials(records, size, truth)
            if trials:
                rows += _table(trials, {"candidates": size, "truth": name, "posts": len(trials)})
    return rows


def savings(trials: Sequence[Trial], about: Row) -> list[Row]:
    """The fewest verdicts with which ours is as good as a round robin at the best and at the best three.

    The limit of verdicts is swept, and ours must use all of it. Every greater limit must be as good too, so that a
    lucky one does not count. ``None`` where no limit is good enough.
    """
    ours = [_hits(outcomes) for outcomes in zip(*map(swept, trials), strict=True)]
    rows: list[Row] = []
    for peer in (HARD, SOFT):
        theirs = _hits(_run(METHODS[peer], trials))
        for margin in MARGINS:
            enough = _least(ours, theirs, margin)
            asked = enough[_VERDICTS] if enough else None
            rows.append({
                **about, "as good as": peer, "within": margin, "its best": theirs[_BEST], "its three": theirs[_THREE],
                "its verdicts": theirs[_VERDICTS], "ours": asked,
                "saved %": None if asked is None else 100 * (1 - asked / theirs[_VERDICTS]),
            })  # fmt: skip
    return rows


def simulated_savings() -> list[Row]:
    """``savings`` on simulated judges of each size except the largest, where a sweep takes very long."""
    sizes = [size for size in SIZES if size <= LARGEST_SWEPT]
    return [row for size in sizes for row in savings(simulated_trials(size), {"candidates": size})]


def recorded_savings(records: Sequence[Mapping[str, Any]], sizes: Sequence[int]) -> list[Row]:
    """``savings`` on recorded verdicts, compared with each truth."""
    return [
        row
        for size in sizes
        for name, truth in TRUTHS.items()
        if (trials := recorded_trials(records, size, truth))
        for row in savings(trials, {"candidates": size, "truth": name})
    ]


def swept(trial: Trial) -> list[tuple[list[int], list[int], int]]:
    """Our outcome under each of ``BUDGETS``, using all verdicts even where the first places seem settled.

    One run gives all of them: the order of the questions does not depend on the limit.
    """
    n, outcomes = len(trial.seeds), list[tuple[list[int], list[int], int]]()
    with _never_settled():
        tournament = Tournament(trial.seeds)
        for each in BUDGETS:
            while len(tournament.asked) < ceil(each * n) and (pair := tournament.next_pair()):
                tournament.add_verdict(*pair, trial.matrix[pair])
            outcomes.append((trial.truth, tournament.order, len(tournament.asked)))
    return outcomes


@contextmanager
def _never_settled() -> Iterator[None]:
    before = ranking.ERROR_BUDGET
    ranking.ERROR_BUDGET = _NO_DOUBT
    try:
        yield
    finally:
        ranking.ERROR_BUDGET = before


def logit_sums(matrix: Matrix, size: int) -> list[int]:
    """The order of the round robin on logits, the best first."""
    return soft_round_robin([0.0] * size, matrix)[0]


def bradley_terry(matrix: Matrix, size: int) -> list[int]:
    """The order by Bradley-Terry's maximum likelihood on all shares, without one preference for a place."""
    pairs, logits = np.array(list(matrix)), np.array(list(matrix.values()))
    shares = 1 / (1 + np.exp(-logits))

    def loss(x: NDArray[np.float64]) -> float:
        gaps = x[pairs[:, 0]] - x[pairs[:, 1]] + x[size]
        return float(np.sum(np.logaddexp(0, gaps) - shares * gaps) + _RIDGE * np.sum(x[:size] ** 2))

    return _order(list(minimize(loss, np.zeros(size + 1)).x[:size]))


TRUTHS: dict[str, Truth] = {"round robin, logits": logit_sums, "Bradley-Terry": bradley_terry}


def _order(qualities: Sequence[float]) -> list[int]:
    return sorted(range(len(qualities)), key=lambda index: -qualities[index])


def _run(method: Method, trials: Sequence[Trial]) -> list[tuple[list[int], list[int], int]]:
    return [(trial.truth, *method(trial.seeds, trial.matrix)) for trial in trials]


def _table(trials: Sequence[Trial], about: Row) -> list[Row]:
    return [{"method": name, **about, **_hits(_run(method, trials))} for name, method in METHODS.items()]


def _hits(outcomes: Sequence[tuple[list[int], list[int], int]]) -> dict[str, float]:
    return {
        _BEST: fmean(truth[0] == order[0] for truth, order, _ in outcomes),
        _THREE: fmean(len({*truth[:TOP]} & {*order[:TOP]}) / TOP for truth, order, _ in outcomes),
        _VERDICTS: fmean(calls for _, _, calls in outcomes),
        "verdicts a candidate": fmean(calls / len(truth) for truth, _, calls in outcomes),
    }


def _least(
    ours: Sequence[Mapping[str, float]], theirs: Mapping[str, float], margin: float
) -> Mapping[str, float] | None:
    """Our result with the smallest limit from which on all results are as good as theirs."""
    kept = list(takewhile(lambda hits: _is_as_good(hits, theirs, margin), reversed(ours)))
    return kept[-1] if kept else None


def _is_as_good(hits: Mapping[str, float], theirs: Mapping[str, float], margin: float) -> bool:
    return all(hits[name] >= theirs[name] - margin - _ROUNDING for name in (_BEST, _THREE))
