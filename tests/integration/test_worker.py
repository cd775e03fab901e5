"""The worker brings each queued case to a moderator, and never leaves one behind."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from adapters.sample.community import SampleCommunity
from bot.desk import Desk
from bot.draft_queue import Backoff, DraftQueue, Taken
from bot.faults import installed
from bot.store.cases import Case
from bot.store.database import Database
from bot.worker import OnProgress, Worker, work
from core.errors import AntiphonError, BadAnswer, BadInput, ModelUnavailable, StoreUnavailable
from core.models import FlaggedPost, Progress, Suggestion
from core.review import CaseState
from tests.fakes import suggestion_for
from tests.fakes.clock import FakeClock
from tests.fakes.decisions import drafted, take
from tests.fakes.people import MODERATOR, SECRET, settle

AWAY = ModelUnavailable("The model is not there.", remedy="Start it.")
OTHER_CLAIM = "Newcomers teach our children."
GUARD_SECONDS = 120  # only bounds a hang


class _Engine:
    """An engine that says, fails or waits as told; ``started`` is set when it is at work, ``ended`` when it is not."""

    def __init__(self) -> None:
        self.fault: Exception | None = None
        self.waits = False
        self.drafts: tuple[str, ...] = ("We all live here.",)
        self.started = asyncio.Event()
        self.ended = asyncio.Event()
        self.go_on = asyncio.Event()
        self.claims: list[str | None] = []

    async def suggest(self, post: FlaggedPost, claim: str | None, on_progress: OnProgress) -> Suggestion:
        self.claims.append(claim)
        on_progress(Progress("reading", post.text, 0.1))
        self.started.set()
        try:
            if self.waits:
                await self.go_on.wait()
        finally:
            self.ended.set()
        if self.fault is not None:
            raise self.fault
        return suggestion_for(post, self.drafts)


@pytest.fixture
async def case(desk: Desk, post: FlaggedPost) -> Case:
    return await desk.flag(post)


@pytest.fixture
def engine() -> _Engine:
    return _Engine()


@pytest.fixture
def progress() -> list[object]:
    return []


def _worker(queue: DraftQueue, desk: Desk, engine: _Engine, progress: list[object] | None = None) -> Worker:
    seen = [] if progress is None else progress
    rest = Backoff("test", 0.001, 0.001)
    return Worker(
        queue, desk.chosen_claim, engine.suggest, seen.append, poll_seconds=0.001, heartbeat_seconds=0.01, rest=rest
    )


@pytest.fixture
def worker(queue: DraftQueue, desk: Desk, engine: _Engine, progress: list[object]) -> Worker:
    return _worker(queue, desk, engine, progress)


async def _reason(desk: Desk, case: Case) -> str:
    return (await desk.history(case.id))[-1].reason


async def _state(desk: Desk, case: Case) -> CaseState:
    return (await desk.case(case.id)).state


async def _until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(GUARD_SECONDS):
        while not await condition():  # noqa: ASYNC110 - a row of a database is no event
            await asyncio.sleep(0.005)


# One case


async def test_a_queued_case_comes_to_review(worker: Worker, desk: Desk, case: Case, progress: list[object]) -> None:
    """The moderator gets the engine's suggestion, and whoever runs the worker sees its progress meanwhile."""
    assert await worker.step()
    assert await _state(desk, case) is CaseState.IN_REVIEW
    stored = await desk.suggestion(case.id)
    assert stored is not None
    assert stored.suggestion == suggestion_for(case.post, ("We all live here.",))
    assert progress == [Progress("reading", case.post.text, 0.1)]
    assert not await worker.step()


