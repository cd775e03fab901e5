"""How each community wants Antiphon, as it stands in the database, and a community's own voice over the configured one.

Owns the order in which wishes count: what is asked for one draft, then what the community set, then the settings of the
installation. Changes nothing.
"""

from __future__ import annotations

from dataclasses import replace

from bot.store.engine.database import Database
from bot.store.people import communities
from bot.store.people.communities import Community, community_id
from core.engine import Voice
from core.errors import BadInput, StoreUnavailable
from core.i18n.sentences import sentence
from core.models import FlaggedPost, Priority, Wish
from core.moderation.community_policy import CommunityPolicy, from_json


class Policies:
    """What the communities of one database want."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, platform: str, community: str) -> CommunityPolicy:
        """How a community wants Antiphon now; the defaults where nothing was set.

        Raises:
            StoreUnavailable: it was set by another version of Antiphon.
        """
        identity = community_id(platform, community)
        found = await self._database.run("read a policy", lambda session: communities.find(session, identity))
        return CommunityPolicy() if found is None else policy_of(found)


def policy_of(community: Community) -> CommunityPolicy:
    """What a community set; ``StoreUnavailable`` if this version cannot read it."""
    try:
        return from_json(community.policy)
    except BadInput as err:
        raise StoreUnavailable(
            sentence(
                "The settings of {community} cannot be read: {reason}", community=community.id, reason=err.message
            ),
            remedy=sentence("Use the version of Antiphon that wrote them."),
        ) from err


def voice_for(configured: Voice, policy: CommunityPolicy, wish: Wish) -> Voice:
    """How a draft is to sound: as it is wished, else as the community wants it, else as it is configured."""
    return replace(
        configured,
        language=policy.language or configured.language,
        style=wish.tone or policy.tone or configured.style,
        intents=(wish.intent,) if wish.intent else policy.intents or configured.intents,
    )


def is_asked(post: FlaggedPost) -> bool:
    """Whether a person asked for this draft, when the post was flagged or later by what they wish of it."""
    return post.priority is Priority.ASKED or post.wish != Wish()
