"""``make torture``: random histories, crash points, kills and ambiguous sends, as long as the environment asks.

    ANTIPHON_TORTURE_EXAMPLES  random histories on SQLite (default 500); a fifth as many on PostgreSQL
    ANTIPHON_TORTURE_STEPS     steps of each (default 60)
    ANTIPHON_TORTURE_PAIRS     pairs of crashes (default 300), after every single one
    ANTIPHON_TORTURE_CYCLES    kills on each database (default 200)
    ANTIPHON_TORTURE_SENDS     ambiguous sends to Discord through the outbox, on each database (default 500)
    ANTIPHON_TORTURE_SCALE     how much longer than in make test its tests of bad lines run (default 10)
    ANTIPHON_TORTURE_DRAFTS    generated drafts whose request to Discord is looked at (default 10,000)
    ANTIPHON_TORTURE_SEED      the seed (default: another one each time, printed)
    ANTIPHON_TORTURE_JSON      a file for the figures

Prints a table and one JSON document; exit code 1 if any promise was broken.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from sqlalchemy import URL

from bot.store.database import Database
from tests.fakes.clock import FakeClock
from tests.fakes.people import SECRET, settle
from tests.fakes.postgres import make_templates, new_database, postgresql_server
from tests.torture import crashes, discord_sends, kills
from tests.torture.child import Place
from tests.torture.ground import Ground
from tests.torture.machine import run_histories

Figures = dict[str, Any]
_TESTS: Final = Path(__file__).parents[1] / "integration"
_LONG_TESTS: Final = [
    str(_TESTS / name) for name in ("test_discord_drafts.py", "test_discord_outbox.py", "test_outbox_faults.py")
]


def _number(name: str, default: int) -> int:
    return int(os.environ.get(f"ANTIPHON_TORTURE_{name}", default))


def histories(server: URL | None, seed: int) -> Figures:
    """Random histories, until one breaks a promise."""
    share = 1 if server is None else 5
    with Ground(server) as ground:
        broken = ""
        try:
            run_histories(ground, examples=_number("EXAMPLES", 500) // share, steps=_number("STEPS", 60), seed=seed)
        except Exception as err:
            broken = "\n".join([str(err), *getattr(err, "__notes__", [])])
        seen = ground.figures
        return {
            "runs": ground.examples,
            "steps": seen.steps,
            "crashes": seen.crashes,
            "crash points": len(seen.points),
            "flags": seen.flags,
            "folded": seen.folded,
            "erasures": seen.erasures,
            "chores": seen.chores,
            "sends": ground.sends,
            "ambiguous": ground.ambiguous,
            "posts": ground.posted,
            "duplicates": 0 if not broken else "see broken",
            "lost": 0 if not broken else "see broken",
            "broken": broken,
        }


async def crash_points(server: URL | None, seed: int) -> Figures:
    """Every single crash, and pairs; on PostgreSQL each named point once."""
    with Ground(server) as ground:
        found = crashes.Enumerated()
        for play in crashes.SCENARIOS.values():
            reached, pairs = await crashes.points(ground, play), _number("PAIRS", 300) // len(crashes.SCENARIOS)
            plans = [*crashes.all_single(reached), *crashes.pairs(reached, pairs, seed)]
            for plan in plans if server is None else crashes.first_of_each(reached):
                await crashes.run(ground, plan, found, play)
        return {
            "runs": found.runs,
            "crash points": len(found.points),
            "crashes": found.runs,
            "flags": ground.figures.flags,
            "sends": ground.sends,
            "ambiguous": ground.ambiguous,
            "posts": ground.posted,
            "duplicates": sum("'I2'" in one for one in found.broken),
            "lost": sum("'I3'" in one for one in found.broken),
            "broken": "\n".join(found.broken),
        }


async def killed(server: URL | None, seed: int) -> Figures:
    """Processes, killed and stopped."""
    cycles = _number("CYCLES", 200)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if server is None:
            return await _killed(Place(folder), folder / "world", cycles, seed)
        async with new_database(server) as address:
            place = Place(folder, address.render_as_string(hide_password=False))
            return await _killed(place, address, cycles, seed)


async def _killed(place: Place, where: Path | URL, cycles: int, seed: int) -> Figures:
    database = await Database.open(where, secret=SECRET)
    await settle(database)
    await database.close()
    kills.prepare()
    killed, stops = await asyncio.to_thread(kills.run, place, cycles, seed=seed, stops=True)
    found = await kills.look(place, cycles, killed, stops)
    return {
        "runs": found.cycles,
        "kills": found.kills,
        "stops": found.stops,
        "flags": found.flags,
        "erasures": found.erasures,
        "cases": found.cases,
        "sends": found.sends,
        "ambiguous": found.ambiguous,
        "posts": found.posts,
        "duplicates": found.duplicates,
        "lost": found.lost,
        "restless": found.restless,
        "broken": {name: [str(one) for one in some] for name, some in found.broken.items()} or "",
    }


async def ambiguous_sends(server: URL | None, seed: int) -> Figures:
    """Replies to Discord over a bad line, through the outbox."""
    async with AsyncExitStack() as kept:
        folder = kept.enter_context(tempfile.TemporaryDirectory())
        place = Path(folder) / "sends" if server is None else await kept.enter_async_context(new_database(server))
        clock = FakeClock()
        database = await Database.open(place, secret=SECRET, clock=clock)
        kept.push_async_callback(database.close)
        found = await discord_sends.run(database, clock, _number("SENDS", 500), seed)
        return discord_sends.as_row(found)


def long_tests(seed: int) -> Figures:
    """The tests that ``make test`` runs short, at their full length."""
    scale, drafts = _number("SCALE", 10), _number("DRAFTS", 10_000)
    length = {"ANTIPHON_TEST_SCALE": scale, "ANTIPHON_TEST_DRAFTS": drafts, "ANTIPHON_TEST_SEED": seed}
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *_LONG_TESTS],
        env=os.environ | {name: str(value) for name, value in length.items()},
        capture_output=True,
        text=True,
        check=False,
    )
    return {"runs": drafts, "ended": ended.stdout[-200:], "broken": ended.stdout if ended.returncode else ""}


def main() -> int:
    """Run everything on both databases."""
    seed = _number("SEED", random.SystemRandom().randrange(2**31))
    sys.stdout.write(f"seed {seed}\n")
    results: dict[str, Figures] = {}
    with postgresql_server() as server:
        asyncio.run(make_templates(server))
        for place, address in (("SQLite", None), ("PostgreSQL", server)):
            for what, work in (
                ("histories", histories),
                ("crash points", lambda url, chosen: asyncio.run(crash_points(url, chosen))),
                ("kills", lambda url, chosen: asyncio.run(killed(url, chosen))),
                ("Discord", lambda url, chosen: asyncio.run(ambiguous_sends(url, chosen))),
            ):
                began = time.monotonic()
                results[f"{what}, {place}"] = work(address, seed) | {"seconds": round(time.monotonic() - began)}
                sys.stdout.write(f"{what}, {place}: {json.dumps(results[f'{what}, {place}'])}\n")
                sys.stdout.flush()
    began = time.monotonic()
    results["long tests"] = long_tests(seed) | {"seconds": round(time.monotonic() - began)}
    sys.stdout.write(f"long tests: {json.dumps(results['long tests'])}\n")
    _print(results)
    document = json.dumps({"seed": seed, "results": results}, indent=2)
    sys.stdout.write(document + "\n")
    if file := os.environ.get("ANTIPHON_TORTURE_JSON"):
        Path(file).write_text(document)
    return int(any(figures["broken"] for figures in results.values()))


def _print(results: dict[str, Figures]) -> None:
    columns = [
        "runs",
        "steps",
        "crash points",
        "crashes",
        "kills",
        "erasures",
        "sends",
        "ambiguous",
        "duplicates",
        "lost",
        "seconds",
    ]
    table = Table("", *columns)
    for name, figures in results.items():
        table.add_row(name, *(str(figures.get(column, "")) for column in columns))
    Console(width=160).print(table)


if __name__ == "__main__":
    sys.exit(main())
