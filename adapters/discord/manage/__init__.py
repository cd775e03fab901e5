"""What managers do with Antiphon in their server: ``/antiphon``."""

from adapters.discord.manage.commands import CommandFile, install, sync_commands

__all__ = ["CommandFile", "install", "sync_commands"]
