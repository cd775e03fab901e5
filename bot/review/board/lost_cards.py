"""Cards that somebody deleted while nobody of ours heard of it: looked for once a platform is connected again.

Owns which cards are looked for, and how often at most: a look is one request, a community has one look in a step of the
board, and a step has a few. Finds only; the desk has the cards of open cases shown again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Final

from bot.store.engine.database import Session
from bot.store.views.review_cards import Board, standing_places
from core.models import PostRef
from core.moderation.platforms import ReviewSurface

_LOOKS_IN_A_STEP: Final = 4
_MOST_CARDS: Final = 500
"""Of one community and one connection; older cards come back as before, with the next change of their case."""


class LostCards:
    """The cards that one platform's board has still to look for."""

    def __init__(self, surface: ReviewSurface) -> None:
        self._surface = surface
        self._names: set[str] = set()  # communities of which something went unheard, by their names there
        self._unseen: dict[str, list[PostRef]] = {}  # cards to look for by community, the newest first

    def hear(self) -> None:
        """Ask the surface where deletions may have gone unheard."""
        self._names.update(self._surface.unheard())

    def went_unheard(self, name: str) -> None:
        """Deletions may have gone unheard in a community, named as its platform does."""
        self._names.add(name)

    async def note(self, session: Session, boards: Mapping[str, Board]) -> None:
        """Read which cards should stand in the communities of which something went unheard."""
        for board in boards.values() if self._names else ():
            if board.name in self._names and board.channel:
                self._unseen[board.community_id] = await standing_places(session, board, _MOST_CARDS)
        self._names.clear()

    def due(self, without: Collection[str]) -> list[str]:
        """The communities to look into now; the others come first the next time."""
        waiting = (community for community, cards in self._unseen.items() if cards and community not in without)
        return list(islice(waiting, _LOOKS_IN_A_STEP))

    async def look(self, community: str) -> frozenset[PostRef]:
        """Look once into a community's review channel; the cards that are gone. Raises as ``ReviewSurface.look``."""
        cards = self._unseen[community]
        looked = await self._surface.look(cards)
        self.give_up(community)
        if left := [card for card in cards if card not in looked.standing | looked.gone]:
            self._unseen[community] = left
        return looked.gone

    def give_up(self, community: str) -> None:
        """Look no more for a community's cards until something goes unheard there again."""
        self._unseen.pop(community, None)
