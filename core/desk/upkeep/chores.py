"""The chores: what each one is, and what does those that the schedule enqueued."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from core.desk.database.connection import Database, Session
from core.desk.runtime import metrics
from core.desk.runtime.lease import give_back, pause, while_held
from core.desk.schema import JobState
from core.desk.store import jobs
from core.desk.store.jobs import Job
from core.engine.wording.text import counted
from core.errors import AntiphonError, Conflict, StoreUnavailable

BATCH: Final = 50
"""How many cases one transaction changes; on SQLite everybody else waits for it."""
_LOG = logging.getLogger(__name__)
MAX_ATTEMPTS: Final = 3
_FIRST_PAUSE: Final = timedelta(minutes=1)
_LONG_PAUSE: Final = timedelta(minutes=30)
_NUMBER: Final = " #"
_IN_WORDS: Final = {
    JobState.READY: "it failed, and is tried again later",
    JobState.RUNNING: "under way elsewhere",
    JobState.DEAD: f"given up after {MAX_ATTEMPTS} attempts",
}
"""What the state of a job says of its chore, where its own word does not."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a chore did, in a sentence with numbers and nothing of a case; ``again`` if more is left to do."""

    what: str
    again: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Chore:
    """Something to do in each slot of ``every``, or only when it is enqueued (``None``).

    A chore that fails three times is given up until the next slot; if it ``must_end``, it is enqueued again instead.
    """

    name: str
    do: Callable[[Job], Awaitable[Done]]
    every: timedelta | None = None
    must_end: bool = False


def counting(work: Callable[[], Awaitable[int]], noun: str, what: str) -> Callable[[Job], Awaitable[Done]]:
    """A chore that does ``work``, and reports how many of ``noun`` it found, and ``what`` happened to them."""

    async def do(_: Job) -> Done:
        return Done(f"{counted(await work(), noun)} {what}")

    return do


def slot_of(moment: datetime, every: timedelta) -> datetime:
    """The beginning of the slot that ``moment`` is in, in UTC: slots follow each other without a gap from 1970 on.

    Time zones and daylight saving time do not matter, so that no slot occurs twice and none is left out.
    """
    epoch = datetime.fromtimestamp(0, UTC)
    return moment - (moment - epoch) % every


def slot_key(name: str, moment: datetime, every: timedelta) -> str:
    """The key under which the work of a slot is enqueued once (reliability, I17)."""
    return f"{name}:{slot_of(moment.astimezone(UTC), every):%Y-%m-%dT%H:%M:%SZ}"


