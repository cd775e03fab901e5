"""Cards that were deleted while nobody of ours heard of it: they come back once the platform is connected again."""

import pytest

from bot.compose.desk import Desk
from core.desk.database.connection import Database
from core.desk.review.board import ReviewBoard
from core.desk.rules.closures import CloseReason
from core.desk.store.cases import Case
from core.errors import PlatformBusy, PlatformUnavailable
from core.models import FlaggedPost
from tests.fakes.desk.boards import all_steps, board_of, choose_channel, posts_apart, towns
from tests.fakes.desk.people import COMMUNITY, MODERATOR
from tests.fakes.machine.clock import FakeClock
from tests.fakes.ports.surface import FakeSurface


def _lose(surface: FakeSurface, *cases: Case) -> None:
    """The cards of some cases are deleted, and the platform says so to nobody."""
    for place, card in list(surface.cards.items()):
        if card.case_id in {case.id for case in cases}:
            del surface.cards[place]


async def test_what_was_deleted_unheard_comes_back_after_the_next_connection(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost
) -> None:
    """By one look, without a change of any case; the cards that stand are not written again."""
    cases = [await desk.intake.flag(one) for one in posts_apart(post, 3)]
    await all_steps(board)
    _lose(surface, cases[1])
    await all_steps(board)
    assert len(surface.cards) == 2, "nobody said that anything went unheard"
    surface.unheard_in.add(COMMUNITY)
    shown = len(surface.calls)
    await all_steps(board)
    assert {card.case_id for card in surface.cards.values()} == {case.id for case in cases}
    assert len(surface.looks) == 1
    assert [card.case_id for card, _, _ in surface.calls[shown:]] == [cases[1].id]


async def test_a_process_that_starts_looks_for_the_cards_of_the_one_before_it(
    surface: FakeSurface, database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Only the one that shows the cards looks, and the other one once it does."""
    first = board_of(database, surface)
    await all_steps(first)
    _lose(surface, in_review)
    second = board_of(database, surface, "process-2")
    surface.unheard_in.add(COMMUNITY)
    assert await all_steps(second) == 0
    assert surface.looks == []
    clock.advance(61)
    await all_steps(second)
    assert surface.of(in_review.id).case_id == in_review.id


async def test_the_card_of_a_closed_case_is_not_looked_for(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, in_review: Case
) -> None:
    """It stays gone, as every deleted card of a closed case."""
    await all_steps(board)
    await desk.decisions.close(in_review.id, in_review.version, MODERATOR, CloseReason.PREACHY)
    await all_steps(board)
    _lose(surface, in_review)
    surface.unheard_in.add(COMMUNITY)
    await all_steps(board)
    assert not surface.cards
    assert surface.looks == []


async def test_cards_in_an_earlier_channel_are_not_looked_for(
    board: ReviewBoard, surface: FakeSurface, database: Database, in_review: Case
) -> None:
    """As with deletions that are heard of: only the review channel of now counts, and open cards go there."""
    await all_steps(board)
    await choose_channel(database, "another")
    await all_steps(board)
    assert [place.channel for place in surface.cards] == ["another"]
    surface.unheard_in.add(COMMUNITY)
    await all_steps(board)
    assert {place.channel for looked in surface.looks for place in looked} == {"another"}


async def test_many_cards_take_as_many_looks_as_the_platform_needs_one_a_step(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost
) -> None:
    """Each look tells of a page of them; what it did not reach is looked for with the next step."""
    cases = [await desk.intake.flag(one) for one in posts_apart(post, 5)]
    await all_steps(board)
    surface.cards.clear()
    surface.page = 2
    surface.unheard_in.add(COMMUNITY)
    await board.step()
    assert len(surface.looks) == 1
    await all_steps(board)
    assert [len(cards) for cards in surface.looks] == [5, 3, 1]
    assert {card.case_id for card in surface.cards.values()} == {case.id for case in cases}


async def test_a_start_with_many_communities_makes_no_storm_of_looks(
    surface: FakeSurface, database: Database, desk: Desk, post: FlaggedPost
) -> None:
    """A step looks into a few of them, and the next one into the next few, until none is left."""
    names = await towns(database, desk, post, 10, posts=1)
    await all_steps(board_of(database, surface))
    surface.cards.clear()
    surface.unheard_in.update(names)
    board = board_of(database, surface)
    looks = list[int]()
    while await board.step():
        looks.append(len(surface.looks) - sum(looks))
    assert max(looks) <= 4
    assert sum(looks) == 10
    assert {card.community for card in surface.cards.values()} == set(names)


async def test_a_busy_platform_is_asked_again_after_its_time(
    board: ReviewBoard, surface: FakeSurface, in_review: Case, clock: FakeClock
) -> None:
    """The look is kept."""
    await all_steps(board)
    _lose(surface, in_review)
    surface.look_faults.append(PlatformBusy("Slow down.", retry_after_seconds=30))
    surface.unheard_in.add(COMMUNITY)
    await all_steps(board)
    clock.advance(29)
    assert await board.step() == 0
    clock.advance(1)
    await all_steps(board)
    assert surface.of(in_review.id).case_id == in_review.id


@pytest.mark.parametrize("fault", [PlatformUnavailable("The channel is closed.", remedy="Open it."), ValueError("odd")])
async def test_a_channel_that_cannot_be_read_is_left_until_the_next_connection(
    board: ReviewBoard, surface: FakeSurface, in_review: Case, clock: FakeClock, fault: Exception
) -> None:
    """It is not asked for ever, and holds up no card."""
    await all_steps(board)
    _lose(surface, in_review)
    surface.look_faults.append(fault)
    surface.unheard_in.add(COMMUNITY)
    await all_steps(board)
    clock.advance(3600)
    await all_steps(board)
    assert len(surface.looks) == 1
    surface.unheard_in.add(COMMUNITY)
    await all_steps(board)
    assert surface.of(in_review.id).case_id == in_review.id


async def test_what_was_deleted_in_a_channel_that_was_closed_to_us_comes_back_when_it_is_opened(
    board: ReviewBoard, surface: FakeSurface, in_review: Case
) -> None:
    """A platform does not tell what happens where we may not look."""
    await all_steps(board)
    surface.shut[COMMUNITY] = PlatformUnavailable("Antiphon may not look there.", remedy="Allow it.")
    surface.news.add(COMMUNITY)
    await all_steps(board)
    _lose(surface, in_review)
    surface.shut.clear()
    surface.news.add(COMMUNITY)
    await all_steps(board)
    assert surface.of(in_review.id).case_id == in_review.id
