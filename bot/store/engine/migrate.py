"""The schema's revisions: which one a database has, and how it is upgraded to the newest.

Owns the calls of Alembic; the steps are in ``bot/store/migrations``. Each upgrade is one transaction: a database is at
its old revision or at the new one, never between them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.store.engine import postgresql, sqlite
from core.errors import StoreUnavailable

_MIGRATIONS: Final = Path(__file__).parents[1] / "migrations"
_BUSY_SECONDS: Final = 30.0
_LOCK: Final = 7_266_742  # any number that no other program locks in our database


def config(connection: Connection | None = None) -> Config:
    """Alembic's configuration, over an open transaction."""
    made = Config()
    made.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    made.attributes["connection"] = connection
    return made


def newest() -> str:
    """The revision of this version of Antiphon."""
    return ScriptDirectory.from_config(config()).get_heads()[0]


def revision(connection: Connection) -> str | None:
    """The database's revision; ``None`` if none of our tables is in it."""
    return MigrationContext.configure(connection).get_current_revision()


async def revision_of(engine: AsyncEngine) -> str | None:
    """The revision of the database that an engine reaches; ``None`` if it is empty."""
    async with engine.begin() as connection:
        return await connection.run_sync(revision)


def is_known(found: str | None) -> bool:
    """Whether this version of Antiphon has the step that made a revision."""
    return any(step.revision == found for step in ScriptDirectory.from_config(config()).walk_revisions())


def check_revision(connection: Connection) -> None:
    """Refuse a database that another version made.

    Raises:
        StoreUnavailable: its tables are older than this version's, or newer.
    """
    found, wanted = revision(connection), newest()
    if found == wanted:
        return
    if is_known(found):
        raise StoreUnavailable(
            f"The database is at revision {found}; this version needs {wanted}.",
            remedy="Run: antiphon db upgrade. It keeps a backup of a SQLite database first; of PostgreSQL make one "
            "before: antiphon db backup.",
        )
    raise StoreUnavailable(
        f"The database is at revision {found}, which this version does not know.",
        remedy="A later version of Antiphon made it: install that one, or restore an older backup.",
    )


async def upgrade(engine: AsyncEngine) -> None:
    """Bring the database to the newest revision in one transaction."""
    # It has its own engine: steps take long, and SQLite must not follow references while tables are made again.
    is_sqlite = engine.dialect.name == "sqlite"
    own = (
        sqlite.engine(Path(engine.url.database or ""), _BUSY_SECONDS, foreign_keys=False)
        if is_sqlite
        else postgresql.engine(engine.url, _BUSY_SECONDS, is_patient=True)
    )
    try:
        async with own.begin() as connection:
            await connection.run_sync(_upgrade)
        if is_sqlite:
            await sqlite.forget_deleted(own)
    finally:
        await own.dispose()


def _upgrade(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":  # if two processes start at once, the second one waits
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
    command.upgrade(config(connection), "head")
    if connection.dialect.name == "sqlite":
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise StoreUnavailable(
                f"The upgrade would leave {len(broken)} rows without what they belong to; nothing was changed.",
                remedy="Restore a backup, or report this with the database's revision.",
            )
