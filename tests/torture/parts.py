"""The parts of ``make torture``, each as long as the environment asks, each with its figures.

Owns what every part measures; each runs in a process of its own.
"""

from __future__ import annotations

import asyncio
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL

from core.desk.database.connection import Database
from tests.fakes.desk.people import SECRET, settle
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.postgres import new_database
from tests.fakes.mastodon import sends as mastodon_sends
from tests.fakes.ports.governance import FakeGovernance
from tests.fakes.telegram import sends as telegram_sends
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.wire import telegram_wire
from tests.torture.ends import crashes, discord_sends, kills, mastodon_intake, telegram_intake
from tests.torture.ends.child import Place
from tests.torture.histories.machine import run_histories
from tests.torture.many import leaders, losses
from tests.torture.world.ground import Ground

Figures = dict[str, Any]
_TESTS: Final = Path(__file__).parents[1] / "integration"
_LONG_TESTS: Final = [
    str(_TESTS / name)
    for name in (
        "adapters/discord/posting/test_drafts.py",
        "adapters/discord/posting/test_outbox.py",
        "adapters/mastodon/posting/test_drafts.py",
        "adapters/telegram/posting/test_drafts.py",
        "core/desk/sending/test_faults.py",
    )
]


def number(name: str, default: int) -> int:
    return int(os.environ.get(f"ANTIPHON_TORTURE_{name}", default))


def histories(server: URL | None, seed: int) -> Figures:
    """Random histories, until one breaks a promise."""
    share = 1 if server is None else 5
    with Ground(server) as ground:
        broken = ""
        try:
            run_histories(ground, examples=number("EXAMPLES", 500) // share, steps=number("STEPS", 60), seed=seed)
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
            "undone closings": seen.undone,
            "erasures": seen.erasures,
            "chores": seen.chores,
            "sends": ground.sends,
            "ambiguous": ground.ambiguous,
            "posts": ground.posted,
            "duplicates": 0 if not broken else "see broken",
            "lost": 0 if not broken else "see broken",
            "broken": broken,
        }


def crash_points(server: URL | None, seed: int) -> Figures:
    """Every single crash, and pairs; on PostgreSQL each named point once."""
    return asyncio.run(_crash_points(server, seed))


async def _crash_points(server: URL | None, seed: int) -> Figures:
    with Ground(server) as ground:
        found = crashes.Enumerated()
        for play in crashes.SCENARIOS.values():
            reached, pairs = await crashes.points(ground, play), number("PAIRS", 300) // len(crashes.SCENARIOS)
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


def killed(server: URL | None, seed: int) -> Figures:
    """Processes, killed and stopped."""
    return asyncio.run(_killed_at(server, seed))


async def _killed_at(server: URL | None, seed: int) -> Figures:
    cycles = number("CYCLES", 200)
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


def killed_intake(server: URL | None, seed: int) -> Figures:
    """Processes that take in Telegram's updates, killed."""
    return asyncio.run(_killed_intake(server, seed))


async def _killed_intake(server: URL | None, seed: int) -> Figures:
    telegram_intake.prepare()
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # the killed leave half a request behind
    async with AsyncExitStack() as kept:
        folder = Path(kept.enter_context(tempfile.TemporaryDirectory()))
        place = folder if server is None else await kept.enter_async_context(new_database(server, is_empty=True))
        found = await telegram_intake.killed_at(place, folder, number("CYCLES", 200), seed)
    return {
        "runs": found.kills,
        "kills": found.kills,
        "updates": found.updates,
        "handed out again": found.again,
        "cases": found.cases.count,
        "ways": dict(found.cases.kinds),
        "forwards twice": found.cases.twice,
        "reactions unheard": found.cases.unheard,
        "duplicates": len(found.cases.extra),
        "lost": len(found.cases.lost) + found.unsettled,
        "broken": found.broken,
    }


def lost_workers(server: URL | None, seed: int) -> Figures:
    """Processes that draft, killed, stopped and cut off from PostgreSQL."""
    return asyncio.run(_lost_workers(server, seed))


async def _lost_workers(server: URL | None, seed: int) -> Figures:
    assert server is not None
    losses.prepare(__name__)
    async with new_database(server) as address:
        found = await losses.run(address, number("LOSSES", 200), seed=seed)
    return {
        "runs": found.losses.total(),
        "ways": {way.value: found.losses[way] for way in losses.Way},
        "cases": found.cases,
        "in review": found.in_review,
        "given to a person": found.given_up,
        "refused": found.refused,
        "leases until free": {way.value: _spread(found.leases[way]) for way in losses.Way},
        "leases until taken, where people wait": {way.value: _spread(found.taken[way]) for way in losses.Way},
        "later than two leases": found.late,
        "broken": "\n".join(found.broken),
    }


def lost_leaders(server: URL | None, seed: int) -> Figures:
    """Schedulers whose leader is killed and stopped, over PostgreSQL."""
    return asyncio.run(_lost_leaders(server, seed))


