"""What the sources are searched for: keywords by target group, the keys of listings, and which documents are wanted.

``keywords.toml`` holds the lists of Appendix A of the RAG paper, and ours for the group "other". A keyword is lower
case; one with " & " asks for both of its sides.

A key is what one listing of a source asks for, as a string that a build can store and use again. It has the form of a
URL's query, so that it tells a person what it asks for.

Of the documents that a listing gives, each counts once; those about other groups, or too old, are not wanted.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from urllib.parse import parse_qs, urlencode

from core.errors import BadInput
from core.models import TargetGroup
from kb.documents import ListedDocument, Selection

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


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text.replace("’", "'")).strip().lower()


@cache
def _keywords() -> Mapping[TargetGroup, tuple[str, ...]]:
    lists = tomllib.loads(resources.files("kb.sources").joinpath("keywords.toml").read_text(encoding="utf-8"))
    published = {TargetGroup(group): words for group, words in lists["published"].items()}
    themes = [word for words in lists["themes"].values() for word in words]
    published[TargetGroup.OTHER] = [*themes, *lists["ours"]["other"]]
    return {
        group: tuple(dict.fromkeys(_plain(lists["normalised"].get(word, word)) for word in words))
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


def key_of(**parts: str | int | Sequence[str]) -> str:
    """The key of a listing, with its parts in the order given."""
    return urlencode(parts, doseq=True)


def parts_of(key: str, *names: str) -> tuple[str, ...]:
    """The named parts of a key, in the order of the names.

    Raises:
        BadInput: the key is of another source.
    """
    parts = parse_qs(key, keep_blank_values=True)
    if set(parts) != set(names) or any(len(values) != 1 for values in parts.values()):
        raise BadInput(f"This source has no listing {key!r}.", remedy="Take the keys from its listings().")
    return tuple(parts[name][0] for name in names)


def wanted_key(wanted: Selection) -> str:
    """The key of a source that has a single listing and picks the wanted documents from it."""
    return key_of(since=wanted.since, groups=",".join(group for group in TargetGroup if group in wanted.target_groups))


def wanted_of(key: str) -> Selection:
    since, groups = parts_of(key, "since", "groups")
    return Selection(frozenset(TargetGroup(group) for group in groups.split(",") if group), int(since))


def once_each(documents: Iterable[ListedDocument | None]) -> tuple[ListedDocument, ...]:
    """The first document of each id, in their order."""
    first: dict[str, ListedDocument] = {}
    for document in documents:
        if document is not None:
            first.setdefault(document.id, document)
    return tuple(first.values())


def is_wanted(document: ListedDocument, wanted: Selection) -> bool:
    """Whether a document is about one of the groups and not too old; unknown groups or years do not exclude it."""
    if document.year is not None and document.year < wanted.since:
        return False
    return not document.target_groups or bool(document.target_groups & wanted.target_groups)
