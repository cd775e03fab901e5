"""Expiry: what nobody decides in time is closed, and what somebody has in hand is let alone."""

import pytest

from bot.compose.desk import Desk
from core.desk.database.connection import Database
from core.desk.rules.approval import CaseState
from core.desk.store.cases import Case
from core.desk.upkeep.retention import Expiry
from core.models import FlaggedPost
from tests.fakes.desk.chores import DAY, NOW, other, to_sending
from tests.fakes.desk.decisions import approve, one_row
from tests.fakes.desk.people import MODERATOR
from tests.fakes.machine.clock import FakeClock


async def test_drafts_that_nobody_decides_expire_after_a_day(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Not before: the moderators' day is as long as everybody's."""
    expiry = Expiry(database, draft_hours=24)
    clock.advance(DAY - 1)
    await expiry.do(NOW)
    assert (await desk.queries.case(in_review.id)).state is CaseState.IN_REVIEW
    clock.advance(1)
    done = await expiry.do(NOW)
    assert done.what.startswith("1 undecided")
    assert (await desk.queries.history(in_review.id))[-1].reason == "nobody decided in time"
    assert (await desk.queries.case(in_review.id)).state is CaseState.EXPIRED


@pytest.mark.both_databases
async def test_a_claim_that_ran_out_is_given_up(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """A forgotten claim blocks nobody; one that holds is let alone."""
    held = await desk.decisions.hold(in_review.id, MODERATOR)
    await Expiry(database).do(NOW)
    assert await desk.queries.case(in_review.id) == held
    clock.advance(301)
    await Expiry(database).do(NOW)
    assert await desk.queries.case(in_review.id) == in_review


async def test_an_approval_that_expired_is_never_sent(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """The case expires, and its reply leaves the outbox."""
    await approve(desk, in_review)
    clock.advance(DAY - 1)
    await Expiry(database).do(NOW)
    assert (await desk.queries.case(in_review.id)).state is CaseState.APPROVED
    clock.advance(1)
    await Expiry(database).do(NOW)
    assert (await desk.queries.case(in_review.id)).state is CaseState.EXPIRED
    assert await one_row(database, "SELECT state FROM outbox") == ("cancelled",)


async def test_a_reply_that_is_being_sent_does_not_expire(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Its fate is the outbox's to find out."""
    await approve(desk, in_review)
    await to_sending(database, in_review)
    clock.advance(90 * DAY)
    await Expiry(database).do(NOW)
    assert (await desk.queries.case(in_review.id)).state is CaseState.SENDING


async def test_more_cases_than_one_transaction_takes_expire_at_once(
    database: Database, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """Batches keep the others' wait short, and leave nothing behind."""
    for number in range(53):
        await desk.intake.flag(other(post, str(1000 + number)))
    clock.advance(DAY)
    assert (await Expiry(database).do(NOW)).what.startswith("53 undecided")
