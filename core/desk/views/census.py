"""How much there is of everything at this moment, in all communities together, for the metrics of an installation."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from core.desk.database.connection import Session
from core.desk.rules.approval import CLOSED, CaseState
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
    UpdateRow,
    UpdateState,
)
from core.desk.store.cases import DRAFT
from core.desk.store.communities import EVERYWHERE
from core.desk.views.review_cards import review_channel
from core.desk.views.status import count_by_state, workers
from core.models import Priority

_FOR_PEOPLE: Final = (CaseState.IN_REVIEW, CaseState.NEEDS_PERSON)
OPEN = frozenset(CaseState) - CLOSED


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many wait, and since when the first one does; ``None`` where none does."""

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


@dataclass(frozen=True, slots=True)
class Census:
    """What is there at one moment.

    Attributes:
        cases: how many, by each state that was counted.
        queue: cases that wait for a draft; the oldest since it could be drafted.
        workers: how many draft now and keep their lease.
        review: cases in review; the oldest since it moved last.
        sends: approved replies that may be sent now; the oldest since then.
        unknown: replies of which nobody knows whether they were posted.
        cards: cards that do not show their case's last change, where the community has a place for cards.
        updates: updates that wait, by platform.
        is_paused: whether posting is stopped everywhere.
    """

    now: datetime
    cases: Mapping[CaseState, int]
    queue: Mapping[Priority, Backlog]
    workers: int
    review: Backlog
    sends: Backlog
    unknown: int
    cards: Backlog
    updates: Mapping[str, int]
    is_paused: bool


async def census(session: Session, states: Collection[CaseState] = OPEN) -> Census:
    """Count.

    Args:
        states: the states of which cases are counted; the closed ones grow for a year, and take long to count.
    """
    cases = await count_by_state(session, CaseRow.state.in_(sorted(states)))
    return Census(
        now=session.moment,
        cases={state: cases.get(state, 0) for state in states},
        queue=await _queue(session),
        workers=await workers(session),
        review=await _backlog(session, CaseRow.updated_at, CaseRow.state == CaseState.IN_REVIEW),
        sends=await _backlog(
            session,
            OutboxRow.not_before,
            OutboxRow.state == OutboxState.QUEUED,
            OutboxRow.not_before <= session.moment,
        ),
        unknown=int(
            await session.scalar(select(func.count()).where(OutboxRow.state == OutboxState.UNKNOWN)) or 0,
        ),
        cards=await _cards(session),
        updates=await _updates(session),
        is_paused=await session.get(PauseRow, EVERYWHERE) is not None,
    )


async def _queue(session: Session) -> dict[Priority, Backlog]:
    query = (
        select(JobRow.priority, func.count(), func.min(JobRow.run_at))
        .where(JobRow.state == JobState.READY, JobRow.kind == DRAFT)
        .group_by(JobRow.priority)
    )
    by_priority = {int(priority): Backlog(int(count), since) for priority, count, since in await session.execute(query)}
    return {priority: by_priority.get(int(priority), Backlog(0, None)) for priority in Priority}


async def _cards(session: Session) -> Backlog:
    """Of communities with a review channel: elsewhere no card is ever shown."""
    rows = await session.execute(select(CommunityRow.id, CommunityRow.policy))
    places = sorted(community for community, policy in rows if review_channel(policy))  # named, so that the index helps
    return await _backlog(session, CaseRow.updated_at, CaseRow.community_id.in_(places), CaseRow.unshown > 0)


async def _updates(session: Session) -> dict[str, int]:
    query = (
        select(UpdateRow.platform, func.count())
        .where(UpdateRow.state == UpdateState.WAITING)
        .group_by(UpdateRow.platform)
    )
    return {str(platform): int(count) for platform, count in await session.execute(query)}
