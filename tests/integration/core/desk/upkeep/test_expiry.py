"""Expiry: what nobody decides in time is closed, and what somebody has in hand is let alone."""

from datetime import timedelta

import pytest

from bot.compose.desk import Desk
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from core.desk.schema import CaseRow
from core.desk.store.cases import Case
from core.desk.upkeep.retention import Expiry
from core.models import FlaggedPost
from tests.fakes.desk.chores import DAY, NOW, other, to_sending
from tests.fakes.desk.decisions import approve, one_row, take
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


async def test_a_case_that_nobody_drafts_expires_with_its_work(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """What has been said a day ago is not answered any more."""
    case = await desk.intake.flag(post)
    clock.advance(DAY)
    await Expiry(database).do(NOW)
    assert (await desk.queries.case(case.id)).state is CaseState.EXPIRED
    assert (await desk.queries.history(case.id))[-1].reason == "no draft could be made in time"
    assert await queue.take() is None


async def test_a_case_that_somebody_looks_at_does_not_expire(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Not under their hands; when they let go, it does."""
    clock.advance(DAY)
    await _claim(database, in_review, clock, seconds=600)
    await Expiry(database).do(NOW)
    assert (await desk.queries.case(in_review.id)).state is CaseState.IN_REVIEW
    clock.advance(601)
    await Expiry(database).do(NOW)
    assert (await desk.queries.case(in_review.id)).state is CaseState.EXPIRED


async def _claim(database: Database, case: Case, clock: FakeClock, seconds: float) -> None:
    async def work(session: Session) -> None:
        row = await session.get_one(CaseRow, case.id)
        row.held_by, row.held_until = "p-somebody", clock() + timedelta(seconds=seconds)

    await database.run("hold", work)


@pytest.mark.both_databases
async def test_a_claim_that_ran_out_is_given_up(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """A forgotten claim blocks nobody; one that holds is let alone."""
    await _claim(database, in_review, clock, seconds=600)
    await Expiry(database).do(NOW)
    assert (await desk.queries.case(in_review.id)).held_by == "p-somebody"
    clock.advance(601)
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


async def test_what_a_person_never_took_care_of_expires_after_the_retention(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """Else its words would be kept for ever."""
    await desk.intake.flag(post)
    case = await queue.give_up(await take(queue), "The engine has no draft to offer.")
    expiry = Expiry(database, person_days=30)
    clock.advance(30 * DAY - 1)
    await expiry.do(NOW)
    assert (await desk.queries.case(case.id)).state is CaseState.NEEDS_PERSON
    clock.advance(1)
    await expiry.do(NOW)
    assert (await desk.queries.case(case.id)).state is CaseState.EXPIRED


async def test_more_cases_than_one_transaction_takes_expire_at_once(
    database: Database, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """Batches keep the others' wait short, and leave nothing behind."""
    for number in range(53):
        await desk.intake.flag(other(post, str(1000 + number)))
    clock.advance(DAY)
    assert (await Expiry(database).do(NOW)).what.startswith("53 undecided")
