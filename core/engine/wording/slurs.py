"""Slurs and insults in a text, also in many disguises; codes of hate; and calls that name nobody.

A text without them may still have a bad tone, which the reader of drafts measures.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources

from core.engine.wording.disguises import hidden_by, spellings, starred
from core.engine.wording.slur_senses import OtherSense, other_senses, replaced
from core.engine.wording.target_groups import groups_named
from core.engine.wording.text import words


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
    lines = resources.files("core.engine.wording").joinpath("data/slurs.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.casefold().partition("=") for line in lines if line.strip() and not line.startswith("#")]
    return tuple((word.strip(), frozenset(notes.split())) for word, _, notes in rows)


@cache
def _names() -> frozenset[str]:
    """The words that people and places are called, too (``word = name``)."""
    return frozenset(word for word, notes in _rows() if "name" in notes)


def senses_in(text: str, language: str | None = None) -> list[OtherSense]:
    """The places of a text where a word of the list is a name or has another sense."""
    return other_senses(text, _slurs(), _names(), language)


def slurs_in(text: str, language: str | None = None) -> set[str]:
    """The slurs and insults in a text, disguises undone, less names, other senses and its language's ordinary words.

    These disguises are undone: signs and letters of other alphabets that look like letters, accents, letters that are
    repeated, spaced apart or invisible, marks inside a word, and stars instead of letters.
    """
    return _listed_in(replaced(text, senses_in(text, language)), language)


def homonyms_in(text: str, language: str | None = None) -> set[str]:
    """The words of the list that a text holds only as a name or in another sense."""
    senses = senses_in(text, language)
    return _listed_in(text, language) - _listed_in(replaced(text, senses), language) if senses else set()


def _listed_in(text: str, language: str | None) -> set[str]:
    readings = spellings(text)
    listed = {word.partition("'")[0] for spelling in readings for word in words(spelling)}
    hidden = {slur for token in starred(readings[0]) for slur in hidden_by(token, _slurs())}
    return (listed | hidden) & _slurs(language)


@lru_cache(maxsize=20_000)
def is_slur(word: str) -> bool:
    """Whether one word is a slur or an insult; remembered, since one vocabulary is looked through for every post."""
    return bool(slurs_in(word))


def is_coded(text: str) -> bool:
    """Whether a text uses a code of hate, or calls one of the groups an illness; not one that explains or objects."""
    patterns = _patterns()
    return bool(
        patterns["codes"].search(text)
        or any(groups_named(match.group()) for match in patterns["of_groups"].finditer(text))
    ) and not patterns["about"].search(text)


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    rows = tomllib.loads(resources.files("core.engine.wording").joinpath("data/codes.toml").read_text(encoding="utf-8"))
    flags = re.IGNORECASE | re.MULTILINE
    return {name: re.compile(form if isinstance(form, str) else "|".join(form), flags) for name, form in rows.items()}
