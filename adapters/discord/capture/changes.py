"""Edits and deletions of flagged messages, before and after they were answered.

Owns which of Discord's events are worth asking the desk about. Of a message that nobody can have flagged, nothing is
asked: a large server edits and deletes thousands.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Final

import discord

from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.lanes import Lanes
from adapters.discord.capture.edits import edited_at
from adapters.discord.capture.places import ref_of
from adapters.discord.connection.client import AntiphonClient
from adapters.discord.connection.events import listen
from adapters.discord.connection.refs import revision_at
from core.errors import Unavailable
from core.models import PostRef

_LOG = logging.getLogger(__name__)
_PAUSES_SECONDS: Final = (1.0, 5.0, 25.0)


class Changes:
    """Tells the desk when a flagged message changes or goes away.

    A message that this process flagged is always told of. One from before it began may have a case, so the desk is
    asked, in lanes of their own that drop what is too much. One that is younger and was not flagged here has none.
    """

    def __init__(self, client: AntiphonClient, known: KnownPosts) -> None:
        self._client = client
        self._known = known
        self.lanes = Lanes("changes of flagged posts", most_waiting=5000, most_in_lane=1000)
        self.old_lanes = Lanes("changes of old messages", most_waiting=1000, at_once=1)

    def listen(self) -> None:
        """Hear of edits, deletions, and of channels that go away with all their messages."""
        listen(self._client, "raw_message_edit", self._edited)
        listen(self._client, "raw_message_delete", self._deleted)
        listen(self._client, "raw_bulk_message_delete", self._many_deleted)
        listen(self._client, "guild_channel_delete", self._channel_deleted)
        listen(self._client, "raw_thread_delete", self._thread_deleted)

    async def _edited(self, event: discord.RawMessageUpdateEvent) -> None:
        """An edit by its author; a preview that Discord adds to a link, or a pin, changes no word.

        Without the message-content intent Discord says when a message was edited last, but not what it reads now.
        """
        moment = edited_at(event)
        if event.guild_id is None or moment is None:
            return
        text, ref = str(event.data.get("content") or ""), ref_of(event.guild_id, event.channel_id, event.message_id)
        self._tell(ref, text, revision_at(moment))

    async def _deleted(self, event: discord.RawMessageDeleteEvent) -> None:
        if event.guild_id is not None:
            self._tell(ref_of(event.guild_id, event.channel_id, event.message_id), None)

    async def _many_deleted(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        if event.guild_id is not None:
            for message_id in sorted(event.message_ids):
                self._tell(ref_of(event.guild_id, event.channel_id, message_id), None)

    async def _channel_deleted(self, channel: discord.abc.GuildChannel) -> None:
        for ref in self._known.in_channel(channel.id):
            self._tell(ref, None)

    async def _thread_deleted(self, event: discord.RawThreadDeleteEvent) -> None:
        for ref in self._known.in_channel(event.thread_id):
            self._tell(ref, None)

    def _tell(self, ref: PostRef, text: str | None, revision: str = "") -> None:
        message_id = int(ref.message)
        if self._known.is_known(message_id):
            self.lanes.submit(ref.channel, partial(self._until_told, ref, text, revision))
        elif self._known.may_have_case(message_id):
            tell = partial(self._client.casework.original_changed, ref, text, revision=revision)
            self.old_lanes.submit(ref.community, tell)

    async def _until_told(self, ref: PostRef, text: str | None, revision: str) -> None:
        """Tell the desk, again a few times where it cannot be reached; before a send the post is read anew anyway."""
        for pause in _PAUSES_SECONDS:
            try:
                return await self._client.casework.original_changed(ref, text, revision=revision)
            except Unavailable as err:
                _LOG.warning("A change of a flagged post could not be told yet: %s", err.message)
                await asyncio.sleep(pause)
        return await self._client.casework.original_changed(ref, text, revision=revision)
