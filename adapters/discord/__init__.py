"""Discord: posts are flagged there, reviewed there and answered there, on discord.py."""

from adapters.discord.connection.client import AntiphonClient, DiscordOptions
from adapters.discord.platform import DiscordPlatform
from adapters.discord.roles import DiscordRoles

__all__ = ["AntiphonClient", "DiscordOptions", "DiscordPlatform", "DiscordRoles"]
