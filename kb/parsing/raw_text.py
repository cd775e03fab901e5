"""What a reader gives to the cleaning: text as the file holds it; and its raised marks, which are taken out.

Marks of notes are told from exponents, ordinals and fractions. The readers of files know raised text by position, size
or markup, and put it between ``ON`` and ``OFF``. A mark that stayed where it is would become part of the figure before
it: "34¹²" would read 3412. What cannot be told apart keeps an ``UNREADABLE``, with which no figure counts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.engine.wording.text import UNREADABLE

STRUCK = "Text that is struck out was not read: {count} characters."
_LONGEST_CELL = 80  # characters; a longer one is prose, which a row is not joined from
ON, OFF = "\x0e", "\x0f"
"""Around raised text. No document holds them: readers take them out of what a file says."""
_RAISED = re.compile(f"{ON}([^{ON}{OFF}]*){OFF}")
_DIVIDED = re.compile(f"{OFF}([ \u00a0]?[,;–-]?[ \u00a0]?){ON}")
_ONE_MARK = r"(?:\d{1,3}|[ivx]{2,5}|[a-z])"
_MARKS = rf"(?:{_ONE_MARK}(?:\s?[,;–-]\s?{_ONE_MARK})*|[*†‡§¶#∗⁎]{{1,4}})"
_REMARK = r"\[(?:[^\[\]\d][^\[\]]{0,40}|[A-Za-z]{1,9} \d{1,3})\]"  # "[citation needed]", "[note 3]"
_PLACE = r":\s?\d{1,4}(?:[–-]\d{1,4})?"  # the page that stands behind a mark
_MARK = re.compile(
    rf"(?:[\[(]?{_MARKS}[\])]?,?|(?:\[{_MARKS}\]|{_REMARK})(?:[,;]?\s?(?:\[{_MARKS}\]|{_REMARK}))*(?:{_PLACE})?|{_PLACE})"
)
_FRACTION = re.compile(f"(?:(\\d)[ ]?)?{ON}(\\d{{1,2}}){OFF}[/⁄]({ON}?)([\\d₀-₉]{{1,3}}){OFF}?")
_FRACTIONS = {"1/2": "½", "1/3": "⅓", "2/3": "⅔", "1/4": "¼", "3/4": "¾", "1/5": "⅕", "1/8": "⅛"}
_UNIT = re.compile(r"(?:(?:^|[\s\d(/·×])[kcdmµμn]?m|\d\s?(?:ft|yd|mi|in))$")
_VARIABLE = re.compile(r"(?:^|[^\w])[^\W\d_]$|=\s?[^\W\d_]{1,3}$")
_TEN = re.compile(r"(?<![\d.,])10$")
_BASE = re.compile(r"(?<![\d.,])(?:2|10)$")
_ROMANCE = re.compile(
    r"\b(?:el|los?|las?|del?|que|en|una?|con|il|gli|dell?[ao']|di|che|nell?[ao']|per (?!cent\b))\b", re.I
)
_ENGLISH = re.compile(r"\b(?:the|and|of|to|was|were|with|by|from)\b", re.I)
_PRICE = re.compile(r"[$€£]\s?\d+$")
_ISOTOPE = re.compile(r"[A-Z][a-z]?(?![a-z])")
_ORDINAL = re.compile(r"(?:\d|\b[IVXLCDM]+|\b[nNMD]|\bSr)\.?$")
_UP = str.maketrans("0123456789+-−–=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿ")
_DOWN = str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋")
_BACK = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_SEEN_BEFORE, _SEEN_AFTER = 24, 4
_MOST_NAMED = 20


def join_row(lines: list[str], start: int, cells: int) -> None:
    """Join the lines from ``start``, which are a row of a table, to one, so that a figure stays beside what it is of.

    Lines that are prose, or more than there are ``cells``, stay as they are.
    """
    own = lines[start:]
    if 1 < len(own) <= cells and all(len(line) <= _LONGEST_CELL for line in own):
        lines[start:] = [" ".join(own)]


@dataclass(slots=True)
class Raw:
    """What a reader found.

    Attributes:
        pages: the text of each page, empty for a page without text; paragraphs or lines end with a line break.
        labels: the number that each page bears in print, by the file's own word; empty where it says nothing.
        title: as the file gives it, or its first heading.
        author: who wrote or published it, as the file says.
        dated: when it was made or published, in the words of the file.
        is_wrapped: whether lines end at the page's width, so that paragraphs have to be joined from lines.
        hidden: how many characters were left out because people would not see them.
        notes: what else a person should know, as sentences.
    """

    pages: list[str]
    title: str | None = None
    author: str | None = None
    dated: str | None = None
    is_wrapped: bool = False
    hidden: int = 0
    notes: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


def lowered(text: str) -> str:
    """Text below the line as Unicode writes it, where it is digits: CO₂."""
    return text.translate(_DOWN) if any(character.isdigit() for character in text) else text


def powered(text: str) -> str:
    """An exponent as Unicode writes it, or behind "^" where it has letters that Unicode does not raise."""
    power = text.translate(_UP)
    return (
        f"^{text}"
        if any(character.isalnum() and character == old for character, old in zip(power, text, strict=True))
        else power
    )


def without_marks(pages: Sequence[str]) -> tuple[list[str], list[str]]:
    """The pages without raised marks, and the marks that were taken out, in their order.

    Exponents, ordinals and fractions stay, in the characters that Unicode has for them. A number with which a line
    begins is a note's own: it stays, with a space.
    """
    texts, marks = [], list[str]()
    for page in pages:
        if ON in page:
            joined = _DIVIDED.sub(r"\1", page)
            texts.append(_resolved(_FRACTION.sub(_fraction, joined), marks, has_ordinals=_has_ordinals(page)))
        else:
            texts.append(page)
    return texts, marks


def note_of_marks(marks: Sequence[str]) -> str:
    """A sentence on the marks that were taken out."""
    first = ", ".join(list(dict.fromkeys(marks))[:_MOST_NAMED])
    if len(marks) == 1:
        return f"A raised mark of a note was taken out of the text: {first}."
    more = ", ..." if len(set(marks)) > _MOST_NAMED else "."
    return f"{len(marks):,} raised marks of notes were taken out of the text: {first}{more}"


def _fraction(match: re.Match[str]) -> str:
    whole, above, below = match[1] or "", match[2], match[4].translate(_BACK)
    fraction = f"{above}/{below}"
    return whole + (_FRACTIONS.get(fraction) or (f" {fraction}" if whole else fraction))


def _has_ordinals(page: str) -> bool:
    """Whether a raised "a" behind a number makes it an ordinal, as in Spanish and Italian, and is no note's letter."""
    return len(_ROMANCE.findall(page)) > len(_ENGLISH.findall(page))


