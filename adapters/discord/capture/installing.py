"""How the parts of capture are put together on one client.

Posts nothing and decides nothing.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import discord

from adapters.common.capture.asking import Asking
from adapters.common.capture.changes import PostChanges
from adapters.common.capture.following import Following
from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.watching import Watching
from adapters.common.desk import DeskAccess
from adapters.discord.capture.commands import CaptureCommands, add_commands
from adapters.discord.capture.sightings import SeenMessage, now, written_at
from adapters.discord.connection.client import AntiphonClient
from adapters.discord.connection.events import listen
from adapters.discord.connection.places import Place, Readable, is_private, place_of, watched_id
from adapters.discord.connection.refs import NAME, ref_of, revision_at
from adapters.discord.speech.emojis import is_same
from adapters.discord.speech.private_answers import answer_command_errors
from adapters.discord.speech.words import words_now
from core.errors import AntiphonError
from core.moderation.roles import Person
from core.ports import HateDetector

_FRESH: Final = timedelta(minutes=5)
"""How long ago an edit may be when its event arrives; a lost connection makes events late."""


def edited_at(event: discord.RawMessageUpdateEvent) -> datetime | None:
    """When the author last edited the message; ``None`` if they never did."""
    return discord.utils.parse_time(event.data.get("edited_timestamp"))


def has_new_words(event: discord.RawMessageUpdateEvent, now: datetime) -> bool:
    """Whether the author changed the words with this event.

    Where discord.py remembers the message, its words are compared. Of any other it is only known when it was edited
    last: that of an update long after it is something else.
    """
    moment = edited_at(event)
    said = words_now(event.message).compared
    if moment is None or not said:
        return False
    if event.cached_message is not None:
        return words_now(event.cached_message).compared != said
    return now - moment <= _FRESH


_HATEFUL_RULES: Final = frozenset(
    {discord.AutoModRuleTriggerType.keyword, discord.AutoModRuleTriggerType.keyword_preset}
)
"""The rules of AutoMod that look at words; those against spam and floods say nothing of hate."""


class WatchedEvents:
    """Hears messages, their edits, reactions and AutoMod, and tells ``Watching``."""

    def __init__(self, client: AntiphonClient, watching: Watching, known: KnownPosts) -> None:
        self._client = client
        self._watching = watching
        self._known = known

    def listen(self) -> None:
        """Begin to hear, where words are shown to us."""
        if self._client.options.reads_messages:
            listen(self._client, "message", self._written)
            listen(self._client, "raw_message_edit", self._edited)
            listen(self._client, "raw_reaction_add", self._reacted)
            listen(self._client, "automod_action", self._stopped)

    async def _written(self, message: discord.Message) -> None:
        if message.guild is not None and isinstance(message.channel, Place):
            everybody = await self._everybody_in(message.guild.id)
            await self._watching.written(
                self._sighting(message, message.channel, everybody), watched_id(message.channel)
            )

    async def _edited(self, event: discord.RawMessageUpdateEvent) -> None:
        """New words are looked at as a new message's; where there is a case, its edit is told to the desk instead."""
        if event.guild_id is None or self._known.is_known(ref_of(event.guild_id, event.channel_id, event.message_id)):
            return
        if has_new_words(event, discord.utils.utcnow()):
            await self._written(event.message)

    async def _reacted(self, event: discord.RawReactionActionEvent) -> None:
        own_id = self._client.user.id if self._client.user is not None else None
        if event.guild_id is None or event.user_id == own_id or (event.member is not None and event.member.bot):
            return
        policy = await self._client.desk.policies.of(str(event.guild_id))
        if is_same(event.emoji, policy.reaction):
            by = Person(NAME, str(event.user_id), event.member.display_name if event.member is not None else "")
            find = partial(self._find, event.guild_id, event.channel_id, event.message_id)
            self._watching.reacted(str(event.guild_id), str(event.channel_id), by, find)

    async def _stopped(self, action: discord.AutoModAction) -> None:
        if action.rule_trigger_type not in _HATEFUL_RULES or action.channel_id is None:
            return
        if action.message_id is None:
            self._watching.seen.blocked += 1
            return
        find = partial(self._find, action.guild_id, action.channel_id, action.message_id)
        await self._watching.alerted(str(action.guild_id), str(action.channel_id), "AutoMod", find)

    async def _find(self, guild_id: int, channel_id: int, message_id: int) -> SeenMessage | None:
        """The message that a reaction or an alert points at; nothing in a private place is read."""
        guild = self._client.get_guild(guild_id)
        place = None if guild is None else await place_of(guild, channel_id)
        everybody = await self._everybody_in(guild_id)
        if not isinstance(place, Readable) or is_private(place, everybody):
            return None
        try:
            return self._sighting(await place.fetch_message(message_id), place, everybody)
        except discord.HTTPException:
            self._watching.seen.unreadable += 1
            return None

    async def _everybody_in(self, guild_id: int) -> str:
        return (await self._client.desk.policies.of(str(guild_id))).everybody_role

    def _sighting(self, message: discord.Message, place: Place, everybody: str) -> SeenMessage:
        return SeenMessage(message, place, everybody, self._client.options.reads_messages)


