"""Clocks that a test moves, the event loop's among them, or something sleeps by; one of them runs as well."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

_T = TypeVar("_T")


class FakeClock:
    """Call it for the time now, aware; it moves only by ``advance`` or ``now``."""

    def __init__(self, now: datetime = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """The time now."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)


class RunningClock(FakeClock):
    """Runs as this machine's does, from another moment, and further by ``advance``.

    For whole runs: what is put off after a refusal comes due by itself.
    """

    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self._start = time.monotonic()

    def __call__(self) -> datetime:
        """The time now."""
        return self.now + timedelta(seconds=time.monotonic() - self._start)


class Seconds:
    """Seconds that only grow by what is slept; ``slept`` is every pause."""

    def __init__(self, now: float = 100.0) -> None:
        self.now = now
        self.slept: list[float] = []

    def __call__(self) -> float:
        """The seconds now."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Let them pass, and others have their turn."""
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


class _LoopTime:
    """A loop's clock, as many seconds ahead as a test let pass."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self.ahead = clock, 0.0

    def __call__(self) -> float:
        return self._clock() + self.ahead


def let_pass(seconds: float) -> None:
    """Put the running loop's clock forward, so that each of its timers that falls due by then falls due now."""
    loop: Any = asyncio.get_running_loop()
    if not isinstance(loop.time, _LoopTime):
        loop.time = _LoopTime(loop.time)
    loop.time.ahead += seconds


async def outlasting(work: Coroutine[Any, Any, _T], seconds: float, has_begun: Callable[[], object]) -> _T:
    """What comes of work that waits in vain: as soon as it has begun to, so many seconds are over.

    Its time limit may then be one that no busy machine reaches before, and nobody waits for it.
    """
    task = asyncio.create_task(work)
    await asyncio.sleep(0)
    while not task.done() and not has_begun():  # noqa: ASYNC110 - what a fake counts is no event
        await asyncio.sleep(0.005)
    let_pass(seconds)
    return await task
