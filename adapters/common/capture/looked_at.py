"""How many messages the filter read in each community, kept in memory and told to the desk about once a minute.

Owns that memory. What a crash loses is at most the counts since they were told last.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import Final

from adapters.common.desk import DeskAccess
from core.errors import AntiphonError

_LOG = logging.getLogger(__name__)
TOLD_SECONDS: Final = 60.0


class LookedAt:
    """Counts by community; ``close`` tells the last ones.

    Args:
        every_seconds: how long counts wait, so that many messages share one transaction.
    """

    def __init__(self, desk: DeskAccess, *, every_seconds: float = TOLD_SECONDS) -> None:
        self._desk = desk
        self._every_seconds = every_seconds
        self._counts = Counter[str]()
        self._telling: asyncio.Task[None] | None = None

    def add(self, community: str) -> None:
        """Count one message."""
        self._counts[community] += 1
        if self._telling is None:
            self._telling = asyncio.create_task(self._tell_later())

    async def tell(self) -> None:
        """Tell the desk what was counted; what it cannot take now is told with the next."""
        counts, self._counts = self._counts, Counter[str]()
        if not counts:
            return
        try:
            await self._desk.governance.looked_at(self._desk.platform, counts)
        except AntiphonError as err:
            self._counts.update(counts)
            _LOG.warning("counts of what was looked at wait for the database: %s", err.message)

    async def close(self) -> None:
        """Tell the last counts."""
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)
        await self.tell()

    async def _tell_later(self) -> None:
        """Tell now and then, until there is nothing to tell."""
        while self._counts:
            await asyncio.sleep(self._every_seconds)
            await self.tell()
        self._telling = None
