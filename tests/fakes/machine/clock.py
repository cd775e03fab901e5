"""Clocks that a test moves, or something sleeps by; one of them runs as well."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta


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
