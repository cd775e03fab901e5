"""Discord's events of deleted messages, for the cards in review channels.

Owns what they say of a message; ``adapters.common.cards.deleted`` decides whether the desk is told.
"""

from __future__ import annotations

import discord

from adapters.common.cards.deleted import DeletedCards
from adapters.discord.connection.events import listen
from adapters.discord.connection.refs import ref_of


class CardDeletions:
    """Hears of deleted messages, one or many."""

    def __init__(self, deleted: DeletedCards) -> None:
        self._deleted = deleted

    def listen(self, client: discord.Client) -> None:
        """Hear of them."""
        listen(client, "raw_message_delete", self._one)
        listen(client, "raw_bulk_message_delete", self._many)

    async def _one(self, event: discord.RawMessageDeleteEvent) -> None:
        if event.guild_id is not None:
            await self._deleted.gone([ref_of(event.guild_id, event.channel_id, event.message_id)])

    async def _many(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        if event.guild_id is not None:
            numbers = sorted(event.message_ids)
            await self._deleted.gone([ref_of(event.guild_id, event.channel_id, number) for number in numbers])
