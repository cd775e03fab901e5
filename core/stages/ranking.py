"""Which candidate is best, from as few noisy comparisons as settle the top.

Owns the posterior over qualities and the choice of the next pair. A comparison is the logit of the share that a judge
gives to what it reads first. It is modelled as ``s * (q_first - q_second + noise) + place``: Bradley-Terry on logits,
with the judge's preference for a place taken out and its scale ``s`` read off the answers themselves, since one judge's
logits differ by 0.1 and another's by 5. Qualities start from the rewards, so cheap scores seed the ranking.

A judge at temperature 0 repeats itself: an ordered pair is asked once, and only a new pair or the other order teaches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

NOISE = 0.85
"""Standard deviation of a verdict's noise, in standard deviations of quality."""
SEED_TRUST = 0.6
"""Assumed correlation of rewards with the judge's quality."""
PLACE = 2.0
"""Standard deviation of the preference for a place, in logits."""
DOUBTS = 0.6
"""How many candidates, in all, may be taken for worse than a settled one and yet be better: their chances add up."""
SCALES = tuple(0.05 * 2**step for step in range(8))
"""The scales tried for a judge, in logits: 0.05 to 6.4."""
SETTLED_PLACES = 3
SHARED = 0.6
"""How much less settled, in standard deviations, a pair must be to be asked before one that shares what was read last:
that one costs half. In simulations of four and six drafts this loses nothing and doubles what is shared."""

Pair = tuple[int, int]


@dataclass
class Tournament:
    """The state of one ranking. ``seeds``: one reward for each candidate, in any unit; higher is better.

    ``places`` is how many of the first places must be settled.
    """

    seeds: Sequence[float]
    places: int = SETTLED_PLACES
    asked: dict[Pair, float] = field(default_factory=dict)
    unread: set[Pair] = field(default_factory=set)

    def __post_init__(self) -> None:
        seeds = np.asarray(self.seeds, dtype=np.float64)
        spread = float(seeds.std())
        standard = (seeds - seeds.mean()) / spread if spread > 0 else np.zeros_like(seeds)
        self._prior = SEED_TRUST * standard
        self._doubt = 1 - SEED_TRUST**2
        self._sure = NormalDist().inv_cdf(1 - DOUBTS / max(len(seeds), 2))
        self._mean, self._covariance = self._prior, np.eye(len(seeds)) * self._doubt

    def tell(self, first: int, second: int, logit: float) -> None:
        """Take in a verdict: the logit of the share that the judge gave to ``first``, which it read first."""
        self.asked[first, second] = logit
        self._mean, self._covariance = self._posterior()

    def skip(self, first: int, second: int) -> None:
        """Leave out a pair that got no readable verdict."""
        self.unread.add((first, second))

    def next_pair(self) -> Pair | None:
        """The ordered pair to ask about, or ``None`` once the first places are settled or every pair was asked.

        It is the least settled pair about the borders of the first places; one whose first candidate was read last is
        preferred, since a server then still holds the prompt up to there.
        """
        pairs = permutations(range(len(self.seeds)), 2)
        open_pairs = [pair for pair in pairs if pair not in self.asked and pair not in self.unread]
        unsettled = [(self._certainty(*pair), pair) for pair in open_pairs if self._matters(*pair)]
        unsettled = [(certainty, pair) for certainty, pair in unsettled if certainty < self._sure or not self.asked]
        if not unsettled:
            return None
        last = next(reversed(self.asked))[0] if self.asked else None
        return min(unsettled, key=lambda item: (round(item[0] - SHARED * (item[1][0] == last), 6), item[1]))[1]

    @property
    def order(self) -> list[int]:
        """The candidates, best first."""
        return [int(index) for index in np.argsort(-self._mean, kind="stable")]

    def chance_to_win(self, index: int) -> float:
        """The mean probability, in [0, 1], that a candidate is better than each of the others."""
        others = [other for other in range(len(self.seeds)) if other != index]
        return float(np.mean([NormalDist().cdf(self._distance(index, other)) for other in others])) if others else 0.5

    def spread(self, index: int) -> float | None:
        """How far the two orders of a pair disagree about a candidate, as a share; ``None`` where no pair had both.

        The mean, over its pairs that were asked in both orders, of the distance between the two shares it got.
        """
        gaps = [
            abs(_share(logit) - (1 - _share(self.asked[other, index])))
            for (first, other), logit in self.asked.items()
            if first == index and (other, index) in self.asked
        ]
        return float(np.mean(gaps)) if gaps else None

    def is_compared(self, index: int) -> bool:
        """Whether any verdict is about a candidate."""
        return any(index in pair for pair in self.asked)

    def _matters(self, left: int, right: int) -> bool:
        """Whether a pair stands about a border: the best against any, or a settled place against what follows."""
        order = self.order
        a, b = sorted((order.index(left), order.index(right)))
        return a == 0 or (a < self.places <= b)

    def _distance(self, left: int, right: int) -> float:
        variance = self._covariance[left, left] + self._covariance[right, right] - 2 * self._covariance[left, right]
        return float((self._mean[left] - self._mean[right]) / math.sqrt(max(variance, 1e-12)))

    def _certainty(self, left: int, right: int) -> float:
        return abs(self._distance(left, right))

    def _posterior(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        fits = [self._fit(scale) for scale in SCALES]
        likelihoods = np.array([fit[0] for fit in fits])
        weights = np.exp(likelihoods - likelihoods.max())
        weights /= weights.sum()
        means = np.array([fit[1] for fit in fits])
        mean = weights @ means
        covariance = sum(
            weight * (fit[2] + np.outer(fit[1] - mean, fit[1] - mean))
            for weight, fit in zip(weights, fits, strict=True)
        )
        return mean, np.asarray(covariance)

    def _fit(self, scale: float) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Log evidence, mean and covariance of the qualities, if the judge's scale is ``scale``."""
        count, n = len(self.asked), len(self.seeds)
        design = np.zeros((count, n + 1))
        for row, (first, second) in enumerate(self.asked):
            design[row, first], design[row, second], design[row, n] = scale, -scale, 1.0
        prior = np.diag([*[self._doubt] * n, PLACE**2])
        mean = np.append(self._prior, 0.0)
        surprise = np.fromiter(self.asked.values(), float) - design @ mean
        spread = design @ prior @ design.T + np.eye(count) * (scale * NOISE) ** 2
        gain = np.linalg.solve(spread, design @ prior).T
        _, log_determinant = np.linalg.slogdet(spread)
        evidence = -0.5 * (surprise @ np.linalg.solve(spread, surprise) + log_determinant)
        covariance = prior - gain @ design @ prior
        return float(evidence), (mean + gain @ surprise)[:n], covariance[:n, :n]


def _share(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))
