"""Approvals, the outbox, and what happened to posted replies."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from bot.store.schema.base import Base, stored
from core.i18n.sentences import Said


class OutboxState(StrEnum):
    """The state of one send (reliability, section 1.2)."""

    QUEUED = "queued"
    SENDING = "sending"
    POSTED = "posted"
    UNKNOWN = "unknown"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SHADOWED = "shadowed"
    RETRACTED = "retracted"


class ApprovalRow(Base):
    """A person's approval of one exact text; ``target_sha256`` is the hash of the post that it answers.

    ``text`` is all that is posted; ``footer`` is the part that discloses Antiphon, and ``quote`` the words of the post
    that the platform shows above it, "" for none; ``sha256`` binds text and quote. The approval holds until
    ``expires_at``, while the community's ``rules_version`` is ``policy_version``. If the rules ask for two persons,
    ``moderator`` approved first, and ``seconded_by`` then approved the same bytes.
    """

    __tablename__ = "approvals"
    __table_args__ = (Index("approvals_by_case", "case_id"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"))
    suggestion_id: Mapped[str | None] = mapped_column(ForeignKey("suggestions.id"))
    draft_rank: Mapped[int | None]
    text: Mapped[str]
    footer: Mapped[str]
    sha256: Mapped[str]
    moderator: Mapped[str]
    seconded_by: Mapped[str | None]
    approved_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    policy_version: Mapped[int]
    edited: Mapped[bool]
    target_sha256: Mapped[str]
    quote: Mapped[str] = mapped_column(default="")


class FirstApprovalRow(Base):
    """The first of two approvals, where the rules ask for two persons: of this text, at this version of the case.

    Like an approval it holds until ``expires_at``, and only while the community's ``rules_version`` is
    ``policy_version``.
    """

    __tablename__ = "first_approvals"

    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    sha256: Mapped[str] = mapped_column(primary_key=True)
    moderator: Mapped[str] = mapped_column(primary_key=True)
    policy_version: Mapped[int]
    at: Mapped[datetime]
    expires_at: Mapped[datetime]


class OutboxRow(Base):
    """The send of one approval: at most one row for each; not sent before ``not_before``.

    ``first_sent_at`` is when the intent of the first attempt was committed; a live sender holds the row until
    ``lease_until``.
    """

    __tablename__ = "outbox"
    __table_args__ = (
        Index("outbox_by_state", "state", "not_before"),
        Index("outbox_by_time", "state", "first_sent_at"),
        Index("outbox_by_message", "remote_message"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    approval_id: Mapped[str] = mapped_column(ForeignKey("approvals.id"), unique=True)
    state: Mapped[OutboxState] = mapped_column(stored(OutboxState, "outbox_state"))
    not_before: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=0)
    first_sent_at: Mapped[datetime | None] = mapped_column(default=None)
    lease_until: Mapped[datetime | None] = mapped_column(default=None)
    remote_message: Mapped[str | None] = mapped_column(default=None)
    posted_at: Mapped[datetime | None] = mapped_column(default=None)
    error: Mapped[Said | None] = mapped_column(default=None)
    updated_at: Mapped[datetime]


class OutcomeRow(Base):
    """What a follow-up found some time after a reply was posted; ``None`` where the platform could not say."""

    __tablename__ = "outcomes"

    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    after_hours: Mapped[int] = mapped_column(primary_key=True)
    reply_stands: Mapped[bool | None]
    original_stands: Mapped[bool | None]
    author_flagged_again: Mapped[int]
    at: Mapped[datetime]
