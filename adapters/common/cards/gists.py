"""The gist of a post where anybody may see it first, as in a notification.

Owns which gists are shown openly: sentences of our own cards that hold no slur.
"""

from __future__ import annotations

from adapters.common.words.markup import Reader
from core.i18n.catalogs import translated
from core.moderation.cards import Card
from core.wording.targets.slurs import slurs_in


def open_gist(card: Card, reader: Reader, limit: int) -> str:
    """The gist in at most ``limit`` units; "" where it is not known, or not for everybody to see at once."""
    if card.gist is None or not card.is_gist_ours:
        return ""
    if slurs_in(card.gist) or slurs_in(translated(card.gist, reader.locale)):
        return ""
    return reader.told(card.gist, limit)
