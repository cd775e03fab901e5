"""Whether a server is asked: the circuit breaker (M. Nygard, Release It!, 2nd edition, section 5.2).

Owns the state of one server and the pauses before it is tried again. Libraries for asyncio were looked at: their pauses
neither grow nor vary, and they let every waiting call through as the probe.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

FAILURES: Final = 3
"""How many calls must fail one after the other; a single one may have met a connection that was just closed."""


class State(StrEnum):
    """``CLOSED``: it is asked. ``OPEN``: it is left out. ``HALF_OPEN``: one probe asks it, and nobody else."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


@dataclass
class Breaker:
    """The breaker of one server.

    A pause is drawn from the upper half of its length, so that several processes do not come back at once. It doubles
    each time, until a call that is no probe has worked.

    Args:
        first_pause: seconds.
        longest_pause: seconds.
        clock: gives seconds; only differences matter.
        chance: gives numbers from 0 to 1.
    """

    first_pause: float = 1.0
    longest_pause: float = 60.0
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random
    state: State = State.CLOSED
    _failures: int = 0
    _pause: float = 0.0
    _until: float = 0.0

    @property
    def is_due(self) -> bool:
        """Whether it is time for a probe."""
        return self.state is State.OPEN and self.clock() >= self._until

    def worked(self) -> None:
        """A call was answered. One that was sent before the server was left out says nothing about now."""
        if self.state is State.CLOSED:
            self._failures, self._pause = 0, 0.0

    def failed(self) -> None:
        """A call failed by the server's fault."""
        if self.state is State.CLOSED:
            self._failures += 1
            if self._failures >= FAILURES:
                self.trip()

    def trip(self) -> None:
        """Leave the server out, for a while."""
        if self.state is State.OPEN:
            return
        self.state = State.OPEN
        self._pause = min(self.longest_pause, self._pause * 2 or self.first_pause)
        self._until = self.clock() + self._pause * (1 + self.chance()) / 2

    def probe(self) -> None:
        """Begin a probe, which ends with ``close`` or ``trip``."""
        self.state = State.HALF_OPEN

    def close(self) -> None:
        """Ask the server again; the first failure leaves it out once more."""
        self.state, self._failures = State.CLOSED, FAILURES - 1
