"""The schedule: each slot is enqueued once, by one leader, whatever processes and clocks do (invariant I17)."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from sqlalchemy import URL, select

from core.desk.database.connection import Database, Session
from core.desk.schema import JobRow
from core.desk.store.jobs import Job
from core.desk.store.leadership import Office
from core.desk.upkeep.chores import Chore, Done
from core.desk.upkeep.schedule import OFFICE, Schedule
from tests.fakes.desk.decisions import execute, one_row
from tests.fakes.desk.people import SECRET
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import until

HOUR = timedelta(hours=1)


async def _do_nothing(_: Job) -> Done:
    return Done("nothing")


HOURLY = Chore("hourly", _do_nothing, HOUR)
DAILY = Chore("daily", _do_nothing, timedelta(days=1))
ASKED = Chore("asked", _do_nothing)


def _schedule(database: Database, owner: str = "one") -> Schedule:
    return Schedule(database, [HOURLY, DAILY, ASKED], owner)


@pytest.fixture
async def elsewhere(place: Path | URL, database: Database, clock: FakeClock) -> AsyncIterator[Database]:
    """The same database, as another process sees it."""
    opened = await Database.open(place, secret=SECRET, clock=clock)
    yield opened
    await opened.close()


async def _keys(database: Database) -> list[str]:
    async def work(session: Session) -> list[str]:
        return sorted(await session.scalars(select(JobRow.key)))

    return await database.run("read keys", work)


async def test_a_slot_is_enqueued_once_however_often_somebody_ticks(database: Database, clock: FakeClock) -> None:
    """The key of a slot is unique; what has no period is never enqueued by a tick."""
    schedule = _schedule(database)
    assert await schedule.tick() == ["hourly:2026-03-02T14:00:00Z", "daily:2026-03-02T00:00:00Z"]
    assert await schedule.tick() == []
    clock.advance(3599)
    assert await schedule.tick() == []
    clock.advance(1)
    assert await schedule.tick() == ["hourly:2026-03-02T15:00:00Z"]


@pytest.mark.both_databases
async def test_two_schedulers_at_once_enqueue_each_slot_once(
    database: Database, elsewhere: Database, clock: FakeClock
) -> None:
    """A person who wins, nothing is there twice."""
    one, two = _schedule(database, "one"), _schedule(elsewhere, "two")
    for _ in range(6):
        await asyncio.gather(one.tick(), two.tick(), one.tick(), two.tick())
        clock.advance(1800)
    hours = [f"hourly:2026-03-02T{hour}:00:00Z" for hour in (14, 15, 16)]
    assert await _keys(database) == ["daily:2026-03-02T00:00:00Z", *hours]


@pytest.mark.both_databases
async def test_two_leaders_are_harmless(database: Database, elsewhere: Database) -> None:
    """Even if both think that they lead, the key keeps the second from enqueueing."""
    one, two = _schedule(database, "one"), _schedule(elsewhere, "two")
    assert len(await one.tick()) == 2
    await execute(database, "DELETE FROM leaderships")
    assert await two.tick() == []
    assert len(await _keys(database)) == 2


@pytest.mark.both_databases
async def test_leadership_passes_on_after_the_lease_and_not_before(
    database: Database, elsewhere: Database, clock: FakeClock
) -> None:
    """A leader that is silent for longer than its lease is replaced."""
    one, two = _schedule(database, "one"), _schedule(elsewhere, "two")
    await one.tick()
    clock.advance(60)
    await two.tick()
    assert await one_row(database, "SELECT owner FROM leaderships") == ("one",)
    clock.advance(1)
    await two.tick()
    assert await one_row(database, "SELECT owner FROM leaderships") == ("two",)


async def test_a_leader_that_ticks_keeps_the_office(database: Database, elsewhere: Database, clock: FakeClock) -> None:
    """Each tick renews the lease."""
    one, two = _schedule(database, "one"), _schedule(elsewhere, "two")
    for _ in range(20):
        await one.tick()
        assert await two.tick() == []
        clock.advance(15)
    assert await one_row(database, "SELECT office, owner FROM leaderships") == (OFFICE, "one")


async def test_a_lease_from_before_the_clock_was_put_back_does_not_silence_the_schedule(
    database: Database, elsewhere: Database, clock: FakeClock
) -> None:
    """A leader that died before the jump would else lead for a day."""
    await _schedule(database, "one").tick()
    clock.advance(-24 * 3600)
    assert await _schedule(elsewhere, "two").tick() == ["hourly:2026-03-01T14:00:00Z", "daily:2026-03-01T00:00:00Z"]


async def test_a_clock_that_jumps_neither_doubles_nor_loses_a_slot(database: Database, clock: FakeClock) -> None:
    """Forwards, the slot of now is enqueued, which makes up for those before; backwards, nothing is there twice."""
    schedule = _schedule(database)
    for jump in (0, 24 * 3600, -24 * 3600, 3600, -3600, 1, -1, 8 * 3600):
        clock.advance(jump)
        await schedule.tick()
        assert f"hourly:{clock.now:%Y-%m-%dT%H}:00:00Z" in await _keys(database)
    assert [key for key in await _keys(database) if "hourly" in key] == [
        "hourly:2026-03-02T14:00:00Z",
        "hourly:2026-03-02T15:00:00Z",
        "hourly:2026-03-02T22:00:00Z",
        "hourly:2026-03-03T14:00:00Z",
    ]


async def test_a_running_schedule_ticks_and_gives_the_office_back(database: Database) -> None:
    """The next process need not wait for the lease."""
    stop = asyncio.Event()
    running = asyncio.create_task(Schedule(database, [HOURLY], "one", tick_seconds=0.05).run(stop))
    await until(lambda: _keys(database))
    stop.set()
    await running
    assert await _keys(database) == ["hourly:2026-03-02T14:00:00Z"]
    assert await one_row(database, "SELECT count(*) FROM leaderships") == (0,)


@pytest.mark.both_databases
async def test_a_schedule_outlives_a_database_that_does_not_answer(
    database: Database, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    stop = asyncio.Event()
    await execute(database, "ALTER TABLE leaderships RENAME TO away")
    running = asyncio.create_task(Schedule(database, [HOURLY], "one", tick_seconds=0.05).run(stop))

    async def has_complained() -> bool:
        return "the schedule waits for the database" in caplog.text

    await until(has_complained)
    await execute(database, "ALTER TABLE away RENAME TO leaderships")
    await until(lambda: _keys(database))
    stop.set()
    await running
    assert await _keys(database) == ["hourly:2026-03-02T14:00:00Z"]


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_an_end_amid_a_tick_says_nothing(
    database: Database, caplog: pytest.LogCaptureFixture, *, is_cancelled: bool
) -> None:
    """Ctrl-C, once or twice, right after the start: the transaction of the first tick is finished in silence."""
    begun, stop = asyncio.Event(), asyncio.Event()

    class SlowOffice(Office):
        async def is_held(self, session: Session) -> bool:
            begun.set()
            await asyncio.sleep(0.1)
            return await super().is_held(session)

    schedule = _schedule(database)
    schedule._office = SlowOffice(database, OFFICE, "one", timedelta(seconds=60))
    running = asyncio.create_task(schedule.run(stop))
    await begun.wait()
    stop.set()
    if is_cancelled:
        await asyncio.sleep(0)
        running.cancel()
        running.cancel()
    await asyncio.wait({running})
    assert running.cancelled() is is_cancelled
    assert caplog.text == ""
    assert len(await _keys(database)) == 2
    assert await one_row(database, "SELECT count(*) FROM leaderships") == (0,)


async def test_a_wake_up_that_lies_far_ahead_is_brought_near_again(database: Database) -> None:
    """This machine's clock was put back a day: APScheduler would sleep until it is tomorrow again."""
    schedule = _schedule(database)
    waking = AsyncIOScheduler(timezone=UTC)
    waking.start(paused=True)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    wakeup = waking.add_job(_do_nothing, "interval", seconds=15, args=(None,), next_run_time=tomorrow)
    schedule._mend(wakeup)
    assert wakeup.next_run_time < tomorrow - timedelta(hours=23)
    near = datetime.now(UTC) + timedelta(seconds=10)
    wakeup.modify(next_run_time=near)
    schedule._mend(wakeup)
    assert wakeup.next_run_time == near
    waking.shutdown(wait=False)
    await asyncio.sleep(0)
