"""The cards without the prepared replies that would bring a smear into the talk which the post did not make.

A community's own replies stay, since they were written for its posts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.engine.cards.bank import ArgumentCard
from core.engine.wording.accusations import brought_in
from core.models import Intent


def without_smears(cards: Sequence[ArgumentCard], post: str, language: str) -> list[ArgumentCard]:
    """The cards with the replies that may stand under the post."""

    def kept(replies: Mapping[Intent, tuple[str, ...]]) -> dict[Intent, tuple[str, ...]]:
        return {
            intent: tuple(text for text in texts if not brought_in(text, post, language))
            for intent, texts in replies.items()
        }

    return [
        replace(
            card,
            replies=kept(card.replies),
        )
        for card in cards
    ]
