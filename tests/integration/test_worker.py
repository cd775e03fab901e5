"""The worker brings each queued case to a moderator, and never leaves one behind."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from adapters.sample.community import SampleCommunity
from bot.desk import Desk
from bot.store.cases import Case
from bot.store.database import Database
from bot.worker import Worker
from core.errors import AntiphonError, BadInput, ModelUnavailable
from core.models import FlaggedPost, Suggestion
from core.review import CaseState
from tests.fakes import suggestion_for
from tests.fakes.clock import FakeClock


class _Engine:
    """An engine that says, fails or waits as told; ``started`` is set when it is at work."""

    def __init__(self) -> None:
        self.fault: Exception | None = None
        self.waits = False
        self.drafts: tuple[str, ...] = ("We all live here.",)
        self.started = asyncio.Event()
        self.claims: list[str | None] = []

    async def suggest(self, post: FlaggedPost, claim: str | None, on_progress: Callable[[object], None]) -> Suggestion:
        self.claims.append(claim)
        on_progress("reading")
        self.started.set()
        if self.waits:
            await asyncio.Event().wait()
        if self.fault is not None:
            raise self.fault
        return suggestion_for(post, self.drafts)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(tmp_path / "antiphon.sqlite", busy_seconds=0)
    yield opened
    await opened.close()


@pytest.fixture
async def case(desk: Desk) -> Case:
    return await desk.flag(SampleCommunity().flag("103", "mill_pond"))


@pytest.fixture
def engine() -> _Engine:
    return _Engine()


@pytest.fixture
def progress() -> list[object]:
    return []


@pytest.fixture
def worker(desk: Desk, engine: _Engine, progress: list[object]) -> Worker:
    return Worker(desk, engine.suggest, progress.append, poll_seconds=0.001)


async def _reason(desk: Desk, case: Case) -> str:
    return (await desk.history(case.id))[-1].reason


async def test_a_queued_case_comes_to_review(worker: Worker, desk: Desk, case: Case, progress: list[object]) -> None:
    """The moderator gets the engine's suggestion, and sees its progress meanwhile."""
    assert await worker.step()
    assert (await desk.case(case.id)).state is CaseState.IN_REVIEW
    stored = await desk.suggestion(case.id)
    assert stored is not None
    assert stored.suggestion == suggestion_for(case.post, ("We all live here.",))
    assert progress == ["reading"]
    assert not await worker.step()


@pytest.mark.parametrize(
    "fault",
    [ModelUnavailable("The model is not there.", remedy="Start it."), BadInput("The post is too long.")],
    ids=lambda fault: type(fault).__name__,
)
async def test_an_engine_that_cannot_hands_over(
    worker: Worker, desk: Desk, case: Case, engine: _Engine, fault: AntiphonError
) -> None:
    """A person reads why there is no draft, and what to do about it."""
    engine.fault = fault
    assert await worker.step()
    assert (await desk.case(case.id)).state is CaseState.NEEDS_PERSON
    assert await _reason(desk, case) == str(fault)


async def test_an_engine_that_breaks_hands_over(
    worker: Worker, desk: Desk, case: Case, engine: _Engine, caplog: pytest.LogCaptureFixture
) -> None:
    """A post that breaks the engine stops nothing else (invariant I6), and its words stay out of the log."""
    caplog.set_level(logging.DEBUG)
    engine.fault = KeyError(case.post.text)
    assert await worker.step()
    assert (await desk.case(case.id)).state is CaseState.NEEDS_PERSON
    assert "KeyError" in await _reason(desk, case)
    assert "KeyError" in caplog.text
    assert case.post.text not in caplog.text


async def test_a_suggestion_that_cannot_be_stored_hands_over(
    worker: Worker, desk: Desk, case: Case, engine: _Engine
) -> None:
    """Half a character from the model must not leave the case in ``drafting``."""
    engine.drafts = ("half \ud83d",)
    assert await worker.step()
    assert (await desk.case(case.id)).state is CaseState.NEEDS_PERSON


async def test_a_cancelled_worker_releases_its_case(worker: Worker, desk: Desk, case: Case, engine: _Engine) -> None:
    """A stop puts the case back into the queue, and the cancellation is not swallowed."""
    engine.waits = True
    task = asyncio.create_task(worker.step())
    await engine.started.wait()
    assert (await desk.case(case.id)).state is CaseState.DRAFTING
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await desk.case(case.id)).state is CaseState.QUEUED
    engine.waits = False
    assert await worker.step()
    assert (await desk.case(case.id)).state is CaseState.IN_REVIEW


