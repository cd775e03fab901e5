"""How sure the filter of watched channels must be in one community: what moderators say of its finds moves that.

A community says how often the filter may be wrong on ordinary messages. The filter then asks for at least the score
that belongs to that rate. Finds that moderators call not hateful raise it, finds that they answer lower it again, never
below that score.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

LEAST_CAREFUL: Final = 100
MOST_CAREFUL: Final = 100_000
"""No label makes the filter stricter than one false alarm in so many ordinary messages."""
LABEL_DAYS: Final = 90
"""How long what moderators said of a find counts."""
COUNTED_DAYS: Final = 28
"""How long it is remembered how many messages were looked at."""
_ONE_WRONG_IN: Final = 10
_LEAST_DAYS: Final = 1.0


@dataclass(frozen=True, slots=True)
class FindLabel:
    """What moderators said of a post that the filter found, and the score with which it found it."""

    score: float
    is_hateful: bool


@dataclass(frozen=True, slots=True)
class WatchRecord:
    """What the filter did in a community in the last ``COUNTED_DAYS``.

    Attributes:
        labels: of the last ``LABEL_DAYS``.
        looked_at: the messages that the filter read, and ``days`` the time in which it read them.
        found: the posts that it found, and ``wrong`` those of them that moderators called not hateful.
    """

    labels: tuple[FindLabel, ...] = ()
    looked_at: int = 0
    days: float = 0.0
    found: int = 0
    wrong: int = 0

    def alarms_a_week(self, rate: float) -> float | None:
        """How many ordinary messages a week are found by mistake; ``None`` before a day of counts.

        Args:
            rate: the share of ordinary messages that are found by mistake.
        """
        return None if self.days < _LEAST_DAYS else self.looked_at * rate * 7 / self.days


def careful_threshold(one_in: int, labels: Sequence[FindLabel], threshold: Callable[[float], float]) -> float:
    """The score above which a post is found.

    It is the least one, from that of ``one_in`` up, above which at most one labelled find in ten was not hateful. A
    find that was wrong and nine that were right are taken for granted, so that nine right finds outweigh a wrong one.
    Each wrong find at most halves the rate of false alarms, so that one does not move it far.

    Args:
        one_in: the filter may be wrong on one in this many ordinary messages.
        labels: what moderators said of the finds that still count.
        threshold: the score that one in so many ordinary messages exceeds; it never falls.
    """
    base = threshold(one_in)
    counted = [label for label in labels if label.score > base]
    wrong = sorted(label.score for label in counted if not label.is_hateful)
    bound = threshold(min(one_in * 2 ** len(wrong), MOST_CAREFUL))
    score_needed = next(score for score in (base, *wrong) if _is_right_enough(counted, score))
    return max(base, min(score_needed, bound))


def _is_right_enough(labels: Sequence[FindLabel], score: float) -> bool:
    """Whether at most one in ten finds above a score was wrong; above the highest wrong one that is so."""
    above = [label.is_hateful for label in labels if label.score > score]
    return (above.count(False) + 1) * _ONE_WRONG_IN <= len(above) + _ONE_WRONG_IN
