"""A review channel in memory, which misbehaves on demand."""

import asyncio
from collections.abc import Sequence

from core.desk.rules.approval import CLOSED
from core.desk.rules.case_cards import Card
from core.desk.rules.platforms import MessageLook
from core.errors import PlatformUnavailable
from core.models import PostRef


class FakeSurface:
    """A ``ReviewSurface``: the cards that stand in its channels, by their place.

    Shown without a place, a card of a case that stands in the channel is put in its place, as a key of a platform does.
    ``faults`` are raised by the next calls, before anything is shown, those in ``always`` by each call in a community;
    ``loses_answers`` is how many of the next calls fail after the card stands. ``line`` holds every call up until it is
    set, ``lines`` those in a community. ``shut`` are communities in whose channel no card with words may be shown,
    ``news`` those that changed. Each channel is a community of its own.
    The card of a closed case that is gone stays gone. ``unheard_in`` are communities in which messages were deleted
    without a word, ``page`` is how many cards a look tells of, and ``look_faults`` are raised by the next looks.
    """

    def __init__(self, platform: str = "sample") -> None:
        self.platform = platform
        self.cards: dict[PostRef, Card] = {}
        self.calls: list[tuple[Card, str, PostRef | None]] = []
        self.faults: list[Exception] = []
        self.loses_answers = 0
        self.line: asyncio.Event | None = None
        self.lines: dict[str, asyncio.Event] = {}
        self.always: dict[str, Exception] = {}
        self.shut: dict[str, PlatformUnavailable] = {}
        self.news: set[str] = set()
        self.unheard_in: set[str] = set()
        self.page = 100
        self.looks: list[list[PostRef]] = []
        self.look_faults: list[Exception] = []

    async def show(self, card: Card, channel: str, shown: PostRef | None) -> PostRef:
        self.calls.append((card, channel, shown))
        line = self.lines.get(card.community, self.line)
        if line is not None:
            await line.wait()
        if self.faults:
            raise self.faults.pop(0)
        if card.community in self.always:
            raise self.always[card.community]
        if card.post.text:
            await self.check(card.community, channel)
        if shown is not None and shown not in self.cards and card.state in CLOSED:
            return shown
        if shown is not None and shown.channel != channel and card.state not in CLOSED:
            self.cards.pop(shown, None)
        place = shown if shown in self.cards else self._of_case(card, channel)
        if place is None:
            place = PostRef(self.platform, card.community, channel, f"card-{len(self.calls)}")
        self.cards[place] = card
        if self.loses_answers:
            self.loses_answers -= 1
            raise TimeoutError
        return place

    async def take_away(self, place: PostRef) -> None:
        self.cards.pop(place, None)

    def changed(self) -> set[str]:
        news, self.news = self.news, set()
        return news

    def unheard(self) -> set[str]:
        names, self.unheard_in = self.unheard_in, set()
        return names

    async def look(self, cards: Sequence[PostRef]) -> MessageLook:
        self.looks.append(list(cards))
        if self.look_faults:
            raise self.look_faults.pop(0)
        seen = frozenset(cards[: self.page])
        return MessageLook(seen & self.cards.keys(), seen - self.cards.keys())

    async def check(self, community: str, channel: str) -> None:
        if community in self.shut:
            raise self.shut[community]

    def community_of(self, channel: str) -> str:
        return channel

    def _of_case(self, card: Card, channel: str) -> PostRef | None:
        found = (ref for ref, old in self.cards.items() if (old.case_id, ref.channel) == (card.case_id, channel))
        return next(found, None)

    def of(self, case_id: str) -> Card:
        (card,) = [card for card in self.cards.values() if card.case_id == case_id]
        return card
