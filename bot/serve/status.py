"""Whether a process is ready, and what it counted: the answers that ``bot.serve.endpoint`` gives.

For its surroundings a process first starts, then is ready or not, and then stops.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final

from prometheus_client import generate_latest

from bot.serve.conditions import Condition, Glance, database_answers
from core.desk.database.connection import Database
from core.desk.rules.approval import CaseState
from core.desk.runtime import metrics
from core.desk.views.census import OPEN, Backlog, Census, census
from core.errors import AntiphonError

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
        """End a count that is under way."""
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
