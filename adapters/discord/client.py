"""The connection to Discord, and the one place where its parts are put together.

Owns the intents that are asked for, and what each part may reach of the others. Knows no command and no card.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import discord
from discord import app_commands

from core.casework import Casework, Governance
from core.errors import BadSettings

NAME: Final = "discord"
"""``PostRef.platform`` of its posts."""


@dataclass(frozen=True, slots=True)
class DiscordOptions:
    """What the operator decides.

    Attributes:
        reads_messages: ask for the message-content intent, which reactions and watched channels need.
        command_guild: register the commands in this one server only, where they appear at once; ``None`` for all.
    """

    reads_messages: bool = False
    command_guild: int | None = None


class AntiphonClient(discord.AutoShardedClient):
    """One bot account. ``attach`` gives it the desk before it connects."""

    def __init__(self, options: DiscordOptions) -> None:
        intents = discord.Intents.none()
        intents.guilds = intents.guild_messages = intents.guild_reactions = intents.auto_moderation_execution = True
        intents.message_content = options.reads_messages
        super().__init__(intents=intents, allowed_mentions=discord.AllowedMentions.none())
        self.options = options
        self.tree = app_commands.CommandTree(self)
        self._casework: Casework | None = None
        self._governance: Governance | None = None

    def attach(self, casework: Casework, governance: Governance) -> None:
        """Say where decisions go."""
        self._casework, self._governance = casework, governance

    @property
    def casework(self) -> Casework:
        """What people can do with cases."""
        if self._casework is None:
            raise BadSettings("The Discord client has no desk.", remedy="Call attach before it connects.")
        return self._casework

    @property
    def governance(self) -> Governance:
        """What people can do with communities."""
        if self._governance is None:
            raise BadSettings("The Discord client has no desk.", remedy="Call attach before it connects.")
        return self._governance
