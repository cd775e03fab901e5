"""Who may do what in a Telegram group, as Telegram says at that moment.

The roles come from a group's administrators, and from the people whom its managers chose. They are asked for each time:
a right that was taken away ends at once. An anonymous person has no role.
"""

from __future__ import annotations

import asyncio
from typing import Final

from telegram import ChatMember, ChatMemberAdministrator, ChatMemberRestricted
from telegram.error import BadRequest, ChatMigrated

from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.error_meanings import FAULTS, description_of, of_question
from adapters.telegram.connection.refs import NAME
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.errors import PlatformUnavailable
from core.i18n.sentences import sentence

_NOBODY: Final = ("user not found", "member not found", "participant_id_invalid", "user_id_invalid")
"""What Telegram says of a number that is nobody's there."""


_QUESTION_SECONDS: Final = 9.0


class TelegramRoles:
    """The roles of the members of groups.

    Args:
        client: logged in, with a desk, whose policies say which people a community chose.
    """

    def __init__(self, client: TelegramClient) -> None:
        self._client = client

    async def roles(self, community: str, user: str) -> frozenset[Role]:
        """The roles that a person has now; none for a person who left, may not write there, or is a bot.

        Of a group that became a supergroup, the supergroup is asked.

        Raises:
            PlatformUnavailable: Telegram cannot be asked, or has no such group.
        """
        if not (_is_number(community.removeprefix("-")) and _is_number(user)):
            raise PlatformUnavailable(
                sentence("Telegram does not know this person."), remedy=sentence("Ask somebody else to decide.")
            )
        member = await self._member(int(community), int(user))
        if member is None or member.user.is_bot or not may_speak(member):
            return frozenset()
        policy = await self._client.desk.governance.policy(NAME, community)
        return roles_of(member, policy)

    async def _member(self, chat: int, user: int) -> ChatMember | None:
        try:
            async with asyncio.timeout(_QUESTION_SECONDS):
                try:
                    return await self._client.bot.get_chat_member(chat, user)
                except ChatMigrated as moved:
                    return await self._client.bot.get_chat_member(moved.new_chat_id, user)
        except FAULTS as err:
            if isinstance(err, BadRequest) and any(words in description_of(err) for words in _NOBODY):
                return None
            raise of_question(err) from err


def may_speak(member: ChatMember) -> bool:
    """Whether somebody is in the group and may write there."""
    if isinstance(member, ChatMemberRestricted):
        return member.is_member and member.can_send_messages
    return member.status not in (ChatMember.LEFT, ChatMember.BANNED)


def roles_of(member: ChatMember, policy: CommunityPolicy) -> frozenset[Role]:
    """By ownership, by rights, and by the community's choice."""
    roles = {policy.roles[str(member.user.id)]} if str(member.user.id) in policy.roles else set[Role]()
    if member.status == ChatMember.OWNER:
        roles |= {Role.ADMIN, Role.MANAGER}
    if isinstance(member, ChatMemberAdministrator):
        if member.can_change_info or member.can_promote_members:
            roles.add(Role.MANAGER)
        if member.can_delete_messages or member.can_restrict_members:
            roles.add(Role.MODERATOR)
    return frozenset(roles)


def administers(member: ChatMember) -> bool:
    """Whether Telegram itself lets somebody decide about the group: its owner, and who makes others administrators."""
    return member.status == ChatMember.OWNER or (
        isinstance(member, ChatMemberAdministrator) and member.can_promote_members
    )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()
