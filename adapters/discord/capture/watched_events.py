"""Discord's events that lead to posts which nobody flagged by name.

Owns which events are heard, and how a message that one points at is read. Hears words only if the operator asked
Discord for the message-content intent. What is looked at, ``adapters.common.capture.watching`` says.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import discord

from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.watching import Watching
from adapters.discord.capture.edits import has_new_words
from adapters.discord.capture.sightings import SeenMessage
from adapters.discord.connection.client import AntiphonClient
from adapters.discord.connection.events import listen
from adapters.discord.connection.places import Place, Readable, is_private, place_of, watched_id
from adapters.discord.connection.refs import NAME, ref_of
from adapters.discord.speech.emojis import is_same
from core.moderation.roles import Person

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
