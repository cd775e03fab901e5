"""What a posted reply must not hold, no matter who wrote it: invisible characters, and links to unknown places.

The same on every platform. A text is checked when it is proposed, and again when it is approved, and is never changed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

from core.engine.wording.links import strange_link
from core.engine.wording.text import UNSEEN_LETTERS, is_unseen
from core.errors import BadInput
from core.i18n.sentences import listed, sentence
from core.models import Evidence

_JOINERS: Final = "\u200c\u200d"
_SHOWN: Final = 3
_IN_WORDS: Final = {
    "\t": sentence("tab"),
    **dict.fromkeys("\n\r\v\f\x85\u2028\u2029", sentence("line break")),
    "\xad": sentence("soft hyphen"),
    **dict.fromkeys("\u200b\u2060\ufeff", sentence("zero-width space")),
    **dict.fromkeys(_JOINERS, sentence("invisible joiner")),
    "\u200e": sentence("left-to-right mark"),
    "\u200f": sentence("right-to-left mark"),
    **dict.fromkeys(
        "\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", sentence("mark that turns the text around")
    ),
    **dict.fromkeys(UNSEEN_LETTERS, sentence("blank letter")),
}


def check_sendable(text: str, evidence: Iterable[Evidence] = ()) -> None:
    """Refuse a text that shows something else than it holds, or links to something other than a source of the case.

    Args:
        text: the whole text that would be posted.
        evidence: the passages of the case; a link to one's source is the only one allowed.

    Raises:
        BadInput: it holds hidden characters, a link behind other words, or a link to no source of the case.
    """
    hidden = hidden_characters(text)
    if hidden:
        names = listed(list(dict.fromkeys(map(in_words, hidden)))[:_SHOWN])
        raise BadInput(
            sentence("The text holds characters that nobody sees ({names}).", names=names),
            remedy=sentence("Remove them, or type the text again."),
        )
    if "](" in text:
        raise BadInput(
            sentence("The text hides a link behind other words."), remedy=sentence("Write the address itself.")
        )
    strange = strange_link(text, (passage.source.url for passage in evidence))
    if strange is not None:
        raise BadInput(
            sentence("The text links to {link}, which is not a source of this case.", link=strange),
            remedy=sentence("Take the link out, or link to a source as it is shown; put a space after a full stop."),
        )


def in_words(character: str) -> str:
    """What people call an invisible character; its number in Unicode where they have no word for it."""
    return _IN_WORDS.get(character, f"U+{ord(character):04X}")


def hidden_characters(text: str) -> list[str]:
    """The invisible characters, once each, in order, except line ends, tabs and needed joiners."""
    characters = [
        character
        for at, character in enumerate(text)
        if character not in "\n\t"
        and is_unseen(character)
        and unicodedata.category(character) != "Cn"  # newer than this Python's Unicode, such as a new emoji
        and not (character in _JOINERS and _joins(text[at - 1 : at] if at else "", text[at + 1 : at + 2]))
    ]
    return list(dict.fromkeys(characters))


def _joins(before: str, after: str) -> bool:
    """Whether a joiner is where scripts and emoji need one: never next to ASCII, a space, or another joiner."""
    return all(side and not side.isascii() and not side.isspace() and side not in _JOINERS for side in (before, after))
