"""What must be so for a process to be ready: its database answers, its model does, a platform is connected.

What does not answer in time counts as away. A look that takes long goes on by itself, so that those who ask often need
not wait for it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sized
from typing import Final, Generic, TypeVar

from core.desk.database.connection import Database, Session
from core.desk.database.revisions import check_revision
from core.errors import AntiphonError, PlatformUnavailable

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


FRESH_SECONDS: Final = 5.0
PATIENCE_SECONDS: Final = 3.0


class Condition:
    """One of them.

    Args:
        look: returns if it is met, and raises one of our errors if it is not.
        what: what is looked at, as a sentence begins.
    """

    def __init__(self, look: Callable[[], Awaitable[None]], what: str, *, fresh_seconds: float = FRESH_SECONDS) -> None:
        self._glance = Glance(look, fresh_seconds=fresh_seconds, patience_seconds=PATIENCE_SECONDS)
        self._what = what

    async def why_not(self) -> str:
        """Why it is not met, for the person who runs Antiphon; "" if it is."""
        try:
            await self._glance.see()
        except TimeoutError:
            return f"{self._what} did not answer in {PATIENCE_SECONDS:g} seconds."
        except AntiphonError as err:
            return f"{err.message} {err.remedy}".strip()
        return ""

    async def close(self) -> None:
        """End a look that is under way."""
        await self._glance.close()


def database_answers(database: Database) -> Condition:
    """The database can be read, and its tables are those of this version."""

    async def work(session: Session) -> None:
        await (await session.connection()).run_sync(check_revision)

    return Condition(lambda: database.run("check the revision", work), "The database")


def platform_connected(platforms: Sized) -> Condition:
    """At least one platform is connected."""

    async def look() -> None:
        if not platforms:
            raise PlatformUnavailable("No platform is connected.", remedy="Run: antiphon doctor. It says why.")

    return Condition(look, "The platforms", fresh_seconds=0.0)
