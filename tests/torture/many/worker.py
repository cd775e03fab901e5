"""A process that drafts as ``antiphon worker`` does, over an engine that takes its time, until it is lost.

What it says to its parent: that it is ready, and each draft that came too late and was refused.
"""

import asyncio
import logging
import multiprocessing
import random
from dataclasses import dataclass
from multiprocessing.connection import Connection

from sqlalchemy import make_url

from core.desk.database.connection import Database, connected
from core.desk.drafting.precedence import Precedence
from core.desk.drafting.queue import Backoff, DraftQueue
from core.desk.drafting.request import DraftingRequest
from core.desk.drafting.worker import Worker, unheard, work
from core.engine.pipeline import Engine, OnProgress
from core.engine.request import Request, Voice
from core.models import Suggestion
from tests.fakes.desk.people import SECRET
from tests.fakes.engine.brief import PATIENT
from tests.fakes.engine.suggestions import suggestion_for

READY, REFUSED = b"ready", b"refused"
PAUSE_BY_LEASE, LONGEST_BY_LEASE = 10 / 60, 600 / 60
"""The pause after a lost worker, by the lease: as the shipped settings have it."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a process is given."""

    address: str
    name: str
    seed: int
    lease_seconds: float
    call_seconds: float


class _Slow(Engine):
    """Calls a model three times, each time for as long as chance has it."""

    def __init__(self, job: Job) -> None:
        self._chance = random.Random(job.seed)
        self._job = job

    async def suggest(self, request: Request, on_progress: OnProgress = unheard) -> Suggestion:
        del on_progress
        for _ in range(3):
            async with request.turn():
                await asyncio.sleep(self._chance.uniform(0, 2 * self._job.call_seconds))
        return suggestion_for(request.post, (f"Drafted by {self._job.name}.",))


class _Refusals(logging.Handler):
    def __init__(self, line: Connection) -> None:
        super().__init__(logging.INFO)
        self._line = line

    def emit(self, record: logging.LogRecord) -> None:
        if "moved by somebody else" in record.getMessage():
            self._line.send_bytes(REFUSED)


def main(job: Job, line: Connection) -> None:
    """Draft until killed, or until the parent is gone."""
    logging.getLogger("bot").setLevel(logging.CRITICAL)
    heard = logging.getLogger("core.desk.drafting.worker")
    heard.setLevel(logging.INFO)
    heard.propagate = False
    heard.addHandler(_Refusals(line))
    asyncio.run(_draft(job, line))


async def _draft(job: Job, line: Connection) -> None:
    lease = job.lease_seconds
    # As bot.compose.application opens it; what a statement may take is scaled with the lease.
    database = Database(connected(make_url(job.address), lease / 2, lease), SECRET, None, lease / 2)
    asks = DraftingRequest(database, _Slow(job), PATIENT, lambda _: Voice())
    queue = DraftQueue(
        database,
        job.name,
        lease_seconds=lease,
        backoff=Backoff(job.name, PAUSE_BY_LEASE * lease, LONGEST_BY_LEASE * lease),
    )
    precedence = Precedence(queue.look, look_seconds=lease / 10, patience_seconds=lease)
    stop = asyncio.Event()
    line.send_bytes(READY)
    working = asyncio.create_task(
        work([Worker(queue, asks, poll_seconds=lease / 20, precedence=precedence)], stop, 0.0)
    )
    parent = multiprocessing.parent_process()
    assert parent is not None
    await asyncio.to_thread(parent.join)
    stop.set()
    await working
