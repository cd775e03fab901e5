"""What the library returns: revisions and paragraphs, read from its rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from core.models import TargetGroup
from kb.documents import ListedDocument


class Trust(StrEnum):
    """How far a source is trusted: documents of ``HIGH`` need no acceptance, passages of ``LOW`` rank lower."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


class State(StrEnum):
    """What became of a revision."""

    QUARANTINED = "quarantined"
    ACCEPTED = "accepted"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Says:
    """What a file says about itself, or what was found out about it: its language.

    ``labels`` are the numbers that its pages bear in print, by the page's place in the file, where they differ.
    """

    title: str | None = None
    author: str | None = None
    year: int | None = None
    language: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Revision:
    """One version of a document's file, which is at ``file`` below the folder.

    ``decided_by`` names the person who accepted or rejected it; ``None`` where its source is trusted, or nobody decided
    yet. ``says`` is what the file says about itself.
    """

    revision: int
    document: str
    state: State
    sha256: str
    file: str
    media_type: str
    fetched_at: datetime
    notes: tuple[str, ...]
    decided_by: str | None
    says: Says = Says()


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph with its document; ``text`` is ``page[start:end]`` of the accepted revision.

    ``label`` is the number that the page bears in print, where the file says another than ``page``.
    """

    id: int
    document: ListedDocument
    page: int
    start: int
    end: int
    text: str
    trust: Trust
    label: str = ""


def groups_in(stored: str) -> frozenset[TargetGroup]:
    return frozenset(TargetGroup(group) for group in json.loads(stored))


def listed_in(row: sqlite3.Row) -> ListedDocument:
    return ListedDocument(
        id=row["id"],
        source=row["source"],
        url=row["url"],
        page=row["page"],
        title=row["title"],
        publisher=row["publisher"],
        type=row["type"],
        year=row["year"],
        language=row["language"],
        target_groups=groups_in(row["target_groups"]),
        document=row["document"],
        licence=row["licence"],
        jurisdiction=row["jurisdiction"],
        expires=date.fromisoformat(row["expires"]) if row["expires"] else None,
    )


def revision_in(row: sqlite3.Row) -> Revision:
    return Revision(
        revision=row["revision"],
        document=row["document"],
        state=State(row["state"]),
        sha256=row["sha256"],
        file=row["file"],
        media_type=row["media_type"],
        fetched_at=datetime.fromisoformat(row["fetched_at"]),
        notes=tuple(json.loads(row["notes"])),
        decided_by=row["decided_by"],
        says=Says(**json.loads(row["says"] or "{}")),
    )
