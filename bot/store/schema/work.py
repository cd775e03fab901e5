"""Work that waits or is done under a lease, and who may hand it out."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from bot.store.schema.base import Base, stored
from core.i18n.sentences import Said


class JobState(StrEnum):
    """Where a piece of work stands."""

    READY = "ready"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


class JobRow(Base):
    """One piece of work. ``key`` says what it is, so that it is enqueued once however often somebody asks.

    A running job belongs to ``owner`` until ``lease_until``; ``attempts`` grows before work begins, and is the fence:
    who finishes must still name the attempt that was begun. ``excused`` counts the attempts that ended because their
    worker was stopped, which is no fault of the work. ``started_at`` is when the last attempt began.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index("jobs_due", "state", "kind", "priority", "community_id", "run_at", "id"),
        Index("jobs_by_case", "case_id"),
        Index("jobs_by_end", "state", "kind", "updated_at"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(unique=True)
    kind: Mapped[str]
    community_id: Mapped[str]
    case_id: Mapped[str | None]
    payload: Mapped[dict[str, Any]]
    priority: Mapped[int]
    state: Mapped[JobState] = mapped_column(stored(JobState, "job_state"))
    run_at: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=0)
    excused: Mapped[int] = mapped_column(default=0)
    started_at: Mapped[datetime | None] = mapped_column(default=None)
    owner: Mapped[str | None] = mapped_column(default=None)
    lease_until: Mapped[datetime | None] = mapped_column(default=None)
    progress: Mapped[str | None] = mapped_column(default=None)
    error: Mapped[Said | None] = mapped_column(default=None)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class TurnRow(Base):
    """When a community's work was taken last, so that the next turn is another one's."""

    __tablename__ = "turns"

    community_id: Mapped[str] = mapped_column(primary_key=True)
    served_at: Mapped[datetime]


class LeadershipRow(Base):
    """Which process holds an office that only one may hold, such as the scheduler's, and until when."""

    __tablename__ = "leaderships"

    office: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str]
    until: Mapped[datetime]


class PlatformState(StrEnum):
    """How a chat platform stands in the process that serves it."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    WAITING = "waiting"
    REFUSED = "refused"


class PlatformRow(Base):
    """How a platform stands in one process (``owner``), since when; the process is gone if ``until`` is over.

    Where it is not connected, ``message`` and ``remedy`` are those of an error: sentences of ours. One that waits is
    tried again at ``again_at``, after ``failures`` attempts in a row failed.
    """

    __tablename__ = "platforms"

    platform: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[PlatformState] = mapped_column(stored(PlatformState, "platform_state"))
    since: Mapped[datetime]
    failures: Mapped[int]
    message: Mapped[dict[str, Any]]
    remedy: Mapped[dict[str, Any]]
    again_at: Mapped[datetime | None]
    until: Mapped[datetime]


class DigestRow(Base):
    """A hash over the heads of all chains of the audit log at a moment, so that a missing chain shows, too."""

    __tablename__ = "digests"

    slot: Mapped[str] = mapped_column(primary_key=True)
    streams: Mapped[int]
    last_line: Mapped[int]
    sha256: Mapped[str]
    at: Mapped[datetime]
