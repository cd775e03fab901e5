"""Runs what was built until it is stopped, and keeps platforms connected, each by itself.

A platform that dies is connected again, and the others do not wait for it. Here are also the pauses between two
attempts, and how things that run at once end together: nothing new begins, work that has begun is finished, and the
connections to the platforms are closed last.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from bot.serve.hosted_review import HostedReview
from bot.serve.platforms import Connection, Platforms, ServedPlatform, Services, Standings
from core.desk.database.connection import Database
from core.desk.drafting.queue import Backoff
from core.desk.drafting.worker import Worker, work
from core.desk.review.board import ReviewBoard
from core.desk.review.notices import Notices
from core.desk.runtime.lease import pause
from core.desk.runtime.logs import about
from core.desk.schema import PlatformState
from core.desk.sending.outbox import Outbox
from core.desk.upkeep.chores import Chores
from core.desk.upkeep.schedule import Schedule
from core.desk.views.platforms import PlatformStatus
from core.errors import AntiphonError, BadSettings, PlatformUnavailable
from core.i18n.sentences import sentence

_LOG = logging.getLogger(__name__)
_AGAIN: Final = sentence("It is tried again later by itself.")
_STEADY_SECONDS: Final = 300.0
"""After a connection that lasted this long, the pauses start again from the shortest."""
CLOSING_SECONDS: Final = 7.0
"""How much time the parts that use a connection have to end once it is lost or closed."""

Wait = Callable[[asyncio.Event, float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Patience:
    """How supervision waits.

    Args:
        rest: the pauses between two attempts.
        wait: waits for an event, but not longer than the given number of seconds.
        seconds_now: seconds that only grow.
    """

    rest: Backoff
    wait: Wait = pause
    seconds_now: Callable[[], float] = time.monotonic


class Supervisor:
    """Keeps one platform connected, so that approved replies are sent there and cards are shown.

    Args:
        owner: names this process among all.
    """

    def __init__(
        self,
        served: ServedPlatform,
        services: Services,
        platforms: Platforms,
        standings: Standings,
        database: Database,
        outbox: Outbox,
        owner: str,
        patience: Patience,
    ) -> None:
        self._served = served
        self._services = services
        self._platforms = platforms
        self._standings = standings
        self._database = database
        self._outbox = outbox
        self._owner = owner
        self._patience = patience
        self._connected_at: float | None = None

    async def run(self, stop: asyncio.Event, ended: asyncio.Event) -> None:
        """Stay connected until ``ended`` is set; after ``stop`` nothing is sent and no lost connection is opened again.

        Raises:
            BadSettings: the platform refuses the settings, and so does every other one of this process.
        """
        failures = 0
        with about(platform=self._served.name):
            while not stop.is_set():
                self._connected_at = None
                try:
                    await self._attempt(stop, ended, failures)
                except BadSettings as err:
                    await self._refused(err, stop)
                except Exception as err:
                    failures = 1 if self._held_long() else failures + 1
                    await self._failed(err, failures, stop)

    def _held_long(self) -> bool:
        began = self._connected_at
        return began is not None and self._patience.seconds_now() - began >= _STEADY_SECONDS

    async def _refused(self, err: BadSettings, stop: asyncio.Event) -> None:
        """Leave the platform alone: asking again with the same settings would be refused again, and may do harm."""
        self._tell(PlatformState.REFUSED, message=err.message, remedy=err.remedy)
        if self._standings.are_all_refused():
            raise err
        await stop.wait()

    async def _failed(self, err: Exception, failures: int, stop: asyncio.Event) -> None:
        message, remedy = self._reason(err)
        seconds = self._patience.rest.seconds(failures)
        _LOG.info("%s: %s", self._served.name, message)
        self._tell(PlatformState.WAITING, failures, message=message, remedy=remedy, wait_seconds=seconds)
        await self._patience.wait(stop, seconds)

    def _reason(self, err: Exception) -> tuple[str, str]:
        """What people may read about an error: our own message, or only the kind of another's: it may quote a post."""
        if isinstance(err, AntiphonError):
            return err.message, err.remedy or _AGAIN
        message = sentence("{platform} failed ({kind}).", platform=self._served.name, kind=type(err).__name__)
        return message, _AGAIN

    def _tell(self, state: PlatformState, failures: int = 0, **more: Any) -> None:
        self._standings.tell(PlatformStatus(self._served.name, state, failures, **more))

    async def _attempt(self, stop: asyncio.Event, ended: asyncio.Event, failures: int) -> None:
        """One connection from its beginning to its end; one that is not open yet is given up when ``stop`` is set."""
        self._tell(PlatformState.CONNECTING, failures)
        serving = asyncio.create_task(self._serve(stop, ended, failures))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if self._connected_at is not None:
                await asyncio.wait({serving})
        finally:
            await cancel_all([serving, stopping])
        if not serving.cancelled():
            serving.result()

    async def _serve(self, stop: asyncio.Event, ended: asyncio.Event, failures: int) -> None:
        name = self._served.name
        async with self._served.open(self._services) as connection:
            self._connected_at = self._patience.seconds_now()
            self._tell(PlatformState.CONNECTED, failures, note=connection.note)
            try:
                with self._platforms.connected(name, connection) as broken:
                    await self._use(connection, [self._lost(connection), _failure(broken)], stop)
                    await first_of(ended.wait(), self._lost(connection))
            finally:
                await connection.platform.close()

    async def _use(self, connection: Connection, ends: list[Coroutine[Any, Any, Any]], stop: asyncio.Event) -> None:
        """Send and show cards until ``stop`` is set, or raise the reason why the connection can no longer be used."""
        halt = asyncio.Event()
        parts = [self._outbox.run(halt, self._served.name.__eq__)]
        if connection.surface is not None:
            name, channel, surface = self._served.name, connection.everywhere, connection.surface
            if channel:
                surface = HostedReview(surface, self._platforms.surfaces)
            board = ReviewBoard(self._database, surface, name, self._owner, channel=channel, hears_all=bool(channel))
            parts.append(board.run(halt))
        if connection.notifier is not None:
            parts.append(Notices(self._database, connection.notifier, self._served.name, self._owner).run(halt))
        await together(parts, halt, CLOSING_SECONDS, until=[stop.wait(), *ends])

    async def _lost(self, connection: Connection) -> None:
        """Wait until the connection is lost, then make it unreachable; raises the reason."""
        try:
            await connection.until_lost()
        except Exception:
            self._platforms.drop(self._served.name)
            raise
        self._platforms.drop(self._served.name)
        raise PlatformUnavailable(
            sentence("{platform} ended the connection.", platform=self._served.name), remedy=_AGAIN
        )


