"""A person who waits comes first: what a filter found stands still meanwhile, keeps its lease, and goes on later."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import URL

from bot.compose.desk import Desk
from core.desk.database.connection import Database
from core.desk.drafting.precedence import Precedence
from core.desk.drafting.queue import Backoff, DraftQueue
from core.desk.drafting.worker import Worker, unheard, work
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.runtime.faults import installed
from core.desk.store.cases import Case
from core.engine.pipeline import Engine, OnProgress
from core.engine.request import Request
from core.models import FlaggedPost, PostRef, Priority, Suggestion
from tests.fakes.desk.decisions import one_row, take
from tests.fakes.desk.people import COMMUNITY, MODERATOR, PLATFORM, SECRET, VOLUNTEER
from tests.fakes.desk.workers import Counted, drafting, last_reason, state_of
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS, until

pytestmark = pytest.mark.both_databases


CALLS = 3


class CallingEngine(Engine):
    """An engine that calls a model some times for each post; a test lets each of a post's calls end."""

    def __init__(self) -> None:
        """It needs no model."""
        self.begun: list[str] = []
        self._let = dict[str, asyncio.Semaphore]()

    def let(self, message: str, calls: int = CALLS) -> None:
        for _ in range(calls):
            self._of(message).release()

    def _of(self, message: str) -> asyncio.Semaphore:
        return self._let.setdefault(message, asyncio.Semaphore(0))

    async def suggest(self, request: Request, on_progress: OnProgress = unheard) -> Suggestion:
        del on_progress
        message = request.post.ref.message
        for _ in range(CALLS):
            async with request.turn():
                self.begun.append(message)
                await self._of(message).acquire()
        return suggestion_for(request.post, ("We all live here.",))

    async def has_begun(self, message: str, calls: int) -> None:
        """Wait until so many calls for a post were begun."""

        async def is_so() -> bool:
            return self.begun.count(message) >= calls

        await until(is_so)


@pytest.fixture
def calling() -> CallingEngine:
    return CallingEngine()


@pytest.fixture
async def elsewhere(place: Path | URL, database: Database, clock: FakeClock) -> AsyncIterator[Database]:
    """The same database, as another process sees it."""
    opened = await Database.open(place, secret=SECRET, clock=clock)
    yield opened
    await opened.close()


def _worker(database: Database, engine: Engine, name: str, per_community: int | None = None) -> Worker:
    queue = DraftQueue(database, name, per_community=per_community)
    held = Precedence(queue.look, look_seconds=0.01)
    rest = Backoff("test", 0.001, 0.001)
    asks = drafting(database, engine)
    return Worker(queue, asks, poll_seconds=0.01, heartbeat_seconds=0.01, rest=rest, precedence=held)


async def _flag(desk: Desk, message: str, priority: Priority) -> Case:
    ref = PostRef(PLATFORM, COMMUNITY, "square", message)
    post = FlaggedPost(ref, f"text {message}", "somebody", VOLUNTEER.user, "menu", priority=priority)
    return await desk.intake.flag(post)


async def _reached(point: str, times: int) -> None:
    counted = Counted(point, times)
    with installed(counted):
        async with asyncio.timeout(GUARD_SECONDS):
            await counted.reached.wait()


async def _in_review(desk: Desk, case: Case) -> None:
    async def is_so() -> bool:
        return await state_of(desk, case) is CaseState.IN_REVIEW

    await until(is_so)


