"""Who is a moderator by the platforms' own rights, asked at the moment when it counts.

An answer is kept as native roles in ``memberships``, with a line in the community's audit stream if it changed them. No
call may stand inside a transaction, since it waits for a platform.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from core.desk.database.connection import Database, Session
from core.desk.rules.platforms import RoleSource
from core.desk.rules.roles import Person, Role
from core.desk.runtime.faults import reach
from core.desk.schema import Change
from core.desk.store import communities
from core.desk.store.people import grant, known_name, known_pseudonym, native_roles
from core.errors import PlatformUnavailable
from core.i18n.sentences import sentence

BY_PLATFORM = "platform"
"""Who granted a native role, in ``memberships``."""


_ANSWER_SECONDS: Final = 10.0
"""How long a platform may take to answer."""


class LiveRoles:
    """Keeps native roles in step with the platforms.

    Args:
        sources: by ``PostRef.platform``; without one nobody has a native role, and only roles granted here count.
    """

    def __init__(self, database: Database, sources: Mapping[str, RoleSource]) -> None:
        self._database = database
        self._sources = sources

    async def refresh_in(self, platform: str, community: str, person: Person) -> communities.Community:
        """Do ``refresh`` by the platform's own ids; returns the community, which is made if it is new."""
        place = await self.known(platform, community)
        await self.refresh(place, [person])
        return place

    async def known(self, platform: str, community: str) -> communities.Community:
        """A community by the platform's own ids; it is made if it is new."""

        async def work(session: Session) -> communities.Community:
            row = await communities.find(session, await communities.id_of(session, platform, community))
            return row or await communities.ensure(session, platform, community)

        return await self._database.run("meet a community", work)

    async def refresh(self, community: communities.Community, people: Sequence[Person]) -> None:
        """Ask the platform for the roles of some people in a community, and keep all answers in one transaction.

        Raises:
            PlatformUnavailable: it cannot say; the roles that it gave before must not be relied on.
        """
        each = {(person.platform, person.user): person for person in reversed(people)}
        roles = [(person, await self._roles(community, person)) for person in reversed(each.values())]

        async def work(session: Session) -> None:
            for person, has in roles:
                await _keep(session, community.id, person, has)

        await self._database.run("keep native roles", work)

    async def _roles(self, community: communities.Community, person: Person) -> frozenset[Role]:
        source = self._sources.get(community.platform) if person.platform == community.platform else None
        if source is None:
            return frozenset()
        await reach("ask for roles: before the call")
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                roles = await source.roles(community.name, person.user)
        except TimeoutError as err:
            raise PlatformUnavailable(
                sentence(
                    "{platform} did not say in time what you are in {community}.",
                    platform=community.platform,
                    community=community.name,
                ),
                remedy=sentence("Try again in a moment."),
            ) from err
        await reach("ask for roles: after the call")
        return roles


async def keep_native(database: Database, community_id: str, person: Person, roles: frozenset[Role]) -> None:
    """Give a person exactly ``roles`` by the platform's rights; roles that were granted here are not touched.

    A change is recorded. It does not end approvals: the approvers' roles are checked again in the transaction of each
    send.
    """
    await database.run("keep one person's roles", lambda session: _keep(session, community_id, person, roles))


async def _keep(session: Session, community_id: str, person: Person, roles: frozenset[Role]) -> None:
    who = await known_pseudonym(session, person.platform, person.user)
    if not roles and who is None:
        return
    before = frozenset[Role]() if who is None else await native_roles(session, community_id, who)
    if before != roles:
        await communities.load(session, community_id, lock=True)
        before = frozenset[Role]() if who is None else await native_roles(session, community_id, who)
    elif who is not None and person.name in ("", await known_name(session, community_id, who)):
        return
    who = await grant(session, community_id, person, roles, BY_PLATFORM, is_native=True)
    if before != roles:
        has = ", ".join(sorted(roles)) or "nothing"
        reason = f"roles by the platform: {who} is {has}"
        await communities.change(session, community_id, actor=BY_PLATFORM, reason=reason, what=Change.SETTING)
