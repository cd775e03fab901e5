"""The texts that the first of two persons approved, so that the second can read and approve exactly the same text.

A text that is the draft on the card stands there as that draft; any other stands there as a text of its own. A button
names such a text by its bytes, so that a press never approves another text that took its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.desk.rules.approval import text_hash
from core.desk.rules.case_cards import Card

_MOST_SHOWN: Final = 2
"""More would push the draft off a phone's screen."""
_MARK, _DIGITS = "t", 15


@dataclass(frozen=True, slots=True)
class FirstText:
    """A text that is not the draft on the card: who approved it first, and by which key a button names it."""

    name: str
    text: str
    key: str


def written(card: Card) -> list[FirstText]:
    """The newest of the texts other than the draft on the card, in the order in which they were approved."""
    drafts = _ranks(card)
    texts: dict[str, FirstText] = {}
    for name, text in zip(card.first_approvals, card.first_texts, strict=False):
        if text.strip() and text.strip() not in drafts:
            key = _key(text)
            texts.setdefault(key, FirstText(name, text.strip(), key))
    return list(texts.values())[-_MOST_SHOWN:]


def chosen(card: Card) -> list[tuple[str, int]]:
    """Who approved the draft on the card, by name, with its rank."""
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
    return {draft.text.strip(): draft.rank for draft in card.drafts[:1]}


def _key(text: str) -> str:
    return _MARK + text_hash(text.strip())[:_DIGITS]
