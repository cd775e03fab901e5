"""A platform that cannot show a card: it is tried again later, holds up no other, and somebody is told."""

import asyncio
import logging
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import update

from bot.compose.desk import Desk
from core.desk.communities.governance import Governance
from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.review.board import ReviewBoard
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Card, CardTrouble
from core.desk.schema import CaseRow
from core.desk.store import communities
from core.desk.store.cases import Case
from core.desk.upkeep.erasure import Erasure
from core.desk.views.status import status
from core.errors import AmbiguousSend, CardCanWait, CardRefused, PlatformBusy, PlatformUnavailable
from core.i18n.catalogs import translated
from core.i18n.sentences import listed, sentence
from core.models import FlaggedPost, PostRef
from tests.fakes.desk.boards import all_steps, board_of, choose_channel, posts_apart, towns
from tests.fakes.desk.canary import CANARY
from tests.fakes.desk.decisions import take
from tests.fakes.desk.people import COMMUNITY, COMMUNITY_ID, MODERATOR, PLATFORM
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS
from tests.fakes.ports.surface import FakeSurface

_VIEW, _SEND = sentence("View Channel"), sentence("Send Messages")


async def _trouble(database: Database) -> CardTrouble | None:

    async def work(session: Session) -> CardTrouble | None:
        return (await status(session, await communities.load(session, COMMUNITY_ID))).card_trouble

    return await database.run("read the status", work)


# A platform that cannot


async def test_what_somebody_decides_is_shown_before_what_only_waits(
    desk: Desk, queue: DraftQueue, board: ReviewBoard, surface: FakeSurface, post: FlaggedPost, clock: FakeClock
) -> None:
    """A card that its platform has no room for keeps no other back, and comes once it has something to decide."""
    cases = [await desk.intake.flag(one) for one in posts_apart(post, 4)]
    taken = [await take(queue) for _ in cases[:2]]
    clock.advance(1)  # the others have waited longer for their card
    await queue.store(taken[0], suggestion_for(taken[0].case.post))
    plain = surface.show

    async def show(card: Card, channel: str, shown: PostRef | None) -> PostRef:
        if card.is_progress:
            surface.calls.append((card, channel, shown))
            raise CardCanWait("No room for progress.", retry_after_seconds=3600.0)
        return await plain(card, channel, shown)

    surface.show = show  # type: ignore[method-assign]
    await all_steps(board)
    assert [card.is_progress for card, _, _ in surface.calls] == [False, True, True, True]
    assert [card.case_id for card in surface.cards.values()] == [taken[0].case.id]
    surface.calls.clear()
    await queue.store(taken[1], suggestion_for(taken[1].case.post))
    await all_steps(board)
    assert [card.case_id for card, _, _ in surface.calls] == [taken[1].case.id]
    assert surface.of(taken[1].case.id).state is CaseState.IN_REVIEW


@pytest.mark.both_databases
async def test_a_card_that_can_wait_is_shown_when_there_is_room(
    desk: Desk, board: ReviewBoard, surface: FakeSurface, post: FlaggedPost, clock: FakeClock
) -> None:
    """Although its case stayed as it was."""
    case = await desk.intake.flag(post)
    surface.faults = [CardCanWait("No room for progress.", retry_after_seconds=30.0)]
    await all_steps(board)
    assert surface.cards == {}
    clock.advance(31)
    await all_steps(board)
    assert surface.of(case.id).state is CaseState.QUEUED


