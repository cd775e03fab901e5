"""Flags of people without a role: whether they may flag, and when enough of them did.

Owns that decision; communities allow it, and say how many different people it takes.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from bot.store.cases import member_flags
from bot.store.cases.cases import find_all
from bot.store.engine.database import Session
from bot.store.people import communities
from bot.store.people.communities import policy_of
from bot.store.people.people import pseudonym, require_on_case, roles_of
from core.errors import NotAllowed
from core.i18n.sentences import sentence
from core.models import FlaggedPost
from core.moderation.roles import OnCase, Person, may_on_case

_WINDOW: Final = timedelta(hours=1)


async def is_enough(session: Session, post: FlaggedPost, flags_per_hour: int | None) -> bool:
    """Whether a person's flag makes a case, or joins one; a flag that does not is counted.

    Raises:
        NotAllowed: they have no role and the community wants no flags of members, or they flagged too many.
    """
    community = await communities.ensure(session, post.ref.platform, post.ref.community)
    who, policy = await pseudonym(session, post.ref.platform, post.flagged_by), policy_of(community)
    if may_on_case(await roles_of(session, community.id, who), OnCase.FLAG):
        return True
    if not policy.members_flag:
        await require_on_case(session, community.id, Person(post.ref.platform, post.flagged_by), OnCase.FLAG)
    if await find_all(session, [post.ref]):
        return True
    await _check_number(session, who, flags_per_hour)
    if await member_flags.count(session, post.ref, who) < policy.flaggers_needed:
        return False
    await member_flags.forget(session, post.ref)
    return True


async def _check_number(session: Session, who: str, flags_per_hour: int | None) -> None:
    flagged = await member_flags.flagged_since(session, who, session.moment - _WINDOW)
    if flags_per_hour is not None and flagged >= flags_per_hour:
        raise NotAllowed(
            sentence("You flagged {count} posts in the last hour; one person may not flag more.", count=flags_per_hour),
            remedy=sentence("Try again later, or ask a moderator to look."),
        )
