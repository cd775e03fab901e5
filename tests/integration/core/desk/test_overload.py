"""More than the queue holds: nothing is lost, what waits is seen to wait, and each community has its own room."""

import asyncio
from dataclasses import replace
from pathlib import Path

from sqlalchemy import URL

from bot.compose.desk import Desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.intake import Intake
from core.desk.rules.approval import CaseState
from core.models import FlaggedPost, Priority
from tests.fakes.desk.audit_log import broken_chains
from tests.fakes.desk.decisions import take
from tests.fakes.desk.people import SECRET, VOLUNTEER
from tests.fakes.desk.raids import OTHERS, RAID, flag_all, history_of, posts_of, value_of
from tests.fakes.machine.clock import FakeClock


async def test_a_draft_that_somebody_asked_for_is_neither_folded_nor_shed(
    database: Database, post: FlaggedPost
) -> None:
    """A volunteer who waits for an answer gets one."""
    intake = Intake(database, max_queued=1)
    asked = posts_of(post, [RAID, RAID], first=5, priority=Priority.ASKED, flagged_by=VOLUNTEER.user)
    await intake.flag(post)
    found = await flag_all(intake, asked)
    assert [case.state for case in found] == [CaseState.QUEUED] * 2


async def test_what_is_too_much_is_captured_first_and_waits_visibly(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """Work is shed after capture, never before; the log says so, and it goes on when there is room (I16)."""
    intake = Intake(database, max_queued=2)
    found = await flag_all(intake, posts_of(post, OTHERS))
    assert [str(case.state) for case in found] == ["queued", "queued", "captured", "captured", "captured"]
    assert "the queue is full (2 wait)" in (await history_of(database, found[2]))[0][2]
    assert await intake.admit_waiting() == 0
    await take(queue)
    assert await intake.admit_waiting() == 1
    (admitted,) = [case for case in found[2:] if (await desk.queries.case(case.id)).state is CaseState.QUEUED]
    assert (await history_of(database, admitted))[1] == (CaseState.QUEUED, "desk", "there is room in the queue")
    await take(queue)
    await take(queue)
    assert await intake.admit_waiting() == 2
    assert await value_of(database, "SELECT count(*) FROM jobs") == 5
    assert await broken_chains(database) == []


async def test_waiting_cases_are_queued_once_by_two_schedulers(
    place: Path | URL, database: Database, post: FlaggedPost
) -> None:
    """Even with two leaders for a moment, no case gets two jobs and no queue overflows."""
    await flag_all(Intake(database, max_queued=1), posts_of(post, OTHERS))
    other = await Database.open(place, secret=SECRET, clock=FakeClock())
    admitted = await asyncio.gather(*(Intake(one, max_queued=4).admit_waiting() for one in (database, other)))
    await other.close()
    assert sum(admitted) == 3
    assert await value_of(database, "SELECT count(*) FROM jobs") == 4


async def test_a_community_that_is_flooded_leaves_room_for_the_others(database: Database, post: FlaggedPost) -> None:
    """The limit is each community's own."""
    intake = Intake(database, max_queued=1)
    quiet = replace(post, ref=replace(post.ref, community="quiet", message="1"), text=OTHERS[0])
    found = await flag_all(intake, [*posts_of(post, OTHERS[1:]), quiet])
    assert [str(case.state) for case in found] == ["queued", "captured", "captured", "captured", "queued"]
