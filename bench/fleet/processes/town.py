"""A platform of many sample communities, and the wall on which their cases are reviewed.

Owns what a bot of the fleet talks to instead of Discord: posts, replies and cards in its own memory, each answered
after a fixed time, as over a network.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from adapters.sample import SampleCommunity
from core.models import Posted, PostRef
from core.moderation.approval import ApprovedReply, CaseState
from core.moderation.cards import Card
from core.moderation.platforms import Looked


class Town:
    """``core.moderation.platforms.ChatPlatform`` over one ``SampleCommunity`` for each name."""

    def __init__(self, name: str, communities: Sequence[str], answer_seconds: float) -> None:
        self.name = name
        self.communities = {own: SampleCommunity((), name=name, community=own) for own in communities}
        self._answer_seconds = answer_seconds
        self._any = next(iter(self.communities.values()))

    @property
    def max_characters(self) -> int:
        """As in each community."""
        return self._any.max_characters

    @property
    def resend_seconds(self) -> float:
        """As in each community."""
        return self._any.resend_seconds

    async def read(self, ref: PostRef) -> str | None:
        """The message's text as it reads now."""
        await asyncio.sleep(self._answer_seconds)
        return await self.communities[ref.community].read(ref)

    async def post(self, reply: ApprovedReply) -> Posted:
        """Post a reply in its community."""
        await asyncio.sleep(self._answer_seconds)
        return await self.communities[reply.in_reply_to.community].post(reply)

    async def find_reply(self, reply: ApprovedReply) -> Posted | None:
        """Our reply, if it is there."""
        return await self.communities[reply.in_reply_to.community].find_reply(reply)

    async def retract(self, ref: PostRef) -> None:
        """Take one of our replies away."""
        await self.communities[ref.community].retract(ref)

    async def close(self) -> None:
        """Close every community."""
        for community in self.communities.values():
            await community.close()


class Wall:
    """``core.moderation.platforms.ReviewSurface`` in memory; a case that can be reviewed goes to ``to_review`` once."""

    def __init__(self, platform: str, answer_seconds: float) -> None:
        self.shown = 0
        self.to_review: asyncio.Queue[Card] = asyncio.Queue()
        self._platform = platform
        self._answer_seconds = answer_seconds
        self._reviewable = set[str]()

    async def show(self, card: Card, channel: str, shown: PostRef | None) -> PostRef:
        """Show a card, or replace it."""
        await asyncio.sleep(self._answer_seconds)
        self.shown += 1
        if card.state is CaseState.IN_REVIEW and card.case_id not in self._reviewable:
            self._reviewable.add(card.case_id)
            self.to_review.put_nowait(card)
        return shown or PostRef(self._platform, card.community, channel, f"card of {card.case_id}")

    def changed(self) -> Collection[str]:
        """None ever changes."""
        return ()

    def unheard(self) -> Collection[str]:
        """Nothing is ever missed."""
        return ()

    async def look(self, cards: Sequence[PostRef]) -> Looked:
        """All stand."""
        return Looked(frozenset(cards), frozenset())

    async def check(self, community: str, channel: str) -> None:
        """Every channel is open."""
