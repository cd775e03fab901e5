"""How number words add up to a number.

Owns the arithmetic of number words in the languages that Antiphon writes; the words themselves are in the lists beside
this file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from importlib import resources

from babel import Locale

from core.wording.language import NAMES

_FALLBACK = "en"


@dataclass(frozen=True, slots=True)
class Lexicon:
    """How one language writes figures: the lists of its file, compiled."""

    code: str
    words: Mapping[str, int]
    scales: Mapping[str, int]
    ordinals: Mapping[str, int]
    parts: Mapping[str, int]
    units: tuple[tuple[str, re.Pattern[str]], ...]
    joins: frozenset[str]
    alone: frozenset[str]
    ranges: re.Pattern[str]
    shares: tuple[re.Pattern[str], ...]
    part_forms: tuple[re.Pattern[str], ...]
    hedge: re.Pattern[str]
    hedge_after: re.Pattern[str]
    idioms: re.Pattern[str]
    multiples: tuple[tuple[re.Pattern[str], int], ...]
    decades: tuple[re.Pattern[str], ...]
    centuries: tuple[re.Pattern[str], ...]
    dates: tuple[re.Pattern[str], ...]
    months: Mapping[str, int]
    vague: tuple[tuple[re.Pattern[str], int, int], ...]


@cache
def lexicon_of(language: str | None) -> Lexicon:
    """The lexicon of a language (ISO 639-1); the English one where Antiphon does not write it."""
    code = language if language in NAMES else _FALLBACK
    rows = tomllib.loads(resources.files("core.wording.figures").joinpath(f"{code}.toml").read_text(encoding="utf-8"))
    grammar, months = rows["grammar"], _months(code)
    number = r"\d{1,15}(?:[.,]\d{1,15}){0,6}|" + "|".join(sorted(rows["words"], key=len, reverse=True))
    blanks = {"n": f"(?:{number})", "month": "(?:" + "|".join(sorted(months, key=len, reverse=True)) + ")"}

    def compiled(expressions: list[str]) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(expression.format(**blanks), re.IGNORECASE) for expression in expressions)

    return Lexicon(
        code=code,
        words=rows["words"],
        scales=rows["scales"],
        ordinals=rows["ordinals"],
        parts=rows["parts"],
        units=tuple((unit, re.compile(rf"[\s-]?(?:{form})", re.IGNORECASE)) for unit, form in rows["units"].items()),
        joins=frozenset(grammar["joins"]),
        alone=frozenset(grammar["alone"]),
        ranges=re.compile(grammar["ranges"], re.IGNORECASE),
        shares=compiled(grammar["shares"]),
        part_forms=compiled(grammar["parts"]),
        hedge=re.compile(grammar["hedge"], re.IGNORECASE),
        hedge_after=re.compile(grammar["hedge_after"], re.IGNORECASE),
        idioms=re.compile("|".join(grammar["idioms"]), re.IGNORECASE),
        multiples=tuple((re.compile(rf"\b{form}", re.IGNORECASE), n) for form, n in grammar["multiples"].items()),
        decades=compiled(grammar["decades"]),
        centuries=compiled(grammar["centuries"]),
        dates=compiled(grammar["dates"]),
        months=months,
        vague=tuple((re.compile(form, re.IGNORECASE), *bounds) for form, bounds in rows["vague"].items()),
    )


def _months(code: str) -> dict[str, int]:
    """The names of the months, from CLDR; in Basque without the article, so that their cases are found too."""
    named = Locale(code).months["format"]
    found = {str(name).casefold(): number for number, name in named["wide"].items()}
    if code == "en":
        found |= {str(name).casefold(): number for number, name in named["abbreviated"].items()}
    if code == "eu":
        found |= {name.removesuffix("a"): number for name, number in found.items()}
    return found


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
