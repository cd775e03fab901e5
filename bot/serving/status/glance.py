"""A look at something that may be slow or away, for those who ask often and cannot wait.

Owns that there is one look at a time, and for how long its answer counts. Does not know what is looked at.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Glance(Generic[_T]):
    """Looks when it is asked, unless it looked a moment ago.

    Args:
        look: looks once; an error counts as an answer, and is raised to everybody who asks meanwhile.
        fresh_seconds: how long an answer counts.
        patience_seconds: how long somebody who asks waits. A look that takes longer goes on, and who asks later
            gets its answer.
        ticks: seconds that only grow.
    """

    def __init__(
        self,
        look: Callable[[], Awaitable[_T]],
        *,
        fresh_seconds: float,
        patience_seconds: float,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look = look
        self._fresh_seconds = fresh_seconds
        self._patience_seconds = patience_seconds
        self._ticks = ticks
        self._looking: asyncio.Task[_T] | None = None
        self._ended_at = 0.0

    async def see(self) -> _T:
        """The answer of the last look, or of a new one.

        Raises:
            TimeoutError: it takes longer than ``patience_seconds``.
        """
        if self._looking is None or (self._looking.done() and self._ticks() - self._ended_at >= self._fresh_seconds):
            self._looking = asyncio.create_task(self._one())
        looking = self._looking
        await asyncio.wait({looking}, timeout=self._patience_seconds)
        if not looking.done():
            raise TimeoutError
        return looking.result()

    async def _one(self) -> _T:
        try:
            return await self._look()
        finally:
            self._ended_at = self._ticks()

    async def close(self) -> None:
        """Give up the look that is under way, if it ends within ``patience_seconds``."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking}, timeout=self._patience_seconds)
