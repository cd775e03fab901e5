"""Cases that were captured while the queue was full: queued as soon as there is room."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from bot.store.work.jobs import Job
from bot.upkeep.chore import Done


class WaitingCases:
    """Lets cases into the queue.

    Args:
        admit: queues as many as there is room for, and says how many.
    """

    def __init__(self, admit: Callable[[], Awaitable[int]]) -> None:
        self._admit = admit

    async def do(self, _: Job) -> Done:
        """Queue what there is room for."""
        return Done(f"{await self._admit()} cases queued")
