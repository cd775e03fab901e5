"""What the simulated installation shares: model servers and the database.

Owns how long each of them takes, and how busy it was.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import simpy

from bench.fleet.service import Batch, Rates

Process = Generator[simpy.Event, Any, Any]


class ModelServer:
    """One server that keeps to ``bench.fleet.service``."""

    def __init__(self, env: simpy.Environment, rates: Rates) -> None:
        self.batch = Batch(rates, env.now)
        self.calls = 0
        self._env = env
        self._turn = 0

    def call(self, new: int, written: int, n: int = 1) -> simpy.Event:
        """An event that comes when the call is answered."""
        answered = self._env.event()
        self._settle()
        self.batch.arrive(answered, new, written, n)
        self.calls += 1
        self._wait()
        return answered

    def _wait(self) -> None:
        self._turn += 1
        due, turn = self.batch.next_at(), self._turn
        if due is not None:
            self._env.timeout(max(0.0, due - self._env.now), turn).callbacks.append(self._wake)

    def _wake(self, event: simpy.Event) -> None:
        if event.value == self._turn:
            self._settle()
            self._wait()

    def _settle(self) -> None:
        for answered in self.batch.advance(self._env.now):
            if isinstance(answered, simpy.Event):
                answered.succeed()

    @property
    def busy(self) -> float:
        """Seconds in which it had work."""
        self._settle()
        return self.batch.busy


class Servers:
    """Several servers, of which the one with the fewest calls gets the next."""

    def __init__(self, env: simpy.Environment, rates: Rates, count: int) -> None:
        self.each: Sequence[ModelServer] = [ModelServer(env, rates) for _ in range(count)]

    def call(self, new: int, written: int, n: int = 1) -> simpy.Event:
        """As ``ModelServer.call``."""
        return min(self.each, key=lambda server: len(server.batch)).call(new, written, n)


class Database:
    """A database with so many cores; what a transaction takes beyond its core's time is waited for beside others.

    Args:
        core_seconds: of one transaction, on average.
    """

    def __init__(self, env: simpy.Environment, cores: int, core_seconds: float) -> None:
        self.transactions = 0
        self.core_seconds = core_seconds
        self._env = env
        self._cores = simpy.Resource(env, cores)

    def run(self, seconds: float, count: int = 1) -> Process:
        """So many transactions one after the other that take ``seconds`` together while no other one waits."""
        own = min(seconds, self.core_seconds * count)
        self.transactions += count
        with self._cores.request() as core:
            yield core
            yield self._env.timeout(own)
        yield self._env.timeout(seconds - own)

    def busy(self, seconds: float) -> float:
        """The share of its cores' time that was used in so many seconds."""
        return self.transactions * self.core_seconds / (seconds * self._cores.capacity)
