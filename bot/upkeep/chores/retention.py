"""Retention: the words of a case are erased some weeks after it was closed, its statistics some months after.

Owns the two periods. After the first, only states, hashes, times, scores and counts of a case are left. After the
second, only its audit lines are left, which hold pseudonyms and sentences of ours. Texts that a person was shown and
did not approve are deleted after a day.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, select

from bot.store.cases.proposals import forget_proposals
from bot.store.engine.database import Database, Session
from bot.store.schema import CaseRow
from bot.store.upkeep.erasing import delete_case, erase_case, forget_unknown
from bot.store.work.jobs import Job
from bot.upkeep.chore import BATCH, Done, in_batches
from bot.upkeep.chores.scrubbing import ask_to_scrub
from core.moderation.approval import CLOSED
from core.wording.counting import counted


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
            found = await _closed(session, is_due)
            for case_id in found:
                await erase_case(session, case_id)
            return await _counted(session, found)

        async def delete(session: Session) -> int:
            found = await _closed(session, CaseRow.updated_at <= months_before(session.moment, self._months))
            for case_id in found:
                await delete_case(session, case_id)
            return await _counted(session, found)

        async def _counted(session: Session, found: list[str]) -> int:
            if found:
                await ask_to_scrub(session, job.key)
            return len(found)

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
