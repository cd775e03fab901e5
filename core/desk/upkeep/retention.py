"""Retention: how long cases wait, and how long they are kept. The schedule closes, erases and deletes what is over.

What nobody drafted or decided in time is closed, and so are folded cases whose lead case is closed. Holds and first
approvals that ran out are ended, too. A case that a person holds is not closed. What people decide about a campaign's
lead case, they decide about the folded ones too. Those are closed some at a time, and not in the decision's own
transaction: a raid may have folded many thousands, and a moderator waits for an answer.

The words of a case are erased some weeks after it was closed, its statistics some months after. After the first period
only states, hashes, times, scores and counts of a case are left. After the second only its audit lines are left, which
hold pseudonyms and sentences of the project. Texts that a person was shown and did not approve are deleted after a day,
finished jobs after some days, and counts and flags when they count no more.
"""

from calendar import monthrange
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from sqlalchemy import ColumnElement, and_, delete, exists, or_, select, update
from sqlalchemy.orm import aliased

from core.desk.database.connection import Database, Session
from core.desk.rules.approval import CLOSED, CaseState
from core.desk.schema import ApprovalRow, CampaignRow, CaseRow, JobRow, JobState, OutboxRow, OutboxState
from core.desk.store import finds, flaggers, inbox
from core.desk.store.approvals import end_firsts, forget_proposals
from core.desk.store.cases import DRAFT, Case, load, transition, transition_all
from core.desk.store.erasure import delete_case, erase_case, forget_unknown
from core.desk.store.jobs import Job
from core.desk.upkeep.chores import BATCH, Done, in_batches
from core.desk.upkeep.scrub import ask_to_scrub
from core.engine.wording.text import counted
from core.i18n.sentences import sentence

_WAITING: Final = (CaseState.CAPTURED, CaseState.IN_REVIEW)
_WITH_A_PERSON: Final = (CaseState.NEEDS_PERSON, CaseState.FAILED)


@dataclass(frozen=True, slots=True)
class RetentionPeriods:
    """How long an installation keeps what it knows; ``antiphon`` deletes it after that by itself."""

    draft_hours: float
    retention_days: float
    statistics_months: int
    backup_days: float


class Expiry:
    """Closes cases that wait too long.

    Args:
        draft_hours: how long a case waits for a draft, or its drafts for a decision.
        person_days: how long a case that needs a person waits for one.
    """

    def __init__(self, database: Database, *, draft_hours: float = 24.0, person_days: float = 30.0) -> None:
        self._database = database
        self._draft = timedelta(hours=draft_hours)
        self._person = timedelta(days=person_days)

    async def do(self, _: Job) -> Done:
        """Close what is due, and end the holds that ran out."""
        holds = await self._database.run("end holds", _end_holds)
        drafts = await in_batches(self._database, "expire what waits for a draft", self._expire_undrafted)
        drafts += await in_batches(self._database, "expire drafts", self._expire_drafts)
        approvals = await in_batches(self._database, "expire approvals", _expire_approvals)
        firsts = await in_batches(self._database, "end first approvals", lambda session: end_firsts(session, BATCH))
        persons = await in_batches(self._database, "expire what needs a person", self._expire_persons)
        return Done(
            f"{drafts} undecided, {approvals} approved too long ago, {persons} left by people, "
            f"{counted(holds, 'hold')} ended, {firsts} left by a second person"
        )

    async def _expire_undrafted(self, session: Session) -> int:
        """Close cases by the age of their work, too: each attempt moves the case, and so makes it young again."""
        before = session.moment - self._draft
        own_work = JobRow.case_id == CaseRow.id, JobRow.kind == DRAFT, JobRow.state == JobState.READY
        is_old = or_(CaseRow.updated_at <= before, exists().where(*own_work, JobRow.created_at <= before))
        is_due = and_(CaseRow.state == CaseState.QUEUED, is_old)
        return await _expire(session, is_due, sentence("no draft could be made in time"))

    async def _expire_drafts(self, session: Session) -> int:
        is_due = and_(CaseRow.state.in_(_WAITING), CaseRow.updated_at <= session.moment - self._draft)
        return await _expire(session, is_due, sentence("nobody decided in time"))

    async def _expire_persons(self, session: Session) -> int:
        is_due = and_(CaseRow.state.in_(_WITH_A_PERSON), CaseRow.updated_at <= session.moment - self._person)
        return await _expire(session, is_due, sentence("nobody took care of it in time"))