async def test_moderators_see_the_stage_and_no_word_of_the_post(
    worker: Worker, queue: DraftQueue, case: Case, engine: _Engine
) -> None:
    """What the engine says of its progress quotes the post; the queue keeps the stage alone."""
    engine.waits = True
    task = asyncio.create_task(worker.step())

    async def is_shown() -> bool:
        standing = await queue.progress(case.id)
        return standing is not None and standing.progress is not None

    await _until(is_shown)
    standing = await queue.progress(case.id)
    assert standing is not None
    assert (standing.is_running, standing.progress) == (True, "reading")
    engine.go_on.set()
    await task


async def test_the_lease_is_renewed_while_the_engine_works(
    worker: Worker, desk: Desk, queue: DraftQueue, database: Database, case: Case, engine: _Engine, clock: FakeClock
) -> None:
    """A draft may take many leases."""
    engine.waits = True
    other = DraftQueue(database, "worker-2")
    task = asyncio.create_task(worker.step())
    await engine.started.wait()
    for _ in range(3):
        renewed = _Counted("keep a lease: after the commit", 2)
        with installed(renewed):
            await renewed.reached.wait()
        clock.advance(50)
        assert await other.put_back_lost() == 0
    engine.go_on.set()
    await task
    assert await _state(desk, case) is CaseState.IN_REVIEW


class _Counted:
    """A fault that breaks nothing, and says when a point was reached so many times."""

    def __init__(self, point: str, times: int) -> None:
        self.point, self.left, self.reached = point, times, asyncio.Event()

    async def __call__(self, point: str) -> None:
        self.left -= point == self.point
        if self.left <= 0:
            self.reached.set()


# Engines that fail


@pytest.mark.parametrize(
    "fault",
    [BadAnswer("The model makes no sense.", remedy="Try another."), BadInput("The post is too long.")],
    ids=lambda fault: type(fault).__name__,
)
async def test_an_engine_that_cannot_hands_over_at_once(
    worker: Worker, desk: Desk, case: Case, engine: _Engine, fault: AntiphonError
) -> None:
    """A person reads why there is no draft, and what to do about it: another attempt would end the same."""
    engine.fault = fault
    assert await worker.step()
    assert await _state(desk, case) is CaseState.NEEDS_PERSON
    assert await _reason(desk, case) == str(fault)


async def test_an_engine_that_lacks_something_is_asked_again(
    worker: Worker, desk: Desk, case: Case, engine: _Engine, clock: FakeClock
) -> None:
    """A model that comes back costs nobody a draft; meanwhile moderators see why it takes so long."""
    engine.fault = AWAY
    assert await worker.step()
    assert await _state(desk, case) is CaseState.QUEUED
    assert await _reason(desk, case) == f"{AWAY} It is tried again later."
    assert not await worker.step(), "first a pause"
    clock.advance(10)
    engine.fault = None
    assert await worker.step()
    assert await _state(desk, case) is CaseState.IN_REVIEW


async def test_a_model_that_stays_away_is_asked_three_times(
    worker: Worker, desk: Desk, case: Case, engine: _Engine, clock: FakeClock
) -> None:
    """Then a person is, who reads what is missing."""
    engine.fault = AWAY
    for _ in range(3):
        assert await worker.step()
        clock.advance(10_000)
    assert not await worker.step()
    assert len(engine.claims) == 3
    assert await _state(desk, case) is CaseState.NEEDS_PERSON
    assert str(AWAY) in await _reason(desk, case)


async def test_a_worker_whose_model_is_away_rests_before_the_next_case(
    queue: DraftQueue, desk: Desk, engine: _Engine
) -> None:
    """An outage must not use up the attempts of everything that waits."""
    for message in ("101", "102", "103"):
        await desk.flag(SampleCommunity().flag(message, "mill_pond"))
    engine.fault = AWAY
    resting = Worker(queue, desk.chosen_claim, engine.suggest, lambda _: None, rest=Backoff("test", 3600, 3600))
    stop, failed = asyncio.Event(), _Counted("put a case off: after the commit", 1)
    with installed(failed):
        task = asyncio.create_task(resting.run(stop))
        await failed.reached.wait()
        for _ in range(200):
            await asyncio.sleep(0)
    stop.set()
    await task
    assert len(engine.claims) == 1


