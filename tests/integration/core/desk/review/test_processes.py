"""Whenever the process ends and whichever takes over, each case has one card, and the next process goes on."""

import asyncio

import pytest

from bot.compose.desk import Desk
from core.desk.communities.decisions import CommunityDesk
from core.desk.database.connection import Database
from core.desk.review.board import ReviewBoard
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.runtime.faults import installed
from core.desk.store.cases import Case
from core.models import FlaggedPost
from tests.fakes.desk.boards import all_steps, board_of, posts_apart
from tests.fakes.desk.decisions import one_row
from tests.fakes.desk.people import COMMUNITY_ID, KEEPER, MODERATOR
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS
from tests.fakes.ports.surface import FakeSurface


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
    case = await desk.intake.flag(post)
    if not is_first:
        await board_of(database, surface).step()
        case = await desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.MISTAKE, "a mistake")

    async def crash(reached: str) -> None:
        if reached == point:
            raise _Crash

    with installed(crash), pytest.raises(_Crash):
        await board_of(database, surface).step()
    clock.advance(61)
    await all_steps(board_of(database, surface, "process-2"))
    assert len(surface.cards) == 1
    assert surface.of(case.id).state is case.state
    assert await one_row(database, "SELECT unshown FROM cases") == (0,)


async def test_one_process_shows_and_the_next_takes_over(
    surface: FakeSurface, database: Database, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """Two that look at the same time never show one card twice; who resigns lets the other go on at once."""
    one, two = board_of(database, surface), board_of(database, surface, "process-2")
    first, second, third = posts_apart(post, 3)
    await desk.intake.flag(first)
    assert [await one.step(), await two.step()] == [1, 0]
    await desk.intake.flag(second)
    assert [await two.step(), await one.step()] == [0, 1]
    stop = asyncio.Event()
    stop.set()
    await one.run(stop)
    await desk.intake.flag(third)
    assert await two.step() >= 1
    clock.advance(59)
    assert await all_steps(two) == 0
    assert await one.step() == 0, "the other one holds the office"
    assert len(surface.calls) == 3


async def test_a_new_process_shows_only_what_changed_while_none_ran(
    surface: FakeSurface, database: Database, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """What stands as it is, is not touched."""
    cases = [await desk.intake.flag(one) for one in posts_apart(post, 3)]
    await all_steps(board_of(database, surface))
    await desk.decisions.close(cases[1].id, cases[1].version, MODERATOR, CloseReason.MISTAKE, "a mistake")
    await CommunityDesk(database).set_posting(COMMUNITY_ID, False, KEEPER)
    clock.advance(61)
    await all_steps(board_of(database, surface, "process-2"))
    shown = [card.case_id for card, _, _ in surface.calls[3:]]
    assert sorted(shown) == sorted(case.id for case in cases)
    assert all(card.is_shadow for card in surface.cards.values())


async def test_a_change_while_a_card_is_being_shown_is_shown_next(
    surface: FakeSurface, database: Database, desk: Desk, in_review: Case
) -> None:
    board = board_of(database, surface)

    async def meddle(point: str) -> None:
        if point == "show a card: before the call" and not surface.calls:
            await desk.decisions.close(in_review.id, in_review.version, MODERATOR, CloseReason.SILENCE, "no use")

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
    for one in posts_apart(post, 25):
        await desk.intake.flag(one)
    async with asyncio.timeout(GUARD_SECONDS):
        while len(surface.cards) < 25:  # noqa: ASYNC110 - a list of a fake is no event
            await asyncio.sleep(0.005)
    stop.set()
    await running
    assert await one_row(database, "SELECT count(*) FROM leaderships") == (0,)
