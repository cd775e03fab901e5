"""What should have been done by now: drafts, decisions, sends, chores and backups, with since when they wait."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from core.desk.database.connection import Session
from core.desk.rules.approval import CaseState
from core.desk.schema import (
    AuditRow,
    CaseRow,
    CommunityRow,
    JobRow,
    JobState,
    LeadershipRow,
    OutboxRow,
    OutboxState,
    PauseRow,
)
from core.desk.store.cases import DRAFT
from core.desk.store.communities import EVERYWHERE
from core.desk.views.status import workers

_FOR_PEOPLE: Final = (CaseState.IN_REVIEW, CaseState.NEEDS_PERSON)


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many wait, and since when the first one does."""

    count: int
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Overdue:
    """What waits at one moment.

    Attributes:
        undrafted: cases whose draft is due, or whose worker was lost.
        workers: how many workers have a draft in hand and are alive.
        undecided: cases with drafts before moderators, and cases that need a person.
        unknown: replies of which nobody knows whether they arrived.
        paused: where posting is stopped, and since when.
        led_until: until when a process leads the schedule; ``None`` if none does.
        given_up: chores that were given up and did not succeed since, with the reason.
    """

    now: datetime
    undrafted: Backlog
    workers: int
    undecided: Backlog
    unknown: Backlog
    paused: tuple[tuple[str, datetime], ...]
    led_until: datetime | None
    given_up: tuple[tuple[str, str], ...]


async def overdue(session: Session, office: str) -> Overdue:
    """What waits now, in all communities; ``office`` is that of the schedule's leader."""
    is_ready = and_(JobRow.state == JobState.READY, JobRow.run_at <= session.moment)
    is_lost = and_(JobRow.state == JobState.RUNNING, JobRow.lease_until < session.moment)
    paused = await session.execute(select(PauseRow.scope, PauseRow.at).order_by(PauseRow.at))
    return Overdue(
        now=session.moment,
        undrafted=await _backlog(session, JobRow.run_at, JobRow.kind == DRAFT, or_(is_ready, is_lost)),
        workers=await workers(session),
        undecided=await _backlog(session, CaseRow.updated_at, CaseRow.state.in_(_FOR_PEOPLE)),
        unknown=await _backlog(session, OutboxRow.updated_at, OutboxRow.state == OutboxState.UNKNOWN),
        paused=tuple((str(scope), at) for scope, at in paused),
        led_until=await session.scalar(select(LeadershipRow.until).filter_by(office=office)),
        given_up=await _given_up(session),
    )


async def latest_line(session: Session) -> datetime | None:
    """When the last line of the audit log was written, by the clock of that moment."""
    return await session.scalar(select(func.max(AuditRow.at)))


async def first_community(session: Session) -> datetime | None:
    """Since when there is a community."""
    return await session.scalar(select(func.min(CommunityRow.created_at)).where(CommunityRow.id != EVERYWHERE))


async def last_done(session: Session, kind: str) -> datetime | None:
    """When work of a kind was last finished; finished work is remembered for some days."""
    query = select(func.max(JobRow.updated_at)).where(JobRow.kind == kind, JobRow.state == JobState.DONE)
    return await session.scalar(query)


async def _backlog(session: Session, since: InstrumentedAttribute[datetime], *which: ColumnElement[bool]) -> Backlog:
    count, first = (await session.execute(select(func.count(), func.min(since)).where(*which))).one()
    return Backlog(int(count), first)


async def _given_up(session: Session) -> tuple[tuple[str, str], ...]:
    rows = await session.execute(
        select(JobRow.kind, JobRow.error, JobRow.updated_at)
        .where(JobRow.kind != DRAFT, JobRow.state == JobState.DEAD)
        .order_by(JobRow.updated_at)
    )
    latest = {kind: (error or "", at) for kind, error, at in rows}
    done = {kind: await last_done(session, kind) for kind in latest}
    return tuple((kind, error) for kind, (error, at) in latest.items() if (ended := done[kind]) is None or ended < at)
