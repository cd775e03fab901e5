"""The keys of listings: what one listing of a source asks for, as a string that a build can store and use again.

A key has the form of a URL's query, so that it tells a person what it asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import parse_qs, urlencode

from core.errors import BadInput
from core.models import TargetGroup
from kb.documents import ListedDocument, Selection


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
