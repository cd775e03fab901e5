"""The schedule: when each chore is due.

One process leads. A tick only enqueues: ``core.desk.upkeep.chores`` does the work, in any process, and the unique key
of its slot keeps two leaders from having it done twice (reliability, I17). Time is the database's, in UTC; what is set
on this machine's clock neither delays nor doubles a tick.
"""

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from core.desk.database.connection import Database, Session
from core.desk.runtime.lease import pause
from core.desk.store import jobs
from core.desk.store.leadership import Office
from core.desk.upkeep.chores import Chore, slot_key
from core.errors import Conflict, StoreUnavailable

_LOG = logging.getLogger(__name__)
OFFICE: Final = "scheduler"


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
        self._tick_seconds = tick_seconds

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
        try:
            while not stop.is_set():
                await self._quiet_tick()
                await pause(stop, self._tick_seconds)
        finally:
            await self._office.resign()

    async def _quiet_tick(self) -> None:
        try:
            await self.tick()
        except (StoreUnavailable, Conflict) as err:
            _LOG.warning("the schedule waits for the database: %s", err)
