"""Schedulers whose leader is lost again and again: another one leads within two leases, and each slot is done once.

Real processes over one PostgreSQL database. The leader is killed, or stopped for three leases while another one takes
over, and goes on then. A chore that was cut short with its process is done again; no other is.
"""

import asyncio
import os
import random
import signal
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from sqlalchemy import URL, func, select

from core.desk.database.connection import Database, Session
from core.desk.schema import JobRow, JobState, LeadershipRow
from core.desk.upkeep.schedule import OFFICE
from tests.fakes.desk.people import SECRET
from tests.torture.many.scheduler import OFTEN, SELDOM, Keeper, main
from tests.torture.world.processes import CHILDREN

_PROCESSES: Final = 3
_STOPS: Final = 0.3
"""The share of leaders that are stopped, and go on."""
_LOOK_SECONDS: Final = 0.03
_HANG_SECONDS: Final = 180.0


@dataclass
class Led:
    """What a run left behind. ``leases`` says after how many leases another process led."""

    kills: int = 0
    stops: int = 0
    leases: list[float] = field(default_factory=list)
    slots: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Child:
    name: str
    process: BaseProcess
    line: Connection


async def run(server: URL, folder: Path, losses: int, *, seed: int = 0, lease_seconds: float = 2.0) -> Led:
    database = await Database.open(server, secret=SECRET)
    try:
        return await _Run(server, folder / "done", database, random.Random(seed), lease_seconds).all(losses)
    finally:
        await database.close()


class _Run:
    def __init__(self, server: URL, file: Path, database: Database, chance: random.Random, lease: float) -> None:
        self._address, self._file = server.render_as_string(hide_password=False), file
        self._database, self._chance, self._lease = database, chance, lease
        self._alive = dict[str, _Child]()
        self._started = 0
        self._found = Led()

    async def all(self, losses: int) -> Led:
        """The whole run."""
        try:
            for _ in range(_PROCESSES):
                await self._start()
            while len(self._found.leases) < losses:
                await self._lose()
            await self._until_quiet()
        finally:
            for child in self._alive.values():
                child.process.kill()
                child.line.close()
        await self._look()
        return self._found

    async def _start(self) -> None:
        self._started += 1
        own, theirs = CHILDREN.Pipe()
        keeper = Keeper(
            self._address, f"keeper-{self._started}", self._file, self._lease, self._lease / 2, self._lease * 5
        )
        process: BaseProcess = CHILDREN.Process(target=main, args=(keeper, theirs), daemon=True)
        await asyncio.to_thread(process.start)
        theirs.close()
        await asyncio.to_thread(own.recv_bytes)
        self._alive[keeper.name] = _Child(keeper.name, process, own)

    async def _lose(self) -> None:
        """Lose the leader, unless another one leads by then, and wait until another process leads."""
        leader, _ = await self._leader(besides=None)
        child = self._alive[leader]
        await asyncio.sleep(self._chance.uniform(0, self._lease))
        if (await self._office())[0] != leader:
            return
        assert child.process.pid is not None
        is_killed = self._chance.random() >= _STOPS
        os.kill(child.process.pid, signal.SIGKILL if is_killed else signal.SIGSTOP)
        lost_at = await self._database.run("read the time of a loss", _moment)
        _, led_at = await self._leader(besides=leader)
        self._found.leases.append((led_at - lost_at).total_seconds() / self._lease)
        if is_killed:
            self._found.kills += 1
            child.process.join()
            child.line.close()
            del self._alive[leader]
            await self._start()
        else:
            self._found.stops += 1
            await asyncio.sleep(2 * self._lease)
            os.kill(child.process.pid, signal.SIGCONT)

    async def _leader(self, besides: str | None) -> tuple[str, datetime]:
        """Who leads, once it is another one than that, and the time."""
        async with asyncio.timeout(_HANG_SECONDS):
            while True:
                owner, moment = await self._office()
                if owner in self._alive and owner != besides:
                    return owner, moment
                await asyncio.sleep(_LOOK_SECONDS)

    async def _office(self) -> tuple[str, datetime]:
        async def work(session: Session) -> tuple[str, datetime]:
            held = select(LeadershipRow.owner).where(LeadershipRow.office == OFFICE)
            return await session.scalar(held.where(LeadershipRow.until >= session.moment)) or "", session.moment

        return await self._database.run("see who leads", work)

    async def _until_quiet(self) -> None:
        """Let one more slot begin and end."""
        more = await self._enqueued() + 2
        async with asyncio.timeout(_HANG_SECONDS):
            while await self._enqueued() < more or await self._open():  # noqa: ASYNC110 - rows are no events
                await asyncio.sleep(_LOOK_SECONDS)

    async def _enqueued(self) -> int:
        return await self._database.run("count the slots", lambda session: _count(session, *JobState))

    async def _open(self) -> int:
        at_work = (JobState.READY, JobState.RUNNING)
        return await self._database.run("count open chores", lambda session: _count(session, *at_work))

    async def _look(self) -> None:
        found, said = self._found, Counter(self._file.read_text().splitlines())

        async def work(session: Session) -> list[JobRow]:
            return list(await session.scalars(select(JobRow).order_by(JobRow.key)))

        for row in await self._database.run("look at the chores", work):
            found.slots[row.kind] += 1
            begun, ended = said[f"begun {row.key}"], said[f"ended {row.key}"]
            if row.state is JobState.DONE and not (1 <= ended <= begun <= row.attempts):
                found.broken.append(
                    f"{row.key} was begun {begun} times, in {row.attempts} attempts, and ended {ended} times."
                )
            if row.state is JobState.DEAD:
                found.broken.append(f"{row.key} was given up.")
        if not found.slots[OFTEN] or not found.slots[SELDOM]:
            found.broken.append("No slot of a chore came.")


async def _count(session: Session, *states: JobState) -> int:
    return int(await session.scalar(select(func.count()).select_from(JobRow).where(JobRow.state.in_(states))) or 0)


async def _moment(session: Session) -> datetime:
    return session.moment
