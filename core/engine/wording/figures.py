"""The figures in a text: numbers, percentages, shares, amounts, dates, years and ordinals, in digits or words.

How each language writes them, and how its number words add up, is in ``data/figures``. A figure has a value, by which
one is compared with another, and a weight: a finding needs a source, "ten minutes" and "two dads" do not.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import Final

from babel import Locale

from core.engine.wording.language import NAMES
from core.engine.wording.text import UNREADABLE

_FEW: Final = 12
_LIFETIME: Final = 100
_TWO_THOUSANDS: Final = 100
"""What the decade that is called two thousand adds to the century, where the others add twenty to ninety."""
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
_FALLBACK = "en"
_BASQUE_CASE = re.compile(r"(?:[er]{0,2}k|a|ak|ek|e?ko|[er]{0,2}n|ean|etan|[er]{0,2}i|e?ra|aren|en|ei|tan|tako)$")
_PER_CENT = "ehuneko"
"""Basque for "per cent": the genitive of the word for a hundred."""
_ITALIAN_UNITS = ("", "uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove")
_ITALIAN_TENS = ("venti", "trenta", "quaranta", "cinquanta", "sessanta", "settanta", "ottanta", "novanta")
_MENTION = re.compile(r"<(?:[@#][!&]?|a?:\w{1,40}:|t:|/[\w -]{1,40}:)-?\d{1,25}(?::\w)?>")
"""How Discord writes a mention, an emoji of its own, a command and a moment: the number in it is no figure."""
_NUMERAL = re.compile(
    r"(?<![^\W\d_])(?<![A-Z]-)(?<![\d.,])\d{1,3}(?:[ \u00a0\u202f\u2009'’]\d{3})+(?![\d.,]\d|\d)"
    r"|(?<![^\W\d_])(?<![A-Z]-)(?<!\d)\d+(?:[.,]\d+)*"
)
_UNREADABLE_AROUND = re.compile(rf"{UNREADABLE}[\d.,]{{0,12}}$"), re.compile(rf"[\d.,]{{0,12}}{UNREADABLE}")
_RAISED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]")
_OF_POWERS = re.compile(r"(?:(?<![\d.,])10|[$€£]\s?\d+)$")  # 10³ is no 10, and $9⁹⁹ no 9
_GLUED_MARK = re.compile(r"\A(\d+(?:,\d{3})*)[.,]\d{1,2}")
_NEXT_SENTENCE = re.compile(r"(?<!\s)\s+(?:[A-ZÀ-Ý][a-zà-ÿ]|[AI]\s)")
_WORD = re.compile(r"[^\W\d_]+")
_GAP = re.compile(r"[\s\u00ad-]+")
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_GLYPHS = {"½": Fraction(1, 2), "⅓": Fraction(1, 3), "⅔": Fraction(2, 3), "¼": Fraction(1, 4), "¾": Fraction(3, 4)}
_BEFORE = (
    ("share", re.compile(r"(?<![\d\s])\s?%\s?$|^%\s?$|\behuneko\s$", re.IGNORECASE)),
    ("eur", re.compile(r"€\s?$")),
    ("usd", re.compile(r"\$\s?$")),
    ("gbp", re.compile(r"£\s?$")),
)
_ISO_DATE = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_NUMERIC_DATE = re.compile(r"(?<!\d)(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?!\d)")
_SLASHED = re.compile(r"(?<![\d/])(\d{1,15})/(\d{1,15})(?![\d/])")
_SHORT_SCALE = re.compile(r"(k|mn?|bn|tn)\b")
_SHORT = {"k": 10**3, "m": 10**6, "mn": 10**6, "bn": 10**9, "tn": 10**12}
_ROMAN = {"i": 1, "v": 5, "x": 10}
_NEAR = 60
"""In so many characters before and after a part stands what makes a wording of it: "a little less than a half"."""
_LONGEST = 40  # digits and signs of a number that anybody reads
_MOST_WORDS = 40  # of one number
_SOFT = frozenset({"", "year", "month", "week", "day", "hour", "minute", "kilometre", "points"})


class Weight(IntEnum):
    """How much a figure claims."""

    EVERYDAY = 0
    """A clock, an age, ten fingers, the third pew: nobody asks for a source."""
    COUNT = 1
    """Somebody could ask where it is from: millions, half of the town, six hundred years."""
    FINDING = 2
    """A percentage, a share, money, a comparison, a year, a date, a number in digits."""


def weight_of(figure: Figure, text: str) -> Weight:
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
    rows = tomllib.loads(
        resources.files("core.engine.wording").joinpath(f"data/figures/{code}.toml").read_text(encoding="utf-8")
    )
    grammar, months = rows["grammar"], _months(code)
    number = r"\d{1,15}(?:[.,]\d{1,15}){0,6}|" + "|".join(sorted(rows["words"], key=len, reverse=True))
    tens = "|".join(word for word, value in rows["words"].items() if value in range(20, 100, 10))
    month = "|".join(sorted(months, key=len, reverse=True))
    blanks = {"n": f"(?:{number})", "tens": tens, "month": f"(?:{month})"}

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
    months = Locale(code).months["format"]
    numbers = {str(name).casefold(): number for number, name in months["wide"].items()}
    if code == "en":
        numbers |= {str(name).casefold(): number for number, name in months["abbreviated"].items()}
    if code == "eu":
        numbers |= {name.removesuffix("a"): number for name, number in numbers.items()}
    return numbers


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


class FigureKind(StrEnum):
    """The kind of a figure, in a word for people."""

    NUMBER = "number"
    PERCENTAGE = "percentage"
    SHARE = "share"
    AMOUNT = "amount"
    QUANTITY = "quantity"
    ORDINAL = "ordinal"
    YEAR = "year"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class Day:
    """A date, or as much of it as was written."""

    day: int | None
    month: int
    year: int | None


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure in a text.

    Attributes:
        start, end: its place, in code points of the text.
        values: its possible values; several where the writing is ambiguous (1.200 is 1200 or 1.2). Shares and
            percentages are fractions of one.
        unit: what it counts, from a closed list; empty where it counts something else.
        days: the dates that it may be.
        below: for a quantity in words (thousands): the number that it is below; ``values`` holds the least value.
    """

    kind: FigureKind
    start: int
    end: int
    values: frozenset[Fraction] = frozenset()
    unit: str = ""
    days: frozenset[Day] = frozenset()
    below: int = 0


