"""How the parts of capture are put together on one client.

Posts nothing and decides nothing.
"""

from __future__ import annotations

import asyncio
import logging
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
from adapters.discord.capture.edits import edited_at
from adapters.discord.capture.sightings import now, written_at
from adapters.discord.capture.watched_events import WatchedEvents
from adapters.discord.connection.client import AntiphonClient
from adapters.discord.connection.events import listen
from adapters.discord.connection.places import Place
from adapters.discord.connection.refs import NAME, ref_of, revision_at
from adapters.discord.speech.private_answers import answer_command_errors
from adapters.discord.speech.words import words_now
from core.errors import AntiphonError
from core.ports import HateDetector

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
