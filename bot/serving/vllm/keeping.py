"""Keeps the servers of a worker up, and lets it draft only while all of them are well.

Owns the order of starting, drafting, draining and starting again, and the pauses between two attempts. What a case
needs while a server is away is for the worker and its queue: the case goes back, and its attempt does not count.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from bot.drafting.queue import Backoff
from bot.runtime.waiting import pause
from bot.serving.supervision import cancelled
from bot.serving.vllm.failures import ServerFailed
from bot.serving.vllm.server import Tell, VllmServer

FIRST_ATTEMPTS: Final = 3
"""How often a server is started before anything is drafted; then the worker ends, and says why."""
STEADY_SECONDS: Final = 300.0
"""After so long a time without a fault the pauses begin with the shortest again."""

Drafting = Callable[[asyncio.Event], Awaitable[None]]
"""Drafts until the event is set; then ends what it has begun."""


class Keeper:
    """The servers of one worker.

    Args:
        rest: the pauses between two attempts.
        tell: is told what happens.
    """

    def __init__(self, servers: Sequence[VllmServer], rest: Backoff, tell: Tell) -> None:
        self._servers = servers
        self._rest = rest
        self._tell = tell
        self._faults = 0
        self._well_since = time.monotonic()

    async def start(self) -> None:
        """Start all servers, one after the other: each looks how much memory of the GPU is free.

        Raises:
            ServerFailed: one of them does not start.
        """
        for server in self._servers:
            await self._started(server, FIRST_ATTEMPTS)
        self._well_since = time.monotonic()

    async def stop(self) -> None:
        """Stop all servers."""
        await asyncio.gather(*(server.stop() for server in self._servers))

    async def run(self, draft: Drafting, stop: asyncio.Event, drain_seconds: float) -> None:
        """Draft until ``stop`` is set, with pauses in which a server is started again.

        Args:
            drain_seconds: how long what was begun may go on after ``stop``. After a fault of a server it ends by
                itself, within the deadline of its profile.

        Raises:
            Exception: what ``draft`` raises.
        """
        while not stop.is_set():
            faults = await self._draft_while_well(draft, stop, drain_seconds)
            if faults and not stop.is_set():
                await self._mend(faults, stop)

    async def _draft_while_well(
        self, draft: Drafting, stop: asyncio.Event, drain_seconds: float
    ) -> dict[VllmServer, ServerFailed]:
        """Draft until a server is not well or ``stop`` is set; which servers are not, and why."""
        halt = asyncio.Event()
        drafting = asyncio.ensure_future(draft(halt))
        stopping = asyncio.create_task(stop.wait())
        watches = {asyncio.create_task(server.watch()): server for server in self._servers}
        try:
            await asyncio.wait({drafting, stopping, *watches}, return_when=asyncio.FIRST_COMPLETED)
            halt.set()
            faults = {server: _fault(watch) for watch, server in watches.items() if watch.done()}
            for server, fault in faults.items():
                self._tell(str(fault))
                if not fault.is_wrong:
                    await server.stop()  # what still waits for its answers must not wait for a time limit
            await asyncio.wait({drafting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not drafting.done():
                await asyncio.wait({drafting}, timeout=drain_seconds)
        finally:
            await cancelled([drafting, stopping, *watches])
        if not drafting.cancelled():
            drafting.result()
        return faults

    async def _mend(self, faults: dict[VllmServer, ServerFailed], stop: asyncio.Event) -> None:
        """Start again what is not well, until it is or ``stop`` is set."""
        if time.monotonic() - self._well_since >= STEADY_SECONDS:
            self._faults = 0
        mending = asyncio.create_task(self._restart(list(faults), stop))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({mending, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancelled([mending, stopping])
        if not mending.cancelled():
            mending.result()
        self._well_since = time.monotonic()

    async def _restart(self, servers: Sequence[VllmServer], stop: asyncio.Event) -> None:
        for server in servers:
            await server.stop()
        for server in servers:
            self._faults += 1
            await self._rested(stop)
            await self._started(server, None)

    async def _started(self, server: VllmServer, attempts: int | None) -> None:
        """Start a server, again and again with growing pauses; ``attempts`` limits how often, ``None`` does not.

        Raises:
            ServerFailed: the last attempt failed, or another one would fail alike.
        """
        never, tries = asyncio.Event(), 0
        while True:
            try:
                await server.start()
            except ServerFailed as fault:
                tries, self._faults = tries + 1, self._faults + 1
                if attempts is not None and (fault.is_final or tries >= attempts):
                    raise
                self._tell(str(fault))
                await self._rested(never)
            else:
                return

    async def _rested(self, until: asyncio.Event) -> None:
        seconds = self._rest.seconds(self._faults)
        self._tell(f"The model server is started again in {seconds:.0f} s.")
        await pause(until, seconds)


def _fault(watch: asyncio.Task[None]) -> ServerFailed:
    fault = watch.exception()
    if isinstance(fault, ServerFailed):
        return fault
    raise fault or RuntimeError("A server's watch ended without a reason.")
