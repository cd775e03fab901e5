"""How far the desk of a community is at this moment: what waits and how long, who works, and what went wrong last.

Of an error only sentences of the project are stored, and so shown: no words of a post.
"""

from datetime import datetime
from statistics import fmean
from typing import Final

from sqlalchemy import ColumnElement, and_, func, or_, select

from core.desk.database.connection import Session
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import DeskStatus, DraftProgress
from core.desk.schema import CaseRow, JobRow, JobState, TurnRow
from core.desk.store import communities
from core.desk.store.cases import DRAFT
from core.desk.store.jobs import NEVER, running
from core.desk.views.platforms import troubles
from core.desk.views.review_cards import review_channel, trouble_in
from core.i18n.sentences import sentence
from core.models import Priority

STOPPED = sentence("its worker was stopped")
"""Why a case went back into the queue through no fault of the model."""


async def status(session: Session, community: communities.Community) -> DeskStatus:
    paused = await communities.paused(session, [community.id])
    in_review = select(func.min(CaseRow.created_at)).filter_by(community_id=community.id, state=CaseState.IN_REVIEW)
    return DeskStatus(
        by_state=await count_by_state(session, CaseRow.community_id == community.id),
        expected_seconds=await expected_seconds(session, DRAFT, community.id, Priority.FLAGGED),
        model_trouble=await _trouble(session, community.id),
        is_posting=community.is_posting,
        discloses=community.discloses,
        is_paused_here=community.id in paused,
        is_paused_everywhere=communities.EVERYWHERE in paused,
        oldest_in_review=await session.scalar(in_review),
        card_trouble=await trouble_in(session, community.id, review_channel(community.policy)),
        platform_troubles=await troubles(session),
    )


async def count_by_state(session: Session, which: ColumnElement[bool]) -> dict[CaseState, int]:
    """How many cases are in each state, in the order of the states; those that none is in are left out."""
    query = select(CaseRow.state, func.count()).where(which).group_by(CaseRow.state)
    counted = {state: int(count) for state, count in await session.execute(query)}
    return {state: counted[state] for state in CaseState if state in counted}


async def workers(session: Session) -> int:
    """How many workers have a draft in hand and are alive; they serve all communities."""
    is_alive = (JobRow.state == JobState.RUNNING, JobRow.kind == DRAFT, JobRow.lease_until >= session.moment)
    return int(await session.scalar(select(func.count(JobRow.owner.distinct())).where(*is_alive)) or 0)


async def _trouble(session: Session, community_id: str) -> str:
    """Why the last attempt at a draft failed, unless one was finished since, on whatever machine.

    For other communities only what is tried again counts: that the engine lacked something, not what was wrong with one
    of their posts.
    """
    ended = select(func.max(JobRow.updated_at)).where(JobRow.state == JobState.DONE, JobRow.kind == DRAFT)
    ended_at: datetime | None = await session.scalar(ended)
    is_given_up = (JobRow.state == JobState.DEAD) & (JobRow.community_id == community_id)
    query = (
        select(JobRow.error)
        .where(JobRow.kind == DRAFT, or_(JobRow.state == JobState.READY, is_given_up))
        .where(JobRow.error.is_not(None), JobRow.error != STOPPED)
        .order_by(JobRow.updated_at.desc(), JobRow.id)
        .limit(1)
    )
    return await session.scalar(query if ended_at is None else query.where(JobRow.updated_at > ended_at)) or ""


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
