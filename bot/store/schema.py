"""The tables, as SQLAlchemy declarative classes.

Owns the columns and what the database itself refuses: a state outside the graph, a second case for one post, a
second send of one approval, a changed line of the audit log. Must never hold a query or a decision.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import DDL, JSON, DateTime, Enum, ForeignKey, Index, Text, UniqueConstraint, event
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

from core.review import CaseState


class OutboxState(StrEnum):
    """Where one send stands (reliability, section 1.2)."""

    QUEUED = "queued"
    SENDING = "sending"
    POSTED = "posted"
    UNKNOWN = "unknown"
    FAILED = "failed"
    CANCELLED = "cancelled"


class UtcDateTime(TypeDecorator[datetime]):
    """A moment: stored as UTC, given back aware. A naive time is refused, since nobody knows when it was."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn an aware time into naive UTC, as SQLite stores it."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("A time without a time zone cannot be stored.")
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Say of a stored time that it is UTC."""
        return None if value is None else value.replace(tzinfo=UTC)


def _stored(states: type[StrEnum], name: str) -> Enum:
    """A text column with a CHECK constraint that lists the values of ``states``."""
    return Enum(
        states,
        name=name,
        native_enum=False,
        create_constraint=True,
        validate_strings=True,
        values_callable=lambda members: [member.value for member in members],
    )


class Base(DeclarativeBase):
    """The root of all tables."""

    type_annotation_map = {datetime: UtcDateTime, str: Text, list[dict[str, Any]]: JSON}  # noqa: RUF012


class CaseRow(Base):
    """One flagged post and where it stands. ``version`` grows by one with every transition."""

    __tablename__ = "cases"
    __table_args__ = (
        UniqueConstraint("platform", "community", "channel", "message", name="one_case_per_post"),
        Index("cases_by_state", "state", "created_at"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    platform: Mapped[str]
    community: Mapped[str]
    channel: Mapped[str]
    message: Mapped[str]
    text: Mapped[str]
    author: Mapped[str]
    flagged_by: Mapped[str]
    flagged_how: Mapped[str]
    thread: Mapped[list[dict[str, Any]]]
    state: Mapped[CaseState] = mapped_column(_stored(CaseState, "case_state"))
    version: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class SuggestionRow(Base):
    """What the engine said about a case, as one JSON document (``bot.store.documents``)."""

    __tablename__ = "suggestions"
    __table_args__ = (Index("suggestions_by_case", "case_id", "created_at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"))
    document: Mapped[str]
    created_at: Mapped[datetime]


class ClaimChoiceRow(Base):
    """A counter-claim that a moderator chose; who and when stands in the audit line of the same ``version``."""

    __tablename__ = "claim_choices"

    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    claim: Mapped[str]


class ApprovalRow(Base):
    """A person's approval of one exact text; ``target_sha256`` is the hash of the post that it answers."""

    __tablename__ = "approvals"
    __table_args__ = (Index("approvals_by_case", "case_id"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"))
    suggestion_id: Mapped[str | None] = mapped_column(ForeignKey("suggestions.id"))
    draft_rank: Mapped[int | None]
    text: Mapped[str]
    sha256: Mapped[str]
    moderator: Mapped[str]
    approved_at: Mapped[datetime]
    edited: Mapped[bool]
    target_sha256: Mapped[str]


class OutboxRow(Base):
    """The send of one approval: one row at most for each, never before ``not_before``."""

    __tablename__ = "outbox"
    __table_args__ = (Index("outbox_by_state", "state", "not_before"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    approval_id: Mapped[str] = mapped_column(ForeignKey("approvals.id"), unique=True)
    state: Mapped[OutboxState] = mapped_column(_stored(OutboxState, "outbox_state"))
    not_before: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=0)
    remote_message: Mapped[str | None] = mapped_column(default=None)
    error: Mapped[str | None] = mapped_column(default=None)
    updated_at: Mapped[datetime]


class AuditRow(Base):
    """One move of a case: who, why and when. Append-only, by trigger; one line for each version."""

    __tablename__ = "audit"
    __table_args__ = (
        UniqueConstraint("case_id", "version", name="one_audit_line_per_version"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"))
    from_state: Mapped[CaseState | None] = mapped_column(_stored(CaseState, "audit_from_state"))
    to_state: Mapped[CaseState] = mapped_column(_stored(CaseState, "audit_to_state"))
    version: Mapped[int]
    actor: Mapped[str]
    reason: Mapped[str]
    at: Mapped[datetime]


for _verb in ("UPDATE", "DELETE"):
    event.listen(
        AuditRow.__table__,
        "after_create",
        DDL(  # type: ignore[no-untyped-call]  # SQLAlchemy 2.1 leaves this constructor untyped
            f"CREATE TRIGGER audit_refuses_{_verb.lower()} BEFORE {_verb} ON audit "
            "BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"
        ).execute_if(dialect="sqlite"),
    )
