"""Folded cases: what was decided about the case that stands for a campaign holds for the others, and then they go."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

import pytest

from bot.compose.desk import Desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.intake import Intake
from core.desk.invariants.checks import check
from core.desk.invariants.facts import AuditLimits
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.store.cases import Case
from core.desk.upkeep.erasure import Erasure
from core.desk.upkeep.retention import Expiry, FoldedCases, Retention
from core.models import FlaggedPost
from tests.fakes.desk.chores import DAY, NOW, posted
from tests.fakes.desk.decisions import approve, execute, one_row, take
from tests.fakes.desk.people import MODERATOR, PLATFORM
from tests.fakes.desk.raids import RAID
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock


def _raid(post: FlaggedPost, count: int) -> list[FlaggedPost]:
    return [
        replace(post, ref=replace(post.ref, message=str(1000 + at)), root="", text=RAID, author=f"author_{at}")
        for at in range(count)
    ]


async def _folded(database: Database, queue: DraftQueue, post: FlaggedPost, count: int = 3) -> list[Case]:
    intake = Intake(database)
    cases = [await intake.flag(one) for one in _raid(post, count)]
    taken = await take(queue)
    return [await queue.store(taken, suggestion_for(taken.case.post)), *cases[1:]]


async def _post(database: Database, desk: Desk, lead: Case) -> None:
    await approve(desk, lead)
    await posted(database, desk, lead, "900")


async def _shadow(database: Database, desk: Desk, lead: Case) -> None:
    await approve(desk, lead)
    await execute(database, f"UPDATE cases SET state = 'shadowed' WHERE id = '{lead.id}'")


async def _decline(_: Database, desk: Desk, lead: Case, reason: CloseReason = CloseReason.OFF_TONE) -> None:
    await desk.decisions.close(lead.id, lead.version, MODERATOR, reason)


End = Callable[[Database, Desk, Case], Awaitable[None]]


@pytest.mark.parametrize(
    ("end", "state", "said"),
    [
        (_post, CaseState.NO_REPLY, "was answered"),
        (_shadow, CaseState.NO_REPLY, "would have been answered"),
        (_decline, CaseState.DECLINED, "was declined"),
        (partial(_decline, reason=CloseReason.SILENCE), CaseState.NO_REPLY, "was left without a reply"),
        (partial(_decline, reason=CloseReason.MISTAKE), CaseState.WITHDRAWN, "was withdrawn"),
    ],
)
async def test_what_was_decided_for_a_campaign_closes_all_of_it(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, end: End, state: CaseState, said: str
) -> None:
    """Not before, and each says by which case; one reply answers all, so that none of the others is called posted."""
    lead, *others = await _folded(database, queue, post)
    assert (await FoldedCases(database).do(NOW)).what == "0 folded cases closed"
    await end(database, desk, lead)
    assert (await FoldedCases(database).do(NOW)).what == "2 folded cases closed"
    assert {(await desk.queries.case(case.id)).state for case in others} == {state}
    last = (await desk.queries.history(others[0].id))[-1]
    assert (last.actor, last.reason) == ("schedule", f"decided with case {lead.id}, which stood for both and {said}")
    assert (await FoldedCases(database).do(NOW)).what == "0 folded cases closed"


async def test_folded_cases_wait_as_long_as_the_case_that_stands_for_them(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """Somebody may still take one of them out; when nobody decides in time, all of them expire."""
    lead, other, _ = await _folded(database, queue, post)
    await execute(database, f"UPDATE cases SET state = 'needs_person' WHERE id = '{lead.id}'")
    clock.advance(3 * DAY)
    await Expiry(database).do(NOW)
    await FoldedCases(database).do(NOW)
    assert (await desk.queries.case(other.id)).state is CaseState.FOLDED
    split = await Intake(database).split_out(other.id, other.version, MODERATOR)
    clock.advance(27 * DAY)
    await Expiry(database).do(NOW)
    assert (await FoldedCases(database).do(NOW)).what == "1 folded cases closed"
    assert {case.state for case in await desk.queries.cases()} == {CaseState.EXPIRED}
    assert split.state is CaseState.QUEUED


async def test_the_words_of_folded_cases_go_with_the_retention(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """A raid's posts are kept no longer than any other; nothing of them is left after a year but their lines."""
    lead, *_ = await _folded(database, queue, post)
    await _decline(database, desk, lead)
    await FoldedCases(database).do(NOW)
    clock.advance(30 * DAY)
    await Retention(database, days=30).do(NOW)
    assert {case.post.text for case in await desk.queries.cases()} == {""}
    clock.advance(366 * DAY)
    await Retention(database, months=12).do(NOW)
    assert await desk.queries.cases() == []
    assert await one_row(database, "SELECT count(*) FROM campaigns") == (0,)


async def test_a_folded_case_whose_lead_was_deleted_is_closed(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """Where nothing ran for a year, the lead's statistics may go first."""
    lead, other = await _folded(database, queue, post, 2)
    await _decline(database, desk, lead)
    clock.advance(366 * DAY)
    await Retention(database).do(NOW)
    await FoldedCases(database).do(NOW)
    assert (await desk.queries.history(other.id))[-1].reason == "the case that stood for it is gone"
    assert (await desk.queries.case(other.id)).state is CaseState.EXPIRED


async def test_folded_cases_of_an_erased_lead_wait_for_the_next_one(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """Nobody decided anything: one of the others stands for the rest now."""
    _, second, third = await _folded(database, queue, post)
    await Erasure(database).erase(PLATFORM, "author_0")
    assert (await FoldedCases(database).do(NOW)).what == "0 folded cases closed"
    states = [(await desk.queries.case(case.id)).state for case in (second, third)]
    assert sorted(states) == [CaseState.FOLDED, CaseState.QUEUED]
    taken = await take(queue)
    lead = await queue.store(taken, suggestion_for(taken.case.post))
    await _decline(database, desk, lead)
    assert (await FoldedCases(database).do(NOW)).what == "1 folded cases closed"


async def test_a_raid_larger_than_one_transaction_is_closed_at_once(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """In batches, so that nobody waits for long meanwhile."""
    lead, *_ = await _folded(database, queue, post, 54)
    await _decline(database, desk, lead)
    assert (await FoldedCases(database).do(NOW)).what == "53 folded cases closed"


@pytest.mark.both_databases
async def test_a_folded_case_that_is_forgotten_is_reported(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """By the invariants, and so by ``antiphon doctor --audit``: none waits unseen (I16)."""

    async def broken() -> set[str]:
        return set(await check(database, limits=AuditLimits(lease=None), looks_at_schema=False))

    lead, other = await _folded(database, queue, post, 2)
    await _decline(database, desk, lead)
    clock.advance(2 * DAY)
    assert await broken() == set()
    clock.advance(1)
    assert await broken() == {"I16"}
    await FoldedCases(database).do(NOW)
    assert await broken() == set()
    await execute(database, "UPDATE campaigns SET posts = 1")
    assert await broken() == {"I16"}
    await execute(database, "UPDATE campaigns SET posts = 2")
    await execute(database, f"UPDATE cases SET campaign_id = NULL, state = 'folded' WHERE id = '{other.id}'")
    assert "I16" in await broken()
