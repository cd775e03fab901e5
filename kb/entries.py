"""What an index of the library holds of each paragraph, and what a search may narrow down.

Owns the two nouns that the library, its local index and a Qdrant server share.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from core.models import TargetGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A paragraph as an index takes it.

    Attributes:
        row: the paragraph's number in the library, for ever the same; above 0, ascending, with holes.
        document: the id of its document.
        expires: the last day on which it may be used; ``None`` for ever.
    """

    row: int
    text: str
    document: str
    source: str
    publisher: str
    language: str | None
    year: int | None
    target_groups: frozenset[TargetGroup]
    expires: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a passage must be to be found; an empty field asks for nothing.

    Attributes:
        target_groups: it is about one of these.
        since: published in this year or later; a passage without a year is not found.
        until: published in this year or earlier; likewise.
        today: not expired on this day.
    """

    target_groups: frozenset[TargetGroup] = frozenset()
    since: int | None = None
    until: int | None = None
    publishers: frozenset[str] = frozenset()
    languages: frozenset[str] = frozenset()
    today: date | None = None
