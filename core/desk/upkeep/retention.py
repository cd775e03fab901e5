"""Retention: the words of a case are erased some weeks after it was closed, its statistics some months after.

After the first period only states, hashes, times, scores and counts of a case are left. After the second only its audit
lines are left, which hold pseudonyms and sentences of the project. Texts that a person was shown and did not approve
are deleted after a day, finished jobs after some days, and counts and flags when they count no more.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, and_, delete, select

from core.desk.database.connection import Database, Session
from core.desk.rules.approval import CLOSED
from core.desk.schema import CaseRow, JobRow, JobState
from core.desk.store import finds, flaggers, inbox
from core.desk.store.approvals import forget_proposals
from core.desk.store.erasure import delete_case, erase_case, forget_unknown
from core.desk.store.jobs import Job
from core.desk.upkeep.chores import BATCH, Done, in_batches
from core.desk.upkeep.scrub import ask_to_scrub
from core.engine.wording.text import counted


def months_before(moment: datetime, months: int) -> datetime:
    """The same day and time some months earlier; the last day of a month that has no such day."""
    years, month = divmod(moment.year * 12 + moment.month - 1 - months, 12)
    return moment.replace(year=years, month=month + 1, day=min(moment.day, monthrange(years, month + 1)[1]))


class Retention:
    """Erases what has been kept long enough.

    Args:
        days: how long the words of a closed case are kept.
        months: how long the rest of it is kept.
    """

    def __init__(self, database: Database, *, days: float = 30.0, months: int = 12) -> None:
        self._database = database
        self._days = timedelta(days=days)
        self._months = months

    async def do(self, job: Job) -> Done:
        """Erase and delete what is due, and then have it scrubbed off the disk too."""

        async def erase(session: Session) -> int:
            before = session.moment - self._days
            is_due = and_(CaseRow.erased_at.is_(None), CaseRow.updated_at <= before)
            case_ids = await _closed(session, is_due)
            for case_id in case_ids:
                await erase_case(session, case_id)
            return await _counted(session, case_ids)

        async def delete(session: Session) -> int:
            case_ids = await _closed(session, CaseRow.updated_at <= months_before(session.moment, self._months))
            for case_id in case_ids:
                await delete_case(session, case_id)
            return await _counted(session, case_ids)

        async def _counted(session: Session, case_ids: list[str]) -> int:
            if case_ids:
                await ask_to_scrub(session, job.key)
            return len(case_ids)

        await in_batches(self._database, "forget proposals", lambda session: forget_proposals(session, BATCH))
        erased = await in_batches(self._database, "erase old cases", erase)
        deleted = await in_batches(self._database, "delete old statistics", delete)
        forgotten = await self._database.run(
            "forget people", lambda s: forget_unknown(s, months_before(s.moment, self._months))
        )
        return Done(
            f"{counted(erased, 'case')} without words, {deleted} deleted, "
            f"{counted(forgotten, 'person', 'people')} forgotten"
        )


async def _closed(session: Session, is_due: ColumnElement[bool]) -> list[str]:
    query = select(CaseRow.id).where(CaseRow.state.in_(CLOSED), is_due).order_by(CaseRow.updated_at)
    return list(await session.scalars(query.limit(BATCH).with_for_update(skip_locked=True)))


KEPT: Final = timedelta(days=7)
_OVER: Final = (JobState.DONE, JobState.CANCELLED, JobState.DEAD)


class Cleanup:
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
        await self._database.run("prune flags", flaggers.forget_old_flags)

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
    ids = list(await session.scalars(old))
    await session.execute(delete(JobRow).where(JobRow.id.in_(ids)))
    return len(ids)
