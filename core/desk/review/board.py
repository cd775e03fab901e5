"""Keeps the cards in a platform's review channels up to date with the cases in the database.

The communities are shown side by side, and the cards of each one after the other, so that no community waits for
another one's platform. The surface is called outside of any transaction. Any number of processes may run a board; the
one that holds the office shows the cards.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from core.desk.database.connection import Database, Session
from core.desk.rules.approval import CLOSED
from core.desk.rules.case_cards import Card
from core.desk.rules.platforms import ReviewSurface
from core.desk.runtime.faults import reach
from core.desk.runtime.lease import pause
from core.desk.runtime.logs import about
from core.desk.schema import CaseRow
from core.desk.store.cases import CARDLESS
from core.desk.store.leadership import Office
from core.desk.views import review_cards
from core.desk.views.cards import build, digest_of
from core.errors import CardCanWait, CardRefused, Conflict, PlatformBusy, PlatformUnavailable, StoreUnavailable
from core.models import PostRef

_LEAST_PAUSE: Final = timedelta(seconds=1)
_LONGEST_PAUSE: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class _Rest:
    """Until when something is left alone, and how often it failed in a row."""

    failures: int
    until: datetime


class Rests:
    """The rests, by the id of a community or of a case."""

    def __init__(self) -> None:
        self._rests: dict[str, _Rest] = {}

    def at(self, moment: datetime) -> set[str]:
        """What rests at a moment. What ended its rest long ago, as of a case that was closed, is forgotten."""
        self._rests = {key: rest for key, rest in self._rests.items() if moment < rest.until + _LONGEST_PAUSE}
        return {key for key, rest in self._rests.items() if moment < rest.until}

    def failed(self, key: str, moment: datetime) -> None:
        """Leave something alone that failed; longer each time."""
        failures = self._failures(key) + 1
        self._rests[key] = _Rest(failures, moment + min(_LONGEST_PAUSE, _LEAST_PAUSE * 2.0**failures))

    def busy(self, key: str, moment: datetime, seconds: float) -> None:
        """Leave something alone as long as its platform asks."""
        self._rests[key] = _Rest(self._failures(key), moment + max(_LEAST_PAUSE, timedelta(seconds=seconds)))

    def end(self, *keys: str) -> None:
        """Something works again, or may by now."""
        for key in keys:
            self._rests.pop(key, None)

    def _failures(self, key: str) -> int:
        return self._rests[key].failures if key in self._rests else 0


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

    async def note(self, session: Session, boards: Mapping[str, review_cards.Board]) -> None:
        """Read which cards should stand in the communities of which something went unheard."""
        for board in boards.values() if self._names else ():
            if board.name in self._names and board.channel:
                self._unseen[board.community_id] = await review_cards.standing_places(session, board, _MOST_CARDS)
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
        if rest := [card for card in cards if card not in looked.standing | looked.gone]:
            self._unseen[community] = rest
        return looked.gone

    def give_up(self, community: str) -> None:
        """Look no more for a community's cards until something goes unheard there again."""
        self._unseen.pop(community, None)


_LOG = logging.getLogger(__name__)
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
class _Due:
    """What a step does: cases whose card may be outdated, with their communities, and communities to look into."""

    cards: dict[str, str]
    looks: list[str]
    moment: datetime


_BATCH: Final = 20
"""How many cards one step looks at."""
_AT_ONCE: Final = 16
"""How many cards may be on their way to the platform at the same time, each of another community."""
_KEPT: Final = timedelta(days=30)
"""How long after its last showing the card of a closed case is still brought up to date; one without words always."""
_LEASE: Final = timedelta(seconds=25)
"""How long cards stand still where the process that showed them was killed."""
_CALL_SECONDS: Final = 20.0
"""How long one call of the surface may take; below the lease, which is renewed beside it."""


