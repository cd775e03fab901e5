"""How far work is, for people who wait for it: what is before it, what its worker says, and when it may be done."""

from __future__ import annotations

from statistics import fmean
from typing import Final

from sqlalchemy import and_, func, or_, select

from core.desk.database.connection import Session
from core.desk.rules.case_cards import DraftProgress
from core.desk.schema import JobRow, JobState, TurnRow
from core.desk.store.jobs import NEVER, running
from core.models import Priority

_TIMED: Final = 20
"""Of how many finished pieces of work the mean duration is taken."""
_LOOKED_AT: Final = 40
"""Among how many these are looked for."""


async def progress(session: Session, case_id: str, kind: str) -> DraftProgress | None:
    """How far the work is that a case waits for; ``None`` if it waits for none.

    How many cases come first is what is likely; the seconds are estimated from the last pieces of this kind.
    """
    query = (
        select(JobRow)
        .where(JobRow.case_id == case_id, JobRow.kind == kind, JobRow.state.in_((JobState.READY, JobState.RUNNING)))
        .order_by(JobRow.created_at.desc(), JobRow.id)
        .limit(1)
    )
    row = await session.scalar(query)
    if row is None:
        return None
    now, mean = session.moment, await _mean_seconds(session, kind)
    if row.state is JobState.RUNNING:
        spent = (now - (row.started_at or now)).total_seconds()
        seconds = None if mean is None else max(0.0, mean - spent)
        return DraftProgress(stage=row.progress or "", expected_seconds=seconds, error=row.error or "")
    ahead, lanes = await _ahead(session, row), sum((await running(session, [kind])).values())
    wait = None if mean is None or not lanes else mean * (ahead + 1) / lanes + mean
    if wait is not None:
        wait += max(0.0, (row.run_at - now).total_seconds())
    return DraftProgress(ahead=ahead, expected_seconds=wait, error=row.error or "")


async def expected_seconds(session: Session, kind: str, community_id: str, priority: Priority) -> float | None:
    """How long a new piece of work would take until it is done, by the last ones; ``None`` where nobody can tell."""
    mean, lanes = await _mean_seconds(session, kind), sum((await running(session, [kind])).values())
    if mean is None:
        return None
    due = (JobRow.state == JobState.READY, JobRow.kind == kind, JobRow.run_at <= session.moment)
    is_idle = not lanes and await session.scalar(select(JobRow.id).where(*due).limit(1)) is None
    if is_idle:  # the next one is taken at once
        return mean
    new = JobRow(
        id="~", kind=kind, community_id=community_id, priority=int(priority), run_at=session.moment
    )  # never added: it only marks the place of a new one
    return mean * (await _ahead(session, new) + 1) / lanes + mean if lanes else None


async def _mean_seconds(session: Session, kind: str) -> float | None:
    """How long the last finished pieces took, each from the beginning of its last attempt.

    Those that people waited for count, where there are any lately: others stood still for people meanwhile.
    """
    query = (
        select(JobRow.started_at, JobRow.updated_at, JobRow.priority)
        .where(JobRow.state == JobState.DONE, JobRow.kind == kind)
        .order_by(JobRow.updated_at.desc())
        .limit(_LOOKED_AT)
    )
    rows = [row for row in await session.execute(query) if row.started_at is not None]
    timed = [row for row in rows if row.priority > Priority.DETECTED] or rows
    seconds = [(row.updated_at - row.started_at).total_seconds() for row in timed[:_TIMED]]
    return fmean(seconds) if seconds else None


async def _ahead(session: Session, row: JobRow) -> int:
    """How many pieces come before this one: the more urgent, those of its community, and the others' turns between.

    Limits for a community are not looked at.
    """
    due = (JobRow.state == JobState.READY, JobRow.kind == row.kind, JobRow.run_at <= session.moment)
    query = (
        select(JobRow.priority, JobRow.community_id, func.count())
        .where(*due, JobRow.priority >= row.priority)
        .group_by(JobRow.priority, JobRow.community_id)
    )
    waiting: dict[int, dict[str, int]] = {}
    for priority, community, count in await session.execute(query):
        waiting.setdefault(priority, {})[community] = count
    served = {turn.community_id: turn.served_at for turn in await session.scalars(select(TurnRow))}
    turns = sorted({community for of in waiting.values() for community in of} | {row.community_id})
    turns.sort(key=lambda community: served.get(community, NEVER))
    ahead = 0
    for priority in sorted(waiting, reverse=True):
        counts = waiting[priority]
        if priority == row.priority:
            break
        ahead += sum(counts.values())
        turns.sort(key=lambda community: counts.get(community, 0))  # the one with most waiting is served last
    is_earlier = or_(JobRow.run_at < row.run_at, and_(JobRow.run_at == row.run_at, JobRow.id < row.id))
    of_own = (*due, JobRow.priority == row.priority, JobRow.community_id == row.community_id, is_earlier)
    lap = int(await session.scalar(select(func.count()).select_from(JobRow).where(*of_own)) or 0)
    counts, own = waiting.get(row.priority, {}), turns.index(row.community_id)
    others = (
        min(counts.get(community, 0), lap + (place < own)) for place, community in enumerate(turns) if place != own
    )
    return ahead + lap + sum(others)
