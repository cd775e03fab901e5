"""Pruning: finished jobs are kept for some days, for people to look at; counts and flags as long as they count.

So are the numbers of updates; the words of those that nobody could deal with are erased.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from sqlalchemy import delete, select

from bot.store.cases import finds, member_flags
from bot.store.engine.database import Database, Session
from bot.store.schema import JobRow, JobState
from bot.store.work import inbox
from bot.store.work.jobs import Job
from bot.upkeep.chore import BATCH, Done, in_batches
from bot.upkeep.chores.scrubbing import ask_to_scrub
from core.wording.counting import counted

KEPT: Final = timedelta(days=7)
_OVER: Final = (JobState.DONE, JobState.CANCELLED, JobState.DEAD)


class Pruning:
    """Deletes old jobs, old counts of what the filter looked at, flags that made no case, and old updates.

    Args:
        words_kept: how long the words of an update that nobody could deal with are kept at most.
    """

    def __init__(self, database: Database, *, words_kept: timedelta = inbox.KEPT) -> None:
        self._database = database
        self._words_kept = words_kept

    async def do(self, job: Job) -> Done:
        """Delete jobs that have been over for longer than ``KEPT``, and counts that no figure uses any longer."""
        jobs = await in_batches(self._database, "prune jobs", _prune)
        await in_batches(self._database, "prune counts", lambda session: finds.forget_old_days(session, BATCH))
        await self._database.run("prune flags", member_flags.forget_old)

        async def updates(session: Session) -> int:
            deleted, erased = await inbox.forget_old(session, self._words_kept, BATCH)
            if erased:
                await ask_to_scrub(session, job.key)
            return max(deleted, erased)

        await in_batches(self._database, "prune updates", updates)
        return Done(f"{counted(jobs, 'job')} deleted")


async def _prune(session: Session) -> int:
    old = (
        select(JobRow.id)
        .where(JobRow.state.in_(_OVER), JobRow.updated_at < session.moment - KEPT)
        .limit(BATCH)
        .with_for_update(skip_locked=True)
    )
    found = list(await session.scalars(old))
    await session.execute(delete(JobRow).where(JobRow.id.in_(found)))
    return len(found)
