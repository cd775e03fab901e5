"""A message of Discord as a person has it: its texts, buttons and selects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import discord
from discord import ui

from adapters.common.decisions.proposals import proposal_screen
from adapters.discord.review.items import screen_layout
from adapters.discord.speech.markup import reader_of
from core.moderation.cards import ProposedReply


def proposal_layout(proposal: ProposedReply, locale: str) -> tuple[ui.LayoutView, list[discord.File]]:
    """What a person sees before they approve."""
    return screen_layout(proposal_screen(proposal, reader_of(locale), 3800))


def components_of(view: ui.LayoutView) -> list[dict[str, Any]]:
    """Every component of a message in the order of reading, nested ones included."""
    return list(parts_of(view.to_components()))


def parts_of(components: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every component of a message as Discord keeps it, nested ones included."""
    for component in components:
        yield component
        yield from parts_of(component.get("components") or [])


def texts_of(components: list[dict[str, Any]]) -> list[str]:
    """The texts of a message, of a view or as Discord keeps it."""
    return [component["content"] for component in parts_of(components) if component["type"] == 10]


def buttons_of(components: list[dict[str, Any]]) -> dict[str, str]:
    """The labels of a message's buttons, with their custom ids."""
    return {component["label"]: component["custom_id"] for component in parts_of(components) if component["type"] == 2}


def select_of(components: list[dict[str, Any]]) -> dict[str, Any]:
    """The one select of a message."""
    (found,) = [component for component in parts_of(components) if component["type"] == 3]
    return found


_ESCAPED = re.compile(r"\\([^0-9A-Za-z\s])")


def read_as_discord_shows(text: str) -> str:
    """Escapes resolved, as a reader has the text."""
    return _ESCAPED.sub(r"\1", text)
