"""Stale cases: nothing stays in a working state without somebody who works on it (reliability, I5).

Must never send: an interrupted send is settled by the outbox's own recovery, which reads back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from datetime import timedelta

from sqlalchemy import exists, or_, select, update

from bot.store.cases.cases import DRAFT, transition
from bot.store.engine.database import Database, Session
from bot.store.schema import ApprovalRow, CaseRow, JobRow, JobState, OutboxRow, OutboxState
from bot.store.work import jobs
from bot.store.work.jobs import Job
from bot.upkeep.chore import BATCH, Done, in_batches
from core.moderation.approval import CaseState


class StaleCases:
    """Puts cases without a live owner back to where somebody takes them.

    Args:
        recover: the outbox's recovery of interrupted sends; it lets sends under a live lease alone.
        lease_seconds: the lease of workers and senders; who is silent for two of them is gone.
    """

    def __init__(
        self, database: Database, recover: Callable[[], Awaitable[Collection[object]]], *, lease_seconds: float = 60.0
    ) -> None:
        self._database = database
        self._recover = recover
        self._lease = timedelta(seconds=lease_seconds)

    async def do(self, _: Job) -> Done:
        """Put drafts back into the queue, and settle sends."""
        drafts = await in_batches(self._database, "queue stale drafts again", self._queue_again)
        has_stale_sends = await self._database.run("look for stale sends", self._has_stale_sends)
        sends = len(await self._recover()) if has_stale_sends else 0
        return Done(f"{drafts} drafts queued again, {sends} sends settled")

    async def _queue_again(self, session: Session) -> int:
        live = exists().where(
            JobRow.case_id == CaseRow.id,
            JobRow.kind == DRAFT,
            JobRow.state == JobState.RUNNING,
            JobRow.lease_until >= session.moment - self._lease,
        )
        query = (
            select(CaseRow.id, CaseRow.version)
            .where(CaseRow.state == CaseState.DRAFTING, CaseRow.updated_at < session.moment - 2 * self._lease, ~live)
            .limit(BATCH)
            .with_for_update(skip_locked=True)
        )
        found = list(await session.execute(query))
        for case_id, version in found:
            await queue_again(session, case_id, version, "its worker was lost")
        return len(found)

    async def _has_stale_sends(self, session: Session) -> bool:
        silent = session.moment - self._lease
        query = (
            select(CaseRow.id)
            .join(ApprovalRow, ApprovalRow.case_id == CaseRow.id)
            .join(OutboxRow, OutboxRow.approval_id == ApprovalRow.id)
            .where(CaseRow.state.in_((CaseState.SENDING, CaseState.UNKNOWN)))
            .where(OutboxRow.state.in_((OutboxState.SENDING, OutboxState.UNKNOWN)))
            .where(CaseRow.updated_at < silent - self._lease)
            .where(or_(OutboxRow.lease_until.is_(None), OutboxRow.lease_until < silent))
            .limit(1)
        )
        return await session.scalar(query) is not None


async def queue_again(session: Session, case_id: str, version: int, reason: str) -> None:
    """Take a case that is being drafted from its worker, who can keep nothing from now on.

    Its work waits again, with the attempts that it has; a case whose work is gone gets new work.
    """
    case = await transition(session, case_id, version, CaseState.QUEUED, actor="schedule", reason=reason)
    statement = (
        update(JobRow)
        .where(JobRow.case_id == case_id, JobRow.kind == DRAFT)
        .where(JobRow.state.in_((JobState.RUNNING, JobState.READY)))
        .values(state=JobState.READY, lease_until=None, updated_at=session.moment)
        .returning(JobRow.id)
        .execution_options(synchronize_session="fetch")
    )
    if (await session.execute(statement)).first() is None:
        await jobs.enqueue(
            session,
            f"{DRAFT}:{case_id}:{case.version}",
            DRAFT,
            community_id=case.community_id,
            case_id=case_id,
            priority=int(case.post.priority),
        )