async def test_a_stop_at_any_moment_leaves_nothing_in_drafting(worker: Worker, desk: Desk, case: Case) -> None:
    """Also while the case is just being taken, or its suggestion stored."""
    for turns in range(60):
        task = asyncio.create_task(worker.step())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        state = (await desk.case(case.id)).state
        assert state in (CaseState.QUEUED, CaseState.IN_REVIEW)
        if state is CaseState.IN_REVIEW:
            return


async def test_a_cancellation_passes_even_if_the_case_was_moved(
    worker: Worker, desk: Desk, case: Case, engine: _Engine
) -> None:
    """The stop goes on although there is nothing to release any more."""
    engine.waits = True
    task = asyncio.create_task(worker.step())
    await engine.started.wait()
    drafting = await desk.case(case.id)
    await desk.withdraw(case.id, drafting.version, "moderator_one", "the author took it back")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await desk.case(case.id)).state is CaseState.WITHDRAWN


async def test_a_case_withdrawn_meanwhile_stays_withdrawn(desk: Desk, case: Case, engine: _Engine) -> None:
    """A moderator's decision outweighs a draft that comes after it, and the worker goes on."""

    async def suggest(post: FlaggedPost, claim: str | None, on_progress: Callable[[object], None]) -> Suggestion:
        drafting = await desk.case(case.id)
        await desk.withdraw(case.id, drafting.version, "moderator_one", "the author took it back")
        return await engine.suggest(post, claim, on_progress)

    assert await Worker(desk, suggest, lambda _: None).step()
    assert (await desk.case(case.id)).state is CaseState.WITHDRAWN
    assert await desk.suggestion(case.id) is None


async def test_a_killed_worker_is_recovered_from(worker: Worker, desk: Desk, case: Case) -> None:
    """A case that a dead process had taken is drafted after the restart (invariant I5)."""
    assert await desk.take_next() is not None
    assert not await worker.step()
    assert [recovered.id for recovered in await worker.recover()] == [case.id]
    assert await worker.step()
    assert (await desk.case(case.id)).state is CaseState.IN_REVIEW


async def test_a_chosen_claim_reaches_the_engine(
    worker: Worker, desk: Desk, case: Case, engine: _Engine, clock: FakeClock
) -> None:
    """Also after a stop: the choice is the case's, not the process's."""
    await worker.step()
    reviewed = await desk.case(case.id)
    await desk.redraft(case.id, reviewed.version, "Newcomers teach our children.", "moderator_one")
    await desk.take_next()
    await worker.recover()
    clock.advance(1)
    engine.drafts = ("They teach our children.",)
    assert await worker.step()
    assert engine.claims == [None, "Newcomers teach our children."]
    stored = await desk.suggestion(case.id)
    assert stored is not None
    assert [draft.text for draft in stored.suggestion.drafts] == ["They teach our children."]


@pytest.mark.parametrize("fault", [ModelUnavailable("The model is not there."), KeyError("x"), None])
async def test_new_drafts_that_fail_leave_those_of_before(
    worker: Worker, desk: Desk, case: Case, engine: _Engine, clock: FakeClock, fault: Exception | None
) -> None:
    """To ask for other drafts must cost a moderator nothing: the case is in review, and the reason says why."""
    await worker.step()
    before, reviewed = await desk.suggestion(case.id), await desk.case(case.id)
    await desk.redraft(case.id, reviewed.version, "Newcomers teach our children.", "moderator_one")
    clock.advance(1)
    engine.fault, engine.drafts = fault, ()
    assert await worker.step()
    assert (await desk.case(case.id)).state is CaseState.IN_REVIEW
    assert await desk.suggestion(case.id) == before
    assert (await _reason(desk, case)).endswith("The drafts of before stand.")


async def test_the_worker_runs_until_it_is_stopped(worker: Worker, desk: Desk, engine: _Engine) -> None:
    """It finds what is flagged while it waits, and ends when it is told to."""
    stop = asyncio.Event()
    task = asyncio.create_task(worker.run(stop))
    case = await desk.flag(SampleCommunity().flag("103", "mill_pond"))
    await engine.started.wait()
    stop.set()
    await task
    assert (await desk.case(case.id)).state is CaseState.IN_REVIEW


async def test_the_worker_outlives_a_database_that_is_away(
    worker: Worker, desk: Desk, case: Case, engine: _Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A database that comes back finds the worker still there, and nothing was lost."""
    holder = sqlite3.connect(tmp_path / "antiphon.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    stop = asyncio.Event()
    task = asyncio.create_task(worker.run(stop))
    while "waits for the database" not in caplog.text:  # noqa: ASYNC110 - a log line is no event
        await asyncio.sleep(0)
    holder.close()
    await engine.started.wait()
    stop.set()
    await task
    assert (await desk.case(case.id)).state is CaseState.IN_REVIEW