async def _lost_leaders(server: URL | None, seed: int) -> Figures:
    assert server is not None
    leaders.prepare(__name__)
    with tempfile.TemporaryDirectory() as folder:
        async with new_database(server) as address:
            found = await leaders.run(address, Path(folder), max(1, number("LOSSES", 200) // 4), seed=seed)
    return {
        "runs": found.kills + found.stops,
        "kills": found.kills,
        "stops": found.stops,
        "leases until led again": _spread(found.leases),
        "slots": dict(found.slots),
        "missed": found.missed,
        "cut short": found.cut_short,
        "broken": "\n".join(found.broken),
    }


def _spread(leases: Sequence[float]) -> dict[str, float]:
    """The median and the most of how many leases something took."""
    return {"p50": round(statistics.median(leases), 2), "most": round(max(leases), 2)} if leases else {}


def killed_mentions(server: URL | None, seed: int) -> Figures:
    """Processes that take in the mentions of an instance of Mastodon, killed."""
    return asyncio.run(_killed_mentions(server, seed))


async def _killed_mentions(server: URL | None, seed: int) -> Figures:
    mastodon_intake.prepare()
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # the killed leave half a request behind
    async with AsyncExitStack() as kept:
        folder = Path(kept.enter_context(tempfile.TemporaryDirectory()))
        place = folder if server is None else await kept.enter_async_context(new_database(server, is_empty=True))
        found = await mastodon_intake.killed_at(place, folder, number("CYCLES", 200), seed)
    return {
        "runs": found.kills,
        "kills": found.kills,
        "mentions": found.mentions,
        "handed out": found.handed_out,
        "answers": found.answers,
        "duplicates": found.doubled,
        "lost": found.lost + found.unsettled,
        "broken": found.broken,
    }


def sends_to_discord(server: URL | None, seed: int) -> Figures:
    """Replies to Discord over a bad line, through the outbox."""
    return asyncio.run(_sends_to_discord(server, seed))


async def _sends_to_discord(server: URL | None, seed: int) -> Figures:
    async with _database_of_sends(server) as (database, clock):
        return discord_sends.as_row(await discord_sends.run(database, clock, number("SENDS", 500), seed))


def sends_to_telegram(server: URL | None, _: int) -> Figures:
    """Replies to Telegram over a bad line, through the outbox; each kind of fault in turn, by no chance."""
    return asyncio.run(_sends_to_telegram(server))


async def _sends_to_telegram(server: URL | None) -> Figures:
    sends, telegram = telegram_sends.sends_with(number("SENDS", 500)), TelegramServer()
    logging.getLogger("telegram").setLevel(logging.CRITICAL)  # the library prints each answer that it cannot read
    async with (
        _database_of_sends(server) as (database, clock),
        telegram.running(),
        telegram_wire(telegram, FakeGovernance()) as wire,
    ):
        found = await telegram_sends.send_over_a_bad_line(database, clock, wire, sends)
    figures = telegram_sends.as_row(found)
    return figures | {"broken": "\n".join(filter(None, [figures["broken"], *telegram.errors]))}


def sends_to_mastodon(server: URL | None, seed: int) -> Figures:
    """Replies to an instance that recognises a repeated one by its key, over a bad line, through the outbox."""
    return asyncio.run(_sends_to_fediverse(server, "mastodon", seed))


def sends_to_gotosocial(server: URL | None, seed: int) -> Figures:
    """The same to an instance that ignores the key."""
    return asyncio.run(_sends_to_fediverse(server, "gotosocial", seed))


async def _sends_to_fediverse(server: URL | None, software: str, seed: int) -> Figures:
    sends = mastodon_sends.sends_with(number("SENDS", 500))
    async with _database_of_sends(server) as (database, clock):
        found = await mastodon_sends.send_over_a_bad_line(database, clock, software, sends, seed)
    return mastodon_sends.as_row(found)


@asynccontextmanager
async def _database_of_sends(server: URL | None) -> AsyncIterator[tuple[Database, FakeClock]]:
    """A new database, and the clock that it goes by."""
    async with AsyncExitStack() as kept:
        folder = kept.enter_context(tempfile.TemporaryDirectory())
        place = Path(folder) / "sends" if server is None else await kept.enter_async_context(new_database(server))
        clock = FakeClock()
        database = await Database.open(place, secret=SECRET, clock=clock)
        kept.push_async_callback(database.close)
        yield database, clock


def long_tests(_: URL | None, seed: int) -> Figures:
    """The tests that ``make test`` runs short, at their full length."""
    scale, drafts = number("SCALE", 10), number("DRAFTS", 10_000)
    length = {"ANTIPHON_TEST_SCALE": scale, "ANTIPHON_TEST_DRAFTS": drafts, "ANTIPHON_TEST_SEED": seed}
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *_LONG_TESTS],
        env=os.environ | {name: str(value) for name, value in length.items()},
        capture_output=True,
        text=True,
        check=False,
    )
    return {"runs": drafts, "ended": ended.stdout[-200:], "broken": ended.stdout if ended.returncode else ""}


PARTS: Final[Sequence[tuple[str, Callable[[URL | None, int], Figures]]]] = (
    ("histories", histories),
    ("crash points", crash_points),
    ("kills", killed),
    ("Discord", sends_to_discord),
    ("Telegram", sends_to_telegram),
    ("Telegram's updates", killed_intake),
    ("Mastodon", sends_to_mastodon),
    ("GoToSocial", sends_to_gotosocial),
    ("Mastodon's mentions", killed_mentions),
)


ON_POSTGRESQL: Final[Sequence[tuple[str, Callable[[URL | None, int], Figures]]]] = (
    ("lost workers", lost_workers),
    ("lost leaders", lost_leaders),
)
"""What needs a database that several machines share."""


def timed(part: Callable[[URL | None, int], Figures], server: URL | None, seed: int) -> Figures:
    """A part, and how many seconds it took."""
    began = time.monotonic()
    return part(server, seed) | {"seconds": round(time.monotonic() - began)}
