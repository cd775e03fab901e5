"""Exact texts that people were shown, and their approvals: the first of two, or the approval with its outbox row.

A proposal does not approve anything. It is kept so that a person confirms exactly what they were shown, and so that a
second person can read what the first one approved.
"""

import secrets
import string
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

from sqlalchemy import and_, delete, or_, select, update

from core.desk.database.connection import Session, insert_new
from core.desk.rules.approval import CLOSED, ApprovedReply, CaseState
from core.desk.rules.roles import OnCase, may_on_case
from core.desk.schema import ApprovalRow, CaseRow, CommunityRow, FirstApprovalRow, OutboxRow, OutboxState, ProposalRow
from core.desk.store.cases import Case, target_hash, touch
from core.desk.store.communities import Community
from core.desk.store.people import roles_of

_PROPOSALS_KEPT: Final = timedelta(days=1)
_ALPHABET: Final = string.ascii_lowercase + string.digits
_ID_LENGTH: Final = 16


@dataclass(frozen=True, slots=True)
class First:
    """The first of two approvals of one text, which holds until ``until``; ``moderator`` is a pseudonym."""

    moderator: str
    sha256: str
    policy_version: int
    at: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class ApprovalOrigin:
    """The draft that an approved text comes from, if any, and whether a person changed it."""

    suggestion_id: str | None
    draft_rank: int | None
    is_edited: bool


async def firsts(session: Session, case: Case) -> list[First]:
    """The first approvals of a case that hold, oldest first: for its version and rules of now, and not expired.

    Whether their givers may still approve is not checked here (``counting`` does).
    """
    rules = select(CommunityRow.rules_version).filter_by(id=case.community_id).scalar_subquery()
    query = (
        select(FirstApprovalRow)
        .filter_by(case_id=case.id, version=case.version)
        .where(FirstApprovalRow.policy_version == rules, FirstApprovalRow.expires_at > session.moment)
        .order_by(FirstApprovalRow.at, FirstApprovalRow.moderator)
    )
    rows = await session.scalars(query)
    return [First(row.moderator, row.sha256, row.policy_version, row.at, row.expires_at) for row in rows]


async def counting(session: Session, case: Case) -> list[First]:
    """The first approvals that a second person can join at this moment, oldest first."""
    kept = await firsts(session, case)
    may = {
        who: may_on_case(await roles_of(session, case.community_id, who), OnCase.APPROVE)
        for who in {first.moderator for first in kept}
    }
    return [first for first in kept if may[first.moderator]]


async def newest(session: Session, case_id: str) -> ApprovalRow | None:
    """The newest approval of a case, whether or not it still holds; ``None`` before there is one."""
    query = select(ApprovalRow).filter_by(case_id=case_id).order_by(ApprovalRow.approved_at.desc(), ApprovalRow.id)
    return await session.scalar(query.limit(1).execution_options(populate_existing=True))


async def keep_first(session: Session, case: Case, first: First) -> None:
    """Keep the first of two approvals. One person who approves twice is still one; an expired one can be renewed."""
    key = {"case_id": case.id, "version": case.version, "sha256": first.sha256, "moderator": first.moderator}
    values = {"policy_version": first.policy_version, "at": first.at, "expires_at": first.until}
    if not await insert_new(session, FirstApprovalRow, key | values, *key):
        is_over = or_(
            FirstApprovalRow.expires_at <= session.moment, FirstApprovalRow.policy_version != first.policy_version
        )
        again = (
            update(FirstApprovalRow).filter_by(**key).where(is_over).values(values).returning(FirstApprovalRow.case_id)
        )
        if (await session.execute(again)).first() is None:
            return
    await touch(session, case.id)


