"""The end of workers, told or cancelled: what is in hand is finished or goes back, and nothing stays in drafting."""

import asyncio

import pytest

from adapters.sample import SampleCommunity
from bot.compose.desk import Desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.drafting.worker import Worker, work
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.runtime.faults import installed
from core.desk.store.cases import Case
from tests.fakes.desk.decisions import take
from tests.fakes.desk.people import MODERATOR
from tests.fakes.desk.workers import Counted, ToldEngine, drafting, state_of, worker_of
from tests.fakes.machine.patience import GUARD_SECONDS, until


async def test_a_cancelled_worker_releases_its_case(worker: Worker, desk: Desk, case: Case, engine: ToldEngine) -> None:
    """A stop puts the case back into the queue, and the cancellation is not swallowed."""
    engine.waits = True
    task = asyncio.create_task(worker.step())
    await engine.started.wait()
    assert await state_of(desk, case) is CaseState.DRAFTING
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await state_of(desk, case) is CaseState.QUEUED
    engine.waits = False
    assert await worker.step()
    assert await state_of(desk, case) is CaseState.IN_REVIEW


@pytest.mark.both_databases
async def test_a_stop_at_any_moment_leaves_nothing_in_drafting(worker: Worker, desk: Desk, case: Case) -> None:
    """Also while the case is just being taken, or its suggestion stored."""
    for turns in range(0, 400, 7):
        task = asyncio.create_task(worker.step())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        state = await state_of(desk, case)
        assert state in (CaseState.QUEUED, CaseState.IN_REVIEW)
        if state is CaseState.IN_REVIEW:
            return


@pytest.mark.both_databases
async def test_a_cancellation_passes_even_if_the_case_was_moved(
    queue: DraftQueue, desk: Desk, case: Case, engine: ToldEngine
) -> None:
    """The stop goes on although there is nothing to release any more."""
    engine.waits = True
    task = asyncio.create_task(Worker(queue, drafting(desk.database, engine)).step())
    await engine.started.wait()
    held = await desk.queries.case(case.id)
    await desk.decisions.close(case.id, held.version, MODERATOR, CloseReason.MISTAKE, "the author took it back")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await state_of(desk, case) is CaseState.WITHDRAWN


async def _two_at_work(database: Database, desk: Desk, engine: ToldEngine) -> tuple[list[Case], list[Worker]]:
    cases = [await desk.intake.flag(SampleCommunity().flag(message, "mill_pond")) for message in ("101", "102", "103")]
    return cases, [worker_of(DraftQueue(database, f"slot-{slot}"), database, engine) for slot in range(2)]


async def test_workers_that_are_told_to_end_finish_what_they_have_and_take_nothing(
    database: Database, desk: Desk, engine: ToldEngine
) -> None:
    """Several at once in one process; the third case is left to others."""
    engine.waits = True
    cases, workers = await _two_at_work(database, desk, engine)
    stop = asyncio.Event()
    task = asyncio.create_task(work(workers, stop, GUARD_SECONDS))

    async def are_both_busy() -> bool:
        return len(engine.claims) == 2

    await until(are_both_busy)
    stop.set()
    engine.go_on.set()
    await task
    assert sorted([await state_of(desk, case) for case in cases]) == [
        CaseState.IN_REVIEW, CaseState.IN_REVIEW, CaseState.QUEUED
    ]  # fmt: skip


async def test_what_cannot_be_finished_in_time_goes_back(database: Database, desk: Desk, engine: ToldEngine) -> None:
    """The end is bounded whatever the engine does, and no attempt is lost."""
    engine.waits = True
    cases, workers = await _two_at_work(database, desk, engine)
    stop = asyncio.Event()
    stop_later = Counted("take a case: after the commit", 2)
    with installed(stop_later):
        task = asyncio.create_task(work(workers, stop, 0.01))
        await stop_later.reached.wait()
        stop.set()
        await task
    assert [await state_of(desk, case) for case in cases] == [CaseState.QUEUED] * 3
    assert [(await take(DraftQueue(database, "next"))).job.tries for _ in cases] == [1, 1, 1]


async def test_a_worker_that_breaks_ends_the_others_and_is_heard_of(
    database: Database, desk: Desk, engine: ToldEngine
) -> None:
    """A process that only half works would be restarted by nobody."""
    engine.waits = True
    cases, workers = await _two_at_work(database, desk, engine)

    async def break_one(point: str) -> None:
        if point == "put lost cases back: before the commit" and len(engine.claims) == 1:
            raise RuntimeError("a bug")

    with installed(break_one):
        first = asyncio.create_task(work(workers[:1], asyncio.Event(), 0))
        await engine.started.wait()
        with pytest.raises(RuntimeError, match="a bug"):
            await work(workers[1:], asyncio.Event(), 0)
        first.cancel()
        await asyncio.wait({first})
    assert [await state_of(desk, case) for case in cases] == [CaseState.QUEUED] * 3
