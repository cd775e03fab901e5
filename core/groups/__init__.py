"""Which of the target groups a text names, by the words for them.

Owns the list beside this file. A word names a group, it does not say that the group is attacked: that is for
``core.reading`` to tell.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from core.models import TargetGroup


def groups_named(text: str, language: str | None = None) -> frozenset[TargetGroup]:
    """The groups that a text names, in its language or, where that is not known, in any.

    Short words of one language are other words in another, so a known language is taken at its word. A word inside a
    longer name is that name's: "born a man or a woman" is not about women.
    """
    plain = text.replace("’", "'")
    patterns = words_for_groups()
    known = [patterns[language]] if language is not None and language in patterns else list(patterns.values())
    spans = [
        (group, match.span())
        for by_group in known
        for group, words in by_group.items()
        for match in words.finditer(plain)
    ]
    return frozenset(group for group, span in spans if not any(_is_inside(span, other) for _, other in spans))


def _is_inside(span: tuple[int, int], other: tuple[int, int]) -> bool:
    return other[0] <= span[0] and span[1] <= other[1] and span != other


@cache
def words_for_groups() -> Mapping[str, Mapping[TargetGroup, re.Pattern[str]]]:
    """What names each group, by language."""
    rows = tomllib.loads(resources.files("core.groups").joinpath("words.toml").read_text(encoding="utf-8"))
    patterns: dict[str, dict[TargetGroup, re.Pattern[str]]] = {}
    for group, by_language in rows.items():
        for language, words in by_language.items():
            patterns.setdefault(language, {})[TargetGroup(group)] = _any(words)
    return patterns


def _any(words: list[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    escaped = (re.escape(word.removesuffix("*")) + (r"\w*" if word.endswith("*") else "") for word in longest_first)
    return re.compile(rf"(?<!\w)(?:{'|'.join(escaped)})(?!\w)", re.IGNORECASE)