def says(passage: Figure, draft: Figure) -> bool:
    """Whether a passage's figure says what a draft's figure says: the same value in the same unit.

    A bare number may count the passage's years or kilometres, but it never means a percentage, an amount of money, a
    share or a multiple. A draft's date may leave out a day or a year, but must not add one. A number of the right size
    supports a quantity in words, such as "thousands".
    """
    if draft.kind is FigureKind.DATE:
        return any(_covers(full, part) for full in passage.days for part in draft.days)
    if passage.kind is FigureKind.DATE:
        return False
    if draft.kind is FigureKind.QUANTITY:
        if passage.kind is FigureKind.QUANTITY:
            return (passage.values, passage.below) == (draft.values, draft.below)
        least = min(draft.values)
        return (
            passage.unit == ""
            and passage.kind is not FigureKind.YEAR
            and any(least <= v < draft.below for v in passage.values)
        )
    same_unit = passage.unit == draft.unit or (
        (draft.unit in _SOFT and passage.unit in _SOFT and "" in (draft.unit, passage.unit))
        or (draft.unit == "" and passage.unit == "ordinal")
    )
    return passage.kind is not FigureKind.QUANTITY and same_unit and not passage.values.isdisjoint(draft.values)


def _covers(full: Day, part: Day) -> bool:
    return full.month == part.month and part.day in {None, full.day} and part.year in {None, full.year}


