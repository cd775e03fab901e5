"""How each language writes its figures.

Owns the reading of the lists beside this file, one ``<language>.toml`` each, with the names of the months from CLDR.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
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
