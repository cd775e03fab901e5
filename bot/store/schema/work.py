"""Work that waits or is done under a lease, updates of platforms that wait, and which process may hand them out."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, Index
from sqlalchemy.orm import Mapped, mapped_column

from bot.store.schema.base import Base, stored
from core.i18n.sentences import Said


class JobState(StrEnum):
    """The state of a piece of work."""

    READY = "ready"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


class JobRow(Base):
    """One piece of work. ``key`` says what it is, so that it is enqueued only once, however often it is asked for.

    A running job belongs to ``owner`` until ``lease_until``; ``attempts`` grows before work begins, and is the fence: a
    worker that finishes must name the present attempt. ``excused`` counts the attempts that ended through no fault of
    the work: its worker was stopped, or the model was away. ``started_at`` is when the last attempt began.
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
    """When a community's work was last taken, so that another community has the next turn."""

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
    """The state of a chat platform in the process that serves it."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    WAITING = "waiting"
    REFUSED = "refused"


class PlatformRow(Base):
    """The state of a platform in one process (``owner``), and since when; the process is gone if ``until`` is over.

    If it is not connected, ``message`` and ``remedy`` are those of an error: sentences of ours. A platform that waits
    is tried again at ``again_at``, after ``failures`` failed attempts in a row.
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


class UpdateState(StrEnum):
    """What became of an update: ``UNKNOWN`` is one of a kind that this version does not know."""

    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"


class UpdateRow(Base):
    """An update of a platform, as an account of ours there received it.

    ``payload`` is JSON as the platform sent it, with words of posts; it is erased once the update was dealt with.
    Updates of one ``lane`` are handled in their order; ``is_urgent`` ones before all others.
    """

    __tablename__ = "updates"
    __table_args__ = (
        Index("updates_waiting", "platform", "account", "state", "is_urgent", "received_at", "number"),
        Index("updates_by_age", "received_at"),
    )

    platform: Mapped[str] = mapped_column(primary_key=True)
    account: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    state: Mapped[UpdateState] = mapped_column(stored(UpdateState, "update_state"))
    lane: Mapped[str]
    is_urgent: Mapped[bool]
    payload: Mapped[str | None]
    received_at: Mapped[datetime]


class OffsetRow(Base):
    """What an account asks a platform for next, in the platform's own words, and when it was stored."""

    __tablename__ = "offsets"

    platform: Mapped[str] = mapped_column(primary_key=True)
    account: Mapped[str] = mapped_column(primary_key=True)
    cursor: Mapped[str]
    stored_at: Mapped[datetime]


class DigestRow(Base):
    """A hash over the heads of all chains of the audit log at a moment, so that a missing chain is noticed too."""

    __tablename__ = "digests"

    slot: Mapped[str] = mapped_column(primary_key=True)
    streams: Mapped[int]
    last_line: Mapped[int]
    sha256: Mapped[str]
    at: Mapped[datetime]
