"""Which of the target groups a text names, by a list of words for them, also disguised ("J*ws", "musl1ms").

A word names a group; ``core.engine.reading.signals`` decides whether the group is attacked.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from core.engine.wording.disguises import SIGNS
from core.engine.wording.text import MAX_POST_CHARACTERS
from core.models import TargetGroup

_DISGUISED = re.compile(r"(?<![\w*@$])[^\W\d_][\w*@$]*[*\d@$][\w*@$]*(?![\w*@$])")
_LETTERS_OF = {"*": r"\w"} | {sign: f"[{letters}]" for sign, letters in SIGNS.items()}
_LEAST_LETTERS = 2
_LONGEST = 30


def groups_named(text: str, language: str | None = None) -> frozenset[TargetGroup]:
    """The groups that a text names, in its language or, where that is not known, in any.

    A short word of one language may be another word in a second one, so a known language limits the search. A word
    inside a longer name belongs to that name: "born a man or a woman" is not about women. No more is read than a post
    may hold.
    """
    plain = text[:MAX_POST_CHARACTERS].replace("’", "'")
    patterns = words_for_groups()
    patterns_of = [patterns[language]] if language is not None and language in patterns else list(patterns.values())
    spans: dict[tuple[int, int], set[TargetGroup]] = {}
    for by_group in patterns_of:
        for group, words in by_group.items():
            for match in words.finditer(plain):
                spans.setdefault(match.span(), set()).add(group)
    groups, reached = set[TargetGroup](), 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if end > reached:  # what ends before lies inside a name that begins no later
            groups |= spans[start, end]
            reached = end
    return frozenset(groups)


def undisguised(text: str, language: str | None = None) -> str:
    """The text with the names of groups spelled out where stars, digits or signs replace some of their letters.

    A disguise that may hide names of several groups, or shows fewer than two letters, is not changed.
    """
    return _DISGUISED.sub(lambda match: _spelled_out(match.group(), language), text)


def _spelled_out(token: str, language: str | None) -> str:
    if sum(character.isalpha() for character in token) < _LEAST_LETTERS or len(token) > _LONGEST:
        return token
    folded = token.casefold()
    letters = [_LETTERS_OF.get(character, re.escape(character)) for character in folded]
    hidden: dict[TargetGroup, str] = {}
    for group, name, is_beginning in _names(language).get(folded[0], ()):
        ends = min(len(name), len(folded)) if is_beginning else len(folded)
        if re.fullmatch("".join(letters[:ends]), name):
            hidden.setdefault(group, name + folded[ends:].rstrip("*"))
    if len(hidden) != 1:
        return token
    (word,) = hidden.values()
    return word.capitalize() if token[0].isupper() else word


@cache
def _names(language: str | None) -> Mapping[str, Sequence[tuple[TargetGroup, str, bool]]]:
    """The single words for groups in a language, or in any, by their first letter, which no disguise hides.

    The longest come first, each with whether a word may go on.
    """
    names = [
        (TargetGroup(group), word.removesuffix("*").casefold(), word.endswith("*"))
        for group, by_language in _rows().items()
        for own, words in by_language.items()
        if own == language or language not in by_language
        for word in words
        if " " not in word
    ]
    names.sort(key=lambda name: -len(name[1]))
    return {first: [name for name in names if name[1][0] == first] for first in {name[1][0] for name in names}}


@cache
def _rows() -> Mapping[str, Mapping[str, list[str]]]:
    """The list: words by group and language."""
    return tomllib.loads(
        resources.files("core.engine.wording").joinpath("data/groups.toml").read_text(encoding="utf-8")
    )


@cache
def words_for_groups() -> Mapping[str, Mapping[TargetGroup, re.Pattern[str]]]:
    """The names of each group, by language."""
    patterns: dict[str, dict[TargetGroup, re.Pattern[str]]] = {}
    for group, by_language in _rows().items():
        for language, words in by_language.items():
            patterns.setdefault(language, {})[TargetGroup(group)] = _any(words)
    return patterns


def _any(words: list[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    escaped = (re.escape(word.removesuffix("*")) + (r"\w*" if word.endswith("*") else "") for word in longest_first)
    return re.compile(rf"(?<!\w)(?:{'|'.join(escaped)})(?!\w)", re.IGNORECASE)
