"""Engines that fail and databases that are away: the worker goes on, and a case comes to a person with the reason."""

import asyncio
import json
import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from adapters.common.cards.states import standing
from adapters.sample import SampleCommunity
from bot.compose.desk import Desk, build_desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import Backoff, DraftQueue
from core.desk.drafting.worker import Worker
from core.desk.review.casework import Casework
from core.desk.rules.approval import CaseState
from core.desk.runtime.faults import installed
from core.desk.store.cases import Case
from core.desk.upkeep.retention import Expiry
from core.engine.pipeline import Engine
from core.engine.servers.chat import ChatModel
from core.errors import AntiphonError, BadAnswer, BadInput, ModelAway, ModelUnavailable, StoreUnavailable
from core.models import FlaggedPost
from tests.fakes.desk.chores import NOW
from tests.fakes.desk.decisions import card_of
from tests.fakes.desk.people import MODERATOR, SECRET, settle
from tests.fakes.desk.workers import OTHER_CLAIM, Counted, ToldEngine, drafting, last_reason, state_of, worker_of
from tests.fakes.engine.brief import passage
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.servers.alike import no_pause
from tests.fakes.engine.servers.chat import ChatServer, serving
from tests.fakes.engine.suggesting import hate_finding
from tests.fakes.machine.clock import FakeClock
from tests.fakes.ports.plain_markup import plain_reader

AWAY = ModelAway("The model is not there.", remedy="Start it.")
SLOW = ModelUnavailable("The model did not answer in time.", remedy="Allow more.")


# Engines that fail


@pytest.mark.parametrize(
    "fault",
    [BadAnswer("The model makes no sense.", remedy="Try another."), BadInput("The post is too long.")],
    ids=lambda fault: type(fault).__name__,
)
async def test_an_engine_that_cannot_hands_over_at_once(
    worker: Worker, desk: Desk, case: Case, engine: ToldEngine, fault: AntiphonError
) -> None:
    """A person reads why there is no draft, and what to do about it: another attempt would end the same."""
    engine.fault = fault
    assert await worker.step()
    assert await state_of(desk, case) is CaseState.NEEDS_PERSON
    assert await last_reason(desk, case) == str(fault)


async def test_a_case_outlives_a_model_that_is_away(
    worker: Worker, desk: Desk, case: Case, engine: ToldEngine, clock: FakeClock
) -> None:
    """Nothing of an outage is held against the case, which is drafted when the model is back.

    Meanwhile moderators see why it takes so long, and each attempt comes after a pause.
    """
    engine.fault = AWAY
    for _ in range(4):
        assert await worker.step()
        assert await state_of(desk, case) is CaseState.QUEUED
        assert await last_reason(desk, case) == f"{AWAY} It is tried again later."
        assert not await worker.step(), "first a pause"
        clock.advance(600)
    engine.fault = None
    assert await worker.step()
    assert await state_of(desk, case) is CaseState.IN_REVIEW


async def test_a_case_that_waits_for_a_model_expires_in_its_time(
    worker: Worker, desk: Desk, case: Case, engine: ToldEngine, clock: FakeClock, database: Database
) -> None:
    """Attempts, each of which moves the case, do not make it younger."""
    engine.fault = AWAY
    for _ in range(4):
        assert await worker.step()
        await Expiry(database, draft_hours=24).do(NOW)
        assert await state_of(desk, case) is CaseState.QUEUED
        clock.advance(6 * 3600)
    await Expiry(database, draft_hours=24).do(NOW)
    assert await state_of(desk, case) is CaseState.EXPIRED
    assert await last_reason(desk, case) == "no draft could be made in time"
    assert not await worker.step()


async def test_a_model_that_is_too_slow_is_asked_three_times(
    worker: Worker, desk: Desk, case: Case, engine: ToldEngine, clock: FakeClock
) -> None:
    """It may be the post: a person is asked then, who reads what is missing."""
    engine.fault = SLOW
    for _ in range(3):
        assert await worker.step()
        clock.advance(10_000)
    assert not await worker.step()
    assert len(engine.claims) == 3
    assert await state_of(desk, case) is CaseState.NEEDS_PERSON
    assert str(SLOW) in await last_reason(desk, case)


