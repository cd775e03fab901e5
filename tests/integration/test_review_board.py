"""The cards in a review channel are as the cases are, whatever the platform does and whenever the process ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from adapters.sample.community import SampleCommunity
from bot.cards import build, digest_of
from bot.chores.retention import Retention
from bot.community_desk import CommunityDesk
from bot.desk import Desk
from bot.draft_queue import DraftQueue
from bot.faults import installed
from bot.governance import Governance
from bot.intake import Intake
from bot.live_roles import LiveRoles
from bot.originals import note_original
from bot.outbox import Outbox
from bot.privacy import Erasure
from bot.review_board import ReviewBoard
from bot.store import communities
from bot.store.cases import Case
from bot.store.database import Database, Session
from bot.store.documents import Preview
from bot.store.jobs import Job
from bot.store.schema import CaseRow, CommunityRow
from bot.store.status import status
from core.cards import Card, CardTrouble
from core.decline import DeclineReason
from core.errors import AmbiguousSend, PlatformBusy, PlatformUnavailable
from core.i18n import translated
from core.models import FlaggedPost
from core.review import CaseState
from core.roles import Operator
from core.sentences import listed, sentence
from tests.fakes import suggestion_for
from tests.fakes.clock import FakeClock
from tests.fakes.decisions import OWN_TEXT, approve, drafted, execute, one_row, take
from tests.fakes.people import COMMUNITY, COMMUNITY_ID, MODERATOR, PLATFORM
from tests.fakes.surface import FakeSurface

CHANNEL = "mod-review"
CANARY = "canarybird"
KEEPER = Operator("keeper")
_VIEW, _SEND = sentence("View Channel"), sentence("Send Messages")
GUARD_SECONDS = 120  # only bounds a hang


async def _channel(database: Database, channel: str) -> None:
    async def work(session: Session) -> None:
        row = await session.get_one(CommunityRow, COMMUNITY_ID)
        row.policy = {"review_channel": channel} if channel else {}

    await database.run("set the channel", work)


@pytest.fixture
async def surface(database: Database) -> FakeSurface:
    await _channel(database, CHANNEL)
    return FakeSurface()


def _board(database: Database, surface: FakeSurface, owner: str = "process-1", **how: Any) -> ReviewBoard:
    return ReviewBoard(database, surface, PLATFORM, owner, poll_seconds=0.001, **how)


@pytest.fixture
def board(database: Database, surface: FakeSurface) -> ReviewBoard:
    return _board(database, surface)


async def _all_steps(board: ReviewBoard) -> int:
    """Step until nothing is left; how many cards were looked at."""
    total = 0
    while looked := await board.step():
        total += looked
    return total


async def _trouble(database: Database) -> CardTrouble | None:
    """What the status tells of the cards."""

    async def work(session: Session) -> CardTrouble | None:
        return (await status(session, await communities.load(session, COMMUNITY_ID))).card_trouble

    return await database.run("read the status", work)


async def _place(database: Database) -> tuple[object, ...]:
    return await one_row(database, "SELECT channel, message, digest FROM review_cards")


def _posts(post: FlaggedPost, count: int) -> list[FlaggedPost]:
    return [
        replace(post, ref=replace(post.ref, message=str(500 + number)), text=f"{number} " * 40, root=str(500 + number))
        for number in range(count)
    ]


# What is shown


async def test_a_card_follows_its_case_in_one_place(
    board: ReviewBoard,
    surface: FakeSurface,
    desk: Desk,
    queue: DraftQueue,
    post: FlaggedPost,
    database: Database,
    clock: FakeClock,
) -> None:
    """From the flag to the end, each change is shown once, in the card that stands there."""
    case = await desk.flag(post)
    assert await _all_steps(board) == 1
    seen = [surface.of(case.id)]
    taken = await take(queue)
    await board.step()
    seen.append(surface.of(case.id))
    made = suggestion_for(post)
    await queue.keep(taken, "draft", Preview(made.reading, made.drafts[0], made.evidence))
    await board.step()
    seen.append(surface.of(case.id))
    case = await queue.store(taken, suggestion_for(taken.case.post))
    await board.step()
    seen.append(surface.of(case.id))
    await desk.take(case.id, MODERATOR)
    await board.step()
    seen.append(surface.of(case.id))
    await approve(desk, case)
    await board.step()
    seen.append(surface.of(case.id))
    assert [card.state for card in seen] == [
        CaseState.QUEUED, CaseState.DRAFTING, CaseState.DRAFTING, CaseState.IN_REVIEW, CaseState.IN_REVIEW,
        CaseState.APPROVED,
    ]  # fmt: skip
    assert (seen[2].is_preview, len(seen[3].drafts)) == (True, 2)
    assert seen[4].holder is not None
    assert seen[4].holder.name == "moderator_one"
    assert len(surface.cards) == 1
    assert len(surface.calls) == 6
    (place,) = surface.cards
    channel, message, digest = await _place(database)
    assert (channel, message) == (CHANNEL, place.message)
    assert digest == digest_of(await database.run("build", lambda s: build(s, case.id)))
    assert await board.step() == 0, "nothing changed"


async def test_what_only_the_clock_changes_is_not_shown_anew(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, database: Database, clock: FakeClock
) -> None:
    """Estimates and places in the queue move all the time; a card that said so would be edited all the time."""
    case = await desk.flag(post)
    await board.step()
    await desk.flag(replace(post, ref=replace(post.ref, message="104"), text="Another post.", root="104"))
    clock.advance(60)
    before = surface.of(case.id)
    assert before.waiting is not None
    later = replace(before, waiting=replace(before.waiting, ahead=7, expected_seconds=3.5))
    assert digest_of(later) == digest_of(before)
    assert digest_of(replace(before, waiting=replace(before.waiting, stage="anneal"))) != digest_of(before)
    await execute(database, "UPDATE cases SET unshown = unshown + 1")
    await _all_steps(board)
    assert [card.case_id for card, _, _ in surface.calls].count(case.id) == 1
    assert await one_row(database, "SELECT sum(unshown) FROM cases") == (0,)


async def test_posts_that_others_stand_for_or_that_wait_for_room_have_no_card(
    board: ReviewBoard, surface: FakeSurface, database: Database, post: FlaggedPost
) -> None:
    """A raid is one card that counts; what waits for room is shown when it is queued."""
    desk = Desk(database, intake=Intake(database, max_queued=1))
    lead = await desk.flag(post)
    for number in range(3):
        copy = replace(post, ref=replace(post.ref, message=str(200 + number)), root=str(200 + number))
        assert (await desk.flag(copy)).state is CaseState.FOLDED
    waiting = await desk.flag(_posts(post, 1)[0])
    assert waiting.state is CaseState.CAPTURED
    assert await _all_steps(board) == 1
    assert surface.of(lead.id).campaign_posts == 4
    assert len(surface.cards) == 1


async def test_a_closed_case_is_shown_in_its_last_form_once_and_never_begun(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, queue: DraftQueue, in_review: Case, post: FlaggedPost
) -> None:
    """One that was closed before anybody saw it gets no card."""
    await board.step()
    await desk.decline(in_review.id, in_review.version, MODERATOR, DeclineReason.PREACHY)
    await board.step()
    card = surface.of(in_review.id)
    assert (card.state, card.closed_because) == (CaseState.DECLINED, "declined: preachy")
    late = await desk.flag(_posts(post, 1)[0])
    await desk.withdraw(late.id, late.version, MODERATOR, "a mistake")
    await _all_steps(board)
    assert len(surface.cards) == 1
    assert len(surface.calls) == 2


async def test_a_card_of_long_ago_is_left_as_it_is(
    surface: FakeSurface, database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Unless its words were erased."""
    board = _board(database, surface, kept_days=3)
    await board.step()
    await desk.stay_silent(in_review.id, in_review.version, MODERATOR, "no use")
    await _all_steps(board)
    clock.advance(4 * 86400)
    await database.run("note", lambda s: note_original(s, in_review.post.ref, None))
    assert await _all_steps(board) == 1
    assert not surface.of(in_review.id).is_original_gone
    assert len(surface.calls) == 2


