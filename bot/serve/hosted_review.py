"""The cards of a platform without review of its own, in channels of the other platforms of this process.

A community names such a channel as its review channel (``core.desk.rules.policy.elsewhere``). People decide there as
about the cases of that platform; what is approved is sent by the case's own.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from core.desk.communities.governance import Governance
from core.desk.rules.approval import CLOSED
from core.desk.rules.case_cards import Card
from core.desk.rules.platforms import MessageLook, ReviewSurface
from core.desk.rules.policy import check_elsewhere, elsewhere
from core.desk.rules.roles import OnCommunity, Person
from core.errors import CardRefused, NotAllowed, PlatformBusy, PlatformUnavailable
from core.i18n.sentences import sentence
from core.models import PostRef

_LOG = logging.getLogger(__name__)
_LOOK_SECONDS: Final = 3600.0
"""How often cards are looked for that somebody deleted, and a channel is looked at in which none may be shown."""
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
        self._refused: dict[str, tuple[str, PlatformUnavailable]] = {}  # by community, the channel that refused a card
        self._again_at: dict[str, float] = {}  # by community, when its channel is looked at again

    async def show(self, card: Card, channel: str, shown: PostRef | None) -> PostRef:
        """Show a card where its community has its cases reviewed; a closed case stays where its card is, or has none.

        A channel elsewhere that refuses keeps back this card alone, since the case's own platform hears of them all;
        ``check`` tells of it.
        """
        if shown is None and card.state in CLOSED:
            return await self._own.show(card, "", None)
        place = await self._own.show(card, channel, shown)
        before, now = None if shown is None else elsewhere(shown.channel), elsewhere(channel)
        if shown is not None and card.state in CLOSED:
            if before is None:
                return shown
            now = before
        is_elsewhere = before is not None and (now is None or now[0] != before[0])
        if now is not None:
            at = None if shown is None or is_elsewhere else _there(shown)
            try:
                surface = self._surface(now[0])
                with _told_to_managers():
                    place = _here(await surface.show(card, now[1], at), card.post.ref.platform)
            except (PlatformBusy, CardRefused):
                raise
            except PlatformUnavailable as err:
                if elsewhere(channel) == now:
                    self._refused[card.community] = channel, err
                    self._again_at[card.community] = self._seconds_now()
                raise CardRefused(err.message, remedy=err.remedy) from err
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
        """Every community, where another platform is connected since the last call, or is not any more.

        Also one whose channel refused a card since, and once an hour one in whose channel no card may be shown.
        """
        now, seconds = dict(self._surfaces), self._seconds_now()
        changed = {community for community, again_at in self._again_at.items() if seconds >= again_at}
        if now != self._known:
            self._known, self._look_at = now, 0.0
            self._refused.clear()
            changed |= self._communities
        for community in changed:
            self._again_at.pop(community, None)
        return frozenset(changed).union(self._own.changed())

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
        at, (refused_in, refusal) = elsewhere(channel), self._refused.pop(community, ("", None))
        self._again_at.pop(community, None)
        if at is None:
            await self._own.check(community, channel)
            return
        try:
            if refusal is not None and refused_in == channel:
                raise refusal
            surface = self._surface(at[0])
            with _told_to_managers():
                await surface.check(community, at[1])
        except PlatformUnavailable as err:
            wait = err.retry_after_seconds if isinstance(err, PlatformBusy) else _LOOK_SECONDS
            self._again_at[community] = self._seconds_now() + wait
            raise

    def community_of(self, channel: str) -> str:
        """That of the case's own platform; who may choose a channel elsewhere is asked by ``check_channel``."""
        return self._own.community_of(channel)

    def _surface(self, platform: str) -> ReviewSurface:
        surface = self._surfaces.get(platform)
        if surface is None:
            message = sentence("{platform} is not connected, so no case can be reviewed there.", platform=platform)
            raise PlatformUnavailable(message, remedy=_CONNECT)
        return surface


async def check_channel(
    surfaces: Mapping[str, ReviewSurface], governance: Governance, community: str, channel: str, by: Sequence[Person]
) -> None:
    """Look whether somebody may have the cases of a community reviewed in a channel of another platform; "" is allowed.

    Nothing is told of a channel before it is known that they manage the server or group.

    Args:
        by: who they are, one for each platform.

    Raises:
        BadInput: it names no such channel, or its platform is not connected.
        NotAllowed: they are nobody who may configure the server or group of the channel.
        PlatformUnavailable: no card may be shown there, or the platform cannot say what they may.
    """
    check_elsewhere(channel, surfaces.keys())
    if at := elsewhere(channel):
        platform, place = at
        with _told_to_managers():
            there = surfaces[platform].community_of(place)
            person = next((each for each in by if each.platform == platform), None)
            if person is None or not there:
                raise _not_manager()
            try:
                await governance.require(platform, there, person, OnCommunity.CONFIGURE)
            except NotAllowed as err:
                raise _not_manager() from err
            await surfaces[platform].check(community, place)


def _not_manager() -> NotAllowed:
    return NotAllowed(
        sentence("Only somebody who manages that server or group, too, can choose it here."),
        remedy=sentence("Ask whoever runs Antiphon to set it by the command line: antiphon community review."),
    )


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


def _there(place: PostRef) -> PostRef | None:
    """Where a card is, as the platform names it whose channel it is in; ``None`` where it is in none of another's."""
    at = elsewhere(place.channel)
    return None if at is None else replace(place, platform=at[0], channel=at[1])


def _here(place: PostRef, platform: str) -> PostRef:
    """The same, as the desk keeps it with a case of ``platform``."""
    return replace(place, platform=platform, channel=f"{place.platform}/{place.channel}")
