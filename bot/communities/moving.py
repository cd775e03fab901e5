"""A place that has another id on its platform from now on: a community of its own, or the channel of others' cards.

Owns what then counts for the new id. The platform says so, and nobody decides it; works inside the caller's transaction
and never commits.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import delete, select

from bot.communities.native_roles import BY_PLATFORM
from bot.store.engine.database import Session
from bot.store.people import communities
from bot.store.people.audit import record
from bot.store.people.communities import Community, policy_of
from bot.store.schema import (
    AuditRow,
    BoardTroubleRow,
    CaseRow,
    Change,
    CommunityRow,
    KnownNameRow,
    MembershipRow,
    WatchDayRow,
)
from bot.store.views import review_cards
from core.moderation.community.policy import differences, to_json, with_channel_moved

_NOBODY: Final = ("desk", BY_PLATFORM)
"""The actors of audit lines that tell of no decision."""


async def moved(session: Session, platform: str, old: str, new: str) -> frozenset[str]:
    """Let what was set up for ``old`` count for ``new``; ``core.moderation.desk_ports.Governance.moved`` says the rest.

    A community that somebody set up under the new id already stays as it is, beside the one under the old id.
    """
    query = select(CommunityRow.id).filter_by(platform=platform).order_by(CommunityRow.id)
    locked = [await communities.load(session, own, lock=True) for own in list(await session.scalars(query))]
    by_name = {community.name: community for community in locked}
    before, after = by_name.get(old), by_name.get(new)
    found = set[str]()
    if before is not None and (after is None or await _is_untouched(session, after)):
        if after is not None:
            await _drop(session, after, f"{before.id} has this place now")
        reason = f"its id on {platform} is {new}; it was {old}"
        setting = Change.SETTING
        await communities.change(session, before.id, actor=BY_PLATFORM, reason=reason, what=setting, name=new)
        found.add(new)
    for community in locked:
        is_left = after is not None and community.id == after.id and new in found
        if not is_left and await _follow(session, community, old, new):
            found.add(new if before is not None and community.id == before.id else community.name)
    return frozenset(found)


async def _follow(session: Session, community: Community, old: str, new: str) -> bool:
    """Name a channel by its new id in a community's settings, and show its open cases there."""
    policy = policy_of(community)
    following = with_channel_moved(policy, old, new)
    said = differences(policy, following)
    if not said:
        return False
    reason = f"{old} has the id {new}: {', '.join(said)}"
    await communities.change(
        session, community.id, actor=BY_PLATFORM, reason=reason, what=Change.SETTING, policy=to_json(following)
    )
    await review_cards.were_left_behind(session, community.id, old)
    return True


async def _is_untouched(session: Session, community: Community) -> bool:
    """Whether a community was only met: it has no case, and nobody ever decided anything about it."""
    if await session.scalar(select(CaseRow.id).filter_by(community_id=community.id).limit(1)):
        return False
    decided = select(AuditRow.id).filter_by(stream=community.id).where(AuditRow.actor.not_in(_NOBODY))
    return await session.scalar(decided.limit(1)) is None


async def _drop(session: Session, community: Community, reason: str) -> None:
    """Delete a community that was only met; its audit log stays, and ends by saying so."""
    for table in (MembershipRow, KnownNameRow, WatchDayRow, BoardTroubleRow):
        await session.execute(delete(table).filter_by(community_id=community.id))
    await session.execute(delete(CommunityRow).filter_by(id=community.id))
    await record(session, community.id, community.version + 1, actor=BY_PLATFORM, reason=reason, change=Change.DELETED)
