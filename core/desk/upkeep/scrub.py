"""Scrubbing: after an erasure, the erased words are removed from the database's files too.

A database keeps the bytes of what was deleted until it needs the room.
"""

from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncEngine

from core.desk.database.connection import Database, Session, translating
from core.desk.runtime.faults import reach
from core.desk.store import jobs
from core.desk.store.erasure import WORDS
from core.desk.upkeep.chores import Done
from core.errors import StoreUnavailable

_BUSY: Final = "The database was in use while it was to be scrubbed."


async def scrub(database: Database) -> None:
    """Rewrite the file of a SQLite database and empty its log; let PostgreSQL take back the room of dead rows.

    Afterwards SQLite's file and log hold nothing of what was erased. PostgreSQL frees the rows for reuse; its pages and
    its own log lose the bytes only when they are written again, which depends on the server's settings and backups.

    Raises:
        StoreUnavailable: the database was in use all the time; nothing was lost, try again later.
    """
    await reach("scrub: before")
    with translating():
        await (_vacuum(database.engine) if database.is_postgresql else _rewrite(database.engine))
    await reach("scrub: after")


async def _vacuum(engine: AsyncEngine) -> None:
    async with engine.connect() as connection:
        alone = await connection.execution_options(isolation_level="AUTOCOMMIT")
        for table in WORDS:
            await alone.exec_driver_sql(f"VACUUM {table}")


async def _rewrite(engine: AsyncEngine) -> None:
    # Through the driver, since SQLAlchemy would begin a transaction first.
    async with engine.connect() as connection:
        driver: Any = (await connection.get_raw_connection()).driver_connection
        for statement in ("PRAGMA secure_delete=ON", "VACUUM"):
            await (await driver.execute(statement)).close()
        async with driver.execute("PRAGMA wal_checkpoint(TRUNCATE)") as cursor:
            is_blocked, *_ = await cursor.fetchone()
    if is_blocked:
        raise StoreUnavailable(_BUSY, remedy="It is tried again by itself.")


SCRUB: Final = "scrub"


async def ask_to_scrub(session: Session, because: str) -> None:
    """Have the files scrubbed after this transaction, once for each reason."""
    await jobs.enqueue(session, f"{SCRUB}:{because}", SCRUB)


class DiskScrub:
    """Rewrites the database's files."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def do(self, _: jobs.Job) -> Done:
        await scrub(self._database)
        return Done("what was erased is gone from the database's files")
