"""Messages of Discord as capture looks at them: by whom, where and when, and whether everybody can read them there."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

import discord

from adapters.common.capture.flags import Flag
from adapters.discord.capture.posts import flagged_post
from adapters.discord.connection.places import Place, is_private
from adapters.discord.connection.refs import ref_of
from adapters.discord.speech.words import words_now, words_of
from core.models import FlaggedPost, MessageWords, PostRef, Unread


def now() -> datetime:
    """The time in milliseconds, as exact as ``written_at``."""
    return discord.utils.snowflake_time(discord.utils.time_snowflake(discord.utils.utcnow()))


def written_at(ref: PostRef) -> datetime:
    """When a message was written, which its number says."""
    return discord.utils.snowflake_time(int(ref.message))


@dataclass(frozen=True, slots=True)
class SeenMessage:
    """Implements ``adapters.common.capture.watch.Sighting``.

    ``everybody`` is the community's ``CommunityPolicy.everybody_role``; ``reads_messages`` says whether Discord shows
    us the words of others, so that a conversation can be read.
    """

    message: discord.Message
    place: Place
    everybody: str
    reads_messages: bool
    _read: list[MessageWords] = field(default_factory=list, compare=False)
    """Its words, once they were read: no file is fetched twice."""

    @property
    def ref(self) -> PostRef:
        """Where it is."""
        return ref_of(self.place.guild.id, self.place.id, self.message.id)

    @property
    def may_have_words(self) -> bool:
        """Whether it has any, or files that may hold some."""
        words = words_now(self.message, self.place)
        return bool(words.parts) or Unread.FILE in words.unread

    async def words(self) -> MessageWords:
        """All its words."""
        if not self._read:
            self._read.append(await words_of(self.message, self.place))
        return self._read[0]

    @property
    def written_at(self) -> datetime:
        """When it was written."""
        return written_at(self.ref)

    @property
    def is_by_person(self) -> bool:
        """Whether neither a bot nor a webhook nor Discord itself wrote it."""
        message = self.message
        return not (message.author.bot or message.webhook_id is not None or message.is_system())

    @property
    def is_private(self) -> bool:
        """Whether not everybody in the server can read it."""
        return is_private(self.place, self.everybody)

    async def post(self, flag: Flag) -> FlaggedPost:
        """The message with the conversation around it."""
        words, reads = await self.words(), self.reads_messages
        return await flagged_post(self.message, self.place, flag, self.everybody, reads_messages=reads, words=words)
