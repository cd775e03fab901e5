"""Telegram as a place to talk: our replies, posted once and taken away again; and who may do what there.

A send is never repeated. Telegram has no keys for sends, and shows no bot which messages a chat holds, so only a person
can tell how a send without an answer ended.

The roles come from a group's administrators, and from the people whom its managers chose. They are asked for each time:
a right that was taken away ends at once. An anonymous person has no role.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, NoReturn, TypeVar

import telegram
from telegram.error import BadRequest, ChatMigrated

from adapters.telegram.connection import error_meanings
from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.refs import NAME, MessageNumbers, numbers_of
from adapters.telegram.speech import MAX_CHARACTERS, NO_PREVIEW, check_text
from core.desk.rules.approval import ApprovedReply
from core.desk.rules.case_cards import InPublic
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.errors import AmbiguousSend, NeverShownAgain, PlatformBusy, PlatformUnavailable, TextRefused
from core.i18n.sentences import sentence
from core.models import PostRef, SentReply

_T = TypeVar("_T")
_MENTION: Final = re.compile(r"(?<!\w)@[A-Za-z0-9_]{2,}")
"""What Telegram takes for an account's name wherever it stands, and calls that account to."""
_MENTIONS: Final = frozenset({telegram.MessageEntity.MENTION, telegram.MessageEntity.TEXT_MENTION})
_NOBODY: Final = ("user not found", "member not found", "participant_id_invalid", "user_id_invalid")
"""What Telegram says of a number that is nobody's there."""
_QUESTION_SECONDS: Final = 9.0


