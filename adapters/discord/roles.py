"""Antiphon's roles by a server's own roles and rights (a ``core.desk.rules.platforms.RoleSource``).

For the person whose interaction is being answered, the roles that Discord sent with it count. For everybody else, and
at each send, Discord is asked: a right that was taken away ends at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import discord

from adapters.discord.connection.client import AntiphonClient, acting
from adapters.discord.connection.error_meanings import FAULTS, UNKNOWN_MEMBER, UNKNOWN_USER, of_question
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.errors import PlatformUnavailable
from core.i18n.sentences import sentence

_REQUESTS: Final = 2


_BOTH_SECONDS: Final = 12.0
"""How long both requests of one question may take."""


class DiscordRoles:
    """The roles of the members of servers.

    Args:
        client: logged in.
        policy_of: gives the policy of a community, which says what its roles mean to Antiphon.
    """

    def __init__(self, client: AntiphonClient, policy_of: Callable[[str], Awaitable[CommunityPolicy]]) -> None:
        self._client = client
        self._policy_of = policy_of

    async def roles(self, community: str, user: str) -> frozenset[Role]:
        """The roles that a person has now; none for a person who left or is in a timeout.

        Raises:
            PlatformUnavailable: Discord cannot be asked, or has no such server.
        """
        if not (community.isdecimal() and user.isdecimal()):
            raise PlatformUnavailable(
                sentence("Discord does not know this person."), remedy=sentence("Ask somebody else to decide.")
            )
        if self._client.user is None or self._client.is_closed():
            raise PlatformUnavailable(sentence("Discord is not connected."), remedy=sentence("Wait until it is."))
        policy = await self._policy_of(community)
        member = acting(int(community), int(user)) or await self._member(int(community), int(user))
        return frozenset() if member is None or member.is_timed_out() else _roles_of(member, policy)

    async def _member(self, community: int, user: int) -> discord.Member | None:
        try:
            async with asyncio.timeout(_BOTH_SECONDS):
                with self._client.requests.alone(_REQUESTS):
                    guild = await self._client.fetch_guild(community, with_counts=False)
                    return await guild.fetch_member(user)
        except discord.NotFound as err:
            if err.code in (UNKNOWN_MEMBER, UNKNOWN_USER):
                return None
            raise of_question(err) from err
        except FAULTS as err:
            raise of_question(err) from err


def _roles_of(member: discord.Member, policy: CommunityPolicy) -> frozenset[Role]:
    roles = {policy.roles[str(role.id)] for role in member.roles if str(role.id) in policy.roles}
    rights = member.guild_permissions
    if member.guild.owner_id == member.id or rights.administrator:
        roles.add(Role.ADMIN)
    if rights.manage_guild:
        roles.add(Role.MANAGER)
    return frozenset(roles)