def figures(text: str, language: str | None) -> list[Figure]:
    """The figures in a text that is written in a language (ISO 639-1; English where Antiphon does not write it).

    Words that only sometimes count (one, first, second), idioms (a thousand thanks), and shares after a hedge (nearly
    half) are left out: the checker of receipts decides whether a passage supports such a wording.
    """
    lexicon = lexicon_of(language)
    text = _MENTION.sub(lambda mention: chr(0) * len(mention.group()), text)
    all_figures, taken = list[Figure](), bytearray(len(text))
    for figure in _phrases(text, lexicon):
        if not any(taken[figure.start : figure.end]):
            all_figures.append(figure)
            taken[figure.start : figure.end] = b"\1" * (figure.end - figure.start)
    rest = "".join(chr(0) if is_taken else sign for sign, is_taken in zip(text, taken, strict=True))
    with_value = [figure for figure in all_figures if figure.values or figure.days]
    return sorted([*with_value, *_join_ranges(_numbers(rest, lexicon), rest, lexicon)], key=lambda figure: figure.start)


def _phrases(text: str, lexicon: Lexicon) -> Iterator[Figure]:
    """Figures that are more than a number and its unit; one without a value marks words that do not count anything."""
    for match in lexicon.idioms.finditer(text):
        yield Figure(FigureKind.NUMBER, *match.span())
    yield from _dates(text, lexicon)
    for shares in lexicon.shares:
        for match in shares.finditer(text):
            part, whole = (_worth(match.group(name), lexicon) for name in ("part", "whole"))
            if part and whole and part < whole and not _YEAR.fullmatch(match.group("whole")):
                yield Figure(FigureKind.SHARE, *match.span(), frozenset({part / whole}), "share")
    yield from _parts(text, lexicon)
    for match in _SLASHED.finditer(text):
        if int(match.group(2)):
            value = Fraction(int(match.group(1)), int(match.group(2)))
            yield Figure(FigureKind.SHARE, *match.span(), frozenset({value}), "share")
    for index, glyph in enumerate(text):
        if glyph in _GLYPHS:
            yield Figure(FigureKind.SHARE, index, index + 1, frozenset({_GLYPHS[glyph]}), "share")
    for form, times in lexicon.multiples:
        for match in form.finditer(text):
            yield Figure(FigureKind.AMOUNT, *match.span(), frozenset({Fraction(times)}), "times")
    for form, least, below in lexicon.vague:
        for match in form.finditer(text):
            if not re.search(r"\d\s?$", text[max(0, match.start() - 2) : match.start()]):
                yield Figure(FigureKind.QUANTITY, *match.span(), frozenset({Fraction(least)}), below=below)
    for decades in lexicon.decades:
        for match in decades.finditer(text):
            tens = match.group("tens").casefold()
            year = 1900 + (int(tens) if tens.isdigit() else lexicon.words.get(tens, _TWO_THOUSANDS))
            yield Figure(FigureKind.YEAR, *match.span(), frozenset({Fraction(year)}), "decade")
    for centuries in lexicon.centuries:
        for match in centuries.finditer(text):
            yield Figure(FigureKind.ORDINAL, *match.span(), frozenset({_roman(match.group("roman"))}), "century")


def _dates(text: str, lexicon: Lexicon) -> Iterator[Figure]:
    for dates in lexicon.dates:
        for match in dates.finditer(text):
            groups = match.groupdict()
            day, year = (int(groups[part]) if groups.get(part) else None for part in ("day", "year"))
            date = Day(day, lexicon.months[groups["month"].casefold()], year)
            yield Figure(FigureKind.DATE, *match.span(), days=frozenset({date}))
    for match in _ISO_DATE.finditer(text):
        date = Day(int(match.group(3)), int(match.group(2)), int(match.group(1)))
        yield Figure(FigureKind.DATE, *match.span(), days=frozenset({date}))
    for match in _NUMERIC_DATE.finditer(text):
        first, second, year = int(match.group(1)), int(match.group(3)), int(match.group(4))
        readings = {Day(day, month, year) for day, month in ((first, second), (second, first)) if 0 < month <= 12}
        if readings:
            yield Figure(FigureKind.DATE, *match.span(), days=frozenset(readings))


def _parts(text: str, lexicon: Lexicon) -> Iterator[Figure]:
    for parts in lexicon.part_forms:
        for match in parts.finditer(text):
            count = match.groupdict().get("count")
            whole = lexicon.parts[match.group("part").casefold()]
            part = _worth(count, lexicon) or Fraction(1) if count else Fraction(1)
            before, after = text[max(0, match.start() - _NEAR) : match.start()], text[match.end() : match.end() + _NEAR]
            hedged = lexicon.hedge.search(before) or lexicon.hedge_after.search(after)
            values = frozenset() if hedged else frozenset({part / whole})
            yield Figure(FigureKind.SHARE, *match.span(), values, "share")


