"""Which candidate is best, from as few noisy comparisons as settle the top.

A comparison is the logit of the share that a judge gives to the reply that it reads first. It is modelled as ``s *
(q_first - q_second + noise) + place``: Bradley-Terry on logits. ``place`` is the judge's preference for a place, which
is taken out. The judge's scale ``s`` is read off its answers, since one judge's logits differ by 0.1 and another's by
5. Qualities start from the rewards, so cheap scores seed the ranking.

A judge at temperature 0 repeats itself. So each ordered pair is asked once; a new pair or the other order tells more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

VERDICT_NOISE = 0.85
"""The standard deviation of the noise in one verdict, in standard deviations of quality."""
REWARD_CORRELATION = 0.6
"""The assumed correlation of the rewards with the qualities that the judge sees."""
PLACE_PREFERENCE = 2.0
"""The standard deviation of the judge's preference for a place, in logits."""
ERROR_BUDGET = 0.6
"""A pair is settled when the chance that its order is wrong is below this number over the number of candidates."""
SCALES = tuple(0.05 * 2**step for step in range(8))
"""The scales that are tried for a judge, in logits: 0.05 to 6.4."""
SETTLED_PLACES = 3
SHARED_PROMPT_BONUS = 0.6
"""The head start, in standard deviations, of a pair whose first candidate the judge read last.

The server still holds that part of the prompt, so asking this pair costs half. In simulations of four and six drafts
the head start loses nothing and doubles how much of the prompts is shared.
"""

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
        self._prior_mean = REWARD_CORRELATION * standard
        self._prior_variance = 1 - REWARD_CORRELATION**2
        self._settled_distance = NormalDist().inv_cdf(1 - ERROR_BUDGET / max(len(seeds), 2))
        self._mean, self._covariance = self._prior_mean, np.eye(len(seeds)) * self._prior_variance

    def add_verdict(self, first: int, second: int, logit: float) -> None:
        """Add a verdict: the logit of the share that the judge gave to ``first``, which it read first."""
        self.asked[first, second] = logit
        self._mean, self._covariance = self._posterior()

    def leave_out(self, first: int, second: int) -> None:
        """Leave out a pair that got no readable verdict."""
        self.unread.add((first, second))

    def next_pair(self) -> Pair | None:
        """The ordered pair to ask about, or ``None`` once the first places are settled or every pair was asked.

        It is the least settled pair that decides a first place. A pair whose first candidate was read last gets a
        head start, since the server then still holds the prompt up to there.
        """
        pairs = permutations(range(len(self.seeds)), 2)
        open_pairs = [pair for pair in pairs if pair not in self.asked and pair not in self.unread]
        unsettled = [(self._separation(*pair), pair) for pair in open_pairs if self._decides_a_first_place(*pair)]
        if self.asked:
            unsettled = [item for item in unsettled if item[0] < self._settled_distance]
        if not unsettled:
            return None
        last_read = next(reversed(self.asked))[0] if self.asked else None

        def urgency(item: tuple[float, Pair]) -> tuple[float, Pair]:
            separation, pair = item
            return round(separation - SHARED_PROMPT_BONUS * (pair[0] == last_read), 6), pair

        return min(unsettled, key=urgency)[1]

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

        For each pair that was asked in both orders this is the distance between the two shares that the candidate got;
        the result is their mean.
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

    def _decides_a_first_place(self, left: int, right: int) -> bool:
        """Whether a pair has the best candidate, or candidates on both sides of the last of the first places."""
        order = self.order
        a, b = sorted((order.index(left), order.index(right)))
        return a == 0 or (a < self.places <= b)

    def _distance(self, left: int, right: int) -> float:
        variance = self._covariance[left, left] + self._covariance[right, right] - 2 * self._covariance[left, right]
        return float((self._mean[left] - self._mean[right]) / math.sqrt(max(variance, 1e-12)))

    def _separation(self, left: int, right: int) -> float:
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
        """The log evidence, and the mean and covariance of the qualities, if the judge's scale is ``scale``."""
        count, n = len(self.asked), len(self.seeds)
        design = np.zeros((count, n + 1))
        for row, (first, second) in enumerate(self.asked):
            design[row, first], design[row, second], design[row, n] = scale, -scale, 1.0
        prior = np.diag([*[self._prior_variance] * n, PLACE_PREFERENCE**2])
        mean = np.append(self._prior_mean, 0.0)
        surprise = np.fromiter(self.asked.values(), float) - design @ mean
        spread = design @ prior @ design.T + np.eye(count) * (scale * VERDICT_NOISE) ** 2
        gain = np.linalg.solve(spread, design @ prior).T
        _, log_determinant = np.linalg.slogdet(spread)
        evidence = -0.5 * (surprise @ np.linalg.solve(spread, surprise) + log_determinant)
        covariance = prior - gain @ design @ prior
        return float(evidence), (mean + gain @ surprise)[:n], covariance[:n, :n]


def _share(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))