class TelegramPlatform:
    """The groups that one bot account is in.

    Args:
        client: shared with the other parts, and closed by the part that runs it.
        timeout_seconds: how long one call may take, with its wait for a turn; a retraction makes two. Both must fit
            into the time that the outbox gives a call, so that it hears what came of it.
    """

    def __init__(self, client: TelegramClient, *, timeout_seconds: float = 14.0) -> None:
        self._client = client
        self._timeout_seconds = timeout_seconds

    @property
    def name(self) -> str:
        return NAME

    @property
    def max_characters(self) -> int:
        return MAX_CHARACTERS

    @property
    def resend_seconds(self) -> float:
        """0: Telegram knows no keys."""
        return 0.0

    async def read(self, ref: PostRef) -> str | None:
        """Telegram has no way to ask.

        Raises:
            NeverShownAgain: always. Edits come as updates; of deletions Telegram tells a bot nothing, and refuses the
                reply.
            PlatformUnavailable: it is not a message on Telegram.
        """
        numbers_of(ref)
        raise NeverShownAgain(
            sentence("Telegram shows no bot a message a second time."), remedy=sentence("Look at it on Telegram.")
        )

    def check(self, ref: PostRef, text: str, quote: str, policy: CommunityPolicy) -> None:
        """Refuse what Telegram would cut, change or refuse, and what would call an account, with ``TextRefused``."""
        check_text(text)
        _check_mute(text)

    async def in_public(self, ref: PostRef, text: str) -> InPublic:
        """The approved text and nothing else, by the bot."""
        audience = sentence("Everybody in the group can read it, and everybody on Telegram where the group is public.")
        return InPublic(text, account=f"@{self._client.bot.username}", audience=audience)

    async def post(self, reply: ApprovedReply) -> SentReply:
        """Post exactly ``reply.text`` under the post that it answers, with one request.

        With a quote Telegram compares: it refuses the reply where the post no longer has these words.

        Raises:
            PlatformBusy: Telegram asks to wait, or was not reached: nothing was posted.
            PlatformUnavailable: Telegram refused it, as where the post is gone or was edited, or would not show exactly
                this text.
            AmbiguousSend: it may be there, or is there in other words.
        """
        place = numbers_of(reply.in_reply_to)
        check_text(reply.text)
        _check_mute(reply.text)
        original = telegram.ReplyParameters(
            place.message, allow_sending_without_reply=False, quote=reply.quote or None, quote_parse_mode=None
        )
        message = await self._change(
            lambda: self._client.bot.send_message(
                place.chat,
                reply.text,
                parse_mode=None,
                link_preview_options=NO_PREVIEW,
                message_thread_id=place.topic,
                reply_parameters=original,
            )
        )
        _check_shown(message, reply, place)
        return SentReply(replace(reply.in_reply_to, message=str(message.message_id)), message.date)

    async def find_reply(self, reply: ApprovedReply) -> SentReply | None:
        """Telegram has no history that a bot may read.

        Raises:
            PlatformUnavailable: always.
        """
        raise PlatformUnavailable(
            sentence("Telegram lets no bot look."), remedy=sentence("Look for the reply on Telegram.")
        )

    async def retract(self, ref: PostRef) -> None:
        """Delete our own reply; one that is already gone is not an error.

        An administrator's account may delete anybody's message, so Telegram is asked first whether this one is ours:
        taking away buttons that it does not have changes nothing, and is allowed for one's own messages only.

        Raises:
            PlatformBusy: it is certainly still there; try again later.
            PlatformUnavailable: it is still there: it is not ours, or older than 48 hours, or Telegram refused.
            AmbiguousSend: it may still be there.
        """
        place = numbers_of(ref)
        if not await self._is_ours(place):
            return
        try:
            await self._change(lambda: self._client.bot.delete_message(place.chat, place.message))
        except PlatformUnavailable as err:
            if not error_meanings.is_message_gone(err.__cause__):
                raise

    async def close(self) -> None:
        """Do nothing: the part that runs the client closes it."""

    async def _is_ours(self, place: MessageNumbers) -> bool:
        """Whether a message is there and ours; ``False`` if it is gone.

        Raises:
            PlatformBusy: Telegram could not be asked now.
            PlatformUnavailable: it is somebody else's, or Telegram refused.
        """
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await self._client.bot.edit_message_reply_markup(place.chat, place.message, reply_markup=None)
        except error_meanings.FAULTS as err:
            if error_meanings.is_unchanged(err):
                return True
            if error_meanings.is_message_gone(err):
                return False
            _tell_why(err)
        return True

    async def _change(self, call: Callable[[], Awaitable[_T]]) -> _T:
        """Make one request that changes something, and say what came of it where it failed."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await call()
        except error_meanings.FAULTS as err:
            raise error_meanings.of_send(err) from err


def _tell_why(err: BaseException) -> NoReturn:
    """Why it could not be found out whether a message is ours: the message certainly stands."""
    if error_meanings.cannot_be_edited(err):
        raise PlatformUnavailable(
            sentence("This message is not Antiphon's."), remedy=sentence("Delete it as a moderator.")
        ) from err
    if isinstance(error_meanings.of_send(err), AmbiguousSend):
        meaning = error_meanings.of_question(err)
        raise PlatformBusy(meaning.message, remedy=meaning.remedy) from err
    raise error_meanings.of_send(err) from err


def _check_mute(text: str) -> None:
    """Refuse, with ``TextRefused``, a text that calls somebody: no way to write a name keeps it mute.

    A name behind a letter, as in an address of e-mail, calls nobody.
    """
    if _MENTION.search(text):
        raise TextRefused(
            sentence("The reply has a name behind an @: Telegram would call that account."),
            remedy=sentence("Take the @ out, and approve it again."),
        )


def _check_shown(message: telegram.Message, reply: ApprovedReply, place: MessageNumbers) -> None:
    """Whether what stands on Telegram is what was approved, where it belongs, below the quote that was approved.

    What Telegram quotes by itself, to show which post is answered, is nobody's quote.

    Raises:
        AmbiguousSend: it is not.
    """
    answered = message.reply_to_message
    is_there = message.chat.id == place.chat and answered is not None and answered.message_id == place.message
    quoted = message.quote.text if message.quote is not None and message.quote.is_manual else ""
    calls = any(entity.type in _MENTIONS for entity in message.entities)
    is_exact = (message.text, quoted) == (reply.text, reply.quote)
    if not is_exact or message.message_id <= 0 or not is_there or calls:
        raise AmbiguousSend(
            sentence("Telegram shows the reply otherwise than it was approved."),
            remedy=sentence("Look at the reply on Telegram."),
        )


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

    async def _member(self, chat: int, user: int) -> telegram.ChatMember | None:
        try:
            async with asyncio.timeout(_QUESTION_SECONDS):
                try:
                    return await self._client.bot.get_chat_member(chat, user)
                except ChatMigrated as moved:
                    return await self._client.bot.get_chat_member(moved.new_chat_id, user)
        except error_meanings.FAULTS as err:
            if isinstance(err, BadRequest) and any(words in error_meanings.description_of(err) for words in _NOBODY):
                return None
            raise error_meanings.of_question(err) from err


def may_speak(member: telegram.ChatMember) -> bool:
    """Whether somebody is in the group and may write there."""
    if isinstance(member, telegram.ChatMemberRestricted):
        return member.is_member and member.can_send_messages
    return member.status not in (telegram.ChatMember.LEFT, telegram.ChatMember.BANNED)


def roles_of(member: telegram.ChatMember, policy: CommunityPolicy) -> frozenset[Role]:
    """By ownership, by rights, and by the community's choice."""
    roles = {policy.roles[str(member.user.id)]} if str(member.user.id) in policy.roles else set[Role]()
    if member.status == telegram.ChatMember.OWNER:
        roles |= {Role.ADMIN, Role.MANAGER}
    if isinstance(member, telegram.ChatMemberAdministrator):
        if member.can_change_info or member.can_promote_members:
            roles.add(Role.MANAGER)
        if member.can_delete_messages or member.can_restrict_members:
            roles.add(Role.MODERATOR)
    return frozenset(roles)


def administers(member: telegram.ChatMember) -> bool:
    """Whether Telegram itself lets somebody decide about the group: its owner, and who makes others administrators."""
    return member.status == telegram.ChatMember.OWNER or (
        isinstance(member, telegram.ChatMemberAdministrator) and member.can_promote_members
    )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()
