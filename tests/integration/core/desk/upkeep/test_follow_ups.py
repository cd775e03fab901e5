"""Follow-ups: a reply is looked after after a day, a week and four weeks."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import select

from adapters.sample import SampleCommunity
from bot.compose.desk import Desk
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.schema import OutcomeRow
from core.desk.store.cases import Case
from core.desk.upkeep.follow_ups import FollowUps
from core.errors import PlatformUnavailable
from core.models import PostRef
from tests.fakes.desk.chores import DAY, NOW, posted
from tests.fakes.desk.decisions import approve, drafted
from tests.fakes.machine.clock import FakeClock


@pytest.fixture
def community() -> SampleCommunity:
    """The platform of the posts."""
    return SampleCommunity()


async def _outcomes(database: Database) -> list[tuple[int, bool | None, bool | None, int]]:
    async def work(session: Session) -> list[tuple[int, bool | None, bool | None, int]]:
        rows = await session.scalars(select(OutcomeRow).order_by(OutcomeRow.after_hours))
        return [(row.after_hours, row.reply_stands, row.original_stands, row.author_flagged_again) for row in rows]

    return await database.run("read outcomes", work)


async def _replied(database: Database, desk: Desk, case: Case, community: SampleCommunity) -> str:
    """Our reply stands on the platform; its message."""
    reply = await approve(desk, case)
    message = community.add("antiphon", reply.text, case.post.ref.message).id
    await posted(database, desk, case, message)
    return message


async def test_a_reply_is_looked_after_after_a_day_a_week_and_four_weeks(
    database: Database, desk: Desk, in_review: Case, community: SampleCommunity, clock: FakeClock
) -> None:
    """Once each: does the reply stand, does the post, was its author flagged again?"""
    message = await _replied(database, desk, in_review, community)
    follow_ups = FollowUps(database, {"sample": community})
    for hour in range(29 * 24):
        if hour == 25:
            community.delete(message)
            again = community.add("north_gate_74", "They take and take.")
            await desk.intake.flag(replace(in_review.post, ref=community.ref(again.id), author="north_gate_74"))
        if hour == 8 * 24:
            community.delete(in_review.post.ref.message)
        if hour % 12 == 0:
            await follow_ups.do(NOW)
        clock.advance(3600)
    assert await _outcomes(database) == [(24, True, True, 0), (168, False, True, 1), (672, False, False, 1)]


@pytest.mark.both_databases
async def test_a_look_that_comes_late_counts_for_the_later_point(
    database: Database, desk: Desk, in_review: Case, community: SampleCommunity, clock: FakeClock
) -> None:
    """Antiphon was off for nine days: nobody knows what was there after one."""
    await _replied(database, desk, in_review, community)
    clock.advance(9 * DAY)
    await FollowUps(database, {"sample": community}).do(NOW)
    assert await _outcomes(database) == [(168, True, True, 0)]


async def test_a_platform_that_does_not_answer_is_asked_again_and_its_silence_is_written_down_in_the_end(
    database: Database, desk: Desk, in_review: Case, community: SampleCommunity, clock: FakeClock
) -> None:
    """What could not be told is no finding."""
    await _replied(database, desk, in_review, community)

    class Silent(SampleCommunity):
        async def read(self, ref: PostRef) -> str | None:
            raise PlatformUnavailable("The platform is down.")

    follow_ups = FollowUps(database, {"sample": Silent()})
    clock.advance(DAY)
    assert (await follow_ups.do(NOW)).what == "0 of 1 replies looked after"
    clock.advance(DAY)
    await follow_ups.do(NOW)
    assert await _outcomes(database) == [(24, None, None, 0)]


async def test_a_platform_that_lets_a_call_wait_is_asked_once_in_a_run(
    database: Database, desk: Desk, queue: DraftQueue, community: SampleCommunity, clock: FakeClock
) -> None:
    """Else each of its replies would keep the chores of all other platforms waiting."""
    for number, word in enumerate(("green", "blue")):
        written = community.add(f"author_{number}", f"{word} " * 20)
        await _replied(database, desk, await drafted(desk, queue, community.flag(written.id, "mill_pond")), community)
    read = list[PostRef]()

    class Hanging(SampleCommunity):
        async def read(self, ref: PostRef) -> str | None:
            read.append(ref)
            await asyncio.Event().wait()
            raise AssertionError("unreachable")

    clock.advance(DAY)
    follow_ups = FollowUps(database, {"sample": Hanging()}, timeout_seconds=0.001)
    assert (await follow_ups.do(NOW)).what == "0 of 2 replies looked after"
    assert len(read) == 2  # one reply, and the post that it answers
    assert await _outcomes(database) == []


@pytest.mark.both_databases
async def test_what_was_not_posted_is_not_looked_after(
    database: Database, desk: Desk, in_review: Case, community: SampleCommunity, clock: FakeClock
) -> None:
    """Nor is a reply on a platform that is not connected."""
    await approve(desk, in_review)
    clock.advance(DAY)
    assert (await FollowUps(database, {"sample": community}).do(NOW)).what == "0 of 0 replies looked after"
    await posted(database, desk, in_review, "900")
    clock.advance(DAY)
    assert (await FollowUps(database, {}).do(NOW)).what == "0 of 0 replies looked after"
