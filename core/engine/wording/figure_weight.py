"""How much a figure claims: a finding needs a source, "ten minutes" and "two dads" do not.

``core.engine.scoring.gates`` decides what follows from a weight.
"""

from __future__ import annotations

import re
from enum import IntEnum
from fractions import Fraction
from typing import Final

from core.engine.wording.figures import Figure, FigureKind


class Weight(IntEnum):
    """How much a figure claims."""

    EVERYDAY = 0
    """A clock, an age, ten fingers, the third pew: nobody asks for a source."""
    COUNT = 1
    """Somebody could ask where it is from: millions, half of the town, six hundred years."""
    FINDING = 2
    """A percentage, a share, money, a comparison, a year, a date, a number in digits."""


_FEW: Final = 12
_LIFETIME: Final = 100
_MONEY: Final = frozenset({"eur", "usd", "gbp", "points"})
_TIME: Final = frozenset({"year", "month", "week", "day", "hour", "minute"})
_COMPARED: Final = re.compile(
    r"\s{1,9}(?:as|more|less|fewer|higher|lower|larger|greater|bigger|smaller|the|"
    r"más|menos|mayor|menor|superior|inferior|tan|tantos?|più|meno|maggiore|minore|superiore|inferiore|tant[oi]|"
    r"gehiago|gutxiago|\w{1,40}ago)\b",
    re.IGNORECASE,
)
_REPEATED: Final = re.compile(r"(?:times|veces|volte|aldiz)$", re.IGNORECASE)
_OF_MANY: Final = re.compile(
    r"\s{1,9}(?:of (?:all|(?:our|the|their|these|those) \w+s\b)|de (?:tod[oa]s|l[oa]s|nuestr[oa]s)\b|"
    r"di tutt[ie]\b|de(?:i|gli|lle)\b)",
    re.IGNORECASE,
)
_SPOKEN: Final = frozenset({"9/11", "24/7", "50/50", "7/7"})


def weight_of(figure: Figure, text: str) -> Weight:
    """The weight of a figure in the text that it stands in."""
    words = text[figure.start : figure.end]
    match figure.kind:
        case FigureKind.PERCENTAGE | FigureKind.DATE:
            return Weight.FINDING
        case FigureKind.YEAR:
            return Weight.COUNT if figure.unit == "decade" else Weight.FINDING
        case FigureKind.QUANTITY:
            return Weight.COUNT
        case FigureKind.ORDINAL:
            return Weight.COUNT if figure.unit == "century" else Weight.EVERYDAY
        case FigureKind.SHARE:
            return _of_share(figure, words, text)
        case FigureKind.AMOUNT:
            return _of_amount(figure, words, text)
        case _:
            return _of_number(min(figure.values, default=Fraction(0)), words, figure.end, text)


def _of_share(figure: Figure, words: str, text: str) -> Weight:
    if words in _SPOKEN:
        return Weight.EVERYDAY
    is_half = figure.values == {Fraction(1, 2)} and words.isalpha()
    return Weight.COUNT if is_half and not _OF_MANY.match(text, figure.end) else Weight.FINDING


def _of_amount(figure: Figure, words: str, text: str) -> Weight:
    if figure.unit in _MONEY:
        return Weight.FINDING
    if figure.unit == "times":
        is_repetition = _REPEATED.search(words) and not _COMPARED.match(text, figure.end)
        return Weight.EVERYDAY if is_repetition else Weight.FINDING
    if figure.unit in _TIME:
        return Weight.EVERYDAY if min(figure.values, default=Fraction(0)) <= _LIFETIME else Weight.COUNT
    return Weight.COUNT


def _of_number(value: Fraction, words: str, end: int, text: str) -> Weight:
    if value.denominator == 1 and value <= _FEW:
        return Weight.EVERYDAY
    if any(character.isdigit() for character in words) or _OF_MANY.match(text, end):
        return Weight.FINDING
    return Weight.EVERYDAY if value <= _LIFETIME else Weight.COUNT
