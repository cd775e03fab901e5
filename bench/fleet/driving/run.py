"""Drives a fleet: bots, workers and model servers in processes of their own over one PostgreSQL, and measures it.

Owns one run from its empty database to its figures. Only what came out of the database and of the processes counts;
times of cases are by the database's clock, which is that of the machine.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Final

import psutil
from sqlalchemy import URL

from bench.fleet.arrivals import Load, arrivals_of
from bench.fleet.driving.database import Watch, postgresql, prepare
from bench.fleet.driving.process import Process
from bench.fleet.processes import bots, server, workers
from bench.fleet.processes.bots import PEOPLE, BotPlan, People
from bench.fleet.processes.timed import SECRET, Times
from bench.fleet.processes.workers import WorkerPlan
from bench.fleet.service import Rates
from bench.measuring.output import note
from bot.store.engine.database import Database

_ROLES: Final = "bots workers servers database".split()
_START_SECONDS: Final = 600.0
_LOOKS_EVERY_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Fleet:
    """What runs, and what it meets.

    Attributes:
        slots: how many cases one worker drafts at once.
        undo_seconds: how long an approved reply can be taken back.
        idle_seconds: how long everything runs before the first flag, to see what waiting costs.
        longest_seconds: how long after the last flag the drafts, and then the sends, are waited for.
    """

    load: Load
    rates: Rates
    bots: int = 3
    workers: int = 4
    slots: int = 4
    servers: int = 1
    people: People = PEOPLE
    undo_seconds: float = 2.0
    idle_seconds: float = 10.0
    longest_seconds: float = 300.0

    @property
    def communities(self) -> list[tuple[str, str]]:
        """The bot and the name of each community, by its number."""
        return [(f"town-{number % self.bots}", f"c{number}") for number in range(self.load.communities)]


@dataclass
class Ran:
    """What a run showed; the times are seconds since the first flag was due.

    Attributes:
        due, drafted, taken, posted: by the number of the post. A post that was folded, or that nobody drafted or
            posted, is missing.
        states: how many cases ended in each state.
        queue: moments, cases that waited and cases that were drafted.
        cpu: seconds of the processor by kind of process, from the first flag to the last send.
        idle_cpu: the same for each second while nothing was to do.
        idle: transactions a second while nothing was to do.
        unsent: cases that were not decided or sent when the time for it was over.
        transactions, rows, bytes_stored, wal_bytes: of the database, from the first flag to the last send.
    """

    due: dict[int, float] = field(default_factory=dict)
    taken: dict[int, float] = field(default_factory=dict)
    drafted: dict[int, float] = field(default_factory=dict)
    posted: dict[int, float] = field(default_factory=dict)
    states: dict[str, int] = field(default_factory=dict)
    queue: list[tuple[float, int, int]] = field(default_factory=list)
    cpu: dict[str, float] = field(default_factory=dict)
    idle: float = 0.0
    idle_cpu: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    transactions: int = 0
    rows: int = 0
    bytes_stored: int = 0
    wal_bytes: int = 0
    times: dict[str, dict[str, tuple[int, float]]] = field(default_factory=dict)
    unsent: int = 0
    calls: int = 0
    call_seconds: float = 0.0
    server: dict[str, float] = field(default_factory=dict)
    done: dict[str, int] = field(default_factory=dict)
    cards: int = 0
    load_average: float = 0.0


def run(fleet: Fleet) -> Ran:
    """Run the fleet once.

    Raises:
        RuntimeError: a process ended too early, or posts were not drafted in time.
    """
    with postgresql() as (place, postmaster):
        asyncio.run(prepare(place, fleet.communities, fleet.people.moderators))
        return _Run(fleet, place, postmaster).run()


class _Run:
    def __init__(self, fleet: Fleet, place: URL, postmaster: psutil.Process) -> None:
        self._fleet = fleet
        self._place = place
        self._postmaster = postmaster
        self._arrivals = arrivals_of(fleet.load)
        self._processes = list[Process]()
        self._ran = Ran(due={arrival.number: arrival.at for arrival in self._arrivals})
        self._database_cpu = dict[int, float]()

    def run(self) -> Ran:
        with ExitStack() as stack:
            self._start(stack)
            note(f"{self._fleet.load.a_minute:g} a minute: all processes are ready")
            return asyncio.run(self._measure())

    def _start(self, stack: ExitStack) -> None:
        fleet = self._fleet
        for _ in range(fleet.servers):
            self._add(stack, "servers", server.serve, fleet.rates)
        addresses = [process.hear(_START_SECONDS) for process in self._of("servers")]
        asked = {f"{arrival.number}": arrival.demand for arrival in self._arrivals}
        for number in range(fleet.workers):
            address = addresses[number % len(addresses)]
            self._add(
                stack,
                "workers",
                workers.draft,
                WorkerPlan(f"worker-{number}", self._place, address, fleet.slots, asked),
            )
        for number in range(fleet.bots):
            self._add(stack, "bots", bots.serve, self._bot_plan(f"town-{number}"))
        for process in (*self._of("workers"), *self._of("bots")):
            process.hear(_START_SECONDS)

    def _add(self, stack: ExitStack, kind: str, target: Callable[..., None], plan: object) -> None:
        process = Process(kind, target, plan)
        stack.callback(process.end)
        self._processes.append(process)

    def _bot_plan(self, name: str) -> BotPlan:
        fleet, own = self._fleet, self._fleet.communities
        flags = tuple((own[flag.community][1], flag) for flag in self._arrivals if own[flag.community][0] == name)
        names = tuple(community for bot, community in own if bot == name)
        return BotPlan(name, self._place, names, flags, fleet.people, fleet.undo_seconds, fleet.load.seed)

    def _of(self, kind: str) -> list[Process]:
        return [process for process in self._processes if process.kind == kind]

    async def _measure(self) -> Ran:
        fleet, ran = self._fleet, self._ran
        watch = Watch(await Database.open(self._place, secret=SECRET, creates=False))
        try:
            await self._idle(watch)
            before, cpu = await watch.counters(), self._cpu()
            begins = time.time() + 0.5
            for process in self._of("bots"):
                process.line.send(begins)
            looking = asyncio.create_task(self._look(watch, begins))
            for process in self._of("bots"):
                await asyncio.to_thread(process.hear, fleet.load.seconds + fleet.longest_seconds)
            note(f"{self._fleet.load.a_minute:g} a minute: all is flagged")
            if missing := await self._until(watch.undrafted, fleet.longest_seconds):
                raise RuntimeError(f"{missing} drafts are still missing: {await self._stuck(watch)}.")
            note(f"{self._fleet.load.a_minute:g} a minute: all is drafted")
            ran.unsent = await self._until(watch.unsent, fleet.longest_seconds)
            looking.cancel()
            ran.seconds = time.time() - begins
            ran.cpu = {kind: now - cpu[kind] for kind, now in self._cpu().items()}
            ran.load_average = psutil.getloadavg()[0]
            after = await watch.counters()
            looked = watch.looks
            ran.transactions = after["transactions"] - before["transactions"] - looked
            ran.rows, ran.bytes_stored, ran.wal_bytes = (after[key] - before[key] for key in ("rows", "bytes", "wal"))
            note(f"{self._fleet.load.a_minute:g} a minute: {ran.unsent} sends are left")
            await self._end()
            ran.taken, ran.drafted, ran.posted = await watch.moves(begins)
            ran.states = await watch.states()
        finally:
            await watch.close()
        return ran

    async def _idle(self, watch: Watch) -> None:
        ran, seconds = self._ran, self._fleet.idle_seconds
        if not seconds:
            return
        before, cpu = await watch.counters(), self._cpu()
        await asyncio.sleep(seconds)
        ran.idle = ((await watch.counters())["transactions"] - before["transactions"] - 1) / seconds
        ran.idle_cpu = {kind: (now - cpu[kind]) / seconds for kind, now in self._cpu().items()}

    async def _look(self, watch: Watch, begins: float) -> None:
        while True:
            waiting, drafting = await watch.queue()
            self._ran.queue.append((time.time() - begins, waiting, drafting))
            await asyncio.sleep(_LOOKS_EVERY_SECONDS)

    async def _until(self, left: Callable[[], Any], seconds: float) -> int:
        """Wait until nothing is left, but not longer than so many seconds; returns how much is."""
        began = time.monotonic()
        while True:
            count = int(await left())
            if not count or time.monotonic() - began > seconds:
                return count
            await asyncio.sleep(_LOOKS_EVERY_SECONDS)

    async def _stuck(self, watch: Watch) -> str:
        """Where the cases are, and what the bots say of their moderators."""
        await self._end()
        states = ", ".join(f"{count} {state}" for state, count in (await watch.states()).items())
        return f"{states}; decisions: {self._ran.done}"

    async def _end(self) -> None:
        ran = self._ran
        for process in self._of("servers"):
            process.line.send("so far")
            found = await asyncio.to_thread(process.hear, _START_SECONDS)
            for key, value in found.items():
                ran.server[key] = ran.server.get(key, 0.0) + value
        for process in (*self._of("bots"), *self._of("workers"), *self._of("servers")):
            process.line.send("stop")
        for kind in ("bots", "workers"):
            said = [await asyncio.to_thread(process.hear, _START_SECONDS) for process in self._of(kind)]
            ran.times[kind] = _added([each["times"] for each in said])
            ran.calls += sum(each.get("calls", 0) for each in said)
            ran.call_seconds += sum(each.get("call_seconds", 0.0) for each in said)
            ran.cards += sum(each.get("cards", 0) for each in said)
            for each in said:
                for done, count in each.get("done", {}).items():
                    ran.done[done] = ran.done.get(done, 0) + count

    def _cpu(self) -> dict[str, float]:
        found = dict.fromkeys(_ROLES, 0.0)
        for process in self._processes:
            found[process.kind] += process.cpu
        for backend in (self._postmaster, *self._postmaster.children(recursive=True)):
            try:
                times = backend.cpu_times()
            except psutil.NoSuchProcess:
                continue
            self._database_cpu[backend.pid] = times.user + times.system
        found["database"] = sum(self._database_cpu.values())
        return found


def _added(times: Sequence[Times]) -> dict[str, tuple[int, float]]:
    count, seconds = Counter[str](), Counter[str]()
    for each in times:
        for name, (number, took) in each.items():
            count[name] += number
            seconds[name] += took  # type: ignore[assignment]  # a counter of seconds
    return {name: (count[name], float(seconds[name])) for name in count}