async def _expire_approvals(session: Session) -> int:
    """Close approved cases whose waiting reply may no longer be sent; a reply that is being sent is left alone."""
    too_late = (
        select(ApprovalRow.case_id)
        .join(OutboxRow, OutboxRow.approval_id == ApprovalRow.id)
        .where(OutboxRow.state == OutboxState.QUEUED, ApprovalRow.expires_at <= session.moment)
    )
    is_due = and_(CaseRow.state == CaseState.APPROVED, CaseRow.id.in_(too_late))
    return await _expire(session, is_due, sentence("the approval expired before the reply could be sent"))


async def _expire(session: Session, is_due: ColumnElement[bool], reason: str) -> int:
    is_free = or_(CaseRow.held_until.is_(None), CaseRow.held_until < session.moment)
    query = (
        select(CaseRow.id, CaseRow.version)
        .where(is_due, is_free)
        .order_by(CaseRow.updated_at, CaseRow.id)
        .limit(BATCH)
        .with_for_update(skip_locked=True)
    )
    rows = list(await session.execute(query))
    for case_id, version in rows:
        await transition(session, case_id, version, CaseState.EXPIRED, actor="schedule", reason=reason)
    return len(rows)


async def _end_holds(session: Session) -> int:
    statement = (
        update(CaseRow)
        .where(CaseRow.held_until < session.moment)
        .values(held_by=None, held_until=None, unshown=CaseRow.unshown + 1)
        .returning(CaseRow.id)
    )
    return len((await session.execute(statement)).all())


_ENDS: Final = {
    CaseState.POSTED: (CaseState.NO_REPLY, sentence("was answered")),
    CaseState.RETRACTED: (CaseState.NO_REPLY, sentence("was answered")),
    CaseState.SHADOWED: (CaseState.NO_REPLY, sentence("would have been answered")),
    CaseState.NO_REPLY: (CaseState.NO_REPLY, sentence("was left without a reply")),
    CaseState.DECLINED: (CaseState.DECLINED, sentence("was declined")),
    CaseState.WITHDRAWN: (CaseState.WITHDRAWN, sentence("was withdrawn")),
    CaseState.EXPIRED: (CaseState.EXPIRED, sentence("expired while it waited")),
}
"""The end of a folded case, and what is said about its lead case: one reply answers a campaign."""
_Lead = tuple[str | None, CaseState | None]
_Row = tuple[str, str | None, CaseState | None]


class FoldedCases:
    """Closes folded cases once their lead case is closed.

    Args:
        undo_seconds: how long people can still undo what was decided about the lead case.
    """

    def __init__(self, database: Database, *, undo_seconds: float = 0.0) -> None:
        self._database = database
        self._undo = timedelta(seconds=undo_seconds)

    async def do(self, _: Job) -> Done:
        """Close all folded cases whose lead case is closed."""
        closed = await in_batches(self._database, "close folded cases", partial(_close_folded, undo=self._undo))
        return Done(f"{closed} folded cases closed")


async def _close_folded(session: Session, *, undo: timedelta) -> int:
    lead, waiting = aliased(CaseRow), defaultdict[_Lead, list[Case]](list)
    is_decided = and_(lead.state.in_(CLOSED), lead.updated_at <= session.moment - undo)
    query = (
        select(CaseRow.id, lead.id, lead.state)
        .outerjoin(CampaignRow, CampaignRow.id == CaseRow.campaign_id)
        .outerjoin(lead, lead.id == CampaignRow.lead_case_id)
        .where(CaseRow.state == CaseState.FOLDED, or_(lead.id.is_(None), is_decided))
        .order_by(CaseRow.created_at, CaseRow.id)
        .limit(BATCH)
        .with_for_update(of=CaseRow, skip_locked=True)
    )
    rows: list[_Row] = [(case_id, own, state) for case_id, own, state in await session.execute(query)]
    for case_id, lead_id, state in rows:
        waiting[lead_id, state].append(await load(session, case_id))
    for (lead_id, state), cases in waiting.items():
        to, reason = _end(lead_id, state)
        await transition_all(session, cases, to, actor="schedule", reason=reason)
    return len(rows)


def _end(lead_id: str | None, state: CaseState | None) -> tuple[CaseState, str]:
    """The end of a case that was folded into another, and the reason; also if its lead case was deleted."""
    if state is None:
        return CaseState.EXPIRED, sentence("the case that stood for it is gone")
    to, end = _ENDS[state]
    return to, sentence("decided with case {case}, which stood for both and {end}", case=lead_id, end=end)


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
            case_ids = await _ids_of_closed(session, is_due)
            for case_id in case_ids:
                await erase_case(session, case_id)
            return await _counted(session, case_ids)

        async def delete(session: Session) -> int:
            case_ids = await _ids_of_closed(session, CaseRow.updated_at <= months_before(session.moment, self._months))
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


async def _ids_of_closed(session: Session, is_due: ColumnElement[bool]) -> list[str]:
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