async def test_what_the_platform_says_of_the_original_is_shown(
    board: ReviewBoard, surface: FakeSurface, database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Of a posted reply, so that a moderator can take it away."""
    outbox = Outbox(database, {PLATFORM: SampleCommunity(clock=clock)})
    await approve(desk, in_review)
    clock.advance(16)
    await outbox.send_due()
    await board.step()
    assert not surface.cards, "closed before it was ever shown"
    await execute(database, "UPDATE cases SET state = 'in_review', unshown = 1")
    await board.step()
    await execute(database, "UPDATE cases SET state = 'posted', unshown = 1")
    await board.step()
    await database.run("note", lambda s: note_original(s, in_review.post.ref, "I was angry."))
    await board.step()
    card = surface.of(in_review.id)
    assert (card.state, card.is_original_edited) == (CaseState.POSTED, True)
    assert card.reply is not None


async def test_a_pause_of_the_community_shows_on_its_open_cards(
    board: ReviewBoard, surface: FakeSurface, database: Database, in_review: Case
) -> None:
    """Although no case changed; and so does shadow mode, and the end of each."""
    await board.step()
    people = CommunityDesk(database)
    seen: list[tuple[bool, bool]] = []
    for change in (
        people.pause("*", KEEPER),
        people.resume("*", KEEPER),
        people.set_posting(COMMUNITY_ID, False, KEEPER),
    ):
        await change
        await _all_steps(board)
        card = surface.of(in_review.id)
        seen.append((card.is_paused, card.is_shadow))
    assert seen == [(True, False), (False, False), (False, True)]


async def test_the_language_that_managers_choose_shows_on_open_cards(
    board: ReviewBoard, surface: FakeSurface, database: Database, in_review: Case
) -> None:
    """Each choice once, where the card stands, although no case changed; none chosen leaves it to the platform."""

    async def choose(**chosen: str) -> None:
        policy = {"review_channel": CHANNEL, **chosen}
        await database.run(
            "choose", lambda s: communities.change(s, COMMUNITY_ID, actor="k", reason="r", policy=policy)
        )

    seen: list[str | None] = []
    choices: list[dict[str, str]] = [{}, {"language": "eu"}, {"language": "eu", "tone": "calm"}, {"language": "es"}, {}]
    for chosen in choices:
        await choose(**chosen)
        await _all_steps(board)
        seen.append(surface.of(in_review.id).community_language)
    assert seen == [None, "eu", "eu", "es", None]
    assert len(surface.cards) == 1
    assert len(surface.calls) == 4, "what no card shows changes none"


async def test_without_a_channel_nothing_is_shown_and_with_another_one_new_cards_go_there(
    board: ReviewBoard,
    surface: FakeSurface,
    database: Database,
    desk: Desk,
    queue: DraftQueue,
    post: FlaggedPost,
) -> None:
    """Cards that stand in the old channel are brought up to date where they are."""
    await _channel(database, "")
    first, second = _posts(post, 2)
    one = await desk.flag(first)
    assert await _all_steps(board) == 0
    await _channel(database, CHANNEL)
    assert await _all_steps(board) == 1
    await _channel(database, "other-channel")
    two = await desk.flag(second)
    await take(queue)
    await _all_steps(board)
    channels = {card.case_id: place.channel for place, card in surface.cards.items()}
    assert channels == {one.id: CHANNEL, two.id: "other-channel"}
    assert CaseState.DRAFTING in {card.state for card in surface.cards.values()}


async def test_a_card_that_somebody_deleted_is_shown_anew(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, in_review: Case, database: Database
) -> None:
    """At the next change, in its new place."""
    await board.step()
    surface.cards.clear()
    await desk.take(in_review.id, MODERATOR)
    await board.step()
    (place,) = surface.cards
    assert (await _place(database))[:2] == (CHANNEL, place.message)


# Erasure


@pytest.mark.parametrize("channel", [CHANNEL, ""])
async def test_a_card_shows_no_word_of_an_erased_case(
    board: ReviewBoard,
    surface: FakeSurface,
    database: Database,
    desk: Desk,
    queue: DraftQueue,
    post: FlaggedPost,
    clock: FakeClock,
    channel: str,
) -> None:
    """Also where the community shows no new cards any more."""
    post = replace(post, text=f"They take, {CANARY}, and take.")
    made = suggestion_for(post, (f"It answers {CANARY}.",))
    await desk.flag(post)
    taken = await take(queue)
    case = await queue.store(taken, replace(made, degraded=(f"Nothing on {CANARY}.",)))
    await desk.redraft(case.id, case.version, f"A claim on {CANARY}.", MODERATOR)
    await _all_steps(board)
    assert CANARY in str(surface.of(case.id))
    await _channel(database, channel)
    await _all_steps(board)
    await Erasure(database).erase(PLATFORM, post.author)
    clock.advance(61)
    await _all_steps(board)
    card = surface.of(case.id)
    assert CANARY not in str(card)
    assert (card.state, card.post.text, card.drafts, card.claims) == (CaseState.WITHDRAWN, "", (), ())


async def test_the_retention_takes_the_words_off_a_card_that_is_a_month_old(
    surface: FakeSurface, database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """And what is deleted for good leaves no row behind."""
    board = _board(database, surface)
    await board.step()
    await desk.stay_silent(in_review.id, in_review.version, MODERATOR, "no use")
    await board.step()
    chore, job = Retention(database, days=30, months=2), Job("1", "retention:1", "retention", "", None, 1, "test")
    clock.advance(31 * 86400)
    await chore.do(job)
    await _all_steps(board)
    assert (surface.of(in_review.id).post.text, surface.of(in_review.id).gist) == ("", None)
    clock.advance(60 * 86400)
    await chore.do(job)
    assert await one_row(database, "SELECT count(*) FROM review_cards") == (0,)
    assert await _all_steps(board) == 0


# A platform that cannot


async def test_a_busy_platform_is_left_alone_as_long_as_it_asks(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """And nothing is lost meanwhile."""
    for one in _posts(post, 3):
        await desk.flag(one)
    surface.faults.append(PlatformBusy("Slow down.", retry_after_seconds=30))
    await board.step()
    assert len(surface.calls) == 1
    clock.advance(29)
    assert await board.step() == 0
    clock.advance(1)
    await _all_steps(board)
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
    for one in _posts(post, 2):
        await desk.flag(replace(one, text=f"{one.text} {CANARY}"))
    gone = PlatformUnavailable(f"The channel {CANARY} is gone.", remedy="Choose another.")
    surface.faults += [gone] * 4
    since = clock.now
    pauses = list[int]()
    with caplog.at_level(logging.DEBUG):
        await _all_steps(board)
        assert len(surface.calls) == 1, "the other card is not tried in vain"
        for calls in (2, 3, 4):
            pauses.append(0)
            while len(surface.calls) < calls:
                clock.advance(1)
                pauses[-1] += 1
                await _all_steps(board)
    assert pauses == sorted(set(pauses)), "each pause is longer"
    assert await _trouble(database) == CardTrouble(gone.message, "Choose another.", since)
    assert CANARY not in caplog.text
    clock.advance(3600)
    await _all_steps(board)
    assert len(surface.cards) == 2
    assert await _trouble(database) is None


async def test_a_trouble_is_of_one_channel_and_the_next_one_is_tried_at_once(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, database: Database, clock: FakeClock
) -> None:
    """Whoever chose another channel need not wait until the old one would have been tried again."""
    await desk.flag(post)
    surface.faults += [PlatformUnavailable("The review channel is gone.", remedy="Choose another.")] * 2
    await _all_steps(board)
    clock.advance(10)
    await _all_steps(board)
    assert (await _trouble(database)) is not None
    await _channel(database, "other-channel")
    assert await _trouble(database) is None
    await _all_steps(board)
    assert [place.channel for place in surface.cards] == ["other-channel"]


async def test_a_process_that_shows_no_cards_tells_the_trouble_too(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, database: Database
) -> None:
    """It is asked of whichever process answers the command; a new one knows what the one before it met."""
    await desk.flag(post)
    allow = sentence("In the channel's settings, allow Antiphon: {permissions}.", permissions=listed([_VIEW, _SEND]))
    closed = PlatformUnavailable(sentence("Antiphon may not write in the review channel."), remedy=allow)
    surface.faults.append(closed)
    await _all_steps(board)
    other = Governance(database, LiveRoles(database, {}))
    found = await other.status(PLATFORM, COMMUNITY, MODERATOR)
    assert found.card_trouble is not None
    assert (found.card_trouble.message, found.card_trouble.remedy) == (closed.message, closed.remedy)
    said = translated(found.card_trouble.remedy, "es")
    assert said == "En los ajustes del canal, permite a Antiphon: Ver canal, Enviar mensajes."


@pytest.mark.parametrize("fault", [ValueError("a layout that breaks"), AmbiguousSend("no answer"), TimeoutError()])
async def test_one_card_that_cannot_be_shown_holds_up_no_other(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, clock: FakeClock, fault: Exception
) -> None:
    """Whatever is wrong with it, it is tried again later."""
    for one in _posts(post, 3):
        await desk.flag(one)
    surface.faults.append(fault)
    await _all_steps(board)
    assert len(surface.cards) == 2
    clock.advance(60)
    await _all_steps(board)
    assert len(surface.cards) == 3


async def test_a_card_whose_answer_was_lost_stands_once(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """The surface recognises the case by its key."""
    await desk.flag(post)
    surface.loses_answers = 1
    await _all_steps(board)
    clock.advance(60)
    await _all_steps(board)
    assert (len(surface.calls), len(surface.cards)) == (2, 1)


async def test_a_call_that_never_ends_is_given_up(
    surface: FakeSurface, database: Database, desk: Desk, post: FlaggedPost
) -> None:
    """A connection that hangs does not hold the office for ever."""
    await desk.flag(post)
    surface.line = asyncio.Event()
    async with asyncio.timeout(GUARD_SECONDS):
        assert await _board(database, surface, timeout_seconds=0.01).step() == 1
    assert not surface.cards


# Processes


class _Crash(BaseException):
    """The end of the process."""


@pytest.mark.parametrize(
    "point",
    [
        "show a card: before the call",
        "show a card: after the call",
        "keep where a card stands: before the commit",
        "keep where a card stands: after the commit",
        "read a card: before the commit",
        "look for outdated cards: after the commit",
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
async def test_a_crash_anywhere_leaves_one_card_as_the_case_is(
    surface: FakeSurface,
    database: Database,
    desk: Desk,
    post: FlaggedPost,
    clock: FakeClock,
    point: str,
    is_first: bool,
) -> None:
    """The next process, or the same one started anew, shows it again in its place."""
    case = await desk.flag(post)
    if not is_first:
        await _board(database, surface).step()
        case = await desk.withdraw(case.id, case.version, MODERATOR, "a mistake")

    async def crash(reached: str) -> None:
        if reached == point:
            raise _Crash

    with installed(crash), pytest.raises(_Crash):
        await _board(database, surface).step()
    clock.advance(61)
    await _all_steps(_board(database, surface, "process-2"))
    assert len(surface.cards) == 1
    assert surface.of(case.id).state is case.state
    assert await one_row(database, "SELECT unshown FROM cases") == (0,)


async def test_one_process_shows_and_the_next_takes_over(
    surface: FakeSurface, database: Database, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """Two that look at the same time never show one card twice; who resigns lets the other go on at once."""
    one, two = _board(database, surface), _board(database, surface, "process-2")
    first, second, third = _posts(post, 3)
    await desk.flag(first)
    assert [await one.step(), await two.step()] == [1, 0]
    await desk.flag(second)
    assert [await two.step(), await one.step()] == [0, 1]
    stop = asyncio.Event()
    stop.set()
    await one.run(stop)
    await desk.flag(third)
    assert await two.step() >= 1
    clock.advance(59)
    assert await _all_steps(two) == 0
    assert await one.step() == 0, "the other one holds the office"
    assert len(surface.calls) == 3


async def test_a_new_process_shows_only_what_changed_while_none_ran(
    surface: FakeSurface, database: Database, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """What stands as it is, is not touched."""
    cases = [await desk.flag(one) for one in _posts(post, 3)]
    await _all_steps(_board(database, surface))
    await desk.withdraw(cases[1].id, cases[1].version, MODERATOR, "a mistake")
    await CommunityDesk(database).set_posting(COMMUNITY_ID, False, KEEPER)
    clock.advance(61)
    await _all_steps(_board(database, surface, "process-2"))
    shown = [card.case_id for card, _, _ in surface.calls[3:]]
    assert sorted(shown) == sorted(case.id for case in cases)
    assert all(card.is_shadow for card in surface.cards.values())


async def test_a_change_while_a_card_is_being_shown_is_shown_next(
    surface: FakeSurface, database: Database, desk: Desk, in_review: Case
) -> None:
    """What is counted as shown is what the card was made of."""
    board = _board(database, surface)

    async def meddle(point: str) -> None:
        if point == "show a card: before the call" and not surface.calls:
            await desk.stay_silent(in_review.id, in_review.version, MODERATOR, "no use")

    with installed(meddle):
        await board.step()
    assert surface.of(in_review.id).state is CaseState.IN_REVIEW
    await board.step()
    assert surface.of(in_review.id).state is CaseState.NO_REPLY


async def test_the_board_runs_until_it_is_stopped(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, database: Database, post: FlaggedPost
) -> None:
    """More cards than one step takes, shown without a pause; then the office is free."""
    stop = asyncio.Event()
    running = asyncio.create_task(board.run(stop))
    for one in _posts(post, 25):
        await desk.flag(one)
    async with asyncio.timeout(GUARD_SECONDS):
        while len(surface.cards) < 25:  # noqa: ASYNC110 - a list of a fake is no event
            await asyncio.sleep(0.005)
    stop.set()
    await running
    assert await one_row(database, "SELECT count(*) FROM leaderships") == (0,)


@pytest.fixture
async def broken_row(database: Database, in_review: Case) -> AsyncIterator[Case]:
    """A case of which a row makes no sense."""
    await database.run(
        "break", lambda s: s.execute(update(CaseRow).values(campaign_id="no-campaign", unshown=CaseRow.unshown + 1))
    )
    yield in_review


async def test_a_card_that_cannot_be_made_holds_up_no_other(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, broken_row: Case, post: FlaggedPost, clock: FakeClock
) -> None:
    """It is tried again later, and somebody reads of it in the log."""
    other = await desk.flag(_posts(post, 1)[0])
    await _all_steps(board)
    assert [card.case_id for card in surface.cards.values()] == [other.id]
    assert broken_row.id != other.id


def test_a_card_says_the_same_of_itself_in_every_process(in_review_card: Card) -> None:
    """The digest hangs on nothing but the card."""
    assert digest_of(in_review_card) == digest_of(replace(in_review_card))
    assert digest_of(replace(in_review_card, is_paused=True)) != digest_of(in_review_card)


@pytest.fixture
async def in_review_card(database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost) -> Card:
    case = await drafted(desk, queue, post)
    return await database.run("build", lambda session: build(session, case.id))


async def test_an_approval_that_waits_longer_says_until_when(
    board: ReviewBoard, surface: FakeSurface, database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """A paused reply's new time is on the card."""
    outbox = Outbox(database, {PLATFORM: SampleCommunity(clock=clock)})
    await approve(desk, in_review, reply=OWN_TEXT)
    await board.step()
    await CommunityDesk(database).pause("*", KEEPER)
    clock.advance(16)
    await outbox.send_due()
    await _all_steps(board)
    card = surface.of(in_review.id)
    assert card.is_paused
    assert card.send_at == clock() + timedelta(seconds=60)
