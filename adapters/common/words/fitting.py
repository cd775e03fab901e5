"""What of a card is shown where not all of it fits.

Owns the choice: the least important is left out or shortened first. Knows no card and no markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.discord.speech.markup import units


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text.

    Attributes:
        block: which text it belongs to; pieces of one block stand under each other, in their order.
        importance: the lower, the sooner it gets room.
        forms: what it may say, the fullest first. The last one is always shown; "" shows nothing.
    """

    block: str
    importance: int
    forms: tuple[str, ...]


def fit(pieces: Sequence[Piece], limit: int) -> dict[str, str]:
    """The text of each block that says anything, all of them together in at most ``limit`` units.

    The last forms of all pieces must fit; each piece then takes the fullest form that there is room for.
    """
    chosen = [piece.forms[-1] for piece in pieces]
    room = limit - sum(_size(form) for form in chosen)
    for index in sorted(range(len(pieces)), key=lambda index: pieces[index].importance):
        least = _size(chosen[index])
        form = next(
            form for form in pieces[index].forms if _size(form) - least <= max(room, 0) or _is_last(form, pieces[index])
        )
        room -= _size(form) - least
        chosen[index] = form
    blocks: dict[str, list[str]] = {}
    for piece, form in zip(pieces, chosen, strict=True):
        if form:
            blocks.setdefault(piece.block, []).append(form)
    return {block: "\n".join(forms) for block, forms in blocks.items()}


def _is_last(form: str, piece: Piece) -> bool:
    return form == piece.forms[-1]


def _size(form: str) -> int:
    return units(form) + 1 if form else 0