def _worth(written: str, lexicon: Lexicon) -> Fraction | None:
    if written[0].isdigit():
        return min(_readings(written, lexicon.code))
    value = lexicon.words.get(written.casefold())
    return None if value is None else Fraction(value)


def _roman(written: str) -> Fraction:
    digits = [_ROMAN[letter] for letter in written.casefold()]
    return Fraction(sum(-a if a < b else a for a, b in zip(digits, [*digits[1:], 0], strict=True)))


def _readings(numeral: str, code: str) -> frozenset[Fraction]:
    """The possible values of a numeral: a point or comma before three digits may separate thousands or decimals.

    English separates thousands by a comma; the other languages use a point, and some of their speakers a comma.
    """
    bare = re.sub(r"[ \u00a0\u202f\u2009'’]", "", numeral)
    separators = re.findall(r"[.,]", bare)
    plain = Fraction(re.sub(r"[.,]", "", bare))
    if not separators:
        return frozenset({plain})
    last = separators[-1]
    whole, _, decimals = bare.rpartition(last)
    decimal = Fraction(f"{re.sub(r'[.,]', '', whole)}.{decimals}")
    grouped = re.fullmatch(r"[1-9]\d{0,2}(?:[.,]\d{3})+", bare) and len(set(separators)) == 1
    if len(separators) > 1 or not grouped:
        return frozenset({plain if grouped else decimal})
    return frozenset({plain}) if code == "en" and last == "," else frozenset({plain, decimal})


def _values_of(numeral: re.Match[str], text: str, lexicon: Lexicon) -> frozenset[Fraction]:
    """The possible values of a numeral, none where it cannot be told apart from what is glued to it.

    Texts that lost their typography have marks of notes glued to figures: "in 2019.15 Most" is a year and a mark.
    """
    written, start, end = numeral.group(), numeral.start(), numeral.end()
    if len(written) > _LONGEST:
        return frozenset()
    before, after = _UNREADABLE_AROUND
    if after.match(text, end) or before.search(text[max(0, start - 12) : start]):
        return frozenset()
    if _RAISED.match(text, end) and _OF_POWERS.search(text[max(0, start - 3) : end]):
        return frozenset()
    gap = _GAP.match(text, end)
    word = _WORD.match(text, gap.end()) if gap else None
    has_unit = any(form.match(text, end) for _, form in lexicon.units) or (
        word and word[0].casefold() in lexicon.scales
    )
    glued = None if has_unit else _GLUED_MARK.fullmatch(written)
    if glued and (_YEAR.fullmatch(glued[1]) or _NEXT_SENTENCE.match(text, end)):
        return frozenset({Fraction(glued[1])}) if _YEAR.fullmatch(glued[1]) else frozenset()
    if lexicon.code == "en" and re.fullmatch(r"\d{1,3}(?:,\d{3})*,\d{4,5}", written):
        return frozenset()  # "1,2043": thousands with a mark
    return _readings(written, lexicon.code)


def _numbers(text: str, lexicon: Lexicon) -> Iterator[Figure]:
    """Numbers in digits or words, each with its scale and unit."""
    at, digits, word = 0, _NUMERAL.search(text), _next_word(text, 0, lexicon)
    while True:
        if digits and digits.start() < at:
            digits = _NUMERAL.search(text, at)
        if word and word.start() < at:
            word = _next_word(text, at, lexicon)
        if digits and (word is None or digits.start() < word.start()):
            values, at = _values_of(digits, text, lexicon), digits.end()
            values, at = _times_scales(values, text, at, lexicon)
            yield _with_unit(digits.group(), values, digits.start(), at, text, lexicon)
        elif word:
            ordinal = lexicon.ordinals.get(word.group().casefold())
            if ordinal:
                yield Figure(FigureKind.ORDINAL, *word.span(), frozenset({Fraction(ordinal)}), "ordinal")
                at = word.end()
                continue
            value, at = run_of(_run(text, word.start()), lexicon.code, lexicon.words, lexicon.scales, lexicon.joins)
            if text[word.start() : at].casefold() not in lexicon.alone:
                yield _with_unit("", frozenset({Fraction(value)}), word.start(), at, text, lexicon)
        else:
            return


