"""What the filter found and looked at, and what moderators said of its finds: kept with the case and by day."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.compose.desk import Desk
from core.desk.communities.governance import Governance
from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.invariants.checks import check
from core.desk.rules.careful_watch import COUNTED_DAYS, LABEL_DAYS, FindLabel, WatchRecord
from core.desk.rules.closures import CloseReason
from core.desk.store.cases import Case
from core.desk.store.erasure import delete_case, erase_case
from core.desk.upkeep.retention import Cleanup
from core.models import FlaggedPost
from tests.fakes.desk.chores import DAY, NOW, other
from tests.fakes.desk.decisions import approve, approve_first, drafted, one_row
from tests.fakes.desk.people import COMMUNITY, MODERATOR, PLATFORM
from tests.fakes.machine.clock import FakeClock

HERE = (PLATFORM, COMMUNITY)
Decide = Callable[[Desk, Case], Awaitable[object]]


@pytest.fixture
def governance(database: Database) -> Governance:
    """What adapters ask."""
    return Governance(database, LiveRoles(database, {}))


@pytest.fixture
async def find(desk: Desk, queue: DraftQueue, post: FlaggedPost) -> Case:
    return await drafted(desk, queue, replace(post, score=0.987654321, flagged_how="watched channel"))


async def _decline(desk: Desk, case: Case, reason: CloseReason = CloseReason.NOT_HATEFUL) -> Case:
    return await desk.decisions.close(case.id, case.version, MODERATOR, reason, "")


async def _approve_and_undo(desk: Desk, case: Case) -> None:
    await approve(desk, case)
    await desk.decisions.undo(case.id, case.version + 1, MODERATOR)


async def _approve_and_withdraw(desk: Desk, case: Case) -> None:
    await approve(desk, case)
    await desk.decisions.close(case.id, case.version + 1, MODERATOR, CloseReason.MISTAKE, "a mistake")


@pytest.mark.parametrize(
    ("decide", "is_hateful"),
    [
        (_decline, False),
        (approve, True),
        (lambda desk, case: _decline(desk, case, CloseReason.PREACHY), None),
        (
            lambda desk, case: desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.SILENCE, "no use"),
            None,
        ),
        (approve_first, None),
        (_approve_and_undo, None),
        (_approve_and_withdraw, None),
    ],
)
async def test_what_a_moderator_says_of_a_find_is_kept_with_its_score(
    governance: Governance, database: Database, desk: Desk, find: Case, decide: Decide, is_hateful: bool | None
) -> None:
    """An answer says that it was hateful, "not hateful" the opposite; what is taken back or said of drafts nothing."""
    await decide(desk, find)
    expected = () if is_hateful is None else (FindLabel(0.987654321, is_hateful),)
    assert await governance.find_labels(*HERE) == expected
    assert await governance.find_labels(PLATFORM, "elsewhere") == ()
    record = await governance.watch_record(*HERE)
    assert (record.labels, record.found, record.wrong) == (expected, 1, int(is_hateful is False))
    assert await check(database, looks_at_schema=False) == {}


async def test_what_a_person_flagged_does_not_teach_the_filter(
    governance: Governance, desk: Desk, in_review: Case, database: Database
) -> None:
    """It says nothing about the filter, and is none of its finds."""
    await _decline(desk, in_review)
    assert await governance.watch_record(*HERE) == WatchRecord()
    assert await one_row(database, "SELECT score FROM cases WHERE is_hateful = false") == (None,)


async def test_labels_count_for_ninety_days_and_finds_for_four_weeks(
    governance: Governance, desk: Desk, find: Case, clock: FakeClock
) -> None:
    """From the moment of the decision, and of the find."""
    await _decline(desk, find)
    clock.advance(COUNTED_DAYS * DAY)
    record = await governance.watch_record(*HERE)
    assert (len(record.labels), record.found, record.wrong) == (1, 0, 0)
    clock.advance((LABEL_DAYS - COUNTED_DAYS) * DAY - 1)
    assert len(await governance.find_labels(*HERE)) == 1
    clock.advance(1)
    assert await governance.find_labels(*HERE) == ()


async def test_a_label_outlives_the_words_and_ends_with_the_case(
    governance: Governance, desk: Desk, database: Database, find: Case
) -> None:
    """It is a score and a moment, and says nothing about the person."""
    await _decline(desk, find)
    await database.run("erase", lambda session: erase_case(session, find.id))
    assert await governance.find_labels(*HERE) == (FindLabel(0.987654321, is_hateful=False),)
    await database.run("delete", lambda session: delete_case(session, find.id))
    assert await governance.find_labels(*HERE) == ()


async def test_a_post_that_is_found_again_keeps_its_first_score(
    governance: Governance, desk: Desk, queue: DraftQueue, post: FlaggedPost, database: Database
) -> None:
    """Nor does a person's flag take it away."""
    await drafted(desk, queue, replace(post, score=0.9))
    await desk.intake.flag(replace(post, score=0.99))
    await desk.intake.flag(other(post, "105"))
    assert await one_row(database, "SELECT count(*), max(score) FROM cases") == (2, 0.9)


# What was looked at


async def test_counts_add_up_by_day_and_survive_a_restart(
    governance: Governance, database: Database, clock: FakeClock
) -> None:
    """Of known communities; what another process counts is added, too."""
    await governance.looked_at(PLATFORM, {COMMUNITY: 40, "elsewhere": 7})
    clock.advance(60)
    other_process = Governance(database, LiveRoles(database, {}))
    await other_process.looked_at(PLATFORM, {COMMUNITY: 2})
    clock.advance(2 * DAY - 60)
    await governance.looked_at(PLATFORM, {COMMUNITY: 100})
    assert await one_row(database, "SELECT count(*), sum(looked_at) FROM watch_days") == (2, 142)
    assert await governance.watch_record(*HERE) == WatchRecord(looked_at=142, days=2.0)


async def test_counts_are_deleted_after_four_weeks(
    governance: Governance, database: Database, clock: FakeClock
) -> None:
    """By the chore that deletes old jobs; a figure reaches no further back before it, either."""
    await governance.looked_at(PLATFORM, {COMMUNITY: 40})
    clock.advance(DAY)
    await governance.looked_at(PLATFORM, {COMMUNITY: 2})
    clock.advance((COUNTED_DAYS - 1) * DAY)
    assert (await governance.watch_record(*HERE)).looked_at == 2
    await Cleanup(database).do(NOW)
    assert await one_row(database, "SELECT sum(looked_at) FROM watch_days") == (2,)
    clock.now += timedelta(days=1)
    await Cleanup(database).do(NOW)
    assert await one_row(database, "SELECT count(*) FROM watch_days") == (0,)
    assert await governance.watch_record(*HERE) == WatchRecord()
