"""The state of each platform of this process, stored where every process of this installation can read it.

The person who started the process is told at once. The database is told again and again while the process lives, so
that a process that is gone is known by its silence.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from datetime import timedelta

from core.desk.database.connection import Database
from core.desk.runtime import metrics
from core.desk.runtime.lease import pause
from core.desk.schema import PlatformState
from core.desk.views import platforms as store
from core.desk.views.platforms import Standing
from core.errors import Conflict, StoreUnavailable

_LOG = logging.getLogger(__name__)

OnStanding = Callable[[Standing], object]
"""Called when a platform is being connected, is connected, or failed."""


def unwatched(_: Standing) -> None:
    """Ignore the change."""


class Standings:
    """The states of the platforms of one process.

    Args:
        names: the platforms that it serves.
        owner: names this process among all.
        say: is told of every change.
        lease_seconds: how long the process may be silent before it counts as gone; it says all again four times as
            often.
    """

    def __init__(
        self,
        database: Database,
        names: Collection[str],
        owner: str,
        say: OnStanding = unwatched,
        *,
        lease_seconds: float = 60.0,
    ) -> None:
        self._database = database
        self.owner = owner
        self._say = say
        self._lease = timedelta(seconds=lease_seconds)
        self._now = {name: Standing(name, PlatformState.CONNECTING) for name in names}
        self._changed = asyncio.Event()

    def tell(self, standing: Standing) -> None:
        """Set the state that a platform has from now on."""
        self._now[standing.platform] = standing
        metrics.PLATFORM_CONNECTED.labels(standing.platform).set(standing.state is PlatformState.CONNECTED)
        if standing.state in (PlatformState.WAITING, PlatformState.REFUSED):
            metrics.PLATFORM_FAILURES.labels(standing.platform).inc()
        self._changed.set()
        self._say(standing)

    def are_all_refused(self) -> bool:
        """Whether no platform of this process can be served with these settings."""
        return all(standing.state is PlatformState.REFUSED for standing in self._now.values())

    async def run(self, ended: asyncio.Event) -> None:
        """Keep the states in the database until ``ended`` is set; then remove them."""
        ending = asyncio.create_task(self._wake(ended))
        try:
            while not ended.is_set():
                self._changed.clear()
                await self._keep()
                await pause(self._changed, self._lease.total_seconds() / 4)
        finally:
            ending.cancel()
            await self._forget()

    async def _wake(self, ended: asyncio.Event) -> None:
        await ended.wait()
        self._changed.set()

    async def _keep(self) -> None:
        standings = list(self._now.values())
        try:
            await self._database.run(
                "keep how platforms stand", lambda session: store.keep(session, self.owner, standings, self._lease)
            )
        except (StoreUnavailable, Conflict) as err:
            _LOG.warning("how the platforms stand was not kept, it is kept later: %s", err)

    async def _forget(self) -> None:
        try:
            await self._database.run("forget platforms", lambda session: store.forget(session, self.owner))
        except (StoreUnavailable, Conflict) as err:
            _LOG.warning("how the platforms stood is still kept, its lease must run out: %s", err)
