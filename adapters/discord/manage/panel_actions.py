"""Handles what a person chooses in a panel on Discord, or sends in one of its forms.

Owns how Discord is answered. What a choice does is decided in ``adapters.common.manage.choosing``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import discord
from discord import ui

from adapters.common.manage.changes import Chosen
from adapters.common.manage.choosing import Choosing, in_time
from adapters.common.manage.panels import ChoiceOf, Form, FormField, Panel, PanelButton, PanelChoice
from adapters.discord.connection.acting import acts
from adapters.discord.connection.client import AntiphonClient
from adapters.discord.manage.servers import Server, ServerManager, manager_of
from adapters.discord.speech.languages import reader_language
from adapters.discord.speech.private_answers import Interaction, answer_error
from core.ports import HateDetector

PREFIX: Final = "antiphon:manage:"
_WATCHED: Final = [discord.ChannelType.text, discord.ChannelType.news, discord.ChannelType.forum]
_TITLE, _LABEL, _DESCRIPTION = 45, 45, 100
_IN_A_ROW: Final = 5


def custom_id(panel: str, field: str) -> str:
    """The custom id of a field of a panel."""
    return f"{PREFIX}{panel}:{field}"


def field_of(raw: object) -> tuple[str, str] | None:
    """The panel and field that a custom id names; ``None`` where it is not ours."""
    parts = str(raw).removeprefix(PREFIX).split(":")
    return (parts[0], parts[1]) if str(raw).startswith(PREFIX) and len(parts) == 2 else None


def panel_layout(panel: Panel, guild: discord.Guild) -> ui.LayoutView:
    """A panel as a message; discord.py keeps nothing of it, since its choices are heard by their custom ids alone."""
    view = ui.LayoutView(timeout=None)
    for part in _with_notice(panel):
        if isinstance(part, PanelChoice):
            view.add_item(ui.TextDisplay(part.title))
            view.add_item(ui.ActionRow(_select(panel.name, part, guild)))
        else:
            view.add_item(ui.TextDisplay(part))
    for start in range(0, len(panel.buttons), _IN_A_ROW):
        row = panel.buttons[start : start + _IN_A_ROW]
        view.add_item(ui.ActionRow(*(_button(button.panel or panel.name, button) for button in row)))
    view.stop()
    return view


def _with_notice(panel: Panel) -> Iterator[str | PanelChoice]:
    """The parts of a panel, with the notice above the list that was touched, else above the buttons.

    A panel is several screens long on a phone, where nobody would see at its top what a list further below did.
    """
    is_said = not panel.notice
    for part in panel.parts:
        if not is_said and isinstance(part, PanelChoice) and part.field == panel.touched:
            yield panel.notice
            is_said = True
        yield part
    if not is_said:
        yield panel.notice


def modal_of(form: Form) -> ui.Modal:
    """A form that is heard by its custom id when it is sent, restart or not."""
    modal = ui.Modal(title=form.title[:_TITLE], custom_id=custom_id(form.panel, form.field), timeout=60)
    for field in form.fields:
        modal.add_item(_typed(field))
    return modal


def form_values(data: Any) -> dict[str, str]:
    """What was typed into a form, by the custom ids of its fields."""
    typed: dict[str, str] = {}
    for row in data.get("components", ()):
        parts = row.get("components") or ([row["component"]] if "component" in row else [])
        typed.update({part["custom_id"]: str(part.get("value") or "") for part in parts})
    return typed


def _button(panel: str, button: PanelButton) -> ui.Button[Any]:
    style = discord.ButtonStyle.primary if button.is_first else discord.ButtonStyle.secondary
    return ui.Button(label=button.label, style=style, custom_id=custom_id(panel, button.field))


def _select(panel: str, choice: PanelChoice, guild: discord.Guild) -> ui.Item[Any]:
    named = custom_id(panel, choice.field)
    if choice.among is ChoiceOf.ROWS:
        options = [
            discord.SelectOption(label=words, value=value, default=value in choice.chosen)
            for value, words in choice.rows
        ]
        return ui.Select(custom_id=named, options=options, min_values=choice.least, max_values=choice.most)
    if choice.among is ChoiceOf.ROLES:
        standing = _standing(choice, guild.get_role, discord.SelectDefaultValueType.role)
        return ui.RoleSelect(custom_id=named, min_values=choice.least, max_values=choice.most, default_values=standing)
    standing = _standing(choice, guild.get_channel, discord.SelectDefaultValueType.channel)
    types = [discord.ChannelType.text] if choice.among is ChoiceOf.REVIEW_CHANNELS else _WATCHED
    return ui.ChannelSelect(
        custom_id=named,
        channel_types=types,
        min_values=choice.least,
        max_values=choice.most,
        default_values=standing,
    )


def _standing(
    choice: PanelChoice, find: Callable[[int], object | None], kind: discord.SelectDefaultValueType
) -> list[discord.SelectDefaultValue]:
    """What is chosen now, without what the server no longer has, as many as Discord takes."""
    ids: Iterable[str] = choice.chosen
    known = [int(key) for key in ids if key.isdecimal() and find(int(key)) is not None]
    return [discord.SelectDefaultValue(id=key, type=kind) for key in known[: choice.most]]


def _typed(field: FormField) -> ui.Label[Any]:
    """A field of a form, with its present value."""
    written: ui.TextInput[Any] = ui.TextInput(
        custom_id=field.name,
        style=discord.TextStyle.paragraph if field.is_long else discord.TextStyle.short,
        default=field.value or None,
        required=field.is_needed,
        max_length=field.limit,
    )
    return ui.Label(text=field.label[:_LABEL], description=field.description[:_DESCRIPTION] or None, component=written)


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
