"""Whether a process is ready, and what it counted, and the small server that answers with it.

For its surroundings a process first starts, then is ready or not, and then stops. What does not answer in time counts
as away; a look that takes long goes on by itself, so that those who ask often need not wait for it. The server takes no
command, speaks plain HTTP and knows nobody who asks, so it belongs inside the operator's own network.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sized
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final, Generic, TypeVar

from aiohttp import web
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from core.desk.database.connection import Database, Session
from core.desk.database.revisions import check_revision
from core.desk.rules.approval import CaseState
from core.desk.runtime import metrics
from core.desk.views.census import OPEN, Backlog, Census, census
from core.errors import AntiphonError, BadSettings, PlatformUnavailable

_T = TypeVar("_T")


class Glance(Generic[_T]):
    """Looks when it is asked, unless it looked a moment ago.

    Args:
        look: looks once; an error counts as an answer, and is raised to everybody who asks meanwhile.
        fresh_seconds: how long an answer counts.
        patience_seconds: how long somebody who asks waits. A look that takes longer goes on, and who asks later
            gets its answer.
        ticks: seconds that only grow.
    """

    def __init__(
        self,
        look: Callable[[], Awaitable[_T]],
        *,
        fresh_seconds: float,
        patience_seconds: float,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look = look
        self._fresh_seconds = fresh_seconds
        self._patience_seconds = patience_seconds
        self._ticks = ticks
        self._looking: asyncio.Task[_T] | None = None
        self._ended_at = 0.0

    async def see(self) -> _T:
        """The answer of the last look, or of a new one.

        Raises:
            TimeoutError: it takes longer than ``patience_seconds``.
        """
        if self._looking is None or (self._looking.done() and self._ticks() - self._ended_at >= self._fresh_seconds):
            self._looking = asyncio.create_task(self._one())
        looking = self._looking
        await asyncio.wait({looking}, timeout=self._patience_seconds)
        if not looking.done():
            raise TimeoutError
        return looking.result()

    async def _one(self) -> _T:
        try:
            return await self._look()
        finally:
            self._ended_at = self._ticks()

    async def close(self) -> None:
        """Give up the look that is under way, if it ends within ``patience_seconds``."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking}, timeout=self._patience_seconds)


_FRESH_SECONDS: Final = 5.0
_PATIENCE_SECONDS: Final = 3.0


class Condition:
    """One of them.

    Args:
        look: returns if it is met, and raises one of our errors if it is not.
        what: what is looked at, as a sentence begins.
    """

    def __init__(
        self, look: Callable[[], Awaitable[None]], what: str, *, fresh_seconds: float = _FRESH_SECONDS
    ) -> None:
        self._glance = Glance(look, fresh_seconds=fresh_seconds, patience_seconds=_PATIENCE_SECONDS)
        self._what = what

    async def why_not(self) -> str:
        """Why it is not met, for the person who runs Antiphon; "" if it is."""
        try:
            await self._glance.see()
        except TimeoutError:
            return f"{self._what} did not answer in {_PATIENCE_SECONDS:g} seconds."
        except AntiphonError as err:
            return f"{err.message} {err.remedy}".strip()
        return ""

    async def close(self) -> None:
        await self._glance.close()


def database_answers(database: Database) -> Condition:
    """The database can be read, and its tables are those of this version."""

    async def work(session: Session) -> None:
        await (await session.connection()).run_sync(check_revision)

    return Condition(lambda: database.run("check the revision", work), "The database")


def platform_connected(platforms: Sized) -> Condition:

    async def look() -> None:
        if not platforms:
            raise PlatformUnavailable("No platform is connected.", remedy="Run: antiphon doctor. It says why.")

    return Condition(look, "The platforms", fresh_seconds=0.0)


FRESH_SECONDS: Final = 15.0
CLOSED_SECONDS: Final = 300.0
"""How often closed cases are counted: they are many, and their number says little from one minute to the next."""
PATIENCE_SECONDS: Final = 5.0