async def together(
    parts: Iterable[Coroutine[Any, Any, Any]],
    halt: asyncio.Event,
    seconds: float,
    *,
    until: Iterable[Coroutine[Any, Any, Any]] = (),
) -> None:
    """Run parts until the first of them ends or fails, or one of ``until``; then end the others, and raise what failed.

    Args:
        halt: is set when the first one ends; each part then ends by itself.
        seconds: how long the parts have to end; then they are cancelled, as those of ``until`` are.
    """
    running = [asyncio.create_task(part) for part in parts]
    watching = [asyncio.create_task(watch) for watch in until]
    try:
        await asyncio.wait({*running, *watching}, return_when=asyncio.FIRST_COMPLETED)
        halt.set()
        await asyncio.wait(running, timeout=seconds)
    finally:
        await cancel_all([*running, *watching])
    for task in (*running, *watching):
        if not task.cancelled():
            task.result()


async def first_of(*waits: Coroutine[Any, Any, Any]) -> None:
    """Wait until the first of them ends, or raise what failed."""
    watching = [asyncio.create_task(wait) for wait in waits]
    try:
        done, _ = await asyncio.wait(watching, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await cancel_all(watching)
    for task in done:
        task.result()


async def wait_for_end(running: asyncio.Task[Any]) -> None:
    """Wait until a task has ended; raises why."""
    await asyncio.wait({running})
    running.result()


async def cancel_all(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel tasks that are no longer wanted, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _failure(of: asyncio.Future[None]) -> None:
    """Raise what a task fails with; if it ends well, wait for ever."""
    await asyncio.wait({of})
    if not of.cancelled():
        of.result()
    await asyncio.Event().wait()


@dataclass(frozen=True, kw_only=True)
class DeskProcess:
    """What runs until it is stopped: drafting, sending, the platforms, and the chores."""

    worker: Worker
    outbox: Outbox
    schedule: Schedule
    chores: Chores
    platforms: Platforms
    supervisors: Sequence[Supervisor]
    standings: Standings


@asynccontextmanager
async def connected(application: DeskProcess, *connections: Connection) -> AsyncIterator[None]:
    """Make platforms of this process reachable without running it: the caller steps each part.

    Sends in which an earlier process was interrupted are settled first.
    """
    with ExitStack() as stack:
        for connection in connections:
            stack.enter_context(application.platforms.connected(connection.platform.name, connection))
        await application.outbox.recover()
        yield


async def serve(application: DeskProcess, stop: asyncio.Event, drain_seconds: float) -> None:
    """Keep the platforms connected, take in what is flagged, draft, send and do all chores, until ``stop`` is set.

    Then end within a bounded time: ``drain_seconds``, and ``CLOSING_SECONDS`` for the connections. A platform that
    fails ends nothing else; any other error ends everything.

    Raises:
        BadSettings: every platform refuses the settings.
    """
    ended = asyncio.Event()
    supervised = [supervisor.run(stop, ended) for supervisor in application.supervisors]
    parts = [_serve_all_platforms(application, stop, ended, drain_seconds), application.standings.run(ended)]
    with about(worker=application.standings.owner):
        await together([*parts, *supervised], stop, max(drain_seconds, CLOSING_SECONDS) + CLOSING_SECONDS)


async def _serve_all_platforms(
    application: DeskProcess, stop: asyncio.Event, ended: asyncio.Event, drain_seconds: float
) -> None:
    """Run the parts that all platforms share; sets ``ended`` when they are over."""
    parts = [
        work([application.worker], stop, drain_seconds),
        application.outbox.run(stop, application.platforms.is_away),
        application.schedule.run(stop),
        application.chores.run(stop),
    ]
    try:
        await together(parts, stop, drain_seconds)
    finally:
        ended.set()
