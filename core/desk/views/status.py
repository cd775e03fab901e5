"""The status of one community's desk at this moment: what waits, who works, and what went wrong last.

Of an error only sentences of the project are stored, and so shown: no words of a post.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, or_, select

from core.desk.database.connection import Session
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import DeskStatus
from core.desk.schema import CaseRow, JobRow, JobState
from core.desk.store import communities
from core.desk.store.cases import DRAFT
from core.desk.store.communities import EVERYWHERE, Community
from core.desk.views.platforms import troubles
from core.desk.views.progress import expected_seconds
from core.desk.views.review_cards import review_channel, trouble_in
from core.i18n.sentences import sentence
from core.models import Priority

STOPPED = sentence("its worker was stopped")
"""Why a case went back into the queue through no fault of the model."""


async def status(session: Session, community: Community) -> DeskStatus:
    paused = await communities.paused(session, [community.id])
    return DeskStatus(
        by_state=await _by_state(session, community.id),
        expected_seconds=await expected_seconds(session, DRAFT, community.id, Priority.FLAGGED),
        model_trouble=await _trouble(session, community.id),
        is_posting=community.is_posting,
        discloses=community.discloses,
        is_paused_here=community.id in paused,
        is_paused_everywhere=EVERYWHERE in paused,
        oldest_in_review=await _oldest_in_review(session, community.id),
        card_trouble=await trouble_in(session, community.id, review_channel(community.policy)),
        platform_troubles=await troubles(session),
    )


async def _by_state(session: Session, community_id: str) -> dict[CaseState, int]:
    query = select(CaseRow.state, func.count()).filter_by(community_id=community_id).group_by(CaseRow.state)
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


async def _oldest_in_review(session: Session, community_id: str) -> datetime | None:
    query = select(func.min(CaseRow.created_at)).filter_by(community_id=community_id, state=CaseState.IN_REVIEW)
    return await session.scalar(query)
