"""What is particular to SQLite: durable commits, writers that wait for each other, this machine's clock."""

import asyncio
import sqlite3
import stat
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, event, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.util import await_only

from core.errors import StoreUnavailable

# NORMAL may lose the last commits at a power cut, and a lost `sending` could be sent twice.
_REQUIRED_PRAGMAS: Final = {"journal_mode": "wal", "synchronous": "2"}
_AGAIN_SECONDS: Final = 0.02


def engine(path: Path, busy_seconds: float, *, foreign_keys: bool = True) -> AsyncEngine:
    """An engine over a file; every connection waits ``busy_seconds`` for another one's transaction to end.

    By default the driver begins a transaction only at the first write, so two readers that both go on to write would
    fail; ``BEGIN IMMEDIATE`` makes the second one wait.
    """
    made = create_async_engine(URL.create("sqlite+aiosqlite", database=str(path)), hide_parameters=True)

    @event.listens_for(made.sync_engine, "connect")
    def _(connection: Any, _record: object) -> None:
        try:
            connection.isolation_level = None
            connection.execute(f"PRAGMA busy_timeout={int(busy_seconds * 1000)}").close()
            _keep_a_log(connection, busy_seconds)
            # What is erased is overwritten, not only left out (reliability, I15).
            for pragma in ("synchronous=FULL", "secure_delete=ON", f"foreign_keys={'ON' if foreign_keys else 'OFF'}"):
                connection.execute("PRAGMA " + pragma).close()
        except sqlite3.Error:
            connection.close()
            raise

    @event.listens_for(made.sync_engine, "begin")
    def _(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return made


def keep_private(path: Path) -> None:
    """Make the file if it is missing, for its owner alone; SQLite gives the log beside it the same rights.

    Where it cannot be made, SQLite says why when it is opened.
    """
    if not path.exists():
        with suppress(OSError):
            path.touch(0o600)


def is_open_to_all(path: Path) -> bool:
    """Whether everybody with an account on this machine may read a file and reach it."""
    return bool(path.stat().st_mode & stat.S_IROTH) and bool(path.parent.stat().st_mode & stat.S_IXOTH)


def _keep_a_log(connection: Any, busy_seconds: float) -> None:
    """Switch to WAL; wait while another connection writes a file that has no log yet.

    SQLite refuses such a switch at once, whatever ``busy_timeout`` says, since it has already begun to read.
    """
    until = time.monotonic() + busy_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
        except sqlite3.OperationalError as err:
            if err.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                raise
        else:
            return
        await_only(asyncio.sleep(_AGAIN_SECONDS))


async def check_durable(connection: AsyncConnection) -> None:
    """Check that a commit will survive a power cut; ``StoreUnavailable`` if not."""
    for pragma, expected in _REQUIRED_PRAGMAS.items():
        value = (await connection.exec_driver_sql(f"PRAGMA {pragma}")).scalar_one()
        if str(value) != expected:
            raise StoreUnavailable(
                f"The database has {pragma}={value} where {expected} is needed to keep every commit.",
                remedy="Put the database file on a local disk, not on a network share.",
            )


async def forget_deleted(engine: AsyncEngine) -> None:
    """Write the log back into the file and empty it, so that neither of them still holds what was deleted."""
    async with engine.connect() as connection:
        own: Any = (await connection.get_raw_connection()).driver_connection  # outside of any transaction
        await (await own.execute("PRAGMA wal_checkpoint(TRUNCATE)")).close()


async def time_and_revision(session: AsyncSession) -> tuple[datetime, str | None]:
    """The time by this machine's clock, since all processes that use the file run here, and the tables' revision."""
    revision: str | None = await session.scalar(text("SELECT version_num FROM alembic_version"))
    return datetime.now(UTC), revision