async def test_an_engine_that_breaks_hands_over(
    worker: Worker, desk: Desk, case: Case, engine: _Engine, caplog: pytest.LogCaptureFixture
) -> None:
    """A post that breaks the engine stops nothing else (invariant I6), and its words stay out of the log."""
    caplog.set_level(logging.DEBUG)
    engine.fault = KeyError(case.post.text)
    assert await worker.step()
    assert await _state(desk, case) is CaseState.NEEDS_PERSON
    assert "KeyError" in await _reason(desk, case)
    assert "KeyError" in caplog.text
    assert case.post.text not in caplog.text


async def test_a_suggestion_that_cannot_be_stored_hands_over(
    worker: Worker, desk: Desk, case: Case, engine: _Engine
) -> None:
    """Half a character from the model must not leave the case in ``drafting``."""
    engine.drafts = ("half \ud83d",)
    assert await worker.step()
    assert await _state(desk, case) is CaseState.NEEDS_PERSON


@pytest.mark.parametrize("fault", [BadAnswer("The model makes no sense."), KeyError("x"), None])
async def test_new_drafts_that_fail_leave_those_of_before(
    worker: Worker, desk: Desk, in_review: Case, engine: _Engine, clock: FakeClock, fault: Exception | None
) -> None:
    """To ask for other drafts must cost a moderator nothing: the case is in review, and the reason says why."""
    before = await desk.suggestion(in_review.id)
    await desk.redraft(in_review.id, in_review.version, OTHER_CLAIM, MODERATOR)
    clock.advance(1)
    engine.fault, engine.drafts = fault, ()
    assert await worker.step()
    assert await _state(desk, in_review) is CaseState.IN_REVIEW
    assert await desk.suggestion(in_review.id) == before
    assert (await _reason(desk, in_review)).endswith("The drafts of before stand.")


async def test_a_chosen_claim_reaches_the_engine(
    worker: Worker, desk: Desk, queue: DraftQueue, in_review: Case, engine: _Engine, clock: FakeClock
) -> None:
    """Also after a worker was lost: the choice is the case's, not the process's."""
    await desk.redraft(in_review.id, in_review.version, OTHER_CLAIM, MODERATOR)
    await take(queue)
    clock.advance(61)
    await queue.put_back_lost()
    clock.advance(10)
    engine.drafts = ("They teach our children.",)
    assert await worker.step()
    assert engine.claims == [OTHER_CLAIM]
    stored = await desk.suggestion(in_review.id)
    assert stored is not None
    assert [draft.text for draft in stored.suggestion.drafts] == ["They teach our children."]


# Decisions meanwhile


async def test_the_engine_is_stopped_when_the_case_is_withdrawn(
    worker: Worker, desk: Desk, case: Case, engine: _Engine
) -> None:
    """At the next heartbeat: a model's time costs money. The worker goes on."""
    engine.waits = True
    task = asyncio.create_task(worker.step())
    await engine.started.wait()
    drafting = await desk.case(case.id)
    await desk.withdraw(case.id, drafting.version, MODERATOR, "the author took it back")
    async with asyncio.timeout(GUARD_SECONDS):
        assert await task
    assert engine.ended.is_set()
    assert await _state(desk, case) is CaseState.WITHDRAWN
    assert await desk.suggestion(case.id) is None
    assert not await worker.step()


async def test_a_case_withdrawn_meanwhile_stays_withdrawn(
    queue: DraftQueue, desk: Desk, case: Case, engine: _Engine
) -> None:
    """A moderator's decision outweighs a draft that comes after it, also before any heartbeat."""

    async def suggest(post: FlaggedPost, claim: str | None, on_progress: OnProgress) -> Suggestion:
        drafting = await desk.case(case.id)
        await desk.withdraw(case.id, drafting.version, MODERATOR, "the author took it back")
        return await engine.suggest(post, claim, on_progress)

    assert await Worker(queue, desk.chosen_claim, suggest, lambda _: None).step()
    assert await _state(desk, case) is CaseState.WITHDRAWN
    assert await desk.suggestion(case.id) is None


