"""Ends of the process at a named point, and what is left then."""

import asyncio
from collections.abc import Awaitable, Callable

from core.desk.runtime import faults
from core.errors import AntiphonError


class Crash(BaseException):
    """The process ends here. No ``except Exception`` may see it, as none sees a SIGKILL."""


class CrashAt:
    """A fault that ends the process at the ``number``-th point from now, by an exception or a cancellation.

    With a ``name``, only the points of that name are counted. ``where`` is the point at which it ended.
    """

    def __init__(self, number: int, *, cancels: bool = False, name: str | None = None) -> None:
        self.left, self.cancels, self.name = number, cancels, name
        self.where = ""
        self.reached: list[str] = []
        self.task: asyncio.Task[object] | None = None
        self.crashed = False

    async def __call__(self, point: str) -> None:
        self.reached.append(point)
        self.left -= self.name in (None, point)
        if self.left == 0 and not self.crashed:
            self.crashed, self.where = True, point
            if not self.cancels:
                raise Crash(point)
            if self.task is not None:
                self.task.cancel()
                await asyncio.sleep(0)


async def crashing(call: Callable[[], Awaitable[object]], fault: CrashAt) -> None:
    """Do something, and let the process end where ``fault`` says."""

    async def work() -> object:
        return await call()

    fault.task = asyncio.create_task(work())
    with faults.installed(fault):
        try:
            await fault.task
        except (Crash, asyncio.CancelledError, AntiphonError):
            return
