"""Where on Discord a post is, and whether everybody can read it there.

Owns the one rule of what is private: whatever the default role of a server cannot see. Where that cannot be told, the
answer is private.
"""

from __future__ import annotations

from typing import TypeAlias

import discord

Place: TypeAlias = discord.abc.GuildChannel | discord.Thread
Readable: TypeAlias = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread


def is_private(place: object) -> bool:
    """Whether only some people can read what is written there: direct messages, private threads, closed channels."""
    if isinstance(place, discord.Thread):
        return place.is_private() or place.parent is None or is_private(place.parent)
    if isinstance(place, discord.abc.GuildChannel):
        return not place.permissions_for(place.guild.default_role).view_channel
    return True


async def place_of(guild: discord.Guild, channel_id: int) -> Place | None:
    """A channel or thread of a server, or ``None`` where we cannot see it.

    An interaction does not say who may see its channel, so Discord is asked instead.
    """
    known = guild.get_channel_or_thread(channel_id)
    if known is not None:
        return known
    try:
        return await guild.fetch_channel(channel_id)
    except (discord.NotFound, discord.Forbidden, discord.InvalidData):
        return None


def watched_id(place: Place) -> str:
    """The id by which a community watches a channel: a thread is watched with the channel that it hangs on."""
    return str(place.parent_id if isinstance(place, discord.Thread) else place.id)


def has_history(place: Place) -> bool:
    """Whether we may read what was written there before."""
    allowed = place.permissions_for(place.guild.me)
    return allowed.view_channel and allowed.read_message_history
