"""How number words add up to a number.

Owns the arithmetic of number words in the languages that Antiphon writes; the words themselves are in the lists beside
this file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache

_BASQUE_CASE = re.compile(r"(?:[er]{0,2}k|a|ak|ek|e?ko|[er]{0,2}n|ean|etan|[er]{0,2}i|e?ra|aren|en|ei|tan|tako)$")
_PER_CENT = "ehuneko"
"""Basque for "per cent": the genitive of the word for a hundred."""
_ITALIAN_UNITS = ("", "uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove")
_ITALIAN_TENS = ("venti", "trenta", "quaranta", "cinquanta", "sessanta", "settanta", "ottanta", "novanta")


@dataclass(frozen=True, slots=True)
class Value:
    """The value of one word; ``is_scale``: it multiplies the number before it."""

    number: int
    is_scale: bool = False

    @classmethod
    def of(cls, word: str, code: str, words: Mapping[str, int], scales: Mapping[str, int]) -> Value | None:
        """The value of a casefolded word, or ``None`` if it is not a number."""
        if word in scales:
            return cls(scales[word], is_scale=True)
        if word in words:
            return cls(words[word])
        if code == "it":
            return cls(number) if (number := _italian().get(word)) else _italian_thousands(word)
        return cls._bent(word, words, scales) if code == "eu" else None

    @classmethod
    def _bent(cls, word: str, words: Mapping[str, int], scales: Mapping[str, int]) -> Value | None:
        """A Basque number in another grammatical case; the shortest are left out, since other words look like them."""
        if word.startswith(_PER_CENT):
            return None
        for case in _BASQUE_CASE.finditer(word):
            stem = word[: case.start()]
            if len(stem) > 3 and stem in words:
                return cls(words[stem])
            if len(stem) > 3 and stem in scales:
                return cls(scales[stem], is_scale=True)
        return None


def run_of(
    run: Sequence[tuple[str, int]],
    code: str,
    words: Mapping[str, int],
    scales: Mapping[str, int],
    joins: AbstractSet[str],
) -> tuple[int, int]:
    """The number that a run of words begins with, and where it ends.

    Args:
        run: casefolded words with the place of their end; the first is a number.
        joins: words that may come between two parts of one number.
    """
    total, group, end, previous = 0, None, run[0][1], ""
    for index, (word, ends) in enumerate(run):
        value = Value.of(word, code, words, scales)
        following = Value.of(run[index + 1][0], code, words, scales) if index + 1 < len(run) else None
        if value is None:
            goes_on = (
                total > 0 and code == "eu" if group is None else following and _adds(group, following, code, previous)
            )
            if word in joins and following and goes_on:
                continue
            break
        if value.is_scale:
            if value.number == 100:
                group = (group or 1) * 100
            elif 0 < total < value.number:
                total, group = (total + (group or 0)) * value.number, None
            else:
                total, group = total + (group or 1) * value.number, None
        elif group is None or _adds(group, value, code, previous):
            group = (group or 0) + value.number
        else:
            break
        end, previous = ends, word
    return total + (group or 0), end


def _adds(group: int, value: Value, code: str, previous: str) -> bool:
    """Whether a number may follow another inside one: twenty-five, two hundred and five, hogeita hamar."""
    if value.is_scale:
        return False
    if code == "eu" and previous.endswith("ta"):
        return value.number < 20
    return group % int(f"1{'0' * len(str(value.number))}") == 0


@cache
def _italian() -> dict[str, int]:
    """Italian numbers below 1000 that are written as one word."""
    below = {_ITALIAN_UNITS[n]: n for n in range(1, 10)}
    below |= dict(
        zip(
            "dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove".split(),
            range(10, 20),
            strict=True,
        )
    )
    for ten, name in enumerate(_ITALIAN_TENS, start=2):
        below[name] = 10 * ten
        for n, unit in enumerate(_ITALIAN_UNITS[1:], start=1):
            stem = name[:-1] if unit[0] in "uo" else name
            below[stem + unit] = 10 * ten + n
            below[stem + unit.replace("tre", "tré")] = 10 * ten + n
            if unit == "uno":
                below[stem + "un"] = 10 * ten + n
    hundreds = {("" if n == 1 else _ITALIAN_UNITS[n]) + "cento": 100 * n for n in range(1, 10)}
    joined = {f"{name}{rest}": n + m for name, n in hundreds.items() for rest, m in below.items()}
    return below | hundreds | joined


def _italian_thousands(word: str) -> Value | None:
    parted = re.fullmatch(r"(?:mille|(\w+)mila)(\w*)", word)
    if parted is None:
        return None
    thousands = _italian().get(parted.group(1), 0) if parted.group(1) else 1
    rest = _italian().get(parted.group(2), 0) if parted.group(2) else 0
    return Value(1000 * thousands + rest) if thousands and (rest or not parted.group(2)) else None
