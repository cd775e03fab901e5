"""The outbox in the database: what waits, what was sent, and which sends have an unknown outcome.

Rows are locked in one order everywhere, so that no two transactions wait for each other: community, case, outbox.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, or_, select, update

from core.desk.database.connection import Session
from core.desk.rules.approval import ApprovedReply, CaseState, restore
from core.desk.schema import ApprovalRow, CaseRow, Original, OutboxRow, OutboxState
from core.desk.store.cases import Case, load, touch
from core.errors import NotAllowed
from core.i18n.sentences import sentence
from core.models import PostRef

REACHED: Final = (OutboxState.SENDING, OutboxState.POSTED, OutboxState.UNKNOWN, OutboxState.RETRACTED)
"""The states of a reply that people have read, or may have read."""


@dataclass(frozen=True, slots=True)
class Entry:
    row: OutboxRow
    approval: ApprovalRow
    case: Case

    def reply(self) -> ApprovedReply:
        """The reply, made again from the stored approval; ``NotAllowed`` if it is no longer what was approved."""
        stored = self.approval
        return restore(
            approval_id=stored.id,
            in_reply_to=self.case.post.ref,
            text=stored.text,
            moderator=stored.moderator,
            at=stored.approved_at,
            sha256=stored.sha256,
            quote=stored.quote,
        )

    def posted_ref(self) -> PostRef | None:
        """Where the posted reply is, in the channel of the post that it answers; ``None`` if it is not known."""
        message = self.row.remote_message
        return None if message is None else replace(self.case.post.ref, message=message)


async def entry_of(session: Session, approval_id: str, *, lock: bool = False) -> Entry:
    """The row of an approval as it is now; with ``lock``, nobody else moves it or its case meanwhile."""
    approval = await session.get_one(ApprovalRow, approval_id, populate_existing=True)
    if lock:
        await session.execute(select(CaseRow.id).filter_by(id=approval.case_id).with_for_update())
    query = select(OutboxRow).filter_by(approval_id=approval_id).execution_options(populate_existing=True)
    row = (await session.scalars(query.with_for_update() if lock else query)).one()
    return Entry(row, approval, await load(session, approval.case_id))


async def original(session: Session, case_id: str) -> Original:
    """What the platform has said about a case's post since it was flagged."""
    return (await session.get_one(CaseRow, case_id, populate_existing=True)).original


async def due(session: Session) -> dict[str, str]:
    """The ids of the approvals whose replies may be sent now, with their platforms; the longest due first."""
    query = (
        select(OutboxRow.approval_id, CaseRow.platform)
        .join(ApprovalRow, ApprovalRow.id == OutboxRow.approval_id)
        .join(CaseRow, CaseRow.id == ApprovalRow.case_id)
        .where(OutboxRow.state == OutboxState.QUEUED, OutboxRow.not_before <= session.moment)
        .order_by(OutboxRow.not_before, OutboxRow.id)
    )
    return {row.approval_id: row.platform for row in await session.execute(query)}


async def interrupted(session: Session) -> dict[str, str]:
    """The ids of the approvals whose sends nobody brought to an end, whose sender's lease is over; with platforms."""
    query = (
        select(OutboxRow.approval_id, CaseRow.platform)
        .join(ApprovalRow, ApprovalRow.id == OutboxRow.approval_id)
        .join(CaseRow, CaseRow.id == ApprovalRow.case_id)
        .where(CaseRow.state.in_((CaseState.SENDING, CaseState.UNKNOWN)))
        .where(OutboxRow.state.in_((OutboxState.SENDING, OutboxState.UNKNOWN)))
        .where(or_(OutboxRow.lease_until.is_(None), OutboxRow.lease_until <= session.moment))
        .order_by(OutboxRow.first_sent_at, OutboxRow.id)
    )
    return {row.approval_id: row.platform for row in await session.execute(query)}