async def test_a_worker_whose_model_is_away_rests_before_the_next_case(
    queue: DraftQueue, desk: Desk, engine: ToldEngine
) -> None:
    """In an outage not everything that waits is begun, and moved, once a second."""
    for message in ("101", "102", "103"):
        await desk.intake.flag(SampleCommunity().flag(message, "mill_pond"))
    engine.fault = AWAY
    resting = Worker(queue, drafting(desk.database, engine), rest=Backoff("test", 3600, 3600))
    stop, failed = asyncio.Event(), Counted("put a case off: after the commit", 1)
    with installed(failed):
        task = asyncio.create_task(resting.run(stop))
        await failed.reached.wait()
        for _ in range(200):
            await asyncio.sleep(0)
    stop.set()
    await task
    assert len(engine.claims) == 1


@asynccontextmanager
async def _by_server(queue: DraftQueue, desk: Desk) -> AsyncIterator[tuple[ChatServer, Worker]]:
    with serving(hate_finding(draft="Everybody was new here once, and so were your own grandparents.")) as server:
        model = ChatModel(server.url, "sk-canary", "fake", pause=no_pause)
        engine = Engine(model, FakeEvidence([passage()]), readers_saying(hate=0.99))
        try:
            yield server, worker_of(queue, desk.database, engine)
        finally:
            await model.close()


_NO_MODEL = json.dumps({"error": {"message": "The model `fake` does not exist.", "code": "model_not_found"}})


@pytest.mark.parametrize(
    ("refuses", "said", "remedy"),
    [
        ((401, "{}"), "refuses the API key", "ANTIPHON__LLM__API_KEY"),
        ((404, _NO_MODEL), "does not know the model 'fake'", "llm.model"),
    ],
)
async def test_a_server_that_refuses_everybody_costs_no_case(
    front: Casework,
    queue: DraftQueue,
    desk: Desk,
    case: Case,
    clock: FakeClock,
    refuses: tuple[int, str],
    said: str,
    remedy: str,
) -> None:
    """The card says what is wrong and what to do; the case waits as long as it takes, and then has drafts."""
    async with _by_server(queue, desk) as (server, worker):
        server.refuses = refuses
        for _ in range(2):
            assert await worker.step()
            assert await state_of(desk, case) is CaseState.QUEUED
            told = " ".join(form for forms in standing(await card_of(front, case), plain_reader()) for form in forms)
            assert said in told and remedy in told
            clock.advance(600)
        server.refuses = None
        assert await worker.step()
    stored = await desk.queries.suggestion(case.id)
    assert await state_of(desk, case) is CaseState.IN_REVIEW
    assert stored is not None and stored.suggestion.drafts and stored.suggestion.cost.prompt_tokens


@pytest.mark.both_databases
async def test_a_server_that_is_busy_without_end_costs_no_prepared_reply(
    front: Casework, queue: DraftQueue, desk: Desk, case: Case, clock: FakeClock
) -> None:
    """What needs no model stands; the card says that the model gave none, and what to do once it does."""
    async with _by_server(queue, desk) as (server, worker):
        server.refuses = (429, "{}")
        assert await worker.step()
        card = await card_of(front, case)
        assert card.state is CaseState.IN_REVIEW and card.drafts
        (note,) = map(str, card.notes)
        assert "gave no usable answer" in note and "You can ask for other drafts later." in note
        server.refuses = None
        await front.redraft(case.id, card.version, MODERATOR)
        clock.advance(1)
        assert await worker.step()
    stored = await desk.queries.suggestion(case.id)
    assert stored is not None and stored.suggestion.drafts and stored.suggestion.cost.prompt_tokens


