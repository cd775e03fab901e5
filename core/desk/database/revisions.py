"""The schema's revisions: which one a database has, and how it is upgraded to the newest.

The steps are in ``core/desk/migrations``. Each upgrade is one transaction: a database is at its old revision or at the
new one, never between them.

The name of a step says what it does to a version that does not know it. ``0017`` changes what that one uses: that
version must not run any more. ``0017.1``, ``0017.2`` and so on only add what that version does not miss, so that it may
go on.
"""

from functools import cache
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncEngine

from core.desk.database import postgresql, sqlite
from core.errors import StoreUnavailable

_MIGRATIONS: Final = Path(__file__).parents[1] / "migrations"
_OLDEST: Final = "0016.6"
"""The revision of version 0.1.0, which is made whole; no step leads to it from the tables of earlier ones."""

_BUSY_SECONDS: Final = 30.0
_LOCK: Final = 7_266_742  # any number that no other program locks in our database


def config(connection: Connection | None = None) -> Config:
    """Alembic's configuration, over an open transaction."""
    made = Config()
    made.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    made.attributes["connection"] = connection
    return made


@cache
def _steps(folder: Path) -> tuple[str, frozenset[str]]:
    """The newest of the steps in a folder, and all of them."""
    steps = ScriptDirectory(str(folder))
    return steps.get_heads()[0], frozenset(step.revision for step in steps.walk_revisions())


def newest() -> str:
    """The revision of this version of Antiphon."""
    return _steps(_MIGRATIONS)[0]


def revision(connection: Connection) -> str | None:
    """The database's revision; ``None`` if none of our tables is in it."""
    return MigrationContext.configure(connection).get_current_revision()


async def revision_of(engine: AsyncEngine) -> str | None:
    """The revision of the database that an engine reaches; ``None`` if it is empty."""
    async with engine.begin() as connection:
        return await connection.run_sync(revision)


def is_known(name: str | None) -> bool:
    """Whether this version of Antiphon has the step that made a revision."""
    return name in _steps(_MIGRATIONS)[1]


def may_use(stored: str | None, own: str) -> bool:
    """Whether a version whose newest step is ``own`` may use a database at a revision: its own, or one with additions.

    A version with further additions of its own may not use a database that lacks them.
    """
    (level, _, additions), (own_level, _, own_additions) = (stored or "").partition("."), own.partition(".")
    return level == own_level and int(additions or 0) >= int(own_additions or 0)


def check_revision(connection: Connection) -> None:
    """Refuse a database that this version cannot use.

    Raises:
        StoreUnavailable: its tables are older than this version's, or a newer version changed what this one uses.
    """
    current, own = revision(connection), newest()
    if may_use(current, own):
        return
    if is_known(current):
        raise StoreUnavailable(
            f"The database is at revision {current}; this version needs {own}.",
            remedy="Run: antiphon db upgrade. It keeps a backup of a SQLite database first; of PostgreSQL make one "
            "before: antiphon db backup.",
        )
    raise unknown_revision(current)


def unknown_revision(name: str | None) -> StoreUnavailable:
    """The error for a database whose revision this version does not know: it is of a later one, or older than all."""
    return StoreUnavailable(
        f"The database is at revision {name}, which this version does not know.",
        remedy="A version before 0.1.0 made it: docs/running/upgrading.md says which one upgrades it."
        if (name or "") < _OLDEST
        else "A later version of Antiphon made it: install that one, or restore an older backup.",
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
        if revision(connection) is not None:
            # Every transaction reads this table first: those under way end before the first step, others wait, and see
            # afterwards what the tables are. So a step and a transaction never wait for each other's tables either.
            connection.exec_driver_sql("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE")
    command.upgrade(config(connection), "head")
    if connection.dialect.name == "sqlite":
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise StoreUnavailable(
                f"The upgrade would leave {len(broken)} rows without what they belong to; nothing was changed.",
                remedy="Restore a backup, or report this with the database's revision.",
            )
