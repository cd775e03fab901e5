"""Buttons and selects that work after a restart, and the blocks that cards are built of.

Owns how a component is made and how a press of it is found again. Decides nothing: each press goes to the one answerer
that was installed on its client.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol, Self
from weakref import WeakKeyDictionary

import discord
from discord import ui

from adapters.common.cards.controls import Control
from adapters.discord.review.ids import TEMPLATE, Target, parse

_LABEL, _IN_A_ROW = 80, 5


class Answerer(Protocol):
    """Who answers a press."""

    async def press(self, interaction: discord.Interaction, target: Target, values: tuple[str, ...]) -> None:
        """Answer a press of a button, or of a select with its values; never raises."""
        ...


ANSWERERS: Final[WeakKeyDictionary[discord.Client, Answerer]] = WeakKeyDictionary()
"""By client, since a component that is found again knows nothing else."""


class CaseItem(ui.DynamicItem[ui.Item[Any]], template=TEMPLATE):
    """A button or a select of a case."""

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """The component as it was, whichever process made it."""
        return cls(item)

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Hand the press on."""
        target, answerer = parse(self.custom_id), ANSWERERS.get(interaction.client)
        if target is not None and answerer is not None:
            data: Any = interaction.data or {}
            await answerer.press(interaction, target, tuple(data.get("values") or ()))


def rows(controls: Sequence[Control], case_id: str, version: int) -> list[ui.ActionRow[Any]]:
    """Buttons, five in a row."""
    made = [_button(control, case_id, version) for control in controls]
    return [ui.ActionRow(*made[start : start + _IN_A_ROW]) for start in range(0, len(made), _IN_A_ROW)]


def _button(control: Control, case_id: str, version: int) -> CaseItem:
    target = Target(control.act, case_id, version, control.extra)
    return CaseItem(ui.Button(label=control.label[:_LABEL], style=control.style, custom_id=target.custom_id))


def choice(target: Target, placeholder: str, options: Iterable[discord.SelectOption]) -> ui.ActionRow[Any]:
    """A select of one value."""
    return ui.ActionRow(
        CaseItem(ui.Select(custom_id=target.custom_id, placeholder=placeholder[:150], options=list(options)))
    )


def layout(*parts: ui.Item[Any]) -> ui.LayoutView:
    """A message of parts under each other, whose buttons have no end."""
    view = ui.LayoutView(timeout=None)
    container: ui.Container[ui.LayoutView] = ui.Container()
    for part in parts:
        container.add_item(part)
    view.add_item(container)
    return view


def said(*sentences: str) -> ui.LayoutView:
    """A message of sentences alone."""
    return layout(ui.TextDisplay("\n".join(sentence for sentence in sentences if sentence)))


def with_file(sentence: str, text: str, name: str) -> tuple[ui.LayoutView, list[discord.File]]:
    """A message of a sentence and a text in a file, which shows it as it is; ``SPOILER_`` before the name covers it."""
    file = discord.File(io.BytesIO(text.encode("utf-8", "replace")), name)
    return layout(ui.TextDisplay(sentence), ui.File(file)), [file]
