"""A process that keeps the schedule and does its chores, as ``antiphon serve`` does, until it is killed.

A chore writes a line to a file when it begins and one when it ends, so that what was done twice shows.
"""

import asyncio
import logging
import os
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path

from sqlalchemy import make_url

from core.desk.database.connection import Database, connected
from core.desk.store.jobs import Job
from core.desk.upkeep.chores import Chore, Chores, Done
from core.desk.upkeep.schedule import Schedule
from tests.fakes.desk.people import SECRET

OFTEN, SELDOM = "often", "seldom"


@dataclass(frozen=True, slots=True)
class Keeper:
    """What a process is given; a leader may be silent for ``lease_seconds``."""

    address: str
    name: str
    file: Path
    lease_seconds: float
    often_seconds: float
    seldom_seconds: float

    def say(self, what: str) -> None:
        """Append a line in one write: it is there whole, or not at all."""
        with self.file.open("ab", buffering=0) as out:
            out.write(f"{what}\n".encode())


def main(keeper: Keeper, line: Connection) -> None:
    """Work until killed; ends when the parent does."""
    logging.getLogger("bot").setLevel(logging.CRITICAL)
    asyncio.run(_keep(keeper, line))


async def _keep(keeper: Keeper, line: Connection) -> None:
    lease = keeper.lease_seconds
    database = Database(connected(make_url(keeper.address), lease / 2, lease), SECRET, None, lease / 2)

    async def do(job: Job) -> Done:
        keeper.say(f"begun {job.key}")
        await asyncio.sleep(lease / 20)
        keeper.say(f"ended {job.key}")
        return Done("noted")

    chores = [
        Chore(OFTEN, do, timedelta(seconds=keeper.often_seconds)),
        Chore(SELDOM, do, timedelta(seconds=keeper.seldom_seconds)),
    ]
    stop = asyncio.Event()
    # The lease and the tick are in the proportion of the shipped ones.
    schedule = Schedule(database, chores, keeper.name, lease_seconds=lease, tick_seconds=lease / 4)
    runner = Chores(database, chores, keeper.name, lease_seconds=lease, poll_seconds=lease / 10)
    parts = [asyncio.create_task(part) for part in (schedule.run(stop), runner.run(stop))]
    line.send_bytes(str(os.getpid()).encode())
    await asyncio.to_thread(_until_closed, line)
    for part in parts:
        part.cancel()


def _until_closed(line: Connection) -> None:
    try:
        line.recv_bytes()
    except EOFError:
        return