async def test_a_busy_platform_is_left_alone_as_long_as_it_asks(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """And nothing is lost meanwhile."""
    for one in posts_apart(post, 3):
        await desk.intake.flag(one)
    surface.faults.append(PlatformBusy("Slow down.", retry_after_seconds=30))
    await board.step()
    assert len(surface.calls) == 1
    clock.advance(29)
    assert await board.step() == 0
    clock.advance(1)
    await all_steps(board)
    assert len(surface.cards) == 3


async def test_a_closed_channel_is_tried_again_ever_later_and_the_manager_is_told(
    board: ReviewBoard,
    surface: FakeSurface,
    desk: Desk,
    post: FlaggedPost,
    database: Database,
    clock: FakeClock,
    caplog: Any,
) -> None:
    """In the status, with the remedy, until a card is shown; without a word of any case in the log."""
    for one in posts_apart(post, 2):
        await desk.intake.flag(replace(one, text=f"{one.text} {CANARY}"))
    gone = PlatformUnavailable(f"The channel {CANARY} is gone.", remedy="Choose another.")
    surface.faults += [gone] * 4
    since = clock.now
    pauses = list[int]()
    with caplog.at_level(logging.DEBUG):
        await all_steps(board)
        assert len(surface.calls) == 1, "the other card is not tried in vain"
        for calls in (2, 3, 4):
            pauses.append(0)
            while len(surface.calls) < calls:
                clock.advance(1)
                pauses[-1] += 1
                await all_steps(board)
    assert pauses == sorted(set(pauses)), "each pause is longer"
    assert await _trouble(database) == CardTrouble(gone.message, "Choose another.", since)
    assert CANARY not in caplog.text
    clock.advance(3600)
    await all_steps(board)
    assert len(surface.cards) == 2
    assert await _trouble(database) is None


async def test_a_trouble_is_of_one_channel_and_the_next_one_is_tried_at_once(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, database: Database, clock: FakeClock
) -> None:
    """A person who chose another channel need not wait until the old one would have been tried again."""
    await desk.intake.flag(post)
    surface.faults += [PlatformUnavailable("The review channel is gone.", remedy="Choose another.")] * 2
    await all_steps(board)
    clock.advance(10)
    await all_steps(board)
    assert (await _trouble(database)) is not None
    await choose_channel(database, "other-channel")
    assert await _trouble(database) is None
    await all_steps(board)
    assert [place.channel for place in surface.cards] == ["other-channel"]


async def test_a_process_that_shows_no_cards_tells_the_trouble_too(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, database: Database
) -> None:
    """It is asked of whichever process answers the command; a new one knows what the one before it met."""
    await desk.intake.flag(post)
    allow = sentence("In the channel's settings, allow Antiphon: {permissions}.", permissions=listed([_VIEW, _SEND]))
    closed = PlatformUnavailable(sentence("Antiphon may not write in the review channel."), remedy=allow)
    surface.faults.append(closed)
    await all_steps(board)
    other = Governance(database, LiveRoles(database, {}))
    found = await other.status(PLATFORM, COMMUNITY, MODERATOR)
    assert found.card_trouble is not None
    assert (found.card_trouble.message, found.card_trouble.remedy) == (closed.message, closed.remedy)
    said = translated(found.card_trouble.remedy, "es")
    assert said == "En los ajustes del canal, permite a Antiphon: Ver canal, Enviar mensajes."


# A card that cannot be shown


@pytest.mark.parametrize(
    "fault", [ValueError("a layout that breaks"), AmbiguousSend("no answer"), CardRefused("too old"), TimeoutError()]
)
async def test_one_card_that_cannot_be_shown_holds_up_no_other(
    board: ReviewBoard,
    surface: FakeSurface,
    desk: Desk,
    post: FlaggedPost,
    database: Database,
    clock: FakeClock,
    fault: Exception,
) -> None:
    """Whatever is wrong with it, it is tried again later; managers need not hear of it."""
    for one in posts_apart(post, 3):
        await desk.intake.flag(one)
    surface.faults.append(fault)
    await all_steps(board)
    assert len(surface.cards) == 2
    assert await _trouble(database) is None
    clock.advance(60)
    await all_steps(board)
    assert len(surface.cards) == 3


async def test_a_card_whose_answer_was_lost_stands_once(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """The surface recognises the case by its key."""
    await desk.intake.flag(post)
    surface.loses_answers = 1
    await all_steps(board)
    clock.advance(60)
    await all_steps(board)
    assert (len(surface.calls), len(surface.cards)) == (2, 1)


async def test_a_call_that_never_ends_is_given_up(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that hangs does not hold the office for ever."""
    await desk.intake.flag(post)
    surface.line = asyncio.Event()
    monkeypatch.setattr("core.desk.review.board._CALL_SECONDS", 0.01)
    async with asyncio.timeout(GUARD_SECONDS):
        assert await board.step() == 1
    assert not surface.cards


@pytest.mark.both_databases
async def test_a_card_that_cannot_be_made_holds_up_no_other(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, database: Database, in_review: Case, post: FlaggedPost
) -> None:
    """It is tried again later, and somebody reads of it in the log."""
    broken = update(CaseRow).values(campaign_id="no-campaign", unshown=CaseRow.unshown + 1)
    await database.run("break", lambda session: session.execute(broken))
    other = await desk.intake.flag(posts_apart(post, 1)[0])
    await all_steps(board)
    assert [card.case_id for card in surface.cards.values()] == [other.id]


# Many communities


def _shown_in(surface: FakeSurface) -> list[str]:
    """The communities in the order in which their first cards were tried."""
    return list(dict.fromkeys(card.community for card, _, _ in surface.calls))


async def test_of_twenty_communities_none_waits_for_a_busy_and_a_banned_one(
    surface: FakeSurface, database: Database, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """First cards come with the first step, and all others without any time passing, as if those two were not there."""
    board = board_of(database, surface)
    names = await towns(database, desk, post, 20, posts=3)
    busy, banned, others = names[0], names[1], set(names[2:])
    surface.always[busy] = PlatformBusy("Slow down.", retry_after_seconds=600)
    surface.always[banned] = PlatformUnavailable("Antiphon may not write here.", remedy="Allow it.")
    await board.step()
    assert sorted(_shown_in(surface)) == names, "the first cards of all, in one step"
    assert {card.community for card in surface.cards.values()} == others
    await all_steps(board)
    assert Counter(card.community for card in surface.cards.values()) == dict.fromkeys(others, 3)
    tried = Counter(card.community for card, _, _ in surface.calls)
    assert (tried[busy], tried[banned]) == (1, 1), "neither is asked again before its time"
    surface.always.clear()
    clock.advance(600)
    await all_steps(board)
    assert Counter(card.community for card in surface.cards.values()) == dict.fromkeys(names, 3)


async def test_a_platform_that_hangs_in_one_community_holds_up_no_other(
    surface: FakeSurface, database: Database, desk: Desk, post: FlaggedPost
) -> None:
    """A process that runs shows all others, also what is flagged meanwhile."""
    names = await towns(database, desk, post, 5, posts=2)
    surface.lines[names[0]] = asyncio.Event()
    stop = asyncio.Event()
    running = asyncio.create_task(board_of(database, surface).run(stop))
    async with asyncio.timeout(GUARD_SECONDS):
        while len(surface.cards) < 8:  # noqa: ASYNC110 - a list of a fake is no event
            await asyncio.sleep(0.005)
        late = replace(post, ref=replace(post.ref, community=names[1], message="late"), text="late " * 30)
        await desk.intake.flag(late)
        while len(surface.cards) < 9:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.005)
        assert names[0] not in {card.community for card in surface.cards.values()}
        stop.set()
        surface.lines[names[0]].set()
        await running
    assert names[0] in {card.community for card in surface.cards.values()}, "what was on its way arrives"


async def test_a_raid_on_one_community_delays_no_other(
    board: ReviewBoard,
    surface: FakeSurface,
    database: Database,
    desk: Desk,
    post: FlaggedPost,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each gets as many places in a step as any other, whoever waited longest."""
    for one in posts_apart(post, 30):
        await desk.intake.flag(one)
    names = await towns(database, desk, post, 3, posts=1)
    monkeypatch.setattr("core.desk.review.board._BATCH", 8)
    await board.step()
    assert Counter(card.community for card in surface.cards.values()) == {COMMUNITY: 5} | dict.fromkeys(names, 1)


async def test_no_more_cards_than_allowed_are_on_their_way(
    surface: FakeSurface, database: Database, desk: Desk, post: FlaggedPost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many communities have one to show."""
    surface.line = asyncio.Event()
    await towns(database, desk, post, 6, posts=1)
    monkeypatch.setattr("core.desk.review.board._AT_ONCE", 2)
    step = asyncio.create_task(board_of(database, surface).step())
    async with asyncio.timeout(GUARD_SECONDS):
        while len(surface.calls) < 2:  # noqa: ASYNC110 - a list of a fake is no event
            await asyncio.sleep(0.005)
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(surface.calls) == 2
        surface.line.set()
        await step
    assert len(surface.cards) == 6


# A review channel that everybody can see


@pytest.mark.both_databases
async def test_a_channel_that_is_opened_to_everybody_gets_no_cards_until_it_is_closed(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, database: Database, clock: FakeClock
) -> None:
    """Managers are told when it is opened, before any card is due; what waited is shown as soon as it is closed."""
    first, second = posts_apart(post, 2)
    await desk.intake.flag(first)
    await all_steps(board)
    since = clock.now
    surface.shut[COMMUNITY] = PlatformUnavailable("Everybody can see it.", remedy="Close it.")
    surface.news.add(COMMUNITY)
    await board.step()
    assert await _trouble(database) == CardTrouble("Everybody can see it.", "Close it.", since)
    for _ in range(3):
        clock.advance(600)
        await desk.intake.flag(second)
        await all_steps(board)
    assert len(surface.cards) == 1
    assert await _trouble(database) == CardTrouble("Everybody can see it.", "Close it.", since)
    surface.shut.clear()
    surface.news.add(COMMUNITY)
    await all_steps(board)
    assert len(surface.cards) == 2, "although it would not have been tried yet"
    assert await _trouble(database) is None


async def test_an_open_channel_keeps_no_words_of_an_erased_case(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, database: Database, clock: FakeClock
) -> None:
    """Though no other card is changed there, and a card that is waiting comes first."""
    kept, erased = posts_apart(post, 2)
    await desk.intake.flag(kept)
    gone = await desk.intake.flag(replace(erased, author="who is erased"))
    await all_steps(board)
    surface.shut[COMMUNITY] = PlatformUnavailable("Everybody can see it.", remedy="Close it.")
    surface.news.add(COMMUNITY)
    await desk.intake.flag(replace(kept, ref=replace(kept.ref, message="600"), text="other words " * 20))
    await all_steps(board)
    await Erasure(database).erase(PLATFORM, "who is erased")
    clock.advance(61)
    await all_steps(board)
    clock.advance(61)
    await all_steps(board)
    assert surface.of(gone.id).post.text == ""
    assert len(surface.cards) == 2


@pytest.mark.both_databases
async def test_a_channel_that_was_closed_again_is_no_trouble_though_no_card_is_due(
    surface: FakeSurface, desk: Desk, database: Database, clock: FakeClock
) -> None:
    """Also where another process had found it open."""
    surface.shut[COMMUNITY] = PlatformUnavailable("Everybody can see it.", remedy="Close it.")
    first = board_of(database, surface)
    for _ in range(2):
        await first.step()
    assert await _trouble(database) is not None
    surface.shut.clear()
    clock.advance(61)
    second = board_of(database, surface, "process-2")
    for _ in range(2):
        await second.step()
    assert await _trouble(database) is None
