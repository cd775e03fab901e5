"""The person whose interaction is being answered, with the roles that Discord sent with it.

The memory is of one interaction, in the tasks that answer it, for some seconds: Discord sends a person's roles as they
are at that moment, so it need not be asked for them. It is not for a send, which comes later and reads all rights anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

import discord

HOLDS_SECONDS: Final = 15.0
"""How long the roles of an interaction count; for a later decision Discord is asked again."""

_ACTING: ContextVar[tuple[discord.Member, float] | None] = ContextVar("acting", default=None)


def acts(interaction: discord.Interaction[Any], ticks: Callable[[], float] = time.monotonic) -> None:
    """Remember the person who acts, for the task that answers this interaction.

    In a server that we do not know, nobody is remembered: the rights of its roles are not known.
    """
    user, guild = interaction.user, interaction.client.get_guild(interaction.guild_id or 0)
    is_known = guild is not None and not guild.unavailable
    _ACTING.set((user, ticks()) if is_known and isinstance(user, discord.Member) else None)


def acting(guild_id: int, user_id: int, ticks: Callable[[], float] = time.monotonic) -> discord.Member | None:
    """The person, if it is they whose interaction is being answered here; ``None`` where Discord must be asked."""
    member, since = _ACTING.get() or (None, 0.0)
    if member is None or ticks() - since > HOLDS_SECONDS:
        return None
    return member if (member.guild.id, member.id) == (guild_id, user_id) else None
