"""Where a word of the list of slurs is somebody's name, or has another sense.

A name is told by a capital beside another name, after a title, or before what persons do. The rules prefer to find too
little: what they do not find stays a slur. A disguised word is never a name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from core.engine.wording.target_groups import groups_named

_TOKEN: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE_END: Final = re.compile(r"[.!?…:;\n]\W*$|^\W*$")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_ENGLISH: Final = "en"
_MOST_CAPITALS: Final = 0.6
_FEW_WORDS: Final = 3
_SHORT: Final = 2
_GIVEN: Final = frozenset("kike paki checca panchito".split())
"""Names that people are called by, with an article, too."""
_ENGLISH_SLURS: Final = frozenset("kike paki coon coons dyke dykes savage downie".split())
"""English writes peoples with a capital, so that a capital alone proves nothing of these."""


@dataclass(frozen=True, slots=True)
class OtherSense:
    """A place in a text, in code points, where a word of the list is none; ``is_name``: it names somebody."""

    start: int
    end: int
    is_name: bool


def other_senses(text: str, words: frozenset[str], names: frozenset[str], language: str | None) -> list[OtherSense]:
    """The places where listed words have another sense, in order.

    Args:
        words: the words to look for, casefolded.
        names: those of them that may be a person's or a place's name.
        language: ``None`` where it is not known; English writes peoples with a capital, so that one proves less there.
    """
    tokens = list(_TOKEN.finditer(text))
    at = [index for index, token in enumerate(tokens) if _bare(token.group()) in words]
    if not at:
        return []
    covered = bytearray(len(text))
    for match in _senses().finditer(text):
        covered[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    listed = frozenset(at)
    is_title = _is_title_case([token.group() for place, token in enumerate(tokens) if place and place not in listed])
    senses = list[OtherSense]()
    for index in at:
        token = tokens[index]
        if all(covered[token.start() : token.end()]):
            senses.append(OtherSense(*token.span(), is_name=False))
        elif _bare(token.group()) in names and not is_title and _is_name(text, tokens, index, language):
            senses.append(OtherSense(*token.span(), is_name=True))
    return senses


def replaced(text: str, senses: list[OtherSense], name: str = "Alex", *, names_only: bool = False) -> str:
    """The text with a neutral name instead of each of these places."""
    parts, at = list[str](), 0
    for sense in senses:
        if sense.is_name or not names_only:
            parts += text[at : sense.start], name
            at = sense.end
    return "".join([*parts, text[at:]])


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word).casefold()


def _is_written_as_name(word: str) -> bool:
    plain = _POSSESSIVE.sub("", word)
    return plain[:1].isupper() and plain[1:].islower()


def _is_title_case(words: list[str]) -> bool:
    """Whether most words have a capital, as in a headline, where a capital tells nothing."""
    long = [word for word in words if len(word) > _SHORT]
    return len(long) >= _FEW_WORDS and sum(word[0].isupper() for word in long) > _MOST_CAPITALS * len(long)


def _is_name(text: str, tokens: list[re.Match[str]], index: int, language: str | None) -> bool:
    token, lists = tokens[index], _lists()
    if not _is_written_as_name(token.group()):
        return False
    before = tokens[index - 1] if index and _is_beside(text, tokens[index - 1], token) else None
    after = tokens[index + 1] if index + 1 < len(tokens) and _is_beside(text, token, tokens[index + 1]) else None
    said_before = before.group().casefold() if before else ""
    said_after = after.group().casefold() if after else ""
    is_english = language in {None, _ENGLISH} and _bare(token.group()) in _ENGLISH_SLURS
    if said_before in lists["never"] or (is_english and said_before in lists["never_en"]):
        return False
    if said_before in lists["after"] | lists["greetings"] or _greets(text, tokens, index):
        return True
    if after and _is_written_as_name(after.group()) and said_after not in lists["no_surname"]:
        return _is_no_group(after.group())
    if before and _is_written_as_name(before.group()) and _is_no_group(before.group()):
        is_first = _begins(text, before)
        if not is_first or (said_before not in lists["ordinary"] and not is_english):
            return True
    if said_after in lists["verbs"]:
        return True
    if said_after in lists["joins"] and index + 2 < len(tokens) and _is_written_as_name(tokens[index + 2].group()):
        return _is_no_group(tokens[index + 2].group())
    if is_english:
        return bool(_POSSESSIVE.search(token.group())) or (
            said_before in lists["beside"] and (after is None or said_after in lists["beside"])
        )
    if _begins(text, token):  # a noun has an article here, unless somebody is called it
        return after is not None and said_after not in lists["never_before"]
    return said_before not in lists["articles"] or _bare(token.group()) in _GIVEN


def _begins(text: str, token: re.Match[str]) -> bool:
    return _SENTENCE_END.search(text[max(0, token.start() - 8) : token.start()]) is not None


def _is_no_group(word: str) -> bool:
    """Whether a word with a capital names no group, or is itself a name that is also a slur."""
    return _bare(word) in _GIVEN or not groups_named(word)


def _is_beside(text: str, left: re.Match[str], right: re.Match[str]) -> bool:
    return not text[left.end() : right.start()].strip(" -")


def _greets(text: str, tokens: list[re.Match[str]], index: int) -> bool:
    """Whether a greeting and a comma stand right before a word."""
    if not index or text[tokens[index - 1].end() : tokens[index].start()].strip() != ",":
        return False
    return tokens[index - 1].group().casefold() in _lists()["greetings"]


@cache
def _rows() -> Mapping[str, Any]:
    return tomllib.loads(
        resources.files("core.engine.wording").joinpath("data/senses.toml").read_text(encoding="utf-8")
    )


@cache
def _senses() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{expression})" for expression in _rows()["senses"]), re.IGNORECASE)


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    rows = _rows()
    lists = {name: frozenset(words.split()) for name, words in rows.items() if isinstance(words, str)}
    joins = frozenset("and y e eta".split())
    return lists | {"joins": joins, "ordinary": lists["never"] | lists["articles"] | lists["beside"] | joins}
