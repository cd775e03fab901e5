"""Where on Discord a post is, and whether everybody can read it there.

A place is private if everybody's role cannot see it, or if that cannot be told. Everybody's role is the server's
default role, or the one that its managers named because newcomers do not have it yet.
"""

from __future__ import annotations

from typing import TypeAlias

import discord

from core.i18n.sentences import Sentence, sentence

Place: TypeAlias = discord.abc.GuildChannel | discord.Thread
Readable: TypeAlias = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread


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
