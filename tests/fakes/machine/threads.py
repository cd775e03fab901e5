"""The threads of an event loop, for tests that let go on whatever was begun."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class Threads(ThreadPoolExecutor):
    """The threads of the running event loop from now on; ``asked`` is all that is left to them."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Future[Any]] = []
        asyncio.get_running_loop().set_default_executor(self)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have something done."""
        self.asked.append(super().submit(fn, *args, **kwargs))
        return self.asked[-1]

    async def settle(self, turns: int) -> None:
        """Give the loop so many turns, and again after each thing that a thread did."""
        known, left = -1, list[asyncio.Future[Any]]()
        while left or known < len(self.asked):
            known = len(self.asked)
            if left := [asyncio.wrap_future(each) for each in self.asked if not each.done()]:
                await asyncio.wait(left)
            for _ in range(turns):
                await asyncio.sleep(0)