async def end_firsts(session: Session, limit: int) -> int:
    """Drop expired first approvals of open cases, so that people no longer see them; returns the number of cases."""
    is_over = and_(
        CaseRow.state == CaseState.IN_REVIEW,
        FirstApprovalRow.version == CaseRow.version,
        FirstApprovalRow.expires_at <= session.moment,
    )
    joined = select(CaseRow.id).distinct().join(FirstApprovalRow, FirstApprovalRow.case_id == CaseRow.id).where(is_over)
    case_ids = list(await session.scalars(joined.order_by(CaseRow.id).limit(limit)))
    if case_ids:
        locked = select(CaseRow.id).where(CaseRow.id.in_(case_ids)).order_by(CaseRow.id).with_for_update()
        await session.execute(locked)
        over = delete(FirstApprovalRow).where(
            FirstApprovalRow.case_id.in_(case_ids), FirstApprovalRow.expires_at <= session.moment
        )
        await session.execute(over)
        await touch(session, *case_ids)
    return len(case_ids)


async def keep(
    session: Session,
    case: Case,
    community: Community,
    reply: ApprovedReply,
    footer: str,
    origin: ApprovalOrigin,
    *,
    seconded_by: str | None,
    holds_for: timedelta,
    undo_for: timedelta,
    waits_because: str = "",
    waits_until: datetime | None = None,
) -> None:
    """Keep an approval, and let its reply wait in the outbox until it can no longer be undone.

    Args:
        waits_because: why it is not sent even then; "" for nothing that is known.
        waits_until: until when, where that is known.
    """
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
            quote=reply.quote,
        )
    )
    await session.flush()
    session.add(
        OutboxRow(
            id=uuid4().hex,
            approval_id=reply.approval_id,
            state=OutboxState.QUEUED,
            not_before=max(session.moment + undo_for, waits_until or session.moment),
            error=waits_because or None,
            attempts=0,
            updated_at=session.moment,
        )
    )
    await session.flush()


async def keep_proposal(
    session: Session,
    case: Case,
    community: Community,
    person_id: str,
    text: str,
    sha256: str,
    *,
    suggestion_id: str | None,
    draft_rank: int | None,
    quote: str = "",
) -> ProposalRow:
    """Keep a text for the present version of the case, under an id that cannot be guessed."""
    id_ = "".join(secrets.choice(_ALPHABET) for _ in range(_ID_LENGTH))
    row = ProposalRow(
        id=id_,
        case_id=case.id,
        version=case.version,
        person_id=person_id,
        text=text,
        sha256=sha256,
        suggestion_id=suggestion_id,
        draft_rank=draft_rank,
        quote=quote,
        is_posting=community.is_posting,
        rules_version=community.rules_version,
        created_at=session.moment,
    )
    session.add(row)
    await session.flush()
    return row


async def proposal_with(session: Session, case: Case, sha256: str) -> ProposalRow | None:
    """The first proposal of these bytes for the present version of the case, shown to any person, or ``None``."""
    query = select(ProposalRow).filter_by(case_id=case.id, version=case.version, sha256=sha256)
    return await session.scalar(query.order_by(ProposalRow.created_at, ProposalRow.id).limit(1))


async def forget_proposals(session: Session, limit: int) -> int:
    """Delete those whose case is closed, and those older than a day, at most ``limit``; returns how many.

    What a first person approved is kept until the case moves on, for the second one to read.
    """
    own_case = select(CaseRow.id).where(CaseRow.id == ProposalRow.case_id)
    closed = own_case.where(CaseRow.state.in_(CLOSED)).exists()
    awaited = (
        own_case.join(FirstApprovalRow, FirstApprovalRow.case_id == CaseRow.id)
        .where(CaseRow.version == ProposalRow.version, FirstApprovalRow.version == ProposalRow.version)
        .where(FirstApprovalRow.sha256 == ProposalRow.sha256)
        .exists()
    )
    old = or_(and_(ProposalRow.created_at <= session.moment - _PROPOSALS_KEPT, ~awaited), closed)
    ids = list(await session.scalars(select(ProposalRow.id).where(old).limit(limit)))
    await session.execute(delete(ProposalRow).where(ProposalRow.id.in_(ids)))
    return len(ids)
