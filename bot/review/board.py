"""The review board: keeps the cards in a platform's review channels up to date with the cases in the database.

Owns which cards are shown, when, and what happens where a platform cannot show them. Decides nothing about a case, and
calls its surface outside of any transaction. Any number of processes may run one; the one that holds the office shows
the cards.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.review.cards import build, digest_of
from bot.runtime.faults import reach
from bot.runtime.waiting import pause
from bot.store.cases.cases import CARDLESS
from bot.store.engine.database import Database, Session
from bot.store.schema import CaseRow
from bot.store.views import review_cards
from bot.store.views.board_troubles import end_trouble, keep_trouble
from bot.store.views.review_cards import Board, CardPlace
from bot.store.work.offices import Office
from core.errors import Conflict, PlatformBusy, PlatformUnavailable, StoreUnavailable
from core.models import PostRef
from core.moderation.approval import CLOSED
from core.moderation.cards import Card
from core.moderation.platforms import ReviewSurface

_LOG = logging.getLogger(__name__)
_LEAST_PAUSE: Final = timedelta(seconds=1)
_LONGEST_PAUSE: Final = timedelta(minutes=10)
_SWEEP: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class _Outdated:
    """A card to show, and how many changes it includes; ``place`` is where it is shown now, if anywhere."""

    card: Card
    digest: str
    channel: str
    place: PostRef | None
    shown: int
    community_id: str
    moment: datetime


@dataclass(frozen=True, slots=True)
class _Rest:
    """Until when something that failed is left alone, and how often it failed."""

    failures: int
    until: datetime


class ReviewBoard:
    """Shows the cases of one platform's communities in their review channels.

    Args:
        platform: the ``PostRef.platform`` whose cases are shown.
        owner: names this process among all.
        batch: how many cards one step looks at.
        kept_days: how long after its last showing the card of a closed case is still brought up to date; a card whose
            words were erased always is.
        timeout_seconds: how long one call of the surface may take; well below the lease.
    """

    def __init__(
        self,
        database: Database,
        surface: ReviewSurface,
        platform: str,
        owner: str,
        *,
        poll_seconds: float = 1.0,
        batch: int = 20,
        kept_days: float = 30.0,
        timeout_seconds: float = 20.0,
        lease_seconds: float = 60.0,
    ) -> None:
        self._database = database
        self._surface = surface
        self._platform = platform
        self._office = Office(database, f"review board: {platform}", owner, timedelta(seconds=lease_seconds))
        self._poll_seconds = poll_seconds
        self._batch = batch
        self._kept = timedelta(days=kept_days)
        self._timeout_seconds = timeout_seconds
        self._boards: dict[str, Board] = {}
        self._again: dict[str, str] = {}  # communities by case, of cards to look at although nothing was counted
        self._swept: datetime | None = None
        self._rests: dict[str, _Rest] = {}
        self._busy_until: datetime | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Keep showing what changed until ``stop`` is set; then give the office back."""
        try:
            while not stop.is_set():
                if await self._quiet_step() < self._batch:
                    await pause(stop, self._poll_seconds)
        finally:
            await self._office.resign()

    async def step(self) -> int:
        """Look at up to ``batch`` cards that may be outdated, and show those that are; returns how many it looked at.

        Raises:
            StoreUnavailable: the database does not answer; a later step catches up.
        """
        found = await self._database.run("look for outdated cards", self._look)
        for case_id, community_id in found.items():
            if self._busy_until is None:
                await self._bring_up_to_date(case_id)
            else:
                self._again[case_id] = community_id
        return len(found)

    async def _quiet_step(self) -> int:
        try:
            return await self.step()
        except (StoreUnavailable, Conflict) as err:
            _LOG.warning("the review board waits for the database: %s", err)
            return 0

    async def _look(self, session: Session) -> dict[str, str]:
        """The cases to look at now, with their communities; none while another process shows, or the platform rests."""
        if not await self._office.is_held(session):
            self._boards.clear()
            self._again.clear()
            return {}
        if self._busy_until is not None and session.moment < self._busy_until:
            return {}
        self._busy_until = None
        await self._notice_changes(session)
        resting = {key for key, rest in self._rests.items() if session.moment < rest.until}
        wanted = [one.community_id for one in self._boards.values() if one.channel and one.community_id not in resting]
        found = await review_cards.changed(session, wanted, self._batch, without=resting)
        again = [case_id for case_id, own in self._again.items() if resting.isdisjoint({case_id, own})]
        for case_id in again[: self._batch - len(found)]:
            found[case_id] = self._again.pop(case_id)
        return found

    async def _notice_changes(self, session: Session) -> None:
        """Look again at the cards of each community that changed, as by a pause; the first time, of all communities."""
        boards = await review_cards.boards(session, self._platform)
        new = [community for community, board in boards.items() if self._boards.get(community) != board]
        for community in new:
            if community in self._boards and self._boards[community].channel != boards[community].channel:
                self._rests.pop(community, None)  # another channel is tried at once
        self._again |= await review_cards.standing_cards(session, new)
        self._boards = boards
        if self._swept is None or session.moment >= self._swept + _SWEEP:
            # A community without a channel is no longer looked at, except for cards that must lose their words.
            without = [community for community, board in boards.items() if not board.channel]
            self._again |= await review_cards.standing_cards(session, without, only_erased=True)
            self._swept = session.moment

    async def _bring_up_to_date(self, case_id: str) -> None:
        """Show one card if it is outdated; a failure with it does not hold up the others."""
        try:
            outdated = await self._database.run("read a card", lambda session: self._read(session, case_id))
        except StoreUnavailable:
            raise
        except Exception as err:
            _LOG.error("the card of case %s cannot be made: %s", case_id, type(err).__name__)
            await self._database.run("put a card off", lambda session: self._rest(session, case_id))
            return
        if outdated is not None:
            await self._show(outdated)

    async def _read(self, session: Session, case_id: str) -> _Outdated | None:
        """The card as it is now, if something else is shown; a case that needs no card counts as shown."""
        row = await session.get(CaseRow, case_id, populate_existing=True)
        board = None if row is None else self._boards.get(row.community_id)
        if row is None or board is None or not await self._office.is_held(session):
            return None
        shown, place = row.unshown, await review_cards.place_of(session, row)
        channel = board.channel or (place.ref.channel if place else "")
        if channel and self._is_due(row, place, session.moment):
            card = await build(session, case_id)
            digest = digest_of(card)
            if place is None or place.digest != digest:
                where = None if place is None else place.ref
                return _Outdated(card, digest, channel, where, shown, row.community_id, session.moment)
        if shown:
            await review_cards.were_shown(session, case_id, shown)
        return None

    def _is_due(self, row: CaseRow, place: CardPlace | None, moment: datetime) -> bool:
        """Whether a case has a card, or gets one now; a closed case gets no new card, but its old one shows its end."""
        if place is None:
            return row.state not in CLOSED and row.state not in CARDLESS
        return row.state not in CLOSED or row.erased_at is not None or moment < place.shown_at + self._kept

    async def _show(self, outdated: _Outdated) -> None:
        """Call the surface once, and store the card's place. If that fails, the card is shown again in its place."""
        card, community = outdated.card, outdated.community_id
        self._again[card.case_id] = community  # until it is shown
        if community in self._rests and outdated.moment < self._rests[community].until:
            return
        await reach("show a card: before the call")
        try:
            async with asyncio.timeout(self._timeout_seconds):
                place = await self._surface.show(card, outdated.channel, outdated.place)
        except PlatformBusy as err:
            self._busy_until = outdated.moment + max(_LEAST_PAUSE, timedelta(seconds=err.retry_after_seconds))
            return
        except PlatformUnavailable as err:
            self._leave(community, outdated.moment, type(err).__name__)
            await self._tell(outdated, err)
            return
        except Exception as err:
            # The message may quote the card. The card may be there, too: shown again, it is there once.
            self._leave(card.case_id, outdated.moment, type(err).__name__)
            return
        await reach("show a card: after the call")
        await self._database.run("keep where a card stands", lambda session: _keep(session, outdated, place))
        self._again.pop(card.case_id, None)
        for key in (card.case_id, community):
            self._rests.pop(key, None)

    async def _tell(self, outdated: _Outdated, err: PlatformUnavailable) -> None:
        """Tell the community's managers why they see no cards (``/antiphon status``)."""
        community, channel = outdated.community_id, outdated.channel
        await self._database.run(
            "keep why cards cannot be shown", lambda s: keep_trouble(s, community, channel, err.message, err.remedy)
        )

    def _leave(self, key: str, moment: datetime, kind: str) -> None:
        """Leave the cards of a community, or one card, alone for a while; longer each time."""
        _LOG.warning("cards on %s cannot be shown (%s): %s", self._platform, kind, key)
        failures = self._rests[key].failures + 1 if key in self._rests else 1
        self._rests[key] = _Rest(failures, moment + min(_LONGEST_PAUSE, _LEAST_PAUSE * 2.0**failures))

    async def _rest(self, session: Session, case_id: str) -> None:
        self._leave(case_id, session.moment, "its rows")


async def _keep(session: Session, outdated: _Outdated, place: PostRef) -> None:
    await review_cards.keep_place(session, outdated.card.case_id, place, outdated.digest, outdated.shown)
    await end_trouble(session, outdated.community_id, place.channel)