def _resolved(page: str, marks: list[str], *, has_ordinals: bool) -> str:
    parts, at, before = list[str](), 0, ""
    for match in _RAISED.finditer(page):
        between = page[at : match.start()]
        before = (before + between)[-_SEEN_BEFORE:]
        after = page[match.end() : match.end() + _SEEN_AFTER]
        parts.append(between)
        text = _remainder(match[1], before, after, has_ordinals=has_ordinals)
        if text is None:
            marks.append(match[1].strip(" ,"))
            text = _in_its_place(before, after)
            if after[:1] in (",", ".", ";", ":", "!", "?", ")"):
                parts[-1] = between.rstrip(" \u00a0")
        parts.append(text)
        before = (before + text)[-_SEEN_BEFORE:]
        at = match.end()
    return "".join([*parts, page[at:]])


def _remainder(raised: str, before: str, after: str, *, has_ordinals: bool) -> str | None:
    """What stays of raised text; ``None`` where it is a mark."""
    bare, line = raised.strip(" \u00a0"), before.rpartition("\n")[2]
    if not _MARK.fullmatch(bare):
        if bare.isdigit() and line[-1:].isdigit():
            return UNREADABLE + bare
        is_power = re.fullmatch(r"[-−–+]\d|\d?[-−–+]|n", bare)
        return bare.translate(_UP) if is_power and line[-1:].strip() else raised
    if not line.strip():
        return bare + " "
    letter = {"a": "ª" if has_ordinals else None, "o": "º", "e": "e", "r": "r"}.get(bare)
    if letter and _ORDINAL.search(line):
        return letter
    if bare == "n" and (_VARIABLE.search(line) or _BASE.search(line)):
        return "ⁿ"
    is_exponent = bare in ("2", "3") and (_UNIT.search(line) or _VARIABLE.search(line))
    is_unclear = bare.isdigit() and (_TEN.search(line) or (len(bare) == 2 and _PRICE.search(line)))
    is_isotope = bare.isdigit() and not line[-1].isalnum() and line[-1] not in ".,;:!?)" and _ISOTOPE.match(after)
    return bare.translate(_UP) if is_exponent or is_unclear or is_isotope else None


def _in_its_place(before: str, after: str) -> str:
    """What parts the text before a mark from that after it, where nothing else does."""
    if before[-1].isdigit() and after[:1].isdigit():
        return UNREADABLE
    return " " if after[:1].isalnum() and (before[-1].isalnum() or before[-1] in ".,;:!?%)") else ""