async def test_the_only_worker_drafts_for_a_person_beside_the_find_that_it_holds(
    database: Database, desk: Desk, calling: CallingEngine, clock: FakeClock
) -> None:
    """Also where its community may have one draft at once; the find has its lease for as long as it is held."""
    found = await _flag(desk, "found", Priority.DETECTED)
    other = DraftQueue(database, "another")
    stepping = asyncio.create_task(_worker(database, calling, "worker", per_community=1).step())
    await calling.has_begun("found", 1)
    flagged = await _flag(desk, "flagged", Priority.FLAGGED)
    await calling.has_begun("flagged", 1)
    calling.let("found")
    for _ in range(3):
        await _reached("keep a lease: after the commit", 4)
        clock.advance(50)
        assert await other.put_back_lost() == 0
    assert calling.begun == ["found", "flagged"]
    calling.let("flagged")
    await _in_review(desk, flagged)
    await stepping
    await _in_review(desk, found)
    assert calling.begun == ["found", *["flagged"] * CALLS, *["found"] * (CALLS - 1)]


async def test_a_find_stands_still_for_a_person_whom_another_process_serves(
    database: Database, elsewhere: Database, desk: Desk, calling: CallingEngine
) -> None:
    """It hears of it from the database before its first call, and begins when the person has drafts."""
    flagged = await _flag(desk, "flagged", Priority.ASKED)
    people = DraftQueue(elsewhere, "two")
    taken = await take(people)
    found = await _flag(desk, "found", Priority.DETECTED)
    calling.let("found")
    one = asyncio.create_task(_worker(database, calling, "one").step())
    await _reached("look who waits for a draft: after the commit", 4)
    assert calling.begun == []
    await people.store(taken, suggestion_for(taken.case.post))
    await one
    await _in_review(desk, found)
    assert (taken.case.id, calling.begun) == (flagged.id, ["found"] * CALLS)


async def test_a_find_that_somebody_flags_while_it_is_drafted_is_theirs_from_then_on(
    database: Database, desk: Desk, calling: CallingEngine
) -> None:
    """It is held no longer for others, and a second find waits for it."""
    found = await _flag(desk, "found", Priority.DETECTED)
    worker = _worker(database, calling, "worker")
    stepping = asyncio.create_task(worker.step())
    await calling.has_begun("found", 1)
    await _flag(desk, "found", Priority.FLAGGED)
    assert await one_row(database, f"SELECT priority FROM jobs WHERE case_id = '{found.id}'") == (1,)
    await _reached("look who waits for a draft: after the commit", 2)
    calling.let("found")
    await stepping
    await _in_review(desk, found)


async def test_a_process_that_ends_gives_back_the_find_and_the_person_s_case(
    database: Database, desk: Desk, calling: CallingEngine
) -> None:
    """Neither attempt counts, and no lease must run out."""
    found = await _flag(desk, "found", Priority.DETECTED)
    stop = asyncio.Event()
    working = asyncio.create_task(work([_worker(database, calling, "worker")], stop, 0.0))
    await calling.has_begun("found", 1)
    flagged = await _flag(desk, "flagged", Priority.FLAGGED)
    await calling.has_begun("flagged", 1)
    stop.set()
    await working
    for case in (found, flagged):
        assert await state_of(desk, case) is CaseState.QUEUED
        assert await last_reason(desk, case) == "its worker was stopped"
    again = await DraftQueue(database, "next").take()
    assert again is not None
    assert (again.case.id, again.job.tries) == (flagged.id, 1)


async def test_a_find_that_is_withdrawn_leaves_the_person_s_draft_alone(
    database: Database, desk: Desk, calling: CallingEngine
) -> None:
    """The worker loses the one lease, and finishes under the other."""
    found = await _flag(desk, "found", Priority.DETECTED)
    stepping = asyncio.create_task(_worker(database, calling, "worker").step())
    await calling.has_begun("found", 1)
    flagged = await _flag(desk, "flagged", Priority.FLAGGED)
    await calling.has_begun("flagged", 1)
    held = await desk.queries.case(found.id)
    await desk.decisions.close(found.id, held.version, MODERATOR, CloseReason.MISTAKE, "a mistake")
    calling.let("flagged")
    await _in_review(desk, flagged)
    assert await stepping
    assert await state_of(desk, found) is CaseState.WITHDRAWN
    assert calling.begun.count("found") == 1
