"""Slurs that a text uses, told from those that it only mentions in order to object.

A slur counts as mentioned in quotation marks, as a word that is talked about, as what somebody calls other people, or
denied. What is aimed at the reader is always a use.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from core.engine.wording.language import NAMES
from core.engine.wording.slur_senses import replaced
from core.engine.wording.slurs import mild_slurs, senses_in, slurs_in

_TOKEN: Final = re.compile(r"[^\s\"“”«»„()\[\]/]+")
_MARKS: Final = "'‘’.,;:!?…-*_"
_CLAUSE: Final = re.compile(r"[.!?;:—–…\n]+(?:\s|$)| - ")
_QUOTED: Final = re.compile(
    r"\"[^\"]*\"|“[^”]{0,400}”|«[^»]{0,400}»|„[^“”]{0,400}[“”]|(?<!\w)'(?:[^']|(?<=\w)'(?=\w))*'(?!\w)|(?<![\w*])\*[^*]+\*(?![\w*])"
)
_NEAR: Final = 300
"""So many characters of a clause are read on each side of a word."""
_FALLBACK: Final = "en"


@dataclass(frozen=True, slots=True)
class Slurs:
    """The slurs of a text, as words of the list: those that it uses, and those that it only mentions."""

    used: frozenset[str]
    mentioned: frozenset[str]


def told_apart(text: str, language: str | None = None) -> Slurs:
    """The slurs that a text uses and those that it mentions; a mild word counts as used only if aimed at the reader.

    A slur that is written in a way that no single word shows (letters apart) counts as used.
    """
    text = replaced(text, senses_in(text, language))
    slurs = slurs_in(text, language)
    if not slurs:
        return Slurs(frozenset(), frozenset())
    plain = text.replace("’", "'").replace("‘", "'")
    forms = _wordings()[language if language in NAMES else _FALLBACK]
    located, used, quoted = set[str](), set[str](), bytearray(len(plain))
    for match in _QUOTED.finditer(plain):
        quoted[match.start() + 1 : match.end()] = b"\1" * (match.end() - match.start() - 1)
    for start, end, words in _places(plain, language):
        located |= words
        before, after = _clause(plain, start, end)
        if forms["aimed_before"].search(before) or forms["aimed_after"].search(after) or _is_vocative(before, after):
            used |= words
        elif not (quoted[start] or _is_mention(before, after, forms)):
            used |= words - mild_slurs()
    used |= slurs - located - mild_slurs()
    return Slurs(frozenset(used), frozenset(slurs - used))


def _places(text: str, language: str | None) -> Iterator[tuple[int, int, set[str]]]:
    for match in _TOKEN.finditer(text):
        words = slurs_in(match.group(), language)
        if words:
            bare = match.group().lstrip(_MARKS)
            start = match.end() - len(bare)
            yield start, start + len(bare.rstrip(_MARKS)), words


def _clause(text: str, start: int, end: int) -> tuple[str, str]:
    """What stands around a word in its clause, without quotation marks right beside the word."""
    before = _CLAUSE.split(text[max(0, start - _NEAR) : start])[-1]
    after = _CLAUSE.split(text[end : end + _NEAR] + " ")[0]
    return re.sub(r"[\"“«„'*]+$", "", before), re.sub(r"^[\"”»“'*]+", "", after)


def _is_vocative(before: str, after: str) -> bool:
    """Whether the word stands for the one who is spoken to: "Shut up, idiot." or "Idiot, go home."."""
    at_end = before.rstrip().endswith(",") and not after.strip(" ,'\"")
    return at_end and before.count(",") == 1


def _is_mention(before: str, after: str, forms: Mapping[str, re.Pattern[str]]) -> bool:
    if forms["word_before"].search(before) or forms["word_after"].search(after):
        return True
    is_denied = bool(forms["denied"].search(before)) and not forms["not_denied"].search(before)
    if forms["own"].search(before) and not is_denied:
        return False
    if forms["calling_before"].search(before) or forms["calling_after"].search(after):
        return True
    return is_denied and bool(forms["denied_before"].search(before))


@cache
def _wordings() -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    rows = tomllib.loads(
        resources.files("core.engine.wording").joinpath("data/mentions.toml").read_text(encoding="utf-8")
    )
    return {
        language: {name: re.compile(expression, re.IGNORECASE) for name, expression in row.items()}
        for language, row in rows.items()
    }
