"""Approvals in the database, with the row of the outbox that each brings.

Owns what is written when somebody approves: the first of two approvals, or the approval itself. Works inside the
caller's transaction and never commits.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from sqlalchemy import select

from bot.store.cases import Case, target_hash, touch
from bot.store.communities import Community
from bot.store.database import Session
from bot.store.dialect import insert_new
from bot.store.schema import ApprovalRow, FirstApprovalRow, OutboxRow, OutboxState
from core.review import ApprovedReply


@dataclass(frozen=True, slots=True)
class First:
    """The first of two approvals of one text; ``moderator`` is a pseudonym."""

    moderator: str
    sha256: str
    policy_version: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Origin:
    """The draft that an approved text comes from, if any, and whether a person changed it."""

    suggestion_id: str | None
    draft_rank: int | None
    is_edited: bool


async def firsts(session: Session, case: Case) -> list[First]:
    """The first approvals of a case as it stands now, oldest first."""
    query = select(FirstApprovalRow).filter_by(case_id=case.id, version=case.version)
    rows = await session.scalars(query.order_by(FirstApprovalRow.at, FirstApprovalRow.moderator))
    return [First(row.moderator, row.sha256, row.policy_version, row.at) for row in rows]


async def keep_first(session: Session, case: Case, first: First) -> None:
    """Keep the first of two approvals; approving twice does not make two persons."""
    row = {
        "case_id": case.id,
        "version": case.version,
        "sha256": first.sha256,
        "moderator": first.moderator,
        "policy_version": first.policy_version,
        "at": first.at,
    }
    if await insert_new(session, FirstApprovalRow, row, "case_id", "version", "sha256", "moderator"):
        await touch(session, case.id)


async def keep(
    session: Session,
    case: Case,
    community: Community,
    reply: ApprovedReply,
    footer: str,
    origin: Origin,
    *,
    seconded_by: str | None,
    holds_for: timedelta,
    undo_for: timedelta,
) -> None:
    """Keep an approval, and let its reply wait in the outbox until nobody can undo it any more."""
    session.add(
        ApprovalRow(
            id=reply.approval_id,
            case_id=case.id,
            suggestion_id=origin.suggestion_id,
            draft_rank=origin.draft_rank,
            text=reply.text,
            footer=footer,
            sha256=reply.sha256,
            moderator=reply.moderator,
            seconded_by=seconded_by,
            approved_at=reply.approved_at,
            expires_at=reply.approved_at + holds_for,
            policy_version=community.rules_version,
            edited=origin.is_edited,
            target_sha256=await target_hash(session, case.id),
        )
    )
    await session.flush()
    session.add(
        OutboxRow(
            id=uuid4().hex,
            approval_id=reply.approval_id,
            state=OutboxState.QUEUED,
            not_before=session.moment + undo_for,
            attempts=0,
            updated_at=session.moment,
        )
    )
    await session.flush()
