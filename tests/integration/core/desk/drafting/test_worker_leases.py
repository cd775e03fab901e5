"""The worker brings a case to a moderator while its lease is renewed; whoever decides or takes over meanwhile, wins."""

import asyncio

import pytest

from bot.compose.desk import Desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue, TakenCase
from core.desk.drafting.worker import Worker, unheard
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.runtime.faults import installed
from core.desk.store.cases import Case
from core.engine.pipeline import OnProgress
from core.engine.request import Request
from core.errors import StoreUnavailable
from core.models import Progress, Suggestion
from tests.fakes.desk.decisions import progress_of, take
from tests.fakes.desk.people import MODERATOR
from tests.fakes.desk.workers import OTHER_CLAIM, Counted, ToldEngine, drafting, state_of
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS, until

pytestmark = pytest.mark.both_databases


# One case


async def test_a_queued_case_comes_to_review(worker: Worker, desk: Desk, case: Case, progress: list[object]) -> None:
    """The moderator gets the engine's suggestion, and whoever runs the worker sees its progress meanwhile."""
    assert await worker.step()
    assert await state_of(desk, case) is CaseState.IN_REVIEW
    stored = await desk.queries.suggestion(case.id)
    assert stored is not None
    assert stored.suggestion == suggestion_for(case.post, ("We all live here.",))
    assert progress == [Progress("reading", case.post.text, 0.1)]
    assert not await worker.step()


async def test_moderators_see_the_stage_and_no_word_of_the_post(
    worker: Worker, database: Database, case: Case, engine: ToldEngine
) -> None:
    """What the engine says of its progress quotes the post; the queue keeps the stage alone."""
    engine.waits = True
    task = asyncio.create_task(worker.step())

    async def is_shown() -> bool:
        found = await progress_of(database, case.id)
        return found is not None and found.stage == "reading"

    await until(is_shown)
    engine.go_on.set()
    await task


async def test_the_lease_is_renewed_while_the_engine_works(
    worker: Worker, desk: Desk, queue: DraftQueue, database: Database, case: Case, engine: ToldEngine, clock: FakeClock
) -> None:
    """A draft may take many leases."""
    engine.waits = True
    other = DraftQueue(database, "worker-2")
    task = asyncio.create_task(worker.step())
    await engine.started.wait()
    for _ in range(3):
        renewed = Counted("keep a lease: after the commit", 2)
        with installed(renewed):
            await renewed.reached.wait()
        clock.advance(50)
        assert await other.put_back_lost() == 0
    engine.go_on.set()
    await task
    assert await state_of(desk, case) is CaseState.IN_REVIEW


async def test_a_chosen_claim_reaches_the_engine(
    worker: Worker, desk: Desk, queue: DraftQueue, in_review: Case, engine: ToldEngine, clock: FakeClock
) -> None:
    """Also after a worker was lost: the choice is the case's, not the process's."""
    await desk.decisions.redraft(in_review.id, in_review.version, OTHER_CLAIM, MODERATOR)
    await take(queue)
    clock.advance(61)
    await queue.put_back_lost()
    clock.advance(10)
    engine.drafts = ("They teach our children.",)
    assert await worker.step()
    assert engine.claims == [OTHER_CLAIM]
    stored = await desk.queries.suggestion(in_review.id)
    assert stored is not None
    assert [draft.text for draft in stored.suggestion.drafts] == ["They teach our children."]


# Decisions meanwhile


async def test_the_engine_is_stopped_when_the_case_is_withdrawn(
    worker: Worker, desk: Desk, case: Case, engine: ToldEngine
) -> None:
    """At the next heartbeat: a model's time costs money. The worker goes on."""
    engine.waits = True
    task = asyncio.create_task(worker.step())
    await engine.started.wait()
    held = await desk.queries.case(case.id)
    await desk.decisions.close(case.id, held.version, MODERATOR, CloseReason.MISTAKE, "the author took it back")
    async with asyncio.timeout(GUARD_SECONDS):
        assert await task
    assert engine.ended.is_set()
    assert await state_of(desk, case) is CaseState.WITHDRAWN
    assert await desk.queries.suggestion(case.id) is None
    assert not await worker.step()


async def test_a_case_withdrawn_meanwhile_stays_withdrawn(queue: DraftQueue, desk: Desk, case: Case) -> None:
    """A moderator's decision outweighs a draft that comes after it, also before any heartbeat."""

    class Withdrawing(ToldEngine):
        async def suggest(self, request: Request, on_progress: OnProgress = unheard) -> Suggestion:
            drafted = await desk.queries.case(case.id)
            await desk.decisions.close(
                case.id, drafted.version, MODERATOR, CloseReason.MISTAKE, "the author took it back"
            )
            return await super().suggest(request, on_progress)

    assert await Worker(queue, drafting(desk.database, Withdrawing())).step()
    assert await state_of(desk, case) is CaseState.WITHDRAWN
    assert await desk.queries.suggestion(case.id) is None


async def test_a_worker_that_lost_its_case_stops_and_writes_nothing(
    worker: Worker, desk: Desk, database: Database, case: Case, engine: ToldEngine, clock: FakeClock
) -> None:
    """Another one has it by now: its draft is the one that stands (invariant I5)."""
    engine.waits = True
    other = DraftQueue(database, "worker-2")
    taken: list[TakenCase] = []

    async def lapse(point: str) -> None:
        """While the heartbeat waits, the lease ends and the other takes over."""
        if point == "keep a lease: before the commit" and not taken:
            raise StoreUnavailable("The database is away.")

    with installed(lapse):
        task = asyncio.create_task(worker.step())
        await engine.started.wait()
        clock.advance(61)
        async with asyncio.timeout(GUARD_SECONDS):
            while not await other.put_back_lost():
                pass  # a heartbeat that is being written down holds the job, and is passed over
            clock.advance(10)
            while not (its := await other.take()):
                pass  # as before
            taken.append(its)
            assert await task
    assert engine.ended.is_set()
    kept = await other.store(taken[0], suggestion_for(case.post, ("The other's.",)))
    assert await desk.queries.case(case.id) == kept
