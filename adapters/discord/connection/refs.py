"""How Discord's messages and their edits are named in Antiphon: ``PostRef`` and revisions from Discord's numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import discord

from core.errors import PlatformUnavailable
from core.i18n.sentences import sentence
from core.models import PostRef

NAME: Final = "discord"
"""``PostRef.platform`` of Discord's posts."""

_UNEDITED: Final = "unedited"


@dataclass(frozen=True, slots=True)
class MessageNumbers:
    """A message as Discord numbers it: in a server, and a channel or thread of it."""

    guild: int
    channel: int
    message: int


def numbers_of(ref: PostRef) -> MessageNumbers:
    """Where a post is; ``PlatformUnavailable`` if it is not on Discord."""
    numbers = (ref.community, ref.channel, ref.message)
    if ref.platform != NAME or not all(number.isascii() and number.isdecimal() for number in numbers):
        raise PlatformUnavailable(
            sentence("This is not a message on Discord."), remedy=sentence("Flag the post again.")
        )
    return MessageNumbers(int(ref.community), int(ref.channel), int(ref.message))


def ref_of(guild_id: int, channel_id: int, message_id: int) -> PostRef:
    """How a message of a server is named."""
    return PostRef(NAME, str(guild_id), str(channel_id), str(message_id))


def revision_of(message: discord.Message) -> str:
    """The ``FlaggedPost.revision`` of a message: when its author last edited it, which is known without its words."""
    return revision_at(message.edited_at)


def revision_at(edited_at: datetime | None) -> str:
    """The revision of a message that was edited last at a moment, or never."""
    return _UNEDITED if edited_at is None else edited_at.isoformat()
