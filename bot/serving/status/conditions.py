"""What must be so for a process to be ready: its database answers, its model does, a platform is connected.

Owns how each of them is looked at, and how often. What does not answer in time counts as away.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sized
from typing import Final

from bot.serving.status.glance import Glance
from bot.store.engine.database import Database, Session
from bot.store.engine.migrate import check_revision
from core.errors import AntiphonError, PlatformUnavailable

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
