"""Cases in the database: the queries, and the one function that moves a case.

Owns ``transition``: nothing else may write ``cases.state`` or ``audit``. Every function works inside the caller's
transaction and never commits.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import uuid4

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from bot.store.documents import suggestion_from_json
from bot.store.schema import (
    ApprovalRow,
    AuditRow,
    CaseRow,
    ClaimChoiceRow,
    OutboxRow,
    OutboxState,
    SuggestionRow,
)
from core.errors import BadInput, Conflict, NotAllowed
from core.models import FlaggedPost, PostRef, Suggestion, ThreadMessage
from core.review import CaseState, check_transition


@dataclass(frozen=True, slots=True)
class Case:
    """A flagged post and where it stands; ``version`` is what every decision about it must name."""

    id: str
    version: int
    state: CaseState
    post: FlaggedPost
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One move of a case; ``from_state`` is ``None`` for its capture."""

    version: int
    from_state: CaseState | None
    to_state: CaseState
    actor: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class StoredSuggestion:
    """A suggestion with the id by which an approval names it."""

    id: str
    suggestion: Suggestion
    created_at: datetime


@dataclass(frozen=True, slots=True)
class PostedReply:
    """A reply that a moderator approved and that was posted, with the text of the post that it answered."""

    post: str
    text: str


async def capture(session: AsyncSession, post: FlaggedPost, at: datetime) -> Case:
    """Make the case of a post and queue it, or give back the case that the post already has (invariant I4)."""
    ref = post.ref
    found = await session.scalar(
        select(CaseRow).filter_by(
            platform=ref.platform, community=ref.community, channel=ref.channel, message=ref.message
        )
    )
    if found is not None:
        return _case(found)
    row = CaseRow(
        id=uuid4().hex,
        **asdict(ref),
        text=post.text,
        author=post.author,
        flagged_by=post.flagged_by,
        flagged_how=post.flagged_how,
        thread=[asdict(message) for message in post.thread],
        state=CaseState.CAPTURED,
        version=1,
        created_at=at,
        updated_at=at,
    )
    session.add(row)
    await session.flush()
    await _record(session, _case(row), None, post.flagged_by, f"flagged: {post.flagged_how}")
    return await transition(session, row.id, 1, CaseState.QUEUED, actor="desk", reason="waits for a draft", at=at)


async def load(session: AsyncSession, case_id: str) -> Case:
    """The case as it stands now.

    Raises:
        BadInput: there is no such case.
    """
    row = await session.get(CaseRow, case_id, populate_existing=True)
    if row is None:
        raise BadInput(f"There is no case {case_id}.", remedy="Take the id from the list of cases.")
    return _case(row)


async def load_expected(session: AsyncSession, case_id: str, version: int, state: CaseState) -> Case:
    """The case, provided that it has this version and this state.

    Raises:
        Conflict: it has another version.
        NotAllowed: it has this version, but another state.
    """
    case = await load(session, case_id)
    if case.version != version:
        raise await _conflict(session, case)
    if case.state is not state:
        raise NotAllowed(f"This needs a case that is {state}; it is {case.state}.", remedy="Reload the case.")
    return case


async def all_cases(session: AsyncSession, state: CaseState | None = None) -> list[Case]:
    """The cases of one state, or all, oldest first."""
    query = select(CaseRow).order_by(CaseRow.created_at, CaseRow.id)
    if state is not None:
        query = query.where(CaseRow.state == state)
    return [_case(row) for row in await session.scalars(query)]


async def oldest_queued(session: AsyncSession) -> Case | None:
    """The case that has waited longest for a draft."""
    query = select(CaseRow).where(CaseRow.state == CaseState.QUEUED).order_by(CaseRow.created_at, CaseRow.id).limit(1)
    row = await session.scalar(query)
    return None if row is None else _case(row)


async def due_approvals(session: AsyncSession, now: datetime) -> list[str]:
    """The ids of the approvals whose replies may be sent now, longest due first."""
    query = select(OutboxRow.approval_id).where(OutboxRow.state == OutboxState.QUEUED, OutboxRow.not_before <= now)
    return list(await session.scalars(query.order_by(OutboxRow.not_before, OutboxRow.id)))


async def unsettled_approvals(session: AsyncSession) -> list[str]:
    """The ids of the approvals whose replies were being sent, or whose fate is unknown, and nobody was asked."""
    query = (
        select(OutboxRow.approval_id)
        .join(ApprovalRow, ApprovalRow.id == OutboxRow.approval_id)
        .join(CaseRow, CaseRow.id == ApprovalRow.case_id)
        .where(CaseRow.state.in_((CaseState.SENDING, CaseState.UNKNOWN)))
        .where(OutboxRow.state.in_((OutboxState.SENDING, OutboxState.UNKNOWN)))
    )
    return list(await session.scalars(query))


async def latest_suggestion(session: AsyncSession, case_id: str) -> StoredSuggestion | None:
    """The newest suggestion of a case."""
    query = select(SuggestionRow).filter_by(case_id=case_id).order_by(SuggestionRow.created_at.desc()).limit(1)
    row = await session.scalar(query)
    return None if row is None else StoredSuggestion(row.id, suggestion_from_json(row.document), row.created_at)


