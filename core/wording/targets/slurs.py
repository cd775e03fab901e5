"""Slurs and insults in a text, also in many disguises.

Owns the list beside this file. ``core.wording.targets.mentions`` tells which of them a text uses and which it only
mentions. A text without them may still have a bad tone, which the reader of drafts measures.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import resources

from core.wording.disguises import READINGS, bare
from core.wording.text import words

_STARRED = re.compile(r"(?<![\w*])[^\W\d_]+\*+[\w*]*(?![\w*])")


@cache
def _slurs(language: str | None = None) -> frozenset[str]:
    """The words of the list, without those that are ordinary in the language (``word = es``)."""
    return frozenset(word for word, notes in _rows() if language not in notes)


@cache
def mild_slurs() -> frozenset[str]:
    """The words that a reply may need, or that people call themselves (``word = mild``)."""
    return frozenset(word for word, notes in _rows() if "mild" in notes)


@cache
def _rows() -> tuple[tuple[str, frozenset[str]], ...]:
    lines = resources.files("core.wording.targets").joinpath("slurs.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.casefold().partition("=") for line in lines if line.strip() and not line.startswith("#")]
    return tuple((word.strip(), frozenset(notes.split())) for word, _, notes in rows)


def slurs_in(text: str, language: str | None = None) -> set[str]:
    """The slurs and insults in a text, disguises undone; in a text of a known language, less its ordinary words.

    These disguises are undone: signs and letters of other alphabets that look like letters, accents, letters that are
    repeated, spaced apart or invisible, marks inside a word, and stars instead of letters.
    """
    spellings = [variant for plain in _without_signs(text) for variant in _joined(plain)]
    found = {word.partition("'")[0] for spelling in spellings for word in words(spelling)}
    hidden = {slur for starred in _STARRED.findall(spellings[0]) for slur in _hidden_by(starred)}
    return (found | hidden) & _slurs(language)


@lru_cache(maxsize=20_000)
def is_slur(word: str) -> bool:
    """Whether one word is a slur or an insult; remembered, since one vocabulary is looked through for every post."""
    return bool(slurs_in(word))


def _without_signs(text: str) -> list[str]:
    """A text in plain lower-case letters: unchanged, and with each reading of the signs as letters."""
    plain = bare(text)
    marked = re.sub(r"(?:(?<=\w)|(?<!\S))[!|](?=\w)", "i", plain)
    return [plain, *(marked.translate(table) for table in READINGS)]


def _joined(plain: str) -> list[str]:
    """A text unchanged, with repeated letters written once or twice, and with divided words joined."""
    readings = [plain, *(re.sub(r"(.)\1{2,}", letters, plain) for letters in (r"\1", r"\1\1"))]
    whole = [re.sub(r"(?<=\w)[-.*_·]+(?=\w)", "", reading) for reading in readings]
    spaced = [re.sub(r"\b(\w)(?:[\s.,/*_-]+(?=\w\b))", r"\1", reading) for reading in readings]
    return [*readings, *whole, *spaced]


def _hidden_by(starred: str) -> set[str]:
    pattern = re.compile(starred.replace("*", r"\w"))
    return {slur for slur in _slurs() if pattern.fullmatch(slur)}