class ReviewBoard:
    """Shows the cases of one platform's communities in their review channels.

    Args:
        platform: the ``PostRef.platform`` whose cases are shown.
        owner: names this process among all.
        channel: where the cards of a community go that chose no channel; "" for nowhere.
        hears_all: whether ``surface`` hears of a case that was closed before it had a card, too, since it does more
            than show cards.
    """

    def __init__(
        self,
        database: Database,
        surface: ReviewSurface,
        platform: str,
        owner: str,
        *,
        poll_seconds: float = 1.0,
        channel: str = "",
        hears_all: bool = False,
    ) -> None:
        self._database = database
        self._surface = surface
        self._platform = platform
        self._channel = channel
        self._hears_all = hears_all
        self._office = Office(database, f"review board: {platform}", owner, _LEASE)
        self._poll_seconds = poll_seconds
        self._boards: dict[str, review_cards.Board] = {}
        self._again: dict[str, str] = {}  # communities by case, of cards to look at although nothing was counted
        self._swept: datetime | None = None
        self._rests = Rests()
        self._can_wait = Rests()  # cases whose card only tells of progress, which its platform has no room for
        self._lost = LostCards(surface)
        self._lanes: dict[str, asyncio.Task[None]] = {}  # by community, what shows its cards now
        self._turn = asyncio.Semaphore(_AT_ONCE)
        self._is_ending = False
        self._bare: set[str] = set()  # cases that were erased, whose card must lose its words wherever it stands
        self._news: set[str] = set()  # communities that changed on the platform, by their names there
        self._unlooked: set[str] = set()  # communities whose settings changed, so that their channel is to be looked at
        self._shut: set[str] = set()  # communities in whose channel no card may be shown, when it was looked at

    async def run(self, stop: asyncio.Event) -> None:
        """Keep showing what changed until ``stop`` is set; then give the office back."""
        try:
            while not stop.is_set():
                begun = await self._quietly(self._begin)
                await self._until_shown(self._poll_seconds)
                await self._quietly(self._end_lanes)
                if begun < _BATCH and not self._lanes:
                    await pause(stop, self._poll_seconds)
        finally:
            self._is_ending = True
            try:
                await self._until_shown()
            finally:
                await self._office.resign()

    async def step(self) -> int:
        """Look at up to 20 cards that may be outdated, and show those that are; returns how many it looked at.

        Raises:
            StoreUnavailable: the database does not answer; a later step catches up.
        """
        begun = await self._begin()
        await self._until_shown()
        await self._end_lanes()
        return begun

    async def _quietly(self, work: Callable[[], Awaitable[int]]) -> int:
        try:
            return await work()
        except (StoreUnavailable, Conflict) as err:
            _LOG.warning("the review board waits for the database: %s", err)
            return 0

    async def _begin(self) -> int:
        """Begin to show up to 20 cards that may be outdated, and to look for lost ones; returns how many."""
        await self._look_at_channels()
        due = await self._database.run("look for outdated cards", self._look)
        by_community = dict[str, list[str]]()
        for case_id, community_id in due.cards.items():
            by_community.setdefault(community_id, []).append(case_id)
        for community_id, case_ids in by_community.items():
            self._lanes[community_id] = asyncio.create_task(self._show_in_turn(community_id, case_ids))
        for community_id in due.looks:
            self._lanes[community_id] = asyncio.create_task(self._look_for_lost(community_id, due.moment))
        return len(due.cards) + len(due.looks)

    async def _until_shown(self, seconds: float | None = None) -> None:
        """Wait until all that was begun is shown, or for so many seconds."""
        if not self._lanes:
            return
        try:
            await asyncio.wait(self._lanes.values(), timeout=seconds)
        except asyncio.CancelledError:
            for lane in self._lanes.values():
                lane.cancel()
            raise

    async def _end_lanes(self) -> int:
        """Forget the lanes that ended; returns how many ended, or raises the first error of one."""
        ended = {community_id: lane for community_id, lane in self._lanes.items() if lane.done()}
        for community_id in ended:
            del self._lanes[community_id]
        errors = [lane.exception() for lane in ended.values()]
        for error in filter(None, errors):
            raise error
        return len(ended)

    async def _show_in_turn(self, community_id: str, case_ids: Sequence[str]) -> None:
        """Bring the cards of one community up to date, until its platform asks to wait or refuses."""
        waiting, goes_on = deque(case_ids), True
        try:
            while waiting and goes_on and not self._is_ending:
                with about(case=waiting[0]):
                    goes_on = await self._bring_up_to_date(waiting[0])
                waiting.popleft()
        finally:
            self._again |= dict.fromkeys(waiting, community_id)

    async def _look_for_lost(self, community: str, moment: datetime) -> None:
        """Look once which cards of a community are gone, and have those of its open cases shown again."""
        try:
            async with self._turn, asyncio.timeout(_CALL_SECONDS):
                gone = await self._lost.look(community)
        except PlatformBusy as err:
            self._rests.busy(community, moment, err.retry_after_seconds)
            return
        except Exception as err:
            _LOG.warning("cards on %s cannot be looked for (%s): %s", self._platform, type(err).__name__, community)
            self._lost.give_up(community)
            return
        if gone:
            await self._database.run("put lost cards up again", lambda session: _put_up_again(session, gone))

    async def _look(self, session: Session) -> _Due:
        """What to do now; nothing for communities that rest, and nothing while another process shows."""
        if not await self._office.is_held(session):
            self._boards.clear()
            self._again.clear()
            return _Due({}, [], session.moment)
        await self._notice_changes(session)
        rests = self._rests.at(session.moment)
        resting = rests | self._lanes.keys()
        community_ids = [
            board.community_id for board in self._boards.values() if board.channel and board.community_id not in resting
        ]
        can_wait = self._can_wait.at(session.moment)
        outdated = await review_cards.changed(session, community_ids, _BATCH, without=resting, can_wait=can_wait)
        again = [
            case_id
            for case_id, own in self._again.items()
            if own not in self._lanes
            and case_id not in rests | can_wait
            and (own not in rests or case_id in self._bare)
        ]
        for case_id in again[: _BATCH - len(outdated)]:
            outdated[case_id] = self._again.pop(case_id)
        return _Due(outdated, self._lost.due(resting.union(outdated.values())), session.moment)

    async def _notice_changes(self, session: Session) -> None:
        """Look again at the cards of each community that changed, as by a pause; the first time, of all communities."""
        boards = await review_cards.boards(session, self._platform, self._channel)
        if not self._boards:
            self._shut = await review_cards.troubled(session)
        new = [community for community, board in boards.items() if self._boards.get(community) != board]
        for community in new:
            if community in self._boards and self._boards[community].channel != boards[community].channel:
                self._end_rests(community)  # another channel is tried at once
                self._shut.discard(community)
        self._unlooked.update(new)
        self._again |= await review_cards.standing_cards(session, new)
        self._boards = boards
        await self._lost.note(session, boards)
        if self._swept is None or session.moment >= self._swept + _SWEEP:
            # A community where no card may be shown is not looked at, except for cards that must lose their words.
            closed = [community for community, board in boards.items() if not board.channel or community in self._shut]
            bare = await review_cards.standing_cards(session, closed, only_erased=True)
            self._again |= bare
            self._bare = set(bare)
            self._swept = session.moment

    async def _look_at_channels(self) -> None:
        """Look at the review channels of communities that changed, here or on the platform.

        One in which no card may be shown is told to the managers at once; where cards may be shown again, they are.
        """
        self._news.update(self._surface.changed())
        self._lost.hear()
        for board in list(self._boards.values()):
            if board.channel and (board.name in self._news or board.community_id in self._unlooked):
                await self._look_at_channel(board, is_changed=board.name in self._news)
            self._unlooked.discard(board.community_id)
            self._news.discard(board.name)
        self._news.clear()

    async def _look_at_channel(self, board: review_cards.Board, *, is_changed: bool) -> None:
        community, channel = board.community_id, board.channel
        try:
            await self._surface.check(board.name, channel)
        except PlatformUnavailable as err:
            self._shut.add(community)
            await self._tell(community, channel, err)
            return
        if is_changed or community in self._shut:
            self._rests.end(community)
        if community in self._shut:
            self._end_rests(community)
            self._shut.discard(community)
            self._lost.went_unheard(board.name)  # a platform tells of no channel that is closed to us
            await self._database.run(
                "cards may be shown", lambda session: review_cards.end_trouble(session, community, channel)
            )

    def _end_rests(self, community: str) -> None:
        """Try a community again, with each of its cards that its platform refused."""
        self._rests.end(community, *(case_id for case_id, own in self._again.items() if own == community))

    async def _bring_up_to_date(self, case_id: str) -> bool:
        """Show one card if it is outdated; ``False`` if the others of its community must wait."""
        try:
            outdated = await self._database.run("read a card", lambda session: self._read(session, case_id))
        except StoreUnavailable:
            raise
        except Exception as err:
            _LOG.error("the card of case %s cannot be made: %s", case_id, type(err).__name__)
            await self._database.run("put a card off", lambda session: self._rest(session, case_id))
            return True
        return True if outdated is None else await self._show(outdated)

    async def _read(self, session: Session, case_id: str) -> _Outdated | None:
        """The card as it is now, if something else is shown; a case that needs no card counts as shown."""
        row = await session.get(CaseRow, case_id, populate_existing=True)
        board = None if row is None else self._boards.get(row.community_id)
        if row is None or board is None or not await self._office.is_held(session):
            return None
        changes, place = row.unshown, await review_cards.place_of(session, row)
        channel = board.channel or (place.ref.channel if place else "")
        if channel and self._is_due(row, place, session.moment):
            card = await build(session, case_id)
            digest = digest_of(card)
            is_elsewhere = place is not None and place.ref.channel != channel and row.state not in CLOSED
            if place is None or place.digest != digest or is_elsewhere:
                where = None if place is None else place.ref
                return _Outdated(card, digest, channel, where, changes, row.community_id, session.moment)
        if changes:
            await review_cards.were_shown(session, case_id, changes)
        return None

    def _is_due(self, row: CaseRow, place: review_cards.CardPlace | None, moment: datetime) -> bool:
        """Whether a case has a card, or gets one now; a closed case gets no new card, but its old one shows its end."""
        if place is None:
            return (row.state not in CLOSED or (self._hears_all and not row.erased_at)) and row.state not in CARDLESS
        return row.state not in CLOSED or row.erased_at is not None or moment < place.shown_at + _KEPT

    async def _show(self, outdated: _Outdated) -> bool:
        """Call the surface once, and store the card's place. If that fails, the card is shown again in its place.

        Returns ``False`` if the community rests from now on.
        """
        card, community = outdated.card, outdated.community_id
        self._again[card.case_id] = community  # until it is shown
        await reach("show a card: before the call")
        try:
            async with self._turn, asyncio.timeout(_CALL_SECONDS):
                place = await self._surface.show(card, outdated.channel, outdated.place)
        except CardCanWait as err:
            self._can_wait.busy(card.case_id, outdated.moment, err.retry_after_seconds)
            return True
        except PlatformBusy as err:
            for key in self._keys(outdated):
                self._rests.busy(key, outdated.moment, err.retry_after_seconds)
            return False
        except PlatformUnavailable as err:
            if isinstance(err, CardRefused):
                self._leave(card.case_id, outdated.moment, type(err).__name__)
                return True
            for key in self._keys(outdated):
                self._leave(key, outdated.moment, type(err).__name__)
            await self._tell(community, outdated.channel, err)
            return False
        except Exception as err:
            # The message may quote the card. The card may be there, too: shown again, it is there once.
            self._leave(card.case_id, outdated.moment, type(err).__name__)
            return True
        await reach("show a card: after the call")
        await self._database.run("keep where a card stands", lambda session: _keep(session, outdated, place))
        self._again.pop(card.case_id, None)
        self._rests.end(card.case_id, community)
        self._can_wait.end(card.case_id)
        return True

    def _keys(self, outdated: _Outdated) -> list[str]:
        """What rests if a card is refused: its community, and a card that does not wait for its community by itself."""
        is_bare = outdated.card.case_id in self._bare
        return [outdated.community_id, *([outdated.card.case_id] if is_bare else [])]

    async def _tell(self, community: str, channel: str, err: PlatformUnavailable) -> None:
        """Tell the community's managers why they see no cards (``/antiphon status``)."""
        await self._database.run(
            "keep why cards cannot be shown",
            lambda s: review_cards.keep_trouble(s, community, channel, err.message, err.remedy),
        )

    def _leave(self, key: str, moment: datetime, kind: str) -> None:
        """Leave the cards of a community, or one card, alone for a while; longer each time."""
        _LOG.warning("cards on %s cannot be shown (%s): %s", self._platform, kind, key)
        self._rests.failed(key, moment)

    async def _rest(self, session: Session, case_id: str) -> None:
        self._leave(case_id, session.moment, "its rows")


async def _put_up_again(session: Session, gone: Collection[PostRef]) -> None:
    for place in gone:
        await review_cards.was_deleted(session, place)


async def _keep(session: Session, outdated: _Outdated, place: PostRef) -> None:
    await review_cards.keep_place(session, outdated.card.case_id, place, outdated.digest, outdated.shown)
    await review_cards.end_trouble(session, outdated.community_id, place.channel)
