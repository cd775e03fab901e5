"""A card as one message of Discord, within Discord's limits.

Owns where its sections are placed. ``adapters.common.cards`` holds what they say.

The limits are those of Components V2 (docs.discord.com/developers/components/reference, and discord.py 2.7.1): 40
components, nested ones included, and 4,000 characters of text in all. We count UTF-16 units, keep the labels of the
buttons inside the same limit, and some room besides, so that it does not matter how exactly Discord counts.
"""

from __future__ import annotations

from typing import Any, Final

from discord import ui

from adapters.common.cards.contents import sections
from adapters.discord.review.items import layout, rows
from adapters.discord.speech.markup import reader_of
from core.moderation.cards import Card

MAX_TEXT: Final = 4000
_SPARE: Final = 60


def card_layout(card: Card, locale: str, *, covers_all: bool = False) -> ui.LayoutView:
    """The whole card in a language; with ``covers_all`` without the post's words and the drafts."""
    parts: list[ui.Item[Any]] = []
    is_apart = True
    for section in sections(card, reader_of(locale), MAX_TEXT - _SPARE, covers_all=covers_all):
        if section.text:
            parts += [*([] if is_apart else [ui.Separator()]), ui.TextDisplay(section.text)]
        parts += rows(section.controls, card.case_id, card.version)
        is_apart = bool(section.controls)  # a row of buttons keeps two texts apart by itself
    return layout(*parts)
