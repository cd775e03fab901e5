"""The runner of chores: each piece of work is done once, tried again when it fails, and never lost."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from sqlalchemy import select

from bot.compose.desk import Desk, all_chores
from bot.settings import Settings
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from core.desk.schema import JobRow, JobState
from core.desk.store import jobs
from core.desk.store.jobs import Job
from core.desk.upkeep.chores import Chore, Chores, Done
from core.desk.upkeep.schedule import Schedule
from core.errors import AntiphonError, Conflict, StoreUnavailable
from core.models import FlaggedPost
from tests.fakes.desk.decisions import take
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS, until

CANARY = "canary-in-an-error"


class Work:
    """Notes each call; raises or answers what it is given, the last one again and again."""

    def __init__(self, *outcomes: Exception | Done) -> None:
        self.outcomes = list(outcomes) or [Done("done")]
        self.calls = list[str]()

    async def __call__(self, job: Job) -> Done:
        self.calls.append(job.key)
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def _endless() -> tuple[asyncio.Event, Callable[[Job], Awaitable[Done]]]:
    """Work that never ends, and what is set when it begins."""
    begun = asyncio.Event()

    async def endless(_: Job) -> Done:
        begun.set()
        await asyncio.Event().wait()
        return Done("never")

    return begun, endless


async def _ask(database: Database, key: str = "tidy:now") -> None:
    await database.run("ask", lambda session: jobs.enqueue(session, key, "tidy", payload={"n": 1}))


async def _states(database: Database) -> dict[str, tuple[JobState, str | None]]:
    async def work(session: Session) -> dict[str, tuple[JobState, str | None]]:
        return {row.key: (row.state, row.error) for row in await session.scalars(select(JobRow))}

    return await database.run("read jobs", work)


async def test_a_piece_of_work_is_done_once_though_two_look_for_it(database: Database) -> None:
    """The lease is taken before the work."""
    work = Work()
    runners = [Chores(database, [Chore("tidy", work)], owner) for owner in ("one", "two", "three")]
    for number in range(5):
        await _ask(database, f"tidy:{number}")
    ran = await asyncio.gather(*(runner.drain() for runner in runners))
    assert sorted(work.calls) == [f"tidy:{number}" for number in range(5)]
    assert sum(map(len, ran)) == 5
    assert all(state is JobState.DONE for state, _ in (await _states(database)).values())


async def test_what_is_not_its_own_is_left(database: Database) -> None:
    """A draft waits for a worker, not for the runner of chores."""
    await database.run("ask", lambda session: jobs.enqueue(session, "draft:1", "draft"))
    assert await Chores(database, [Chore("tidy", Work())], "one").step() is None


async def test_a_failure_is_tried_again_after_longer_and_longer_pauses_and_then_given_up(
    database: Database, clock: FakeClock
) -> None:
    """Three attempts, and the reason is kept."""
    work = Work(StoreUnavailable("The disk is full.", remedy="Make room."))
    runner = Chores(database, [Chore("tidy", work)], "one")
    await _ask(database)
    for pause in (60, 120):
        assert len(await runner.drain()) == 1
        clock.advance(pause - 1)
        assert await runner.drain() == []
        clock.advance(1)
    ran = await runner.drain()
    assert [(one.key, one.state) for one in ran] == [("tidy:now", JobState.DEAD)]
    assert len(work.calls) == 3
    assert await _states(database) == {"tidy:now": (JobState.DEAD, "The disk is full. Make room.")}


async def test_what_must_end_is_enqueued_anew_when_it_was_given_up(database: Database, clock: FakeClock) -> None:
    """An erasure is never forgotten; each piece of work is begun three times at most."""
    work = Work(*[AntiphonError("no")] * 3, Done("at last"))
    runner = Chores(database, [Chore("tidy", work, must_end=True)], "one")
    await _ask(database)
    for _ in range(4):
        await runner.drain()
        clock.advance(3600)
    assert await _states(database) == {"tidy:now": (JobState.DEAD, "no"), "tidy:now #2": (JobState.DONE, None)}


@pytest.mark.both_databases
async def test_what_is_not_over_goes_on_later_with_the_same_payload(database: Database, clock: FakeClock) -> None:
    """Not an attempt of the old piece of work, since nothing failed."""
    again = Done("half", again=timedelta(minutes=5))
    work = Work(again, again, Done("whole"))
    runner = Chores(database, [Chore("tidy", work, must_end=True)], "one")
    await _ask(database)
    for _ in range(3):
        assert len(await runner.drain()) == 1
        assert await runner.drain() == []
        clock.advance(300)
    assert work.calls == ["tidy:now", "tidy:now #2", "tidy:now #3"]

    async def payloads(session: Session) -> list[object]:
        return list(await session.scalars(select(JobRow.payload)))

    assert await database.run("read payloads", payloads) == [{"n": 1}] * 3


async def test_of_an_unexpected_error_only_its_kind_is_kept(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """Its message may quote a post."""
    caplog.set_level(logging.DEBUG)
    await _ask(database)
    await Chores(database, [Chore("tidy", Work(ValueError(CANARY)))], "one").drain()
    assert await _states(database) == {"tidy:now": (JobState.READY, "It failed unexpectedly (ValueError).")}
    assert CANARY not in caplog.text


async def test_work_whose_process_was_killed_is_taken_over_after_its_lease(
    database: Database, clock: FakeClock
) -> None:
    """Nobody was told of the death."""
    await _ask(database)
    await database.run("take", lambda session: jobs.take(session, ["tidy"], "killed", timedelta(seconds=300)))
    work = Work()
    runner = Chores(database, [Chore("tidy", work)], "two")
    clock.advance(299)
    assert await runner.drain() == []
    clock.advance(2)
    assert [one.state for one in await runner.drain()] == [JobState.DONE]


async def test_work_that_kills_its_process_is_given_up(database: Database, clock: FakeClock) -> None:
    """The attempt is counted before the work."""
    await _ask(database)
    for _ in range(3):
        await database.run("take", lambda session: jobs.take(session, ["tidy"], "killed", timedelta(seconds=300)))
        clock.advance(301)
    work = Work()
    ran = await Chores(database, [Chore("tidy", work)], "two").drain()
    assert ([one.state for one in ran], work.calls) == ([JobState.DEAD], [])


async def test_a_runner_that_is_cancelled_gives_its_work_back(database: Database) -> None:
    """Another process need not wait for the lease."""
    begun, endless = _endless()
    await _ask(database)
    running = asyncio.create_task(Chores(database, [Chore("tidy", endless)], "one").step())
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await _states(database) == {"tidy:now": (JobState.READY, "It was interrupted.")}


async def test_who_lost_the_lease_is_stopped_and_keeps_nothing(database: Database, clock: FakeClock) -> None:
    """Fencing: the process that took over has the work alone."""
    begun, endless = _endless()
    await _ask(database)
    slow = asyncio.create_task(Chores(database, [Chore("tidy", endless)], "one", lease_seconds=0.2).step())
    await begun.wait()
    other = None
    while other is None:  # until the first one does not keep its lease in between
        clock.advance(1)
        other = await database.run("take", lambda session: jobs.take(session, ["tidy"], "two", timedelta(hours=1)))
    async with asyncio.timeout(GUARD_SECONDS):
        ran = await slow
    assert ran is not None
    assert ran.state is JobState.RUNNING
    await database.run("finish", lambda session: jobs.finish(session, other))


async def test_a_running_runner_stops_when_it_is_told_to(database: Database) -> None:
    """What was enqueued meanwhile is done first."""
    work, stop = Work(), asyncio.Event()
    await _ask(database)
    running = asyncio.create_task(Chores(database, [Chore("tidy", work)], "one", poll_seconds=0.05).run(stop))

    async def is_done() -> bool:
        return bool(work.calls)

    await until(is_done)
    stop.set()
    async with asyncio.timeout(GUARD_SECONDS):
        await running
    assert (await _states(database))["tidy:now"] == (JobState.DONE, None)


# Cases whose workers were lost


async def test_a_case_whose_worker_is_gone_is_queued_again_although_no_other_works(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """People see that it waits; the lost worker can keep nothing (invariant I5)."""
    await desk.intake.flag(post)
    taken = await take(queue)
    clock.advance(61)
    chores = all_chores(database, Settings(), put_back_lost=queue.put_back_lost)
    await Schedule(database, chores, "one").once()
    ran = await Chores(database, chores, "one").drain()
    assert "1 case queued again" in {done.what for done in ran}
    assert (await desk.queries.case(taken.case.id)).state is CaseState.QUEUED
    with pytest.raises(Conflict):
        await queue.store(taken, suggestion_for(post))