async def claims(session: AsyncSession, case_id: str) -> list[str]:
    """Every counter-claim of a case, each once: those of its newest suggestion first, the one argued before others."""
    query = select(SuggestionRow.document).filter_by(case_id=case_id).order_by(SuggestionRow.created_at.desc())
    suggestions = [suggestion_from_json(document) for document in await session.scalars(query)]
    return list(dict.fromkeys(claim.text for suggestion in suggestions for claim in suggestion.claims))


async def choose_claim(session: AsyncSession, case: Case, claim: str) -> None:
    """Keep the counter-claim that a moderator chose in the move that gave the case its version."""
    session.add(ClaimChoiceRow(case_id=case.id, version=case.version, claim=claim))
    await session.flush()


async def chosen_claim(session: AsyncSession, case_id: str) -> str | None:
    """The counter-claim that a moderator chose last, or ``None`` if nobody chose any."""
    query = select(ClaimChoiceRow.claim).filter_by(case_id=case_id).order_by(ClaimChoiceRow.version.desc()).limit(1)
    return await session.scalar(query)


async def posted_replies(session: AsyncSession, platform: str, community: str, limit: int) -> list[PostedReply]:
    """The replies of a community that certainly stand there, as they were approved; at most ``limit``, latest first."""
    query = (
        select(CaseRow.text, ApprovalRow.text)
        .select_from(OutboxRow)
        .join(ApprovalRow, ApprovalRow.id == OutboxRow.approval_id)
        .join(CaseRow, CaseRow.id == ApprovalRow.case_id)
        .where(CaseRow.platform == platform, CaseRow.community == community)
        .where(CaseRow.state == CaseState.POSTED, OutboxRow.state == OutboxState.POSTED)
        .order_by(OutboxRow.updated_at.desc(), OutboxRow.id)
        .limit(limit)
    )
    return [PostedReply(post, text) for post, text in await session.execute(query)]


async def history(session: AsyncSession, case_id: str) -> list[AuditEntry]:
    """Every move of a case, oldest first."""
    rows = await session.scalars(select(AuditRow).filter_by(case_id=case_id).order_by(AuditRow.version))
    return [AuditEntry(row.version, row.from_state, row.to_state, row.actor, row.reason, row.at) for row in rows]


async def transition(
    session: AsyncSession,
    case_id: str,
    expected_version: int,
    to: CaseState,
    *,
    actor: str,
    reason: str,
    at: datetime,
) -> Case:
    """Move a case, by compare-and-set on its version, and record the move in the same transaction.

    A case that leaves ``approved`` for anything but ``sending`` takes its waiting reply out of the outbox, whoever
    moves it: no approval survives a change of mind (invariant I8).

    Raises:
        BadInput: there is no such case.
        Conflict: somebody moved it first; the message says who, and where to.
        NotAllowed: the graph of ``core.review`` does not declare this move.
    """
    case = await load(session, case_id)
    if case.version != expected_version:
        raise await _conflict(session, case)
    check_transition(case.state, to)
    statement = (
        update(CaseRow)
        .where(CaseRow.id == case_id, CaseRow.version == expected_version)
        .values(state=to, version=expected_version + 1, updated_at=at)
        .returning(CaseRow)
    )
    row = (await session.scalars(statement, execution_options={"populate_existing": True})).one_or_none()
    if row is None:
        raise await _conflict(session, await load(session, case_id))
    moved = _case(row)
    if case.state is CaseState.APPROVED and to is not CaseState.SENDING:
        await _cancel_waiting(session, case_id, reason, at)
    await _record(session, moved, case.state, actor, reason)
    return moved


async def _record(session: AsyncSession, case: Case, old: CaseState | None, actor: str, reason: str) -> None:
    line = AuditRow(
        case_id=case.id,
        from_state=old,
        to_state=case.state,
        version=case.version,
        actor=actor,
        reason=reason,
        at=case.updated_at,
    )
    session.add(line)
    await session.flush()


async def _cancel_waiting(session: AsyncSession, case_id: str, reason: str, at: datetime) -> None:
    approvals = select(ApprovalRow.id).where(ApprovalRow.case_id == case_id).scalar_subquery()
    await session.execute(
        update(OutboxRow)
        .where(OutboxRow.approval_id.in_(approvals), OutboxRow.state == OutboxState.QUEUED)
        .values(state=OutboxState.CANCELLED, error=reason, updated_at=at)
        .execution_options(synchronize_session="fetch")
    )


async def _conflict(session: AsyncSession, case: Case) -> Conflict:
    newest = select(AuditRow.actor).filter_by(case_id=case.id).order_by(AuditRow.version.desc()).limit(1)
    who = await session.scalar(newest)
    return Conflict(
        f"The case is now {case.state} (version {case.version}); {who} moved it there.",
        remedy="Reload the case and decide again.",
    )


def _case(row: CaseRow) -> Case:
    post = FlaggedPost(
        ref=PostRef(row.platform, row.community, row.channel, row.message),
        text=row.text,
        author=row.author,
        flagged_by=row.flagged_by,
        flagged_how=row.flagged_how,
        thread=tuple(ThreadMessage(**message) for message in row.thread),
    )
    return Case(row.id, row.version, row.state, post, row.created_at, row.updated_at)
