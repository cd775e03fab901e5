"""How Discord's messages and their edits are named in Antiphon, where they are, and who can read them there."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

import discord

from core.errors import PlatformUnavailable
from core.i18n.sentences import Sentence, sentence
from core.models import PostRef

Place: TypeAlias = discord.abc.GuildChannel | discord.Thread
Readable: TypeAlias = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread
NAME: Final = "discord"
"""``PostRef.platform`` of Discord's posts."""
_UNEDITED: Final = "unedited"


def everybody_in(guild: discord.Guild, everybody: str) -> discord.Role:
    """Everybody's role: the one that the server's managers named by its id, or the default one where it is gone."""
    named = guild.get_role(int(everybody)) if everybody.isdecimal() else None
    return named or guild.default_role


def is_private(place: object, everybody: str) -> bool:
    """Whether only some people can read what is written there: direct messages, private threads, closed channels.

    Args:
        everybody: ``CommunityPolicy.everybody_role``.
    """
    if isinstance(place, discord.Thread):
        return place.is_private() or place.parent is None or is_private(place.parent, everybody)
    if isinstance(place, discord.abc.GuildChannel):
        return not place.permissions_for(everybody_in(place.guild, everybody)).view_channel
    return True


def seen_by_all(channel: discord.abc.GuildChannel, everybody: str) -> list[str]:
    """The names of the roles by which everybody, or every newcomer, can see a channel; cards may be where none is."""
    roles = dict.fromkeys((channel.guild.default_role, everybody_in(channel.guild, everybody)))
    return [role.name for role in roles if channel.permissions_for(role).view_channel]


async def place_of(guild: discord.Guild, channel_id: int) -> Place | None:
    """A channel or thread of a server, or ``None`` where we cannot see it.

    An interaction does not say who may see its channel, so Discord is asked instead.
    """
    place = guild.get_channel_or_thread(channel_id)
    if place is not None:
        return place
    try:
        return await guild.fetch_channel(channel_id)
    except (discord.NotFound, discord.Forbidden, discord.InvalidData):
        return None


async def name_of(client: discord.Client, community: str, channel: str) -> str:
    """What people call a server, or a channel of it, by what Discord told without being asked; "" where it did not.

    A channel that is asked for without its server is named with it.
    """
    if not (channel or community).isdecimal():
        return ""
    if not channel:
        guild = client.get_guild(int(community))
        return "" if guild is None else guild.name
    place = client.get_channel(int(channel))
    if not isinstance(place, discord.abc.GuildChannel | discord.Thread):
        return ""
    return f"#{place.name}" if community == str(place.guild.id) else f"#{place.name}, {place.guild.name}"


def watched_id(place: Place) -> str:
    """The id by which a community watches a channel: a thread is watched with the channel that it hangs on."""
    return str(place.parent_id if isinstance(place, discord.Thread) else place.id)


def lacking_rights(place: Place) -> list[Sentence]:
    """The rights that an answer in a channel or thread needs and that we lack there; none where we may answer.

    A reply needs to read the history, too; any other message does not (``lacking_to_write``).
    """
    lacking = lacking_to_write(place)
    return lacking if has_history(place) or lacking else [sentence("Read Message History")]


def lacking_to_write(place: Place) -> list[Sentence]:
    """The rights that we lack in a channel or thread to see it and write there."""
    allowed = place.permissions_for(place.guild.me)
    if not allowed.view_channel:
        return [sentence("View Channel")]
    if isinstance(place, discord.Thread):
        return [] if allowed.send_messages_in_threads else [sentence("Send Messages in Threads")]
    return [] if allowed.send_messages else [sentence("Send Messages")]


def has_history(place: Place) -> bool:
    """Whether we may read what was written there before."""
    allowed = place.permissions_for(place.guild.me)
    return allowed.view_channel and allowed.read_message_history


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
