"""Discord: posts are flagged there, reviewed there and answered there, on discord.py."""

from adapters.discord.client import AntiphonClient, DiscordOptions

__all__ = ["AntiphonClient", "DiscordOptions"]
