"""The open cases as a list, and one of them by its short number: who may read them, and which card comes back."""

import pytest
from sqlalchemy import update

from bot.compose.desk import Desk, build_desk
from core.desk.database.connection import Database, Session
from core.desk.review.board import ReviewBoard
from core.desk.review.casework import Casework, case_numbered
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import short_number
from core.desk.rules.closures import CloseReason
from core.desk.schema import CaseRow
from core.desk.store.cases import Case
from core.errors import BadInput, NotAllowed
from core.models import FlaggedPost, PostRef
from tests.fakes.desk.boards import CHANNEL, all_steps, choose_channel, posts_apart
from tests.fakes.desk.people import AUDITOR, COMMUNITY, FLAGGER, MODERATOR, PLATFORM, STRANGER, VOLUNTEER
from tests.fakes.machine.clock import FakeClock
from tests.fakes.ports.surface import FakeSurface

FIRST, SECOND = "ab12c" + "0" * 27, "ab12c" + "1" * 27


async def _named(database: Database, case: Case, case_id: str, state: CaseState) -> None:
    """Give a case an id and a state of the test's own; nothing else names it yet."""

    async def work(session: Session) -> None:
        await session.execute(update(CaseRow).where(CaseRow.id == case.id).values(id=case_id, state=state))

    await database.run("name a case", work)


@pytest.fixture
async def two_alike(database: Database, post: FlaggedPost) -> None:
    """Two cases whose short numbers are the same; the first one is closed."""
    desk = build_desk(database, max_queued=0)
    for single, case_id, state in zip(
        posts_apart(post, 2), (FIRST, SECOND), (CaseState.DECLINED, CaseState.CAPTURED), strict=True
    ):
        await _named(database, await desk.intake.flag(single), case_id, state)


# The list


async def test_open_cases_are_listed_oldest_first_with_their_cards_and_who_holds_them(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, front: Casework, in_review: Case, post: FlaggedPost,
    clock: FakeClock,
) -> None:  # fmt: skip
    """What is closed, or decided with another case, is not listed."""
    clock.advance(60)
    later, closed = [await desk.intake.flag(single) for single in posts_apart(post, 2)]
    await desk.decisions.close(closed.id, closed.version, MODERATOR, CloseReason.MISTAKE)
    await desk.decisions.hold(in_review.id, MODERATOR)
    await all_steps(board)
    found = await front.open_cases(PLATFORM, COMMUNITY, AUDITOR)
    assert [case.case_id for case in found.cases] == [in_review.id, later.id]
    assert [case.state for case in found.cases] == [CaseState.IN_REVIEW, CaseState.QUEUED]
    assert (found.total, found.pages, found.oldest) == (2, 1, in_review.created_at)
    holder = found.cases[0].holder
    assert holder is not None
    assert holder.name == MODERATOR.name
    assert found.cases[1].holder is None
    assert {case.card for case in found.cases} == set(surface.cards)


async def test_the_list_has_pages_and_says_of_each_how_old_the_oldest_case_is(
    desk: Desk, front: Casework, post: FlaggedPost, clock: FakeClock
) -> None:
    """A page that there is not is the last one: cases are decided while somebody turns pages."""
    flagged = []
    for single in posts_apart(post, 12):
        flagged.append(await desk.intake.flag(single))
        clock.advance(1)
    first, last = [await front.open_cases(PLATFORM, COMMUNITY, MODERATOR, page) for page in (0, 7)]
    assert [case.case_id for case in (*first.cases, *last.cases)] == [case.id for case in flagged]
    assert (first.page, last.page, last.pages, len(last.cases)) == (0, 1, 2, 2)
    assert first.oldest == last.oldest == flagged[0].created_at


@pytest.mark.both_databases
async def test_a_community_without_cases_has_one_empty_page(front: Casework) -> None:
    """Before the first flag."""
    found = await front.open_cases(PLATFORM, COMMUNITY, MODERATOR)
    assert (found.cases, found.page, found.pages, found.total, found.oldest) == ((), 0, 1, 0, None)


async def test_only_who_may_read_cases_sees_the_list_or_a_case_by_its_number(front: Casework, in_review: Case) -> None:
    """Who flagged a post reads its case by other ways, and cannot try numbers; nor can people of another community."""
    for community, person in (*((COMMUNITY, by) for by in (VOLUNTEER, STRANGER, FLAGGER)), ("elsewhere", MODERATOR)):
        with pytest.raises(NotAllowed):
            await front.open_cases(PLATFORM, community, person)
        with pytest.raises(NotAllowed):
            await front.numbered(PLATFORM, community, short_number(in_review.id), person)


