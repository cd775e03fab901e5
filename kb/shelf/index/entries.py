"""What the index of the library knows of a paragraph, and what a search may ask for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from core.models import TargetGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class ParagraphEntry:
    """A paragraph with what can be filtered by.

    Attributes:
        row: the paragraph's number in the library, which never changes and is above 0.
        document: the id of its document.
        source: where the document comes from: ``un``, ``eurlex``, ``fra``, ``folder``.
        language: ISO 639-1; ``None`` counts as English.
        year: of publication; ``None`` where nobody knows.
        expires: the last day on which it may be used; ``None`` for ever.
    """

    row: int
    text: str
    document: str
    source: str
    publisher: str
    language: str | None = None
    year: int | None = None
    target_groups: frozenset[TargetGroup] = frozenset()
    expires: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which paragraphs a search may return; what is left out does not narrow it.

    Attributes:
        target_groups: those about one of these.
        since_year: those of this year or later, never one without a year; likewise ``until_year``.
        today: those that have not expired on that day.
        per_document: the most paragraphs of one document.
    """

    target_groups: frozenset[TargetGroup] = frozenset()
    since_year: int | None = None
    until_year: int | None = None
    publishers: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    languages: frozenset[str] = frozenset()
    today: date | None = None
    per_document: int | None = None


EVERYTHING = Filters()
"""No filter at all."""
