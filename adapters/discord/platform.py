"""Discord as a ``core.desk.rules.platforms.ChatPlatform``: posts are read again, replies posted once and taken away.

Nothing is sent by webhook, which knows no keys. A reply mentions nobody, and no send is repeated here: the outbox
decides that.

Antiphon's roles follow a server's own roles and rights. For the person whose interaction is being answered, the roles
that Discord sent with it count. For everybody else, and at each send, Discord is asked: a right that was taken away
ends at once.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, TypeVar

import discord

from adapters.discord.connection import error_meanings, refs
from adapters.discord.connection.client import AntiphonClient, acting
from adapters.discord.speech import MAX_CHARACTERS, check_bytes, words_now
from core.desk.rules.approval import ApprovedReply
from core.desk.rules.case_cards import InPublic
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.errors import AmbiguousSend, PlaceClosed, PlatformBusy, PlatformUnavailable, TextHidden
from core.i18n.sentences import listed, sentence
from core.models import PostRef, SentReply

RESEND_SECONDS: Final = 120.0
"""Discord keeps a key for "the past few minutes"."""

_T = TypeVar("_T")
_PAGE: Final = 100
_PAGES: Final = 20
_SKEW: Final = timedelta(seconds=60)
_KEYS_KEPT: Final = 2000
_CALL_SECONDS: Final = 12.0
"""How long one call may take; a retraction makes two. Both fit into the time that the outbox gives a call."""
_GONE: Final = frozenset({error_meanings.UNKNOWN_MESSAGE, error_meanings.UNKNOWN_CHANNEL})
_REQUESTS: Final = 2
_BOTH_SECONDS: Final = 12.0
"""How long both requests of one question may take."""


class DiscordPlatform:
    """The servers that one bot account is in.

    Args:
        client: shared with the other parts, and closed by the part that runs it.
    """

    def __init__(self, client: AntiphonClient) -> None:
        self._client = client
        self._keys: OrderedDict[int, str] = OrderedDict()

    @property
    def name(self) -> str:
        return refs.NAME

    @property
    def max_characters(self) -> int:
        return MAX_CHARACTERS

    @property
    def resend_seconds(self) -> float:
        """How long the same key certainly posts once."""
        return RESEND_SECONDS

    async def read(self, ref: PostRef) -> str | None:
        """The words of a post that its author can edit, as they read now; ``None`` if it is gone.

        Raises:
            TextHidden: it is there, but the message-content intent, which reading it needs, was not asked for.
            PlatformUnavailable: Discord cannot be asked.
        """
        message = await self._message(refs.numbers_of(ref))
        if message is None or self._is_ours(message):
            return None if message is None else message.content
        if message.content or self._client.reads_messages:
            return words_now(message, await self._place(refs.numbers_of(ref))).compared
        raise TextHidden(
            sentence("Discord keeps the words of this post from Antiphon."),
            remedy=sentence("Flag it with the message menu, or let Antiphon read messages."),
            revision=refs.revision_of(message),
        )

    def check(self, ref: PostRef, text: str, quote: str, policy: CommunityPolicy) -> None:
        """Refuse what Discord would cut or change, and a channel that is private now, or where we may not answer.

        Channels and rights are as Discord told them last; one that it did not tell of is not refused here.

        Raises:
            TextRefused: it is such a text.
            PlaceClosed: it is such a channel.
        """
        check_bytes(text)
        place = refs.numbers_of(ref)
        guild = self._client.get_guild(place.guild)
        channel = None if guild is None else guild.get_channel_or_thread(place.channel)
        if channel is None:
            return
        if refs.is_private(channel, policy.everybody_role):
            raise PlaceClosed(
                sentence("Not everybody in the server can read this channel now; Antiphon answers in public only."),
                remedy=sentence("Close the case, or let everybody see the channel again."),
            )
        if lacking := refs.lacking_rights(channel):
            raise PlaceClosed(
                sentence("Antiphon cannot answer in this channel. Its role lacks: {rights}.", rights=listed(lacking)),
                remedy=sentence("A manager of the server gives Antiphon's role these rights in the channel."),
            )

    async def in_public(self, ref: PostRef, text: str) -> InPublic:
        """The approved text and nothing else, by the bot as this server calls it."""
        guild, bot = self._client.get_guild(refs.numbers_of(ref).guild), self._client.user
        me = None if guild is None else guild.me  # discord.py has none of a server in an outage
        account = "" if bot is None else f"{(me or bot).display_name} ({bot})"
        audience = sentence("Everybody who can read the channel can read it; Antiphon posts in no private one.")
        return InPublic(text, account=account, audience=audience)

    async def post(self, reply: ApprovedReply) -> SentReply:
        """Post exactly ``reply.text`` under the post that it answers, with one request that carries ``reply.key``.

        Raises:
            PlatformBusy: Discord asks to wait, or was not reached: nothing was posted.
            PlatformUnavailable: Discord refused it, or would not show exactly these bytes.
            AmbiguousSend: it may be there, or is there in other words.
        """
        place = refs.numbers_of(reply.in_reply_to)
        check_bytes(reply.text)
        channel = self._channel(place)
        original = discord.MessageReference(
            message_id=place.message, channel_id=place.channel, guild_id=place.guild, fail_if_not_exists=True
        )
        message = await self._change(
            lambda: channel.send(
                reply.text,
                reference=original,
                mention_author=False,
                allowed_mentions=discord.AllowedMentions.none(),
                suppress_embeds=True,
                nonce=reply.key,
            )
        )
        if message.content != reply.text:
            raise AmbiguousSend(
                sentence("Discord shows other words than were approved."),
                remedy=sentence("Look at the reply on Discord."),
            )
        self._remember(message.id, reply.key)
        return self._posted(place, message)

    async def find_reply(self, reply: ApprovedReply) -> SentReply | None:
        """Our reply, looked up in the history of its channel, the latest messages first.

        Discord does not tell the key of a posted message: ours is the one of this account, under this post, of exactly
        this text, not older than the approval, and not known to be another approval's.

        Raises:
            PlatformUnavailable: Discord cannot be asked, keeps the history from us, or it is too long to look through.
        """
        place = refs.numbers_of(reply.in_reply_to)
        since = reply.approved_at - _SKEW
        before: discord.Message | None = None
        for _ in range(_PAGES):
            page = await self._page(place, before)
            for message in page:
                if message.created_at >= since and self._is(message, reply, place):
                    return self._posted(place, message)
            if not page and before is None:
                # Without the right to read the history it looks empty; of the post itself Discord says so.
                await self._message(place)
            if len(page) < _PAGE or page[-1].created_at < since:
                return None
            before = page[-1]
        raise PlatformUnavailable(
            sentence("Too much was written since."), remedy=sentence("Look for the reply on Discord.")
        )

    async def retract(self, ref: PostRef) -> None:
        """Delete our own reply; one that is already gone is not an error.

        Raises:
            PlatformBusy: it is certainly still there; try again later.
            PlatformUnavailable: it is still there, because it is not ours or Discord refused.
            AmbiguousSend: it may still be there.
        """
        place = refs.numbers_of(ref)
        try:
            message = await self._message(place)
        except PlatformUnavailable as err:
            if isinstance(err, PlatformBusy) or not error_meanings.is_passing(err.__cause__):
                raise
            raise PlatformBusy(err.message, remedy=err.remedy) from err
        if message is None:
            return
        if not self._is_ours(message):
            raise PlatformUnavailable(
                sentence("This message is not Antiphon's."), remedy=sentence("Delete it as a moderator.")
            )
        target = self._channel(place).get_partial_message(place.message)
        try:
            await self._change(target.delete)
        except PlatformUnavailable as err:
            if not _is_gone(err.__cause__):
                raise

    async def close(self) -> None:
        """Do nothing: the part that runs the client closes it."""

    async def _message(self, place: refs.MessageNumbers) -> discord.Message | None:
        """A message as it is now; ``None`` if it is gone."""
        try:
            async with asyncio.timeout(_CALL_SECONDS):
                with self._client.requests.alone():
                    return await self._channel(place).fetch_message(place.message)
        except error_meanings.FAULTS as err:
            if _is_gone(err):
                return None
            raise error_meanings.of_question(err) from err

    async def _place(self, numbers: refs.MessageNumbers) -> object:
        """The channel or thread of a message; ``None`` where it is not shown."""
        guild = self._client.get_guild(numbers.guild)
        try:
            async with asyncio.timeout(_CALL_SECONDS):
                return None if guild is None else await refs.place_of(guild, numbers.channel)
        except error_meanings.FAULTS as err:
            raise error_meanings.of_question(err) from err

    async def _page(self, place: refs.MessageNumbers, before: discord.Message | None) -> list[discord.Message]:
        """The messages of a channel before one, the latest first."""
        try:
            async with asyncio.timeout(_CALL_SECONDS):
                with self._client.requests.alone():
                    history = self._channel(place).history(limit=_PAGE, before=before)
                    return [message async for message in history]
        except error_meanings.FAULTS as err:
            raise error_meanings.of_question(err) from err

    async def _change(self, call: Callable[[], Awaitable[_T]]) -> _T:
        """Make one request that changes something; an error says whether it may have arrived."""
        requests = self._client.requests
        with requests.alone() as request:
            try:
                async with asyncio.timeout(_CALL_SECONDS):
                    return await call()
            except error_meanings.FAULTS as err:
                # Where the hook works, it has counted every request that went out.
                raise error_meanings.of_send(err, is_sent=request.begun > 0 or requests.seen == 0) from err

    def _channel(self, place: refs.MessageNumbers) -> discord.PartialMessageable:
        if self._client.user is None or self._client.is_closed():
            raise PlatformBusy(sentence("Discord is not connected."), remedy=sentence("It is tried again when it is."))
        return self._client.get_partial_messageable(place.channel, guild_id=place.guild)

    def _is_ours(self, message: discord.Message) -> bool:
        return self._client.user is not None and message.author.id == self._client.user.id

    def _is(self, message: discord.Message, reply: ApprovedReply, place: refs.MessageNumbers) -> bool:
        reference = message.reference
        if not self._is_ours(message) or reference is None or reference.message_id != place.message:
            return False
        key = message.nonce or self._keys.get(message.id)
        return message.content == reply.text if key is None else key == reply.key

    def _posted(self, place: refs.MessageNumbers, message: discord.Message) -> SentReply:
        return SentReply(refs.ref_of(place.guild, message.channel.id, message.id), message.created_at)

    def _remember(self, message: int, key: str) -> None:
        """Keep the key of a message that we posted; the oldest keys are forgotten."""
        self._keys[message] = key
        if len(self._keys) > _KEYS_KEPT:
            self._keys.popitem(last=False)


def _is_gone(error: BaseException | None) -> bool:
    return isinstance(error, discord.NotFound) and error.code in _GONE


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
            if err.code in (error_meanings.UNKNOWN_MEMBER, error_meanings.UNKNOWN_USER):
                return None
            raise error_meanings.of_question(err) from err
        except error_meanings.FAULTS as err:
            raise error_meanings.of_question(err) from err


def _roles_of(member: discord.Member, policy: CommunityPolicy) -> frozenset[Role]:
    roles = {policy.roles[str(role.id)] for role in member.roles if str(role.id) in policy.roles}
    rights = member.guild_permissions
    if member.guild.owner_id == member.id or rights.administrator:
        roles.add(Role.ADMIN)
    if rights.manage_guild:
        roles.add(Role.MANAGER)
    return frozenset(roles)