async def test_a_worker_that_lost_its_case_stops_and_writes_nothing(
    worker: Worker, desk: Desk, database: Database, case: Case, engine: _Engine, clock: FakeClock
) -> None:
    """Another one has it by now: its draft is the one that stands (invariant I5)."""
    engine.waits = True
    other = DraftQueue(database, "worker-2")
    taken: list[Taken] = []

    async def lapse(point: str) -> None:
        """While the heartbeat waits, the lease ends and the other takes over."""
        if point == "keep a lease: before the commit" and not taken:
            raise StoreUnavailable("The database is away.")

    with installed(lapse):
        task = asyncio.create_task(worker.step())
        await engine.started.wait()
        clock.advance(61)
        await other.put_back_lost()
        clock.advance(10)
        taken.append(await take(other))
        async with asyncio.timeout(GUARD_SECONDS):
            assert await task
    assert engine.ended.is_set()
    kept = await other.store(taken[0], suggestion_for(case.post, ("The other's.",)))
    assert await desk.case(case.id) == kept


# The end of a worker


async def test_a_cancelled_worker_releases_its_case(worker: Worker, desk: Desk, case: Case, engine: _Engine) -> None:
    """A stop puts the case back into the queue, and the cancellation is not swallowed."""
    engine.waits = True
    task = asyncio.create_task(worker.step())
    await engine.started.wait()
    assert await _state(desk, case) is CaseState.DRAFTING
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await _state(desk, case) is CaseState.QUEUED
    engine.waits = False
    assert await worker.step()
    assert await _state(desk, case) is CaseState.IN_REVIEW


async def test_a_stop_at_any_moment_leaves_nothing_in_drafting(worker: Worker, desk: Desk, case: Case) -> None:
    """Also while the case is just being taken, or its suggestion stored."""
    for turns in range(0, 400, 7):
        task = asyncio.create_task(worker.step())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        state = await _state(desk, case)
        assert state in (CaseState.QUEUED, CaseState.IN_REVIEW)
        if state is CaseState.IN_REVIEW:
            return


async def test_a_cancellation_passes_even_if_the_case_was_moved(
    queue: DraftQueue, desk: Desk, case: Case, engine: _Engine
) -> None:
    """The stop goes on although there is nothing to release any more."""
    engine.waits = True
    task = asyncio.create_task(Worker(queue, desk.chosen_claim, engine.suggest, lambda _: None).step())
    await engine.started.wait()
    drafting = await desk.case(case.id)
    await desk.withdraw(case.id, drafting.version, MODERATOR, "the author took it back")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await _state(desk, case) is CaseState.WITHDRAWN


async def test_the_worker_runs_until_it_is_stopped(
    worker: Worker, desk: Desk, engine: _Engine, post: FlaggedPost
) -> None:
    """It finds what is flagged while it waits, and ends when it is told to."""
    stop = asyncio.Event()
    task = asyncio.create_task(worker.run(stop))
    case = await desk.flag(post)
    await engine.started.wait()
    stop.set()
    await task
    assert await _state(desk, case) is CaseState.IN_REVIEW


async def _two_at_work(database: Database, desk: Desk, engine: _Engine) -> tuple[list[Case], list[Worker]]:
    cases = [await desk.flag(SampleCommunity().flag(message, "mill_pond")) for message in ("101", "102", "103")]
    return cases, [_worker(DraftQueue(database, f"slot-{slot}"), desk, engine) for slot in range(2)]