def _next_word(text: str, at: int, lexicon: Lexicon) -> re.Match[str] | None:
    for match in _WORD.finditer(text, at):
        word = match.group().casefold()
        if Value.of(word, lexicon.code, lexicon.words, lexicon.scales) or word in lexicon.ordinals:
            return match
    return None


def _run(text: str, at: int) -> list[tuple[str, int]]:
    """The first words from a place on with only spaces and hyphens between them, casefolded, each with its end."""
    run: list[tuple[str, int]] = []
    while len(run) < _MOST_WORDS and (match := _WORD.match(text, at)):
        run.append((match.group().casefold(), match.end()))
        gap = _GAP.match(text, match.end())
        if gap is None:
            break
        at = gap.end()
    return run


def _times_scales(values: frozenset[Fraction], text: str, at: int, lexicon: Lexicon) -> tuple[frozenset[Fraction], int]:
    """The values times the scales that follow them (1.2 thousand million)."""
    short = _SHORT_SCALE.match(text, at) if lexicon.code == "en" else None
    if short:
        return frozenset(value * _SHORT[short.group(1)] for value in values), short.end()
    gap = _GAP.match(text, at)
    for word, end in _run(text, gap.end() if gap else at):
        scale = lexicon.scales.get(word)
        if scale is None:
            break
        values, at = frozenset(value * scale for value in values), end
    return values, at


def _with_unit(numeral: str, values: frozenset[Fraction], start: int, end: int, text: str, lexicon: Lexicon) -> Figure:
    before = next(((unit, m) for unit, form in _BEFORE if (m := form.search(text[max(0, start - 12) : start]))), None)
    after = next(((unit, m) for unit, form in lexicon.units if (m := form.match(text, end))), None)
    unit = after[0] if after else ""
    if after:
        end = after[1].end()
    if before and unit != "points":
        unit, start = before[0], start - len(before[1].group().lstrip())
    if unit == "share":
        return Figure(FigureKind.PERCENTAGE, start, end, frozenset(value / 100 for value in values), unit)
    if unit in {"ordinal", "century"}:
        return Figure(FigureKind.ORDINAL, start, end, values, unit)
    if unit == "decade" and not _YEAR.fullmatch(numeral):
        unit = ""
    is_year = unit in {"", "decade"} and bool(_YEAR.fullmatch(numeral)) and values == {Fraction(int(numeral))}
    kind = FigureKind.YEAR if is_year else FigureKind.AMOUNT if unit else FigureKind.NUMBER
    return Figure(kind, start, end, values, unit)


def _join_ranges(numbers: Iterator[Figure], text: str, lexicon: Lexicon) -> list[Figure]:
    """The figures, with the unit of a range's end given to its beginning, and its century to a short year."""
    joined = list(numbers)
    for index in range(len(joined) - 2, -1, -1):
        first, last = joined[index], joined[index + 1]
        if not lexicon.ranges.fullmatch(text[first.end : last.start]):
            continue
        if first.kind is FigureKind.YEAR and last.unit == "" and last.end - last.start == 2:
            century = min(first.values) // 100 * 100
            joined[index + 1] = replace(last, kind=FigureKind.YEAR, values=frozenset(century + v for v in last.values))
        elif first.unit == "" and first.kind is not FigureKind.YEAR:
            joined[index] = _like(first, last, text, lexicon)
    return joined


def _like(first: Figure, last: Figure, text: str, lexicon: Lexicon) -> Figure:
    values = first.values
    if last.unit == "share":
        return replace(first, kind=last.kind, values=frozenset(value / 100 for value in values), unit=last.unit)
    scales = [
        lexicon.scales[w.casefold()]
        for w in _WORD.findall(text[last.start : last.end])
        if w.casefold() in lexicon.scales
    ]
    for scale in scales:
        values |= {value * scale for value in values}
    return replace(first, kind=last.kind if last.unit else first.kind, values=values, unit=last.unit)
