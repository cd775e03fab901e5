"""What managers do with Antiphon in their server: ``/antiphon``."""

from adapters.discord.manage.commands import install
from adapters.discord.manage.syncing import CommandMemory, sync_commands

__all__ = ["CommandMemory", "install", "sync_commands"]