async def test_an_engine_that_breaks_hands_over(
    worker: Worker, desk: Desk, case: Case, engine: ToldEngine, caplog: pytest.LogCaptureFixture
) -> None:
    """A post that breaks the engine stops nothing else (invariant I6), and its words stay out of the log."""
    caplog.set_level(logging.DEBUG)
    engine.fault = KeyError(case.post.text)
    assert await worker.step()
    assert await state_of(desk, case) is CaseState.NEEDS_PERSON
    assert "KeyError" in await last_reason(desk, case)
    assert "KeyError" in caplog.text
    assert case.post.text not in caplog.text


async def test_a_suggestion_that_cannot_be_stored_hands_over(
    worker: Worker, desk: Desk, case: Case, engine: ToldEngine
) -> None:
    """Half a character from the model must not leave the case in ``drafting``."""
    engine.drafts = ("half \ud83d",)
    assert await worker.step()
    assert await state_of(desk, case) is CaseState.NEEDS_PERSON


@pytest.mark.parametrize("fault", [BadAnswer("The model makes no sense."), KeyError("x"), AWAY, None])
async def test_new_drafts_that_fail_leave_those_of_before(
    worker: Worker, desk: Desk, in_review: Case, engine: ToldEngine, clock: FakeClock, fault: Exception | None
) -> None:
    """To ask for other drafts must cost a moderator nothing: the case is in review, and the reason says why.

    They do not wait for a model that stays away, either.
    """
    before = await desk.queries.suggestion(in_review.id)
    await desk.decisions.redraft(in_review.id, in_review.version, OTHER_CLAIM, MODERATOR)
    engine.fault, engine.drafts = fault, ()
    for _ in range(3 if fault is AWAY else 1):
        clock.advance(10_000)
        assert await worker.step()
    assert await state_of(desk, in_review) is CaseState.IN_REVIEW
    assert await desk.queries.suggestion(in_review.id) == before
    assert (await last_reason(desk, in_review)).endswith("The earlier drafts are still there.")


# Databases that are away


@pytest.mark.both_databases
async def test_the_worker_outlives_a_database_that_is_away(
    engine: ToldEngine, post: FlaggedPost, tmp_path: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    """A database that comes back finds the worker still there, and nothing was lost."""
    path = tmp_path / "held.sqlite"
    database = await Database.open(path, secret=SECRET, clock=clock, busy_seconds=0)
    await settle(database)
    desk = build_desk(database)
    case = await desk.intake.flag(post)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    stop = asyncio.Event()
    task = asyncio.create_task(worker_of(DraftQueue(database, "worker"), database, engine).run(stop))
    while "waits for the database" not in caplog.text:  # noqa: ASYNC110 - a log line is no event
        await asyncio.sleep(0)
    holder.close()
    await engine.started.wait()
    stop.set()
    await task
    assert await state_of(desk, case) is CaseState.IN_REVIEW
    await database.close()


async def test_a_draft_waits_for_a_database_that_is_away(
    worker: Worker, desk: Desk, case: Case, engine: ToldEngine
) -> None:
    """A minute of the model's work is not thrown away for a moment's outage: it is not asked again."""
    outages = [StoreUnavailable("The database is away.") for _ in range(3)]

    async def away(point: str) -> None:
        if point == "store a suggestion: before the commit" and outages:
            raise outages.pop()

    with installed(away):
        assert await worker.step()
    assert outages == []
    assert await state_of(desk, case) is CaseState.IN_REVIEW
    assert len(engine.claims) == 1


@pytest.mark.both_databases
async def test_a_draft_whose_commit_was_not_answered_is_kept_once(
    worker: Worker, desk: Desk, case: Case, engine: ToldEngine
) -> None:
    """The connection broke after the commit: to write again finds that it is done."""
    broken = [StoreUnavailable("The connection broke.")]

    async def away(point: str) -> None:
        if point == "store a suggestion: after the commit" and broken:
            raise broken.pop()

    with installed(away):
        assert await worker.step()
    assert broken == []
    history = [entry.reason for entry in await desk.queries.history(case.id)]
    assert history[-2:] == ["drafting, attempt 1", "1 draft"]
    assert len(engine.claims) == 1
