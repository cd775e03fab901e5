"""A card, and an answer to one person, as one message of Telegram within its limits.

Owns where their parts are placed. ``adapters.common.cards`` holds what they say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from telegram import InlineKeyboardMarkup

from adapters.common.cards.contents import sections
from adapters.common.decisions.press import Screen, TextFile
from adapters.telegram.review.keyboard import is_cut, keyboard, options_keyboard
from adapters.telegram.speech.exact_text import MAX_CHARACTERS
from adapters.telegram.speech.markup import reader_of
from core.moderation.cards import Card

_BETWEEN: Final = "\n\n"
_SPARE: Final = 60
"""For the lines between the sections."""


@dataclass(frozen=True, slots=True)
class Written:
    """A message in Telegram's HTML, with its buttons and the files that go before it."""

    text: str
    keyboard: InlineKeyboardMarkup | None = None
    files: tuple[TextFile, ...] = ()


def card_message(card: Card, locale: str, *, covers_all: bool = False) -> Written:
    """The whole card in a language; with ``covers_all`` without the post's words and the drafts."""
    parts = sections(card, reader_of(locale), MAX_CHARACTERS - _SPARE, covers_all=covers_all)
    controls = [control for part in parts for control in part.controls]
    text = _BETWEEN.join(part.text for part in parts if part.text)
    return Written(text, keyboard(controls, card.case_id, card.version))


def screen_message(screen: Screen, owner: int) -> Written:
    """A message for one person, whose buttons are for this person alone."""
    texts = [part for part in screen.parts if isinstance(part, str) and part]
    files = tuple(part for part in screen.parts if isinstance(part, TextFile))
    if screen.options is None:
        return Written("\n".join(texts), keyboard(screen.controls, screen.case_id, screen.version, owner), files)
    if is_cut(screen.options):
        texts += [reader_of("en").markup.inert(words) for _, words in screen.options.rows]
    return Written("\n".join(texts), options_keyboard(screen.options, owner), files)
