"""Everyday speech that a reader of standard English takes for something else: dialect, chat, names and kind words.

Owns the lists beside this file (English). A group's everyday speech, or what people call themselves, is no proof of
hate; what a post says is the same in other words.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from core.wording.targets.groups import groups_named
from core.wording.targets.slurs import slurs_in
from core.wording.text import words

_MOST_BESIDE = 3  # words beside a slogan


def in_standard_words(text: str) -> str:
    """The text in the words that a reader of standard English knows; unchanged where it holds no everyday speech.

    Neither is a text changed that then still holds a slur, or that names a group without one: it is read as it stands.
    """
    said = _replaced(_replaced(text, "dialect"), "chat")
    said = said if said == text else " ".join(said.split()).strip(" ,")
    slurs = slurs_in(said, "en")
    is_about_a_group = slurs or (groups_named(said, "en") and not slurs_in(text, "en"))
    return text if is_about_a_group else said


def with_neutral_names(text: str) -> str:
    """The text with "Alex" for names that are frequent in one group only, where nothing is said of a group."""
    return text if _pattern("of_a_group").search(text) else _names().sub("Alex", text)


def is_everyday(text: str) -> bool:
    """Whether an English text is in dialect, and names no group, holds no slur and speaks of nobody but one person."""
    said = _replaced(text, "dialect")
    return said != text and not (_pattern("charged").search(said) or groups_named(said, "en") or slurs_in(said, "en"))


def is_friendly(text: str) -> bool:
    """Whether an English text says something kind of a group, and nothing that turns it round."""
    return bool(
        _pattern("friendly").search(text)
        and not _pattern("unfriendly").search(text)
        and groups_named(text, "en")
        and not slurs_in(text, "en")
    )


def is_slogan(text: str) -> bool:
    """Whether an English text is a call to stand by a group, such as "Black Lives Matter", and hardly anything else."""
    rest = _pattern("slogans").sub(" ", text)
    return rest != text and len(words(rest)) <= _MOST_BESIDE and not _pattern("unfriendly").search(rest)


def objects_to_quote(text: str) -> bool:
    """Whether an English text objects, in lines of its own, to lines that it quotes behind ">"."""
    own = [line for line in text.splitlines() if not line.lstrip().startswith(">")]
    said = "\n".join(own).replace("’", "'")
    return len(own) < len(text.splitlines()) and bool(_pattern("objects").search(said)) and not slurs_in(said, "en")


@cache
def _names() -> re.Pattern[str]:
    names = "|".join(_rows()["names"].split())
    return re.compile(rf"(?<!\ban )(?<!\ba )(?<!\bno )(?<!\bthe )(?<!\bmore )\b(?:{names})\b", re.IGNORECASE)


@cache
def _rows() -> Mapping[str, Any]:
    return tomllib.loads(resources.files("core.wording").joinpath("everyday.toml").read_text(encoding="utf-8"))


def _replaced(text: str, kind: str) -> str:
    for written, standard in _words(kind):
        text = written.sub(standard, text)
    return text


@cache
def _words(kind: str) -> Sequence[tuple[re.Pattern[str], str]]:
    return [(re.compile(written, re.IGNORECASE), standard) for written, standard in _rows()[kind]]


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(_rows()[name], re.IGNORECASE)
