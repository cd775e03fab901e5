"""The connection to the database.

Owns the engine, the promise that a commit is on the disk, and the translation of the vendor's errors. Knows no
table but to create it, and must never hold a transaction open across a network call: that is its callers' duty.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import URL, Connection, event, exc
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

from bot.store.schema import Base
from core.errors import AntiphonError, NotAllowed, StoreUnavailable

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")

# At DEBUG the driver logs every statement with its parameters, which hold post text.
logging.getLogger("aiosqlite").setLevel(logging.INFO)

# NORMAL may lose the last commits at a power cut, and a lost `sending` could be sent twice.
_REQUIRED_PRAGMAS: Final = {"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"}

_REMEDIES: Final = {
    "database or disk is full": "Free space on the disk that holds the database; nothing of this change was kept.",
    "readonly database": "Let the user that runs Antiphon write the database file and its folder.",
    "locked": "Another program holds the database; close it, or try again in a moment.",
    "unable to open database file": "Check that the folder of the database exists and can be written.",
    "not a database": "The file is not a SQLite database; restore a backup, or give another path.",
    "malformed": "The database file is damaged; stop Antiphon and restore a backup.",
    "no such table": "The database was made by another version; restore a backup, or start with a new file.",
    "disk i/o error": "The disk failed or went away; check it, then start Antiphon again.",
}


def _translated(err: Exception) -> AntiphonError:
    """The project's error for a vendor's: the driver's own words, without the parameters, which hold post text."""
    cause = str(getattr(err, "orig", None) or err)
    if isinstance(err, exc.IntegrityError):
        return NotAllowed(
            f"The database refused the change: {cause}.", remedy="Nothing was changed; reload and try again."
        )
    remedy = next(
        (cure for sign, cure in _REMEDIES.items() if sign in cause.lower()),
        "Check the database file and the disk it lies on, then start Antiphon again.",
    )
    return StoreUnavailable(f"The database does not answer: {cause}.", remedy=remedy)


@contextmanager
def _translating() -> Iterator[None]:
    try:
        yield
    except (exc.DBAPIError, exc.TimeoutError, sqlite3.Error) as err:
        raise _translated(err) from err


async def _whole(work: Coroutine[Any, Any, _T]) -> _T:
    """Bring ``work`` to its end although the caller is cancelled, and only then let the cancellation through.

    A cancellation inside a call of the driver would leave a connection behind that nobody closes, and with it the
    lock on the whole database. The wait is bounded by ``busy_seconds``.
    """
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as err:
            cancelled = err
    if cancelled is None:
        return task.result()
    if not task.cancelled() and (failure := task.exception()) is not None:
        _LOG.warning("a transaction failed while its caller was cancelled: %s", type(failure).__name__)
    raise cancelled


def _listen(engine: AsyncEngine, busy_seconds: float) -> None:
    """Set every new connection up, and begin every transaction as a writer.

    The driver would begin a transaction at the first write only, so that two readers who both go on to write would
    fail; ``BEGIN IMMEDIATE`` makes the second one wait.
    """

    @event.listens_for(engine.sync_engine, "connect")
    def _(connection: Any, _record: object) -> None:
        try:
            connection.isolation_level = None
            # The waiting time comes first: switching to WAL may itself have to wait.
            pragmas = (f"busy_timeout={int(busy_seconds * 1000)}", "journal_mode=WAL", "synchronous=FULL")
            for pragma in (*pragmas, "foreign_keys=ON"):
                connection.execute("PRAGMA " + pragma).close()
        except sqlite3.Error:
            connection.close()
            raise

    @event.listens_for(engine.sync_engine, "begin")
    def _(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


class Database:
    """A SQLite file, opened. Made by ``Database.open``; give it back with ``close``."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self._sessions = async_sessionmaker(engine, expire_on_commit=False)

    @classmethod
    async def open(cls, path: Path, *, busy_seconds: float = 30.0) -> Database:
        """Open the file, make the tables that are missing, and check that commits will be durable.

        Args:
            path: the database file; its folder must exist.
            busy_seconds: how long a transaction waits for another one to end.

        Raises:
            StoreUnavailable: the file cannot be opened, or the disk cannot give the durability asked for.
        """
        url = URL.create("sqlite+aiosqlite", database=str(path))
        engine = create_async_engine(url, hide_parameters=True)
        _listen(engine, busy_seconds)
        database = cls(engine)
        try:
            await _whole(database._prepare())
        except BaseException:
            await database.close()
            raise
        return database

    async def _prepare(self) -> None:
        with _translating():
            async with self.engine.begin() as connection:
                await connection.run_sync(Base.metadata.create_all)
                for pragma, wanted in _REQUIRED_PRAGMAS.items():
                    found = (await connection.exec_driver_sql(f"PRAGMA {pragma}")).scalar_one()
                    if str(found) != wanted:
                        raise StoreUnavailable(
                            f"The database has {pragma}={found} where {wanted} is needed to keep every commit.",
                            remedy="Put the database file on a local disk, not on a network share.",
                        )

    async def run(self, work: Callable[[AsyncSession], Awaitable[_T]]) -> _T:
        """Do ``work`` in one transaction: committed when it returns, undone whole on any error.

        A transaction is never cut short: a cancelled caller gets its ``CancelledError`` when it is over.

        Raises:
            StoreUnavailable: the database cannot be reached or written; nothing was kept.
            NotAllowed: a constraint of the schema refused the change.
        """
        return await _whole(self._transaction(work))

    async def _transaction(self, work: Callable[[AsyncSession], Awaitable[_T]]) -> _T:
        with _translating():
            async with self._sessions.begin() as session:
                return await work(session)

    async def close(self) -> None:
        """Close every connection."""
        await _whole(self.engine.dispose())
