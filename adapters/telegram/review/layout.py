"""A card, and an answer to one person, as one message of Telegram within its limits.

``adapters.common.cards`` holds what they say; here is where each part is placed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from telegram import InlineKeyboardButton, InlineKeyboardMarkup

from adapters.common.cards.acts import Target
from adapters.common.cards.contents import sections
from adapters.common.cards.controls import Control, Weight
from adapters.common.decisions.press import Options, Screen, TextFile
from adapters.common.words.excerpts import shortened
from adapters.telegram.review.ids import carried_data
from adapters.telegram.speech.exact_text import MAX_CHARACTERS
from adapters.telegram.speech.markup import reader_of
from core.desk.rules.case_cards import Card

_LABEL: Final = 34
"""In characters; what a phone shows of a button that has a row for itself."""
_ROW: Final = 30
_IN_A_ROW: Final = 3
_STYLES: Final = {Weight.PLAIN: None, Weight.FIRST: "primary", Weight.FINAL: "success", Weight.GRAVE: "danger"}
"""The label alone says what a button does; apps that know no styles show them all alike."""


def keyboard(
    controls: Iterable[Control], case_id: str, version: int, owner: int | None = None
) -> InlineKeyboardMarkup | None:
    """Buttons in rows that a phone shows in full; ``None`` for none.

    Args:
        controls: what can be pressed.
        case_id: of the case.
        version: of the case that the reader sees.
        owner: for whom alone they are; ``None`` on a card.
    """
    made = [
        InlineKeyboardButton(
            shortened(control.label, _LABEL),
            callback_data=carried_data(control.target(case_id, version), owner),
            style=_STYLES[control.weight],
        )
        for control in controls
    ]
    return InlineKeyboardMarkup(_rows(made)) if made else None


def options_keyboard(options: Options, owner: int) -> InlineKeyboardMarkup:
    """A choice of one answer, each in a row of its own."""
    target = options.target
    return InlineKeyboardMarkup(
        [
            [
                InlineKeyboardButton(
                    shortened(words, _LABEL),
                    callback_data=carried_data(Target(target.act, target.case_id, target.version, value), owner),
                )
            ]
            for value, words in options.rows
        ]
    )


def is_cut(options: Options) -> bool:
    """Whether an answer is too long for its button."""
    return any(len(words) > _LABEL for _, words in options.rows)


def _rows(buttons: Sequence[InlineKeyboardButton]) -> list[list[InlineKeyboardButton]]:
    rows: list[list[InlineKeyboardButton]] = []
    for button in buttons:
        row = rows[-1] if rows else []
        length = sum(len(each.text) for each in row) + len(button.text)
        if row and len(row) < _IN_A_ROW and length <= _ROW:
            row.append(button)
        else:
            rows.append([button])
    return rows


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
