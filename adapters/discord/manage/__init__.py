"""What managers do with Antiphon in their server: ``/antiphon``."""

from adapters.discord.manage.command_tree import CommandMemory, sync_commands
from adapters.discord.manage.commands import install

__all__ = ["CommandMemory", "install", "sync_commands"]
