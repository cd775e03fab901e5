"""What the first of two persons approved, so that the second can read it and approve exactly the same text.

Owns which of these texts a card shows, and how a button names one: by its bytes, so that a press never approves another
text that took its place. Decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from adapters.common.cards.controls import MAX_DRAFTS
from core.moderation.approval import text_hash
from core.moderation.cards import Card

_MOST_SHOWN: Final = 2
"""With five drafts no more components fit into a message."""
_MARK, _DIGITS = "t", 15


@dataclass(frozen=True, slots=True)
class FirstText:
    """A text that is not one of the drafts: who approved it first, and by which key a button names it."""

    name: str
    text: str
    key: str


def written(card: Card) -> list[FirstText]:
    """The newest of the texts that people wrote themselves, in the order in which they were approved."""
    drafts = _ranks(card)
    found: dict[str, FirstText] = {}
    for name, text in zip(card.first_approvals, card.first_texts, strict=False):
        if text.strip() and text.strip() not in drafts:
            key = _key(text)
            found.setdefault(key, FirstText(name, text.strip(), key))
    return list(found.values())[-_MOST_SHOWN:]


def chosen(card: Card) -> list[tuple[str, int]]:
    """Who approved which of the drafts on the card, by name and rank."""
    drafts = _ranks(card)
    pairs = zip(card.first_approvals, card.first_texts, strict=False)
    return [(name, drafts[text.strip()]) for name, text in pairs if text.strip() in drafts]


def is_key(extra: str) -> bool:
    """Whether this is a key by which a button names such a text."""
    return extra.startswith(_MARK)


def text_named(card: Card, key: str) -> str | None:
    """The text that a button names, or ``None`` if no approval of it waits any longer."""
    return next((text for text in card.first_texts if text.strip() and _key(text) == key), None)


def _ranks(card: Card) -> dict[str, int]:
    return {draft.text.strip(): draft.rank for draft in reversed(card.drafts[:MAX_DRAFTS])}


def _key(text: str) -> str:
    return _MARK + text_hash(text.strip())[:_DIGITS]
