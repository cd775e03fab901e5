"""What the sources are searched for: keywords by target group, and which group a keyword or a title belongs to.

``keywords.toml`` holds the lists of Appendix A of the RAG paper, and ours for the group "other". A keyword is lower
case; one with " & " asks for both of its sides.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources

from core.models import TargetGroup

BOTH = " & "
"""The mark between two phrases that must both occur."""
_SPACES = re.compile(r"\s+")


def keywords_of(group: TargetGroup) -> tuple[str, ...]:
    """The keywords of a group, each once, in the order of the published list."""
    return _keywords()[group]


def groups_of(keyword: str) -> frozenset[TargetGroup]:
    """The groups of a keyword; several where their lists share it."""
    return frozenset(group for group, keywords in _keywords().items() if keyword in keywords)


def keywords_for(groups: Iterable[TargetGroup]) -> tuple[str, ...]:
    """The keywords of several groups, each once, in a fixed order."""
    selected = frozenset(groups)
    return tuple(dict.fromkeys(word for group in TargetGroup if group in selected for word in keywords_of(group)))


def phrases_of(keyword: str) -> tuple[str, ...]:
    return tuple(keyword.split(BOTH))


def groups_in(text: str) -> frozenset[TargetGroup]:
    """The groups whose keywords occur in a title or a teaser, as whole words or their plurals."""
    plain = _plain(text)
    return frozenset(
        group
        for group, keywords in _patterns().items()
        if any(all(phrase.search(plain) for phrase in phrases) for phrases in keywords)
    )


def normalised(published: str, corrections: Mapping[str, str]) -> str:
    """A published keyword as it is searched: corrected, in lower case, with plain apostrophes and single spaces."""
    return _plain(corrections.get(published, published))


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text.replace("’", "'")).strip().lower()


@cache
def _keywords() -> Mapping[TargetGroup, tuple[str, ...]]:
    lists = tomllib.loads(resources.files("kb.sources").joinpath("keywords.toml").read_text(encoding="utf-8"))
    published = {TargetGroup(group): words for group, words in lists["published"].items()}
    themes = [word for words in lists["themes"].values() for word in words]
    published[TargetGroup.OTHER] = [*themes, *lists["ours"]["other"]]
    return {
        group: tuple(dict.fromkeys(normalised(word, lists["normalised"]) for word in words))
        for group, words in published.items()
    }


@cache
def _patterns() -> Mapping[TargetGroup, tuple[tuple[re.Pattern[str], ...], ...]]:
    return {
        group: tuple(tuple(_whole_words(phrase) for phrase in phrases_of(word)) for word in words)
        for group, words in _keywords().items()
    }


def _whole_words(phrase: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(phrase)}(?:s|es)?(?!\w)")
