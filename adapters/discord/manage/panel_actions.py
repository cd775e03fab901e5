"""What happens when somebody chooses something in a panel, or sends one of its forms.

Owns the way from a choice to the governance and back to the panel. Rights are asked anew at every choice; a refusal is
shown in the panel and changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

import discord
from discord import ui

from adapters.discord.connection.client import NAME, AntiphonClient
from adapters.discord.manage import setup_panel, targets_panel
from adapters.discord.manage.rendering import field_of, form_values
from adapters.discord.manage.servers import Manager, manager_of, require
from adapters.discord.speech.languages import reader_language
from adapters.discord.speech.private_answers import Interaction, answer_error, explain
from core.errors import AntiphonError, NotAllowed, StoreUnavailable
from core.i18n.catalogs import gettext
from core.moderation.cards import DeskStatus
from core.moderation.community_policy import CommunityPolicy
from core.moderation.roles import OnCommunity

_FORM_SECONDS: Final = 2.0
_Form = Callable[[CommunityPolicy, str], ui.Modal]
_FORMS: dict[tuple[str, str], _Form] = {
    (setup_panel.PANEL, "ask_reaction"): setup_panel.reaction_form,
    (setup_panel.PANEL, "ask_disclosure_off"): lambda policy, locale: setup_panel.disclosure_form(locale),
    (targets_panel.PANEL, "ask_keywords"): targets_panel.keywords_form,
    (targets_panel.PANEL, "ask_voice"): targets_panel.voice_form,
}


class PanelActions:
    """Hears the choices of both panels."""

    def __init__(self, client: AntiphonClient) -> None:
        self._client = client

    async def hear(self, interaction: Interaction) -> None:
        """Answer an interaction that is one of ours; any other is left alone."""
        data: dict[str, Any] = dict(interaction.data or {})
        found = field_of(data.get("custom_id"))
        if found is None:
            return
        try:
            await self._answer(interaction, *found, data)
        except Exception as err:
            await answer_error(interaction, err)

    async def _answer(self, interaction: Interaction, panel: str, field: str, data: dict[str, Any]) -> None:
        ask = _FORMS.get((panel, field))
        if ask is not None and interaction.type is discord.InteractionType.component:
            await self._ask(interaction, ask)
            return
        await interaction.response.defer()
        manager = await manager_of(self._client, interaction)
        if (panel, field) == (setup_panel.PANEL, "posting_on"):
            await require(self._client, manager, OnCommunity.CONFIGURE)
            await interaction.edit_original_response(view=setup_panel.confirm_panel(manager.locale))
            return
        notice = await self._noticed(partial(self._do, manager, panel, field, data), manager)
        await self.show(interaction, manager, panel, notice)

    async def _ask(self, interaction: Interaction, ask: _Form) -> None:
        """Open a form. Discord takes one only as the first answer, within three seconds: so nothing may take long."""
        locale = reader_language(interaction.locale.value, None)
        try:
            async with asyncio.timeout(_FORM_SECONDS):
                manager = await manager_of(self._client, interaction)
                await require(self._client, manager, OnCommunity.CONFIGURE)
                policy = await self._client.governance.policy(NAME, manager.community)
        except TimeoutError as err:
            raise StoreUnavailable(
                gettext("It takes too long to look up what stands there now.", locale),
                remedy=gettext("Press the button again in a moment.", locale),
            ) from err
        await interaction.response.send_modal(ask(policy, manager.locale))

    async def show(self, interaction: Interaction, manager: Manager, panel: str, notice: str = "") -> None:
        """Put the panel as things stand now into the answer of an interaction that was acknowledged."""
        policy = await self._client.governance.policy(NAME, manager.community)
        if panel == targets_panel.PANEL:
            view = targets_panel.targets_panel(policy, manager.locale, notice)
        else:
            status = await self._status(manager)
            reads = self._client.options.reads_messages
            view = setup_panel.setup_panel(manager, policy, status, reads, notice)
        await interaction.edit_original_response(view=view)

    async def _status(self, manager: Manager) -> DeskStatus | None:
        """How the desk stands; ``None`` for who may configure but has no role here yet."""
        try:
            return await self._client.governance.status(NAME, manager.community, manager.person)
        except NotAllowed:
            return None

    async def _noticed(self, do: Callable[[], Awaitable[str]], manager: Manager) -> str:
        """What the panel says of a choice: what it did, or why not."""
        try:
            said = await do()
        except AntiphonError as err:
            refused = gettext("Nothing was changed.", manager.locale)
            return f"**{refused}** {explain(err, manager.locale)}"
        self._client.policies.forget(manager.guild.id)
        return said

    async def _do(self, manager: Manager, panel: str, field: str, data: dict[str, Any]) -> str:
        await require(self._client, manager, OnCommunity.CONFIGURE)
        if panel == setup_panel.PANEL and field in _SWITCHES:
            return await self._switch(manager, field, form_values(data))
        if field == "again":
            return ""
        policy = await self._client.governance.policy(NAME, manager.community)
        changes = _changes(manager, policy, panel, field, data)
        if "roles" in changes:
            await self._require_grant(manager)
        await self._client.governance.configure(
            NAME, manager.community, changes, manager.person, is_owner=manager.is_owner
        )
        return gettext("Saved.", manager.locale)

    async def _require_grant(self, manager: Manager) -> None:
        if not manager.is_owner:
            await require(self._client, manager, OnCommunity.GRANT)

    async def _switch(self, manager: Manager, field: str, typed: dict[str, str]) -> str:
        governance, who, where = self._client.governance, manager.person, manager.community
        locale = manager.locale
        if field.startswith("posting"):
            is_posting = field == "posting_on_confirmed"
            await governance.set_posting(NAME, where, is_posting, who)
            if is_posting:
                return gettext("Approved replies are posted from now on.", locale)
            return gettext("Nothing is posted from now on.", locale)
        discloses = field == "disclosure_on"
        await governance.set_disclosure(NAME, where, discloses, who, typed.get("note", "").strip())
        if discloses:
            return gettext("Replies say from now on that Antiphon drafted them.", locale)
        return gettext("Replies no longer say that Antiphon drafted them.", locale)


_SWITCHES = frozenset({"posting_on_confirmed", "posting_off", "disclosure_on", "disclosure_off"})


def _changes(
    manager: Manager, policy: CommunityPolicy, panel: str, field: str, data: dict[str, Any]
) -> dict[str, object]:
    """The fields of the policy that a choice or a form changes."""
    values = tuple(str(value) for value in data.get("values", ()))
    typed = form_values(data)
    if panel == setup_panel.PANEL:
        if field == "reaction":
            return setup_panel.reaction_changes(typed.get("reaction", ""), manager.locale)
        return setup_panel.chosen_changes(field, values, manager, policy)
    if field == "keywords":
        return targets_panel.keyword_changes(typed)
    if field == "voice":
        return targets_panel.voice_changes(typed, discord.utils.utcnow().year, manager.locale)
    return targets_panel.chosen_changes(field, values)
