"""The platforms' own word on who is a moderator, asked for at the moment when it counts.

Owns the call of a ``RoleSource`` and what is kept of its answer: the native roles in ``memberships``. Must never be
called inside a transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from bot.faults import reach
from bot.store.communities import Community
from bot.store.database import Database, Session
from bot.store.people import grant, known_pseudonym
from core.errors import PlatformUnavailable
from core.ports import RoleSource
from core.roles import Person, Role

BY_PLATFORM = "platform"
"""Who granted a native role, in ``memberships``."""


class LiveRoles:
    """Keeps native roles as the platforms have them.

    Args:
        sources: by ``PostRef.platform``; without one nobody has a native role, and only those granted here count.
        timeout_seconds: how long a platform may take to answer.
    """

    def __init__(self, database: Database, sources: Mapping[str, RoleSource], *, timeout_seconds: float = 10.0) -> None:
        self._database = database
        self._sources = sources
        self._timeout_seconds = timeout_seconds

    async def refresh(self, community: Community, person: Person) -> None:
        """Ask the platform what somebody is in a community, and keep the answer.

        Raises:
            PlatformUnavailable: it cannot tell; the roles that it gave before must not be relied on.
        """
        source = self._sources.get(community.platform) if person.platform == community.platform else None
        roles = frozenset[Role]() if source is None else await self._asked(source, community, person)

        await keep_native(self._database, community.id, person, roles)

    async def _asked(self, source: RoleSource, community: Community, person: Person) -> frozenset[Role]:
        await reach("ask for roles: before the call")
        try:
            async with asyncio.timeout(self._timeout_seconds):
                roles = await source.roles(community.name, person.user)
        except TimeoutError as err:
            raise PlatformUnavailable(
                f"{community.platform} did not say in time what you are in {community.name}.",
                remedy="Try again in a moment.",
            ) from err
        await reach("ask for roles: after the call")
        return roles


async def keep_native(database: Database, community_id: str, person: Person, roles: frozenset[Role]) -> None:
    """Let somebody have exactly ``roles`` by the platform's rights; those that were granted here are not touched."""

    async def work(session: Session) -> None:
        if roles or await known_pseudonym(session, person.platform, person.user) is not None:
            await grant(session, community_id, person, roles, BY_PLATFORM, is_native=True)

    await database.run("keep native roles", work)
