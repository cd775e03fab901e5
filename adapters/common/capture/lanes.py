"""Work for a platform's events, in lanes that cannot stall each other or the connection.

Work beyond a bound is dropped, counted and logged; the log never says what a piece of work is about.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

from core.errors import AntiphonError

_LOG = logging.getLogger(__name__)
Work = Callable[[], Awaitable[object]]
_T = TypeVar("_T")


class Lanes:
    """Runs work in order within a lane, and a few lanes at a time.

    Args:
        name: what the work is, for the log.
        most_waiting: how much may wait in all lanes together.
        most_in_lane: how much may wait in one lane.
        at_once: how many lanes may work at the same time.
    """

    def __init__(self, name: str, *, most_waiting: int = 1000, most_in_lane: int = 100, at_once: int = 4) -> None:
        self._name = name
        self._most_waiting = most_waiting
        self._most_in_lane = most_in_lane
        self._turn = asyncio.Semaphore(at_once)
        self._lanes: dict[Hashable, deque[tuple[Work, asyncio.Future[Any]]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting = 0
        self.left_out = 0
        self.failed = 0

    def submit(self, lane: Hashable, work: Work) -> bool:
        """Do this work when its turn comes; ``False`` if there is no room, so that it will not be done."""
        return self.follow(lane, work) is not None

    def follow(self, lane: Hashable, work: Callable[[], Awaitable[_T]]) -> asyncio.Future[_T | None] | None:
        """As ``submit``, for a caller who waits for the end of the work; ``None`` if there is no room.

        The future holds the result of the work, ``None`` where it failed, which is counted and logged. It is cancelled
        where ``close`` dropped the work.
        """
        queue = self._lanes.get(lane)
        if self._waiting >= self._most_waiting or (queue is not None and len(queue) >= self._most_in_lane):
            self._leave_out()
            return None
        self._waiting += 1
        if queue is None:
            queue = self._lanes[lane] = deque()
            task = asyncio.create_task(self._run(lane, queue))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        end: asyncio.Future[_T | None] = asyncio.get_running_loop().create_future()
        queue.append((work, end))
        return end

    async def close(self, within_seconds: float = 0.0) -> None:
        """Stop. Work that is not finished is dropped."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=within_seconds)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._waiting:
            _LOG.warning("%s: stopped with %d waiting.", self._name, self._waiting)
        for _, end in (each for queue in self._lanes.values() for each in queue):
            end.cancel()
        self._lanes.clear()
        self._waiting = 0

    async def _run(self, lane: Hashable, queue: deque[tuple[Work, asyncio.Future[Any]]]) -> None:
        while queue:
            async with self._turn:
                work, end = queue.popleft()
                self._waiting -= 1
                try:
                    result = await self._do(work)
                except asyncio.CancelledError:
                    end.cancel()
                    raise
                if not end.done():  # the caller may have given up
                    end.set_result(result)
        del self._lanes[lane]

    async def _do(self, work: Work) -> object:
        """The result of the work; ``None`` where it failed."""
        try:
            return await work()
        except Exception as err:
            self.failed += 1
            kind = err.message if isinstance(err, AntiphonError) else type(err).__name__
            _LOG.warning("%s: one could not be done: %s", self._name, kind)
            return None

    def _leave_out(self) -> None:
        """Count, and log the first, second, fourth and so on: a flood must not flood the log."""
        self.left_out += 1
        if self.left_out & (self.left_out - 1) == 0:
            _LOG.warning("%s: too many at once; %d left out since the start.", self._name, self.left_out)
