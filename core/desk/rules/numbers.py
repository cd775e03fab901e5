"""Shares of a community's cases, with what they leave open, and what is counted about drafts, decisions and costs.

Of few cases no share is told (``Share.is_enough``).
"""

from dataclasses import dataclass
from math import sqrt
from typing import Final

LEAST: Final = 5
"""Of fewer cases no median and no share is told: it would say more about one person than about the work."""
AFTER_HOURS: Final = (24, 7 * 24, 28 * 24)
"""How long after a reply was posted somebody looks what became of it."""
_Z: Final = 1.959964
"""Of the normal distribution, 95 of 100 lie within so many standard deviations."""


@dataclass(frozen=True, slots=True)
class Share:
    """``count`` cases of ``of``."""

    count: int
    of: int

    @property
    def is_enough(self) -> bool:
        return self.of >= LEAST

    @property
    def value(self) -> float:
        """The share, from 0 to 1; 0 of none."""
        return self.count / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval for 95 of 100 (1927), from 0 to 1: within it lies the share of many more such cases."""
        if not self.of:
            return 0.0, 1.0
        square, share = _Z * _Z / self.of, self.value
        middle = share + square / 2
        half = _Z * sqrt(share * (1 - share) / self.of + square / (4 * self.of))
        return max(0.0, (middle - half) / (1 + square)), min(1.0, (middle + half) / (1 + square))


@dataclass(frozen=True, slots=True)
class Rates:
    """What people decided about cases that have something in common.

    Attributes:
        name: what they have in common: a group, a language, an intent or a writer; "" where that is not known, and for
            a writer where no model wrote.
        approved: cases whose reply was approved, of those that somebody decided. Where ``name`` is an intent or a
            writer: cases in which such a draft was approved, of those in which one was shown.
        edited: approvals with a changed text, of all of them.
        first: approvals of the first reply, of those where several were shown and one of them was taken.
        by_chance: how often the first one would be taken if people drew lots, from 0 to 1.
    """

    name: str
    approved: Share
    edited: Share
    first: Share
    by_chance: float


@dataclass(frozen=True, slots=True)
class FollowUpCounts:
    """What became of cases so many hours after their reply was posted, or after they were closed without one.

    ``reply_gone`` and ``post_gone`` are of those of which the platform could say; nobody looks after cases without a
    reply, so that there both are of none. ``flagged_again``: cases whose author was flagged in the community again.
    """

    after_hours: int
    reply_gone: Share
    post_gone: Share
    flagged_again: Share


@dataclass(frozen=True, slots=True)
class Spent:
    """What the drafts cost: how often a case was drafted, and the sums of seconds, calls and tokens."""

    times: int
    seconds: float
    model_calls: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Numbers:
    """What ``Statistics`` does not count, of the cases that were flagged in a community in some span of time.

    ``to_draft`` and ``to_decision`` say how many cases took less than so many seconds (``None`` for any time), and at
    least as long as the entry before.
    """

    to_draft: tuple[tuple[float | None, int], ...]
    to_decision: tuple[tuple[float | None, int], ...]
    overall: Rates
    by_group: tuple[Rates, ...]
    by_language: tuple[Rates, ...]
    by_intent: tuple[Rates, ...]
    by_writer: tuple[Rates, ...]
    answered: tuple[FollowUpCounts, ...]
    unanswered: tuple[FollowUpCounts, ...]
    spent: Spent
