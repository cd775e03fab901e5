"""Review on Discord: cards in a private channel, and what people do with them.

Owns the list of what each button, select and modal does. ``install`` is called once for each
client, before it connects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import discord

from adapters.discord.connection.client import AntiphonClient
from adapters.discord.review import approving, deciding, more
from adapters.discord.review.dialogs import fields_of
from adapters.discord.review.ids import Act, Target, parse
from adapters.discord.review.items import ANSWERERS, CaseItem
from adapters.discord.review.press import Flow, Press, answered
from adapters.discord.review.surface import DiscordReviewSurface
from core.errors import BadSettings

__all__ = ["DiscordReviewSurface", "install"]

_PRESSED: Final[Mapping[Act, Flow]] = {
    Act.CLAIM: deciding.claim,
    Act.RELEASE: deciding.release,
    Act.APPROVE: approving.approve,
    Act.CONFIRM: approving.confirm,
    Act.UNDO: approving.undo,
    Act.EDIT: approving.edit,
    Act.REDRAFT: deciding.ask_redraft,
    Act.REDRAFT_AS: deciding.redraft,
    Act.OTHER_CLAIM: deciding.ask_claim,
    Act.CLAIM_AS: deciding.argue,
    Act.DECLINE: deciding.ask_decline,
    Act.DECLINE_AS: deciding.decline,
    Act.SILENT: deciding.ask_note,
    Act.MORE: more.menu,
    Act.WITHDRAW: deciding.ask_note,
    Act.REOPEN: deciding.reopen,
    Act.IS_POSTED: deciding.settle(is_posted=True),
    Act.NOT_POSTED: deciding.settle(is_posted=False),
    Act.SPLIT: deciding.split,
    Act.RETRACT: deciding.ask_note,
    Act.SHOW_POST: more.show_post,
    Act.SHOW_DRAFTS: more.show_drafts,
    Act.SHOW_EVIDENCE: more.show_evidence,
}
_SUBMITTED: Final[Mapping[Act, Flow]] = {
    Act.EDIT: approving.propose_edited,
    Act.DECLINE: deciding.decline_with_note,
    Act.SILENT: deciding.stay_silent,
    Act.WITHDRAW: deciding.withdraw,
    Act.RETRACT: deciding.retract,
}


class Review:
    """Answers every press of one client."""

    def __init__(self, client: AntiphonClient, surface: DiscordReviewSurface) -> None:
        self._client, self._surface = client, surface

    async def press(self, interaction: discord.Interaction, target: Target, values: tuple[str, ...]) -> None:
        """Answer a button or a select."""
        await answered(self._press_of(interaction, target, values=values), _PRESSED[target.act])

    async def submitted(self, interaction: discord.Interaction) -> None:
        """Answer a modal of ours, opened by whichever process."""
        data: Any = interaction.data or {}
        target = parse(str(data.get("custom_id", "")))
        if interaction.type is not discord.InteractionType.modal_submit or target is None:
            return
        if target.act in _SUBMITTED:
            await answered(self._press_of(interaction, target, fields=fields_of(data)), _SUBMITTED[target.act])

    def _press_of(
        self,
        interaction: discord.Interaction,
        target: Target,
        values: tuple[str, ...] = (),
        fields: Mapping[str, str] | None = None,
    ) -> Press:
        client = self._client
        return Press(interaction, target, client.casework, self._surface, client.policies, values, fields or {})


def install(client: AntiphonClient, surface: DiscordReviewSurface | None = None) -> None:
    """Let a client answer the buttons, selects and modals of cards.

    Args:
        client: not yet connected.
        surface: the one that shows this client's cards, so that the two never overtake each other.

    Raises:
        BadSettings: it was done before; everything would be answered twice.
    """
    if client in ANSWERERS:
        raise BadSettings("The client answers cards already.", remedy="Install the review once for a client.")
    review = Review(client, surface or DiscordReviewSurface(client))
    ANSWERERS[client] = review
    client.add_dynamic_items(CaseItem)
    earlier = getattr(client, "on_interaction", None)

    async def on_interaction(interaction: discord.Interaction) -> None:
        await review.submitted(interaction)
        if earlier is not None:
            await earlier(interaction)

    client.event(on_interaction)
