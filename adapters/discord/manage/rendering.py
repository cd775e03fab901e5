"""The pieces that the panels of ``/antiphon`` are built of, and the names by which they come back.

Owns custom ids and the form of an interaction's data. A panel keeps nothing in memory: whatever is chosen in it says
which panel and which field it is, so that panels work after a restart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import discord
from discord import ui

PREFIX: Final = "antiphon:manage:"


def custom_id(panel: str, field: str) -> str:
    """The custom id of a field of a panel."""
    return f"{PREFIX}{panel}:{field}"


def field_of(raw: object) -> tuple[str, str] | None:
    """The panel and field that a custom id names; ``None`` where it is not ours."""
    parts = str(raw).removeprefix(PREFIX).split(":")
    return (parts[0], parts[1]) if str(raw).startswith(PREFIX) and len(parts) == 2 else None


def still(view: ui.LayoutView) -> ui.LayoutView:
    """The panel, not to be kept by discord.py: its choices are heard by their custom ids alone."""
    view.stop()
    return view


def panel(*items: ui.Item[Any]) -> ui.LayoutView:
    """A message made of these items."""
    view = ui.LayoutView(timeout=None)
    for item in items:
        view.add_item(item)
    return still(view)


def labelled(text: str, item: ui.Item[Any]) -> tuple[ui.Item[Any], ui.Item[Any]]:
    """A choice below the words that say what it is."""
    return ui.TextDisplay(text), ui.ActionRow(item)


def options(rows: Iterable[tuple[str, str]], chosen: Sequence[str]) -> list[discord.SelectOption]:
    """Options from values and words, of which some are chosen."""
    return [discord.SelectOption(label=words, value=value, default=value in chosen) for value, words in rows]


def form_values(data: Any) -> dict[str, str]:
    """What was typed into a form, by the custom ids of its fields."""
    typed: dict[str, str] = {}
    for row in data.get("components", ()):
        parts = row.get("components") or ([row["component"]] if "component" in row else [])
        typed.update({part["custom_id"]: str(part.get("value") or "") for part in parts})
    return typed


def form(panel_name: str, field: str, title: str, *inputs: ui.Label[Any]) -> ui.Modal:
    """A form that is heard by its custom id when it is sent, restart or not."""
    modal = ui.Modal(title=title[:45], custom_id=custom_id(panel_name, field), timeout=60)
    for item in inputs:
        modal.add_item(item)
    return modal


def typed(
    name: str,
    label: str,
    value: str,
    *,
    limit: int,
    description: str = "",
    is_long: bool = False,
    is_needed: bool = False,
) -> ui.Label[Any]:
    """A field of a form, with what stands there now."""
    style = discord.TextStyle.paragraph if is_long else discord.TextStyle.short
    written: ui.TextInput[Any] = ui.TextInput(
        custom_id=name, style=style, default=value or None, required=is_needed, max_length=limit
    )
    return ui.Label(text=label[:45], description=description[:100] or None, component=written)
