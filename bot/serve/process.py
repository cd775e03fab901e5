"""Running what was built: all parts of an application at once, until it is stopped.

At the end nothing new begins, work that has begun is finished, and the connections to the platforms are closed last.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass

from bot.serve.platforms import Connection, Platforms, Standings
from bot.serve.supervision import CLOSING_SECONDS, Supervisor, together
from core.desk.drafting.worker import Worker, work
from core.desk.runtime.logs import about
from core.desk.sending.outbox import Outbox
from core.desk.upkeep.chores import Chores
from core.desk.upkeep.schedule import Schedule


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