async def in_batches(database: Database, name: str, work: Callable[[Session], Awaitable[int]]) -> int:
    """Repeat ``work``, each time in its own transaction, until it finds less than ``BATCH``; returns the sum."""
    total = 0
    while True:
        count = await database.run(name, work)
        total += count
        if count < BATCH:
            return total


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of one piece of work: the state of its job now, and what was done or went wrong."""

    key: str
    state: JobState
    what: str

    @property
    def said(self) -> str:
        """The same as a line for people."""
        name = self.key.partition(":")[0]
        return f"{name}: {_IN_WORDS.get(self.state, self.state)}. {self.what[:1].upper()}{self.what[1:]}"


class Chores:
    """Does what the schedule, or another part of Antiphon, has enqueued.

    Args:
        owner: names this process among all.
        lease_seconds: how long it may be silent before another process takes a chore over.
        poll_seconds: how long to wait before looking again when there is nothing to do.
    """

    def __init__(
        self,
        database: Database,
        chores: Sequence[Chore],
        owner: str,
        *,
        lease_seconds: float = 300.0,
        poll_seconds: float = 5.0,
    ) -> None:
        self._database = database
        self._chores = {chore.name: chore for chore in chores}
        self._owner = owner
        self._lease = timedelta(seconds=lease_seconds)
        self._poll_seconds = poll_seconds

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; a chore that was begun is finished first."""
        while not stop.is_set():
            try:
                ran = await self.step()
            except StoreUnavailable as err:
                _LOG.warning("the chores wait for the database: %s", err)
                ran = None
            if ran is None:
                await pause(stop, self._poll_seconds)

    async def drain(self) -> list[Ran]:
        """Do everything that can be done now."""
        results = list[Ran]()
        while (ran := await self.step()) is not None:
            results.append(ran)
        return results

    async def step(self) -> Ran | None:
        """Do one piece of work; ``None`` if there was none.

        Raises:
            StoreUnavailable: the database does not answer; the work is taken over when its lease has run out.
        """
        job = await self._database.run("take a chore", self._take)
        if job is None:
            return None
        try:
            ran = await self._ran(job, self._chores[job.kind])
        except Conflict as err:
            _LOG.info("another process took over %s: %s", job.key, err)
            ran = Ran(job.key, JobState.RUNNING, "another process took it over")
        else:
            _LOG.info("%s: %s, %s", ran.key, ran.state, ran.what)
        metrics.CHORES.labels(job.kind, ran.state).inc()
        if ran.state is JobState.DONE:
            metrics.CHORE_SUCCESS.labels(job.kind).set_to_current_time()
        return ran

    async def _take(self, session: Session) -> Job | None:
        return await jobs.take(session, list(self._chores), self._owner, self._lease)

    async def _ran(self, job: Job, chore: Chore) -> Ran:
        if job.attempts > MAX_ATTEMPTS:
            return await self._give_up(job, chore, f"It was begun {MAX_ATTEMPTS} times and never ended.")
        try:
            done = await self._done_under_lease(job, chore)
        except asyncio.CancelledError:
            await asyncio.shield(give_back("a chore", self._retry(job, timedelta(), "It was interrupted.")))
            raise
        except Conflict:
            raise
        except AntiphonError as err:
            return await self._failed(job, chore, str(err))
        except Exception as err:
            # Only the kind of the error is kept: its message may quote a post.
            return await self._failed(job, chore, f"It failed unexpectedly ({type(err).__name__}).")
        return await self._end(job, JobState.DONE, done.what, done.again)

    async def _done_under_lease(self, job: Job, chore: Chore) -> Done:
        """Do the chore and renew its lease meanwhile; ``Conflict`` if the lease was lost."""

        async def renew() -> bool:
            return await self._database.run("keep a chore", lambda session: jobs.renew(session, job, self._lease))

        return await while_held(chore.do(job), renew, lambda: asyncio.sleep(self._lease.total_seconds() / 4))

    async def _failed(self, job: Job, chore: Chore, reason: str) -> Ran:
        """Try again later, after a longer pause each time, or give up."""
        _LOG.warning("%s failed: %s", job.key, reason)
        if job.attempts >= MAX_ATTEMPTS:
            return await self._give_up(job, chore, reason)
        return await self._retry(job, _FIRST_PAUSE * 2 ** (job.attempts - 1), reason)

    async def _give_up(self, job: Job, chore: Chore, reason: str) -> Ran:
        return await self._end(job, JobState.DEAD, reason, _LONG_PAUSE if chore.must_end else None)

    async def _end(self, job: Job, state: JobState, what: str, again: timedelta | None = None) -> Ran:
        """Record how a piece of work ended, and with ``again`` enqueue the same work again, in one transaction."""

        async def work(session: Session) -> None:
            await jobs.finish(session, job, state, what if state is JobState.DEAD else None)
            if again is not None:
                key, _, number = job.key.partition(_NUMBER)
                anew = f"{key}{_NUMBER}{int(number or 1) + 1}"
                await jobs.enqueue(session, anew, job.kind, payload=job.payload, after=again)

        await self._database.run("finish a chore", work)
        return Ran(job.key, state, what)

    async def _retry(self, job: Job, after: timedelta, what: str) -> Ran:
        await self._database.run("put a chore off", lambda session: jobs.retry(session, job, after, what))
        return Ran(job.key, JobState.READY, what)