async def wake(session: Session, community_id: str | None) -> None:
    """Forget why replies that were never tried wait, in one community or in all: they are looked at anew.

    They keep the moment from which on they may be sent; the reason that held them may be over.
    """
    query = (
        select(OutboxRow.id, CaseRow.id)
        .join(ApprovalRow, ApprovalRow.id == OutboxRow.approval_id)
        .join(CaseRow, CaseRow.id == ApprovalRow.case_id)
        .where(OutboxRow.state == OutboxState.QUEUED, OutboxRow.error.is_not(None), OutboxRow.attempts == 0)
        .where(CaseRow.state == CaseState.APPROVED)
    )
    if community_id is not None:
        query = query.where(CaseRow.community_id == community_id)
    pairs = [(row_id, case_id) for row_id, case_id in await session.execute(query.order_by(OutboxRow.id))]
    await session.execute(
        update(OutboxRow)
        .where(OutboxRow.id.in_([row_id for row_id, _ in pairs]), OutboxRow.state == OutboxState.QUEUED)
        .values(error=None)
    )
    await touch(session, *sorted({case_id for _, case_id in pairs}))


async def newest(session: Session, case_id: str) -> OutboxRow | None:
    """The row of a case's newest approval."""
    query = (
        select(OutboxRow)
        .join(ApprovalRow, ApprovalRow.id == OutboxRow.approval_id)
        .where(ApprovalRow.case_id == case_id)
        .order_by(ApprovalRow.approved_at.desc(), OutboxRow.updated_at.desc())
        .limit(1)
        .execution_options(populate_existing=True)
    )
    return await session.scalar(query)


async def case_replied_with(session: Session, reply: PostRef) -> str | None:
    """The id of the case that a posted reply of Antiphon belongs to; ``None`` if it is not one."""
    query = (
        select(CaseRow.id)
        .join(ApprovalRow, ApprovalRow.case_id == CaseRow.id)
        .join(OutboxRow, OutboxRow.approval_id == ApprovalRow.id)
        .where(CaseRow.platform == reply.platform, CaseRow.community == reply.community)
        .where(CaseRow.channel == reply.channel, OutboxRow.remote_message == reply.message)
        .limit(1)
    )
    return await session.scalar(query)


async def is_unsettled(session: Session, case_id: str) -> bool:
    """Whether a reply of this case may be on the platform without anybody knowing."""
    return bool(await reached(session, ApprovalRow.case_id == case_id, states=(OutboxState.UNKNOWN,)))


async def require_settled(session: Session, case_id: str) -> None:
    """Refuse to go on with a case before a person has said whether its reply is on the platform.

    Raises:
        NotAllowed: a reply of this case was sent, and nobody knows whether it arrived.
    """
    if await is_unsettled(session, case_id):
        raise NotAllowed(
            sentence("A reply to this post was sent, and nobody knows whether it arrived."),
            remedy=sentence("Look on the platform first, and say whether the reply is there."),
        )


async def reached(
    session: Session, which: ColumnElement[bool], *, states: tuple[OutboxState, ...] = REACHED
) -> list[datetime | None]:
    """When the replies of these states, of approvals and cases that ``which`` selects, were sent first; oldest first.

    ``None``, at the end, for a reply whose time is not known. ``which`` must select few cases: all of them are read.
    """
    query = (
        select(OutboxRow.state, OutboxRow.first_sent_at)
        .join(ApprovalRow, ApprovalRow.id == OutboxRow.approval_id)
        .join(CaseRow, CaseRow.id == ApprovalRow.case_id)
        .where(which)
        .order_by(OutboxRow.first_sent_at.nulls_last())
    )
    # The states are compared here: asked for them, SQLite would read all that was ever sent.
    return [moment for state, moment in await session.execute(query) if state in states]


async def reached_since(session: Session, which: ColumnElement[bool], since: datetime) -> list[datetime | None]:
    """The same of the replies that people may have read since a moment, whatever ``which`` selects.

    A reply whose time is not known counts if its case was moved since.
    """
    query = (
        select(OutboxRow.first_sent_at)
        .join(ApprovalRow, ApprovalRow.id == OutboxRow.approval_id)
        .join(CaseRow, CaseRow.id == ApprovalRow.case_id)
        .where(OutboxRow.state.in_(REACHED), which)
    )
    at = OutboxRow.first_sent_at
    moments = await session.scalars(query.where(at > since).order_by(at))
    unknown = await session.scalars(query.where(at.is_(None), CaseRow.updated_at > since))
    return [*moments, *unknown]
