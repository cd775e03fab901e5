"""Discord on loopback: its gateway and its HTTP API, as far as Antiphon uses them, with every request checked."""

from tests.fakes.discord.server.server import TOKEN, DiscordServer, LoopbackClient, connected
from tests.fakes.discord.server.state import BOT_ID, DiscordState

__all__ = ["BOT_ID", "TOKEN", "DiscordServer", "DiscordState", "LoopbackClient", "connected"]
