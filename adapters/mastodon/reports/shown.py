"""The surface that shows cards, where the report of a case follows it: whenever a card changes, so may its report.

Owns that link. Decides nothing, and shows nothing by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from adapters.mastodon.reports.following import ReportFollower
from core.models import PostRef
from core.moderation.cards import Card
from core.moderation.platforms import Looked, ReviewSurface


class ReportingSurface:
    """Implements ``core.moderation.platforms.ReviewSurface`` over another one; a fault of a report harms no card."""

    def __init__(self, surface: ReviewSurface, follower: ReportFollower) -> None:
        self._surface, self._follower = surface, follower

    async def show(self, card: Card, channel: str, shown: PostRef | None) -> PostRef:
        """Show a card, then bring its report in step."""
        place = await self._surface.show(card, channel, shown)
        await self._follower.follow(card)
        return place

    def changed(self) -> Collection[str]:
        """As the other says."""
        return self._surface.changed()

    def unheard(self) -> Collection[str]:
        """As the other says."""
        return self._surface.unheard()

    async def look(self, cards: Sequence[PostRef]) -> Looked:
        """As the other does."""
        return await self._surface.look(cards)

    async def check(self, community: str, channel: str) -> None:
        """As the other does."""
        await self._surface.check(community, channel)