# By its number


async def test_a_case_is_found_by_its_short_number(front: Casework, in_review: Case) -> None:
    """As it stands on the card, or in small letters; what is nobody's number is refused."""
    number = short_number(in_review.id)
    for typed in (number, f"#{number.lower()}", f" {number} "):
        assert (await front.numbered(PLATFORM, COMMUNITY, typed, AUDITOR)).case_id == in_review.id
    for typed in ("", "zzzzz", "a", "%", "00000000"):
        with pytest.raises(BadInput, match="There is no case") as caught:
            await front.numbered(PLATFORM, COMMUNITY, typed, MODERATOR)
        assert "list" in caught.value.remedy


@pytest.mark.both_databases
@pytest.mark.usefixtures("two_alike")
async def test_of_two_cases_with_one_number_the_open_one_is_meant(database: Database) -> None:
    """If both are open, the refusal says how to tell them apart."""

    async def numbered(number: str) -> str:
        async def work(session: Session) -> str:
            return await case_numbered(session, (await session.get_one(CaseRow, FIRST)).community_id, number)

        return await database.run("find a case by its number", work)

    assert await numbered("AB12C") == SECOND
    await database.run(
        "open both", lambda s: s.execute(update(CaseRow).where(CaseRow.id == FIRST).values(state=CaseState.CAPTURED))
    )
    with pytest.raises(BadInput) as caught:
        await numbered("AB12C")
    assert caught.value.remedy.endswith("AB12C0, AB12C1.")
    assert await numbered("AB12C0") == FIRST


# Cards that come back


async def test_a_case_that_is_asked_for_puts_its_missing_card_up_again(
    board: ReviewBoard, surface: FakeSurface, front: Casework, in_review: Case
) -> None:
    """One that still stands is written over in its place."""
    await all_steps(board)
    (place,) = surface.cards
    await front.numbered(PLATFORM, COMMUNITY, short_number(in_review.id), MODERATOR)
    await all_steps(board)
    assert list(surface.cards) == [place]
    surface.cards.clear()
    await front.numbered(PLATFORM, COMMUNITY, short_number(in_review.id), MODERATOR)
    await all_steps(board)
    assert surface.of(in_review.id).state is CaseState.IN_REVIEW


async def test_a_deleted_card_of_an_open_case_comes_back_at_once(
    board: ReviewBoard, surface: FakeSurface, front: Casework, in_review: Case
) -> None:
    """Nothing of the case has changed; a message that was no card changes nothing."""
    await all_steps(board)
    (place,) = surface.cards
    surface.cards.clear()
    await front.card_gone(PostRef(PLATFORM, COMMUNITY, CHANNEL, "another"))
    assert await all_steps(board) == 0
    await front.card_gone(place)
    await all_steps(board)
    assert surface.of(in_review.id).case_id == in_review.id


async def test_a_deleted_card_of_a_closed_case_stays_gone(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, front: Casework, in_review: Case
) -> None:
    """Also when the platform says something of its post later."""
    await all_steps(board)
    await desk.decisions.close(in_review.id, in_review.version, MODERATOR, CloseReason.PREACHY)
    await all_steps(board)
    (place,) = surface.cards
    surface.cards.clear()
    await front.card_gone(place)
    await front.original_changed(in_review.post.ref, None)
    await front.numbered(PLATFORM, COMMUNITY, short_number(in_review.id), MODERATOR)
    await all_steps(board)
    assert not surface.cards


async def test_a_closed_case_whose_card_went_unheard_stays_without(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, in_review: Case
) -> None:
    """The deletion came while nobody listened."""
    await all_steps(board)
    surface.cards.clear()
    await desk.decisions.close(in_review.id, in_review.version, MODERATOR, CloseReason.PREACHY)
    await all_steps(board)
    assert not surface.cards


@pytest.mark.both_databases
async def test_without_a_review_channel_no_card_comes_back(
    board: ReviewBoard, surface: FakeSurface, front: Casework, in_review: Case, database: Database
) -> None:
    """The managers took it away."""
    await all_steps(board)
    (place,) = surface.cards
    surface.cards.clear()
    await choose_channel(database, "")
    await front.card_gone(place)
    await all_steps(board)
    assert not surface.cards
