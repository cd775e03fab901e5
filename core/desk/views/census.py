"""How much there is of everything at this moment, in all communities together, for the metrics of an installation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, select

from core.desk.database.connection import Session
from core.desk.rules.approval import CLOSED, CaseState
from core.desk.schema import (
    CaseRow,
    CommunityRow,
    JobRow,
    JobState,
    OutboxRow,
    OutboxState,
    PauseRow,
    UpdateRow,
    UpdateState,
)
from core.desk.store.cases import DRAFT
from core.desk.store.communities import EVERYWHERE
from core.desk.views.review_cards import review_channel
from core.desk.views.status import workers
from core.models import Priority


@dataclass(frozen=True, slots=True)
class WaitingCount:
    """How many wait, and how long the oldest has waited; 0 seconds if none does, or none has to yet."""

    count: int = 0
    oldest_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Census:
    """What is there.

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

    cases: Mapping[CaseState, int]
    queue: Mapping[Priority, WaitingCount]
    workers: int
    review: WaitingCount
    sends: WaitingCount
    unknown: int
    cards: WaitingCount
    updates: Mapping[str, int]
    is_paused: bool


OPEN = frozenset(CaseState) - CLOSED


async def census(session: Session, states: Collection[CaseState] = OPEN) -> Census:
    """Count.

    Args:
        states: the states of which cases are counted; the closed ones grow for a year, and take long to count.
    """
    return Census(
        cases=await _cases(session, states),
        queue=await _queue(session),
        workers=await workers(session),
        review=await _waiting(session, CaseRow.updated_at, CaseRow.state == CaseState.IN_REVIEW),
        sends=await _waiting(
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


async def _cases(session: Session, states: Collection[CaseState]) -> dict[CaseState, int]:
    query = select(CaseRow.state, func.count()).where(CaseRow.state.in_(sorted(states))).group_by(CaseRow.state)
    counts = {state: int(count) for state, count in await session.execute(query)}
    return {state: counts.get(state, 0) for state in states}


async def _queue(session: Session) -> dict[Priority, WaitingCount]:
    query = (
        select(JobRow.priority, func.count(), func.min(JobRow.run_at))
        .where(JobRow.state == JobState.READY, JobRow.kind == DRAFT)
        .group_by(JobRow.priority)
    )
    by_priority = {int(priority): (count, since) for priority, count, since in await session.execute(query)}
    return {priority: _since(session, *by_priority.get(int(priority), (0, None))) for priority in Priority}


async def _waiting(session: Session, since: Any, *which: ColumnElement[bool]) -> WaitingCount:
    count, oldest = (await session.execute(select(func.count(), func.min(since)).where(*which))).one()
    return _since(session, count, oldest)


async def _cards(session: Session) -> WaitingCount:
    """Of communities with a review channel: elsewhere no card is ever shown."""
    rows = await session.execute(select(CommunityRow.id, CommunityRow.policy))
    places = sorted(community for community, policy in rows if review_channel(policy))  # named, so that the index helps
    return await _waiting(session, CaseRow.updated_at, CaseRow.community_id.in_(places), CaseRow.unshown > 0)


async def _updates(session: Session) -> dict[str, int]:
    query = (
        select(UpdateRow.platform, func.count())
        .where(UpdateRow.state == UpdateState.WAITING)
        .group_by(UpdateRow.platform)
    )
    return {str(platform): int(count) for platform, count in await session.execute(query)}


def _since(session: Session, count: int, oldest: datetime | None) -> WaitingCount:
    seconds = 0.0 if oldest is None else (session.moment - oldest).total_seconds()
    return WaitingCount(int(count), max(0.0, seconds))
