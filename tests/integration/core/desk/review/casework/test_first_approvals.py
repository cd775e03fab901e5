"""The first of two approvals on the card: the second person is shown its text as long as it counts, and no longer."""

from datetime import timedelta

import pytest

from bot.compose.desk import Desk
from core.desk.communities.decisions import CommunityDesk
from core.desk.database.connection import Database
from core.desk.review.casework import Casework
from core.desk.rules.approval import CaseState
from core.desk.rules.roles import Role
from core.desk.store.approvals import forget_proposals
from core.desk.store.cases import Case
from core.desk.upkeep.retention import Expiry
from tests.fakes.desk.chores import NOW
from tests.fakes.desk.decisions import BOLD, OWN_TEXT, card_of, execute, one_row, propose
from tests.fakes.desk.people import COMMUNITY_ID, KEEPER, MODERATOR, OTHER_MODERATOR, STRANGER
from tests.fakes.machine.clock import FakeClock


async def test_two_persons_each_propose_and_approve_the_same_bytes(
    front: Casework, in_review: Case, clock: FakeClock, database: Database
) -> None:
    """The card names who approved first; an edit of the second one begins anew."""
    first = await front.approve((await propose(front, in_review)).id, MODERATOR)
    assert first.waits_for_second == clock() + timedelta(hours=24)
    assert first.why_two == ("No evidence holds the figure “93%”.",)
    assert (first.card.state, first.card.first_approvals) == (CaseState.IN_REVIEW, ("moderator_one",))
    other = await propose(front, in_review, f"{BOLD} Truly.", OTHER_MODERATOR)
    assert (await front.approve(other.id, OTHER_MODERATOR)).waits_for_second is not None
    second = await propose(front, in_review, BOLD, OTHER_MODERATOR)
    assert (await front.approve(second.id, OTHER_MODERATOR)).card.state is CaseState.APPROVED
    assert await one_row(database, "SELECT sha256 FROM approvals") == (second.sha256,)


async def test_the_second_person_is_shown_what_the_first_one_wrote(
    front: Casework, in_review: Case, database: Database
) -> None:
    """Their part of it, on the card; approving it says where it began, as the first one's edit did."""
    begun = await front.propose(in_review.id, in_review.version, MODERATOR, rank=2, text=f" {BOLD}\n")
    await front.approve(begun.id, MODERATOR)
    card = await front.card(in_review.id, OTHER_MODERATOR)
    assert (card.first_approvals, card.first_texts) == (("moderator_one",), (BOLD,))
    second = await propose(front, in_review, card.first_texts[0], OTHER_MODERATOR)
    assert second.sha256 == begun.sha256
    assert (await front.approve(second.id, OTHER_MODERATOR)).card.first_texts == ()
    row = await one_row(database, "SELECT sha256, draft_rank, edited FROM approvals")
    assert (row[:2], bool(row[2])) == ((begun.sha256, 2), True)


async def test_a_first_approval_stays_on_the_card_when_a_setting_changes_that_ends_none(
    front: Casework, in_review: Case, database: Database
) -> None:
    """It still holds, so the second person must see it; a change of the rules ends it on the card, too."""
    await front.approve((await propose(front, in_review)).id, MODERATOR)
    await CommunityDesk(database).grant(COMMUNITY_ID, STRANGER, Role.VOLUNTEER, KEEPER)
    assert (await card_of(front, in_review)).first_texts == (BOLD,)
    await CommunityDesk(database).set_posting(COMMUNITY_ID, False, KEEPER)
    card = await card_of(front, in_review)
    assert (card.first_approvals, card.first_texts) == ((), ())


@pytest.mark.both_databases
async def test_a_first_approval_whose_time_is_over_is_shown_no_more(
    front: Casework, desk: Desk, in_review: Case, database: Database, clock: FakeClock
) -> None:
    """It counts no more; the card in the channel is told, once, and the same person can begin anew."""
    clock.advance(3600)
    await front.approve((await propose(front, in_review)).id, MODERATOR)
    clock.advance(24 * 3600 - 1)
    await Expiry(database, draft_hours=72).do(NOW)
    assert (await card_of(front, in_review)).first_texts == (BOLD,)
    clock.advance(1)
    card = await card_of(front, in_review)
    assert (card.first_approvals, card.first_texts) == ((), ())
    again = await front.approve((await propose(front, in_review)).id, MODERATOR)
    assert again.waits_for_second == clock() + timedelta(hours=24)
    assert (await card_of(front, in_review)).first_texts == (BOLD,)
    await execute(database, "UPDATE cases SET unshown = 0")
    clock.advance(24 * 3600)
    for _ in range(2):
        await Expiry(database, draft_hours=72).do(NOW)
    assert await one_row(database, "SELECT unshown FROM cases") == (1,)
    assert await one_row(database, "SELECT count(*) FROM first_approvals") == (0,)


async def test_a_first_approval_of_who_may_approve_no_more_is_not_shown(
    front: Casework, in_review: Case, database: Database
) -> None:
    """A second person would join it in vain."""
    await front.approve((await propose(front, in_review)).id, MODERATOR)
    await CommunityDesk(database).revoke(COMMUNITY_ID, MODERATOR, Role.MODERATOR, KEEPER)
    assert (await front.card(in_review.id, OTHER_MODERATOR)).first_texts == ()


async def test_what_a_first_person_approved_is_kept_until_the_case_moves_on(
    front: Casework, in_review: Case, database: Database, clock: FakeClock
) -> None:
    """Other proposals go after a day; this one goes with the first decision, a day later at most."""
    await propose(front, in_review, OWN_TEXT)
    first = await propose(front, in_review)
    clock.advance(2 * 3600)
    await front.approve(first.id, MODERATOR)
    clock.advance(23 * 3600)
    await database.run("forget", lambda session: forget_proposals(session, 10))
    assert (await card_of(front, in_review)).first_texts == (BOLD,)
    assert await one_row(database, "SELECT count(*) FROM proposals") == (1,)
    plain = await front.propose(in_review.id, in_review.version, OTHER_MODERATOR, rank=1)
    await front.approve(plain.id, OTHER_MODERATOR)
    clock.advance(25 * 3600)
    await database.run("forget", lambda session: forget_proposals(session, 10))
    assert await one_row(database, "SELECT count(*) FROM proposals") == (0,)
