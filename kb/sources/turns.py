"""Who may ask a host next: one request at a time, with a pause in between.

Owns the pauses, and how long to leave a busy server alone. It does not know the requests.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass
class _Gate:
    """The turns at one host: ``interval`` seconds pass between the end of a request and the start of the next."""

    interval: float
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    last_end: float = -math.inf
    not_before: float = -math.inf


class HostTurns:
    """Lets requests through to hosts, ``interval`` seconds apart for each of them.

    Args:
        clock, sleep: a clock in seconds that never goes back, and the function that waits.
    """

    def __init__(self, interval: float, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]) -> None:
        self._interval, self._clock, self._sleep = interval, clock, sleep
        self._gates: dict[str, _Gate] = {}

    @asynccontextmanager
    async def at(self, host: str) -> AsyncIterator[None]:
        """Hold a turn at a host for as long as the block runs."""
        gate = self._gate(host)
        async with gate.lock:
            wait = max(gate.last_end + gate.interval, gate.not_before) - self._clock()
            if wait > 0:
                await self._sleep(wait)
            try:
                yield
            finally:
                gate.last_end = self._clock()

    def slow_down(self, host: str, interval: float) -> None:
        """From now on leave at least this many seconds between two requests to a host."""
        gate = self._gate(host)
        gate.interval = max(gate.interval, interval)

    def hold(self, host: str, seconds: float) -> None:
        """Let no request through to a host for this many seconds."""
        self._gate(host).not_before = self._clock() + seconds

    def _gate(self, host: str) -> _Gate:
        return self._gates.setdefault(host, _Gate(self._interval))


def seconds_to_wait(retry_after: str | None, now: datetime, longest: float) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or as a date; ``None`` where it cannot be read."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return min(float(retry_after), longest)
    try:
        then = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    then = then if then.tzinfo is not None else then.replace(tzinfo=UTC)
    return min(max((then - now).total_seconds(), 0.0), longest)
