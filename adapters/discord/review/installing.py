"""Letting a client answer the buttons, selects and modals of cards, and hear of cards that somebody deletes.

``install`` is called once for each client, before it connects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import discord

from adapters.common.cards.acts import Target
from adapters.common.cards.deleted import DeletedCards
from adapters.common.decisions.answering import answered
from adapters.common.decisions.flows import PRESSED, SUBMITTED
from adapters.discord.connection.acting import acts
from adapters.discord.connection.client import AntiphonClient
from adapters.discord.connection.events import listen
from adapters.discord.connection.refs import ref_of
from adapters.discord.review.dialogs import fields_of
from adapters.discord.review.ids import target_of
from adapters.discord.review.items import ANSWERERS, CaseItem
from adapters.discord.review.press import DiscordPress
from adapters.discord.review.surface import DiscordReviewSurface
from core.errors import BadSettings


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


class Review:
    """Answers every press of one client."""

    def __init__(self, client: AntiphonClient, surface: DiscordReviewSurface) -> None:
        self._client, self._surface = client, surface

    async def press(self, interaction: discord.Interaction, target: Target, values: tuple[str, ...]) -> None:
        """Answer a button or a select."""
        acts(interaction)
        await answered(self._press_of(interaction, target, values=values), PRESSED[target.act])

    async def submitted(self, interaction: discord.Interaction) -> None:
        """Answer a modal of ours, opened by whichever process."""
        data: Any = interaction.data or {}
        target = target_of(str(data.get("custom_id", "")))
        if interaction.type is not discord.InteractionType.modal_submit or target is None:
            return
        if target.act in SUBMITTED:
            acts(interaction)
            await answered(self._press_of(interaction, target, fields=fields_of(data)), SUBMITTED[target.act])

    def _press_of(
        self,
        interaction: discord.Interaction,
        target: Target,
        values: tuple[str, ...] = (),
        fields: Mapping[str, str] | None = None,
    ) -> DiscordPress:
        desk = self._client.desk
        return DiscordPress(interaction, target, desk.casework, self._surface, desk.policies, values, fields or {})


def install(client: AntiphonClient, surface: DiscordReviewSurface | None = None) -> None:
    """Make a client answer the buttons, selects and modals of cards.

    Args:
        client: not yet connected.
        surface: the one that shows this client's cards, so that the two never overtake each other.

    Raises:
        BadSettings: it was done before; everything would be answered twice.
    """
    if client in ANSWERERS:
        raise BadSettings("The client answers cards already.", remedy="Install the review once for a client.")
    surface = surface or DiscordReviewSurface(client)
    surface.listen()
    review = Review(client, surface)
    ANSWERERS[client] = review
    client.add_dynamic_items(CaseItem)
    listen(client, "interaction", review.submitted)
    CardDeletions(DeletedCards(client.desk)).listen(client)
