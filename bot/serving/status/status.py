"""Whether a process is ready, and what it counted: the answers that ``bot.serving.status.endpoint`` gives.

Owns the order of a process's life as its surroundings see it: it starts, it is ready or not, it stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from prometheus_client import generate_latest

from bot.runtime import metrics
from bot.serving.status.conditions import Condition, database_answers
from bot.serving.status.counting import Counting
from bot.store.engine.database import Database

STARTING, STOPPING = "It is starting, and loads its models.", "It is stopping, and takes no new work."


class Status:
    """What one process says of itself; outside of ``working`` it is starting or stopping."""

    def __init__(self) -> None:
        self._conditions: Mapping[str, Condition] = {}
        self._counting: Counting | None = None
        self._instead = STARTING

    @asynccontextmanager
    async def working(self, database: Database, conditions: Mapping[str, Condition]) -> AsyncIterator[None]:
        """Be ready within the block, while the database and ``conditions`` allow; nothing is asked of them after it.

        Args:
            conditions: by a short name of what each looks at.
        """
        self._conditions, self._instead = {"database": database_answers(database), **conditions}, ""
        self._counting = Counting(database)
        try:
            yield
        finally:
            self.stop()
            counting, self._counting = self._counting, None
            await asyncio.gather(counting.close(), *(one.close() for one in self._conditions.values()))

    def stop(self) -> None:
        """Say that the process takes no new work."""
        self._instead = STOPPING

    async def reasons(self) -> dict[str, str]:
        """Why the process is not ready, by what stands in the way; empty if it is ready."""
        reasons = dict[str, str]()
        if not self._instead:
            said = await asyncio.gather(*(one.why_not() for one in self._conditions.values()))
            reasons = {name: why for name, why in zip(self._conditions, said, strict=True) if why}
        if self._instead:  # it may have been stopped meanwhile
            reasons = {"process": self._instead}
        metrics.READY.set(not reasons)
        return reasons

    async def metrics(self) -> bytes:
        """All metrics, in Prometheus' text format."""
        await self.reasons()
        if self._counting is not None:
            await self._counting.refresh()
        return generate_latest(metrics.REGISTRY)