class DatabaseMetrics:
    """Keeps the metrics that come from one database.

    Args:
        ticks: seconds that only grow.
    """

    def __init__(self, database: Database, *, ticks: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._ticks = ticks
        self._whole_at = -math.inf
        self._glance = Glance(self._look, fresh_seconds=FRESH_SECONDS, patience_seconds=PATIENCE_SECONDS, ticks=ticks)

    async def refresh(self) -> None:
        """Bring the metrics up to date, unless they were a moment ago."""
        try:
            counts = await self._glance.see()
        except (AntiphonError, TimeoutError):
            _forget()
            self._whole_at = -math.inf
        else:
            _show(counts)

    async def close(self) -> None:
        await self._glance.close()

    async def _look(self) -> Census:
        now = self._ticks()
        is_whole = now - self._whole_at >= CLOSED_SECONDS
        states = frozenset(CaseState) if is_whole else OPEN
        counts = await self._database.run("count what there is", lambda session: census(session, states))
        if is_whole:
            self._whole_at = now
        return counts


def _show(counts: Census) -> None:
    metrics.DATABASE_UP.set(1)
    for state, count in counts.cases.items():
        metrics.CASES.labels(state=state).set(count)
    for priority, waiting in counts.queue.items():
        metrics.QUEUE_CASES.labels(priority=priority.name.lower()).set(waiting.count)
        metrics.QUEUE_OLDEST.labels(priority=priority.name.lower()).set(_seconds(waiting, counts.now))
    metrics.WORKERS.set(counts.workers)
    metrics.REVIEW_OLDEST.set(_seconds(counts.review, counts.now))
    metrics.SENDS_UNKNOWN.set(counts.unknown)
    metrics.POSTING_PAUSED.set(counts.is_paused)
    metrics.SENDS_WAITING.set(counts.sends.count)
    metrics.SENDS_OLDEST.set(_seconds(counts.sends, counts.now))
    metrics.CARDS_OUTDATED.set(counts.cards.count)
    metrics.BOARD_LAG.set(_seconds(counts.cards, counts.now))
    metrics.UPDATES_WAITING.clear()
    for platform, count in counts.updates.items():
        metrics.UPDATES_WAITING.labels(platform=platform).set(count)


def _seconds(waiting: Backlog, now: datetime) -> float:
    """How long the oldest has waited; 0 if none does, or none has to yet."""
    return 0.0 if waiting.since is None else max(0.0, (now - waiting.since).total_seconds())


def _forget() -> None:
    """Take the values away: old ones would look like today's."""
    metrics.DATABASE_UP.set(0)
    for labelled in (metrics.CASES, metrics.QUEUE_CASES, metrics.QUEUE_OLDEST, metrics.UPDATES_WAITING):
        labelled.clear()
    for plain in (
        *(metrics.WORKERS, metrics.REVIEW_OLDEST, metrics.SENDS_UNKNOWN, metrics.POSTING_PAUSED),
        *(metrics.SENDS_WAITING, metrics.SENDS_OLDEST, metrics.CARDS_OUTDATED, metrics.BOARD_LAG),
    ):
        plain.set(math.nan)


STARTING, STOPPING = "It is starting, and loads its models.", "It is stopping, and takes no new work."


class Status:
    """What one process says of itself; outside of ``working`` it is starting or stopping."""

    def __init__(self) -> None:
        self._conditions: Mapping[str, Condition] = {}
        self._counting: DatabaseMetrics | None = None
        self._instead = STARTING

    @asynccontextmanager
    async def working(self, database: Database, conditions: Mapping[str, Condition]) -> AsyncIterator[None]:
        """Be ready within the block, while the database and ``conditions`` allow; nothing is asked of them after it.

        Args:
            conditions: by a short name of what each looks at.
        """
        self._conditions, self._instead = {"database": database_answers(database), **conditions}, ""
        self._counting = DatabaseMetrics(database)
        try:
            yield
        finally:
            self.stop()
            counting, self._counting = self._counting, None
            await asyncio.gather(counting.close(), *(each.close() for each in self._conditions.values()))

    def stop(self) -> None:
        """Say that the process takes no new work."""
        self._instead = STOPPING

    async def reasons(self) -> dict[str, str]:
        """Why the process is not ready, by what stands in the way; empty if it is ready."""
        reasons = dict[str, str]()
        if not self._instead:
            answers = await asyncio.gather(*(each.why_not() for each in self._conditions.values()))
            reasons = {name: why for name, why in zip(self._conditions, answers, strict=True) if why}
        if self._instead:  # it may have been stopped meanwhile
            reasons = {"process": self._instead}
        metrics.READY.set(not reasons)
        return reasons

    async def metrics(self) -> bytes:
        """All metrics, in Prometheus' text format."""
        await self.reasons()
        if self._counting is not None:
            await self._counting.refresh()
        return generate_latest(metrics.REGISTRY)


@asynccontextmanager
async def answering(listen: str, status: Status) -> AsyncIterator[int]:
    """Answer within the block; gives the port.

    Args:
        listen: an address and a port of this machine; port 0 for any that is free.

    Raises:
        BadSettings: nothing can be listened to there.
    """
    host, _, port = listen.rpartition(":")
    runner = web.AppRunner(_application(status), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host.strip("[]"), int(port)).start()
        except (OSError, OverflowError) as err:
            raise BadSettings(
                f"Antiphon cannot answer at {listen}: the port is taken, or the address is not this machine's.",
                remedy="Set operations.listen to an address of this machine and a free port, for each process its own "
                '(ANTIPHON__OPERATIONS__LISTEN), or to "".',
            ) from err
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


def _application(status: Status) -> web.Application:
    async def tell_metrics(_: web.Request) -> web.Response:
        return web.Response(body=await status.metrics(), headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})

    async def tell_health(_: web.Request) -> web.Response:
        return web.json_response({"alive": True})

    async def tell_readiness(_: web.Request) -> web.Response:
        reasons = await status.reasons()
        return web.json_response({"ready": not reasons, "reasons": reasons}, status=503 if reasons else 200)

    app = web.Application()
    app.router.add_get("/metrics", tell_metrics)
    app.router.add_get("/health", tell_health)
    app.router.add_get("/ready", tell_readiness)
    return app
