"""The cards of a platform without review of its own, in channels of the other platforms of this process.

A community names such a channel as its review channel (``core.desk.rules.policy.elsewhere``). People decide there as
about the cases of that platform; what is approved is sent by the case's own.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from core.desk.rules.approval import CLOSED
from core.desk.rules.case_cards import Card
from core.desk.rules.platforms import MessageLook, ReviewSurface
from core.desk.rules.policy import check_elsewhere, elsewhere
from core.errors import CardRefused, PlatformBusy, PlatformUnavailable
from core.i18n.sentences import sentence
from core.models import PostRef

_LOG = logging.getLogger(__name__)
_LOOK_SECONDS: Final = 3600.0
"""How often cards are looked for that somebody deleted."""
_CONNECT: Final = sentence("Connect it first. The dashboard shows the cases.")


class HostedReview:
    """A ``core.desk.rules.platforms.ReviewSurface`` over those of other platforms.

    Args:
        own: hears of every card, as that of the case's platform.
        surfaces: those that show cards in channels, of the platforms that are connected at this moment, by name.
        seconds_now: seconds that only grow.
    """

    def __init__(
        self,
        own: ReviewSurface,
        surfaces: Mapping[str, ReviewSurface],
        *,
        seconds_now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._own = own
        self._surfaces = surfaces
        self._seconds_now = seconds_now
        self._communities: set[str] = set()
        self._known: dict[str, ReviewSurface] = {}
        self._look_at = 0.0

    async def show(self, card: Card, channel: str, shown: PostRef | None) -> PostRef:
        """Show a card where its community has its cases reviewed; a closed case stays where its card is."""
        place = await self._own.show(card, channel, shown)
        before, now = None if shown is None else elsewhere(shown.channel), elsewhere(channel)
        if shown is not None and card.state in CLOSED:
            if before is None:
                return shown
            if before[0] not in self._surfaces and (now is None or now[0] != before[0]):
                raise CardRefused(_not_connected(before[0]), remedy=_CONNECT)  # no other card waits for that platform
            now = before
        is_elsewhere = before is not None and (now is None or now[0] != before[0])
        if now is not None:
            surface, at = self._surface(now[0]), None if shown is None or is_elsewhere else _there(shown)
            with _told_to_managers():
                place = _here(await surface.show(card, now[1], at), card.post.ref.platform)
        if shown is not None and is_elsewhere:
            await self.take_away(shown)
        return place

    async def take_away(self, place: PostRef) -> None:
        """Take a card away, unless its platform is not connected."""
        there = _there(place)
        if there is None:
            await self._own.take_away(place)
        elif (surface := self._surfaces.get(there.platform)) is not None:
            await surface.take_away(there)
        else:
            _LOG.warning("A card stays on %s, which is not connected: %s", there.platform, there.message)

    def changed(self) -> Collection[str]:
        """Every community, where another platform is connected since the last call, or is not any more."""
        now = dict(self._surfaces)
        if now == self._known:
            return self._own.changed()
        self._known, self._look_at = now, 0.0
        return frozenset(self._communities).union(self._own.changed())

    def unheard(self) -> Collection[str]:
        """Every community, once an hour, and where another platform was connected anew."""
        if self._seconds_now() < self._look_at:
            return self._own.unheard()
        self._look_at = self._seconds_now() + _LOOK_SECONDS
        return frozenset(self._communities).union(self._own.unheard())

    async def look(self, cards: Sequence[PostRef]) -> MessageLook:
        """Look for cards where they are; ``core.desk.rules.platforms.ReviewSurface`` says the rest."""
        there = {place: card for card in cards if (place := _there(card)) is not None}
        if not there:
            return await self._own.look(cards)
        looked = await self._surface(next(iter(there)).platform).look(list(there))
        standing, gone = (frozenset(there[place] for place in seen) for seen in (looked.standing, looked.gone))
        return MessageLook(standing, gone)

    async def check(self, community: str, channel: str) -> None:
        """Look whether cards may be shown in a channel; ``core.desk.rules.platforms.ReviewSurface`` says the rest."""
        if community not in self._communities:
            self._communities.add(community)
            self._look_at = 0.0
        at = elsewhere(channel)
        if at is None:
            await self._own.check(community, channel)
            return
        surface = self._surface(at[0])
        with _told_to_managers():
            await surface.check(community, at[1])

    def _surface(self, platform: str) -> ReviewSurface:
        surface = self._surfaces.get(platform)
        if surface is None:
            raise PlatformUnavailable(_not_connected(platform), remedy=_CONNECT)
        return surface


async def check_channel(surfaces: Mapping[str, ReviewSurface], community: str, channel: str) -> None:
    """Look whether the cases of a community can be reviewed in a channel of another platform; "" is allowed.

    Raises:
        BadInput: it names no such channel, or its platform is not connected.
        PlatformUnavailable: no card may be shown there.
    """
    check_elsewhere(channel, surfaces.keys())
    if at := elsewhere(channel):
        with _told_to_managers():
            await surfaces[at[0]].check(community, at[1])


@contextmanager
def _told_to_managers() -> Iterator[None]:
    """Say of a channel that is refused where the managers of this community choose another."""
    try:
        yield
    except (PlatformBusy, CardRefused):
        raise
    except PlatformUnavailable as err:
        raise PlatformUnavailable(
            err.message,
            remedy=sentence("Put that right there, or choose another review channel: antiphon community review."),
        ) from err


def _not_connected(platform: str) -> str:
    return sentence("{platform} is not connected, so no case can be reviewed there.", platform=platform)


def _there(place: PostRef) -> PostRef | None:
    """Where a card is, as the platform names it whose channel it is in; ``None`` where it is in none of another's."""
    at = elsewhere(place.channel)
    return None if at is None else replace(place, platform=at[0], channel=at[1])


def _here(place: PostRef, platform: str) -> PostRef:
    """The same, as the desk keeps it with a case of ``platform``."""
    return replace(place, platform=platform, channel=f"{place.platform}/{place.channel}")
