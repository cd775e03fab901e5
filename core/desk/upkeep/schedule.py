"""The schedule: when each chore is due.

One process leads. A tick only enqueues: ``core.desk.upkeep.chores`` does the work, in any process, and the unique key
of its slot keeps two leaders from having it done twice (reliability, I17). Time is the database's, in UTC; APScheduler
knows only this machine's clock, and only wakes the leader up.
"""

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from apscheduler.executors.debug import DebugExecutor
from apscheduler.job import Job as Wakeup
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from core.desk.database.connection import Database, Session
from core.desk.runtime.lease import pause
from core.desk.store import jobs
from core.desk.store.leadership import Office
from core.desk.upkeep.chores import Chore, slot_key
from core.errors import Conflict, StoreUnavailable

_LOG = logging.getLogger(__name__)
OFFICE: Final = "scheduler"

# It logs the beginning and the end of every tick.
logging.getLogger("apscheduler").setLevel(logging.WARNING)


class Schedule:
    """Enqueues each chore once in each of its slots, while this process is the leader.

    A chore does all that is due, so if several slots were missed, only the last one is enqueued.

    Args:
        owner: names this process among all.
        lease_seconds: how long a leader may be silent before another process takes the office over.
        tick_seconds: how often to look; well below the lease.
    """

    def __init__(
        self,
        database: Database,
        chores: Sequence[Chore],
        owner: str,
        *,
        lease_seconds: float = 60.0,
        tick_seconds: float = 15.0,
    ) -> None:
        self._database = database
        self._periods = {chore.name: chore.every for chore in chores if chore.every is not None}
        self._office = Office(database, OFFICE, owner, timedelta(seconds=lease_seconds))
        self._tick = timedelta(seconds=tick_seconds)

    async def tick(self) -> list[str]:
        """Enqueue what is due and not enqueued yet; returns the new keys, none if another process leads.

        Raises:
            StoreUnavailable: the database does not answer; the next tick catches up.
        """

        async def work(session: Session) -> list[str]:
            if not await self._office.is_held(session):
                return []
            due = {name: slot_key(name, session.moment, every) for name, every in self._periods.items()}
            return [key for name, key in due.items() if await jobs.enqueue(session, key, name)]

        return await self._database.run("tick", work)

    async def once(self) -> list[str]:
        """Do one tick and give the office back; otherwise like ``tick``."""
        try:
            return await self.tick()
        finally:
            await self._office.resign()

    async def run(self, stop: asyncio.Event) -> None:
        """Tick until ``stop`` is set; then give the office back."""
        # The wake-up only sets an event. APScheduler would cancel a tick of its own at the end, amid its transaction.
        waking = AsyncIOScheduler(timezone=UTC, executors={"default": DebugExecutor()})
        seconds, due = self._tick.total_seconds(), asyncio.Event()
        when = {"seconds": seconds, "misfire_grace_time": None, "next_run_time": datetime.now(UTC)}
        wakeup = waking.add_job(due.set, "interval", **when)
        waking.start()
        ending = asyncio.create_task(_set_after(stop, due))
        try:
            while not stop.is_set():
                await pause(due, seconds)
                if due.is_set():
                    due.clear()
                    await self._quiet_tick(stop)
                self._mend(wakeup)
        finally:
            ending.cancel()
            waking.shutdown(wait=False)
            await asyncio.sleep(0)  # it ends in the next turn of the event loop
            await self._office.resign()

    def _mend(self, wakeup: Wakeup) -> None:
        """Bring a wake-up near again that is far in the future because this machine's clock was put back."""
        now = datetime.now(UTC)
        if wakeup.next_run_time is not None and wakeup.next_run_time > now + 2 * self._tick:
            wakeup.modify(next_run_time=now)

    async def _quiet_tick(self, stop: asyncio.Event) -> None:
        if stop.is_set():
            return
        try:
            await self.tick()
        except (StoreUnavailable, Conflict) as err:
            _LOG.warning("the schedule waits for the database: %s", err)


async def _set_after(stop: asyncio.Event, due: asyncio.Event) -> None:
    """Let the end interrupt the wait for the next wake-up."""
    await stop.wait()
    due.set()
