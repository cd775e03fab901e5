"""Buttons under a message, which work after a restart: all they know is in their data.

Owns where a button stands, its style, and how long its label is. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from telegram import InlineKeyboardButton, InlineKeyboardMarkup

from adapters.common.cards.acts import Target
from adapters.common.cards.controls import Control, Weight
from adapters.common.decisions.press import Options
from adapters.common.words.fitting import shortened
from adapters.telegram.review.ids import carried_data

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
        length = sum(len(one.text) for one in row) + len(button.text)
        if row and len(row) < _IN_A_ROW and length <= _ROW:
            row.append(button)
        else:
            rows.append([button])
    return rows