_LOG = logging.getLogger(__name__)
_MOST_REMEMBERED: Final = 10_000
"""Half of what is remembered at all, so that there is room for new ones."""


async def remember_posts(desk: DeskAccess, known: KnownPosts) -> None:
    """Remember the posts that have a case already, so that no change of theirs is lost in what is too much."""
    try:
        posts = await desk.casework.posts(NAME, _MOST_REMEMBERED)
    except AntiphonError as err:
        _LOG.warning("Which posts have a case could not be read; the desk is asked at each change: %s", err.message)
        return
    for ref in posts:
        if ref.message.isdecimal():
            known.add(ref, written_at(ref))


class ChangeEvents:
    """Hears of edits and deletions, and tells ``PostChanges``."""

    def __init__(self, changes: PostChanges) -> None:
        self._changes = changes

    def listen(self, client: discord.Client) -> None:
        """Hear of edits, deletions, and of channels that go away with all their messages."""
        listen(client, "raw_message_edit", self._edited)
        listen(client, "raw_message_delete", self._deleted)
        listen(client, "raw_bulk_message_delete", self._many_deleted)
        listen(client, "guild_channel_delete", self._channel_deleted)
        listen(client, "raw_thread_delete", self._thread_deleted)

    async def _edited(self, event: discord.RawMessageUpdateEvent) -> None:
        """An edit by its author; a preview that Discord adds to a link, or a pin, changes no word.

        Without the message-content intent Discord says when a message was edited last, but not what it reads now; so
        it is where the message has no text of its own, and in a thread that is not known, whose title nobody sees.
        """
        moment = edited_at(event)
        if event.guild_id is None or moment is None:
            return
        ref, place = ref_of(event.guild_id, event.channel_id, event.message_id), event.message.channel
        is_shown = bool(event.message.content) and isinstance(place, Place)
        text = words_now(event.message, place).compared if is_shown else ""
        self._changes.edited(ref, written_at(ref), text, revision_at(moment))

    async def _deleted(self, event: discord.RawMessageDeleteEvent) -> None:
        self._gone(event.guild_id, event.channel_id, event.message_id)

    async def _many_deleted(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        for message_id in sorted(event.message_ids):
            self._gone(event.guild_id, event.channel_id, message_id)

    def _gone(self, guild_id: int | None, channel_id: int, message_id: int) -> None:
        if guild_id is not None:
            ref = ref_of(guild_id, channel_id, message_id)
            self._changes.deleted(ref, written_at(ref))

    async def _channel_deleted(self, channel: discord.abc.GuildChannel) -> None:
        self._changes.channel_deleted(str(channel.guild.id), str(channel.id))

    async def _thread_deleted(self, event: discord.RawThreadDeleteEvent) -> None:
        self._changes.channel_deleted(str(event.guild_id), str(event.thread_id))


_FLAGGING_SECONDS: Final = 5.0
"""How long found posts may still be flagged when the work ends; that needs no connection."""


class Capture:
    """All that takes posts in from one client; ``close`` ends its work."""

    def __init__(self, client: AntiphonClient, detector: HateDetector | None) -> None:
        known = KnownPosts(now())
        self.following = Following(client.desk, discord.utils.utcnow)
        self.watching = Watching(client.desk, known, client.own_id, detector)
        self.changes = PostChanges(client.desk, known)
        add_commands(client.tree, CaptureCommands(client, Asking(client.desk, known, self.following)))
        answer_command_errors(client.tree)
        WatchedEvents(client, self.watching, known).listen()
        ChangeEvents(self.changes).listen(client)
        listen(client, "ready", partial(remember_posts, client.desk, known))

    @property
    def left_out(self) -> int:
        """How many posts and changes were not looked at, because too much came at once."""
        lanes = (self.watching.lanes, self.watching.finds, self.changes.lanes, self.changes.old_lanes)
        return sum(lane.left_out for lane in lanes)

    async def close(self) -> None:
        """Stop waiting and looking; what was found is flagged, and what was counted is kept."""
        others = (self.following, self.watching.lanes, self.changes.lanes, self.changes.old_lanes)
        await asyncio.gather(*(part.close() for part in others))
        await self.watching.finds.close(_FLAGGING_SECONDS)
        await self.watching.looked_at.close()


def install(client: AntiphonClient, *, detector: HateDetector | None = None) -> Capture:
    """Add the commands and listeners to a client that is about to connect; called in its running loop.

    Args:
        detector: how likely a text is hateful; ``None`` leaves watched channels with their keywords.
    """
    return Capture(client, detector)