async def test_workers_that_are_told_to_end_finish_what_they_have_and_take_nothing(
    database: Database, desk: Desk, engine: _Engine
) -> None:
    """Several at once in one process; the third case is left to others."""
    engine.waits = True
    cases, workers = await _two_at_work(database, desk, engine)
    stop = asyncio.Event()
    task = asyncio.create_task(work(workers, stop, GUARD_SECONDS))

    async def are_both_busy() -> bool:
        return len(engine.claims) == 2

    await _until(are_both_busy)
    stop.set()
    engine.go_on.set()
    await task
    assert sorted([await _state(desk, case) for case in cases]) == [
        CaseState.IN_REVIEW, CaseState.IN_REVIEW, CaseState.QUEUED
    ]  # fmt: skip


async def test_what_cannot_be_finished_in_time_goes_back(database: Database, desk: Desk, engine: _Engine) -> None:
    """The end is bounded whatever the engine does, and no attempt is lost."""
    engine.waits = True
    cases, workers = await _two_at_work(database, desk, engine)
    stop = asyncio.Event()
    stop_later = _Counted("take a case: after the commit", 2)
    with installed(stop_later):
        task = asyncio.create_task(work(workers, stop, 0.01))
        await stop_later.reached.wait()
        stop.set()
        await task
    assert [await _state(desk, case) for case in cases] == [CaseState.QUEUED] * 3
    assert [(await take(DraftQueue(database, "next"))).job.tries for _ in cases] == [1, 1, 1]


async def test_a_worker_that_breaks_ends_the_others_and_is_heard_of(
    database: Database, desk: Desk, engine: _Engine
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
    assert [await _state(desk, case) for case in cases] == [CaseState.QUEUED] * 3


# Databases that are away


async def test_the_worker_outlives_a_database_that_is_away(
    engine: _Engine, post: FlaggedPost, tmp_path: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    """A database that comes back finds the worker still there, and nothing was lost."""
    path = tmp_path / "held.sqlite"
    database = await Database.open(path, secret=SECRET, clock=clock, busy_seconds=0)
    await settle(database)
    desk = Desk(database)
    case = await desk.flag(post)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    stop = asyncio.Event()
    task = asyncio.create_task(_worker(DraftQueue(database, "worker"), desk, engine).run(stop))
    while "waits for the database" not in caplog.text:  # noqa: ASYNC110 - a log line is no event
        await asyncio.sleep(0)
    holder.close()
    await engine.started.wait()
    stop.set()
    await task
    assert await _state(desk, case) is CaseState.IN_REVIEW
    await database.close()


async def test_a_draft_waits_for_a_database_that_is_away(
    worker: Worker, desk: Desk, case: Case, engine: _Engine
) -> None:
    """A minute of the model's work is not thrown away for a moment's outage: it is not asked again."""
    outages = [StoreUnavailable("The database is away.") for _ in range(3)]

    async def away(point: str) -> None:
        if point == "store a suggestion: before the commit" and outages:
            raise outages.pop()

    with installed(away):
        assert await worker.step()
    assert outages == []
    assert await _state(desk, case) is CaseState.IN_REVIEW
    assert len(engine.claims) == 1


async def test_a_draft_whose_commit_was_not_answered_is_kept_once(
    worker: Worker, desk: Desk, case: Case, engine: _Engine
) -> None:
    """The connection broke after the commit: to write again finds that it is done."""
    broken = [StoreUnavailable("The connection broke.")]

    async def away(point: str) -> None:
        if point == "store a suggestion: after the commit" and broken:
            raise broken.pop()

    with installed(away):
        assert await worker.step()
    assert broken == []
    history = [entry.reason for entry in await desk.history(case.id)]
    assert history[-2:] == ["drafting, attempt 1", "1 drafts"]
    assert len(engine.claims) == 1


async def test_a_case_in_review_is_left_alone(worker: Worker, desk: Desk, queue: DraftQueue, post: FlaggedPost) -> None:
    """There is nothing to draft until somebody asks for it."""
    case = await drafted(desk, queue, post)
    assert not await worker.step()
    assert await desk.case(case.id) == case
