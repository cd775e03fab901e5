"""How each community wants Antiphon, as it stands in the database. Changes nothing."""

from __future__ import annotations

from bot.store.engine.database import Database
from bot.store.people import communities
from bot.store.people.communities import community_id, policy_of
from core.moderation.community_policy import CommunityPolicy


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
