"""Handles what a person chooses in a panel on Discord, or sends in one of its forms.

Owns how Discord is answered. What a choice does is decided in ``adapters.common.manage.choosing``.
"""

from __future__ import annotations

from typing import Any

import discord

from adapters.common.manage.changes import Chosen
from adapters.common.manage.choosing import Choosing, in_time
from adapters.common.manage.panels import Panel
from adapters.discord.connection.acting import acts
from adapters.discord.connection.client import AntiphonClient
from adapters.discord.manage.rendering import field_of, form_values, modal_of, panel_layout
from adapters.discord.manage.servers import Server, ServerManager, manager_of
from adapters.discord.speech.languages import reader_language
from adapters.discord.speech.private_answers import Interaction, answer_error
from core.ports import HateDetector


class PanelActions:
    """Hears the choices of both panels; ``detector`` is the filter of watched channels."""

    def __init__(self, client: AntiphonClient, detector: HateDetector | None) -> None:
        self._client = client
        self._choosing = Choosing(client.desk, detector)

    async def hear(self, interaction: Interaction) -> None:
        """Answer an interaction that is one of ours; any other is left alone."""
        data: dict[str, Any] = dict(interaction.data or {})
        found = field_of(data.get("custom_id"))
        if found is None:
            return
        acts(interaction)
        values = tuple(str(value) for value in data.get("values", ()))
        try:
            await self._answer(interaction, Chosen(*found, values, form_values(data)))
        except Exception as err:
            await answer_error(interaction, err)

    async def _answer(self, interaction: Interaction, chosen: Chosen) -> None:
        if chosen.opens_form and interaction.type is discord.InteractionType.component:
            await self._ask(interaction, chosen)
            return
        await interaction.response.defer()
        manager = await manager_of(self._client, interaction)
        await self._put(interaction, manager, await self._choosing.answer(manager, chosen, self._facts(manager)))

    async def _ask(self, interaction: Interaction, chosen: Chosen) -> None:
        """Open a form. Discord takes one only as the first answer, within three seconds: so nothing may take long."""
        async with in_time(reader_language(interaction.locale.value, None)):
            manager = await manager_of(self._client, interaction)
            form = await self._choosing.form(manager, chosen, self._facts(manager))
        await interaction.response.send_modal(modal_of(form))

    async def show(self, interaction: Interaction, manager: ServerManager, panel: str) -> None:
        """Put the panel with the present settings into the answer of an acknowledged interaction."""
        await self._put(interaction, manager, await self._choosing.panel(manager, panel, self._facts(manager)))

    async def _put(self, interaction: Interaction, manager: ServerManager, panel: Panel) -> None:
        await interaction.edit_original_response(view=panel_layout(panel, manager.guild))

    def _facts(self, manager: ServerManager) -> Server:
        return Server(manager.guild, self._client.options.reads_messages)
