"""Backups: made while others work, restored, and deleted later, since they hold what was erased meanwhile."""

import asyncio
import os
import shlex
import shutil
import sqlite3
import subprocess  # nosec B404 # programs of our own choice, never through a shell
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import URL
from sqlalchemy.ext.asyncio import AsyncConnection

from core.desk.database import postgresql, sqlite
from core.desk.database.connection import Database, Session, check_no_folder, connected, translating
from core.desk.database.revisions import check_revision, is_known, revision
from core.desk.runtime.findings import Finding, finding_of
from core.desk.store.jobs import Job
from core.desk.upkeep.chores import Done
from core.errors import BadInput, StoreUnavailable


class Backups:
    """Keeps backups for a while.

    Args:
        make: makes a backup in a folder and returns its place.
        folder: holds nothing but these backups: what is too old in it is deleted.
        kept_days: for how long an erased person may still be in a backup.
    """

    def __init__(
        self, database: Database, make: Callable[[Path], Awaitable[Path]], folder: Path, *, kept_days: float = 30.0
    ) -> None:
        self._database = database
        self._make = make
        self._folder = folder
        self._kept_for = timedelta(days=kept_days)

    async def do(self, _: Job) -> Done:
        """Make a backup, then delete those that are too old."""

        async def now(session: Session) -> datetime:
            return session.moment

        moment = await self._database.run("look at the clock", now)
        try:
            await asyncio.to_thread(self._folder.mkdir, mode=0o700, parents=True, exist_ok=True)
            made = await self._make(self._folder)
            deleted = await asyncio.to_thread(self._delete_before, moment - self._kept_for, made)
        except OSError as err:
            raise StoreUnavailable(
                f"A backup cannot be made in {self._folder}: {err.strerror}.",
                remedy="Make room or give the rights, or set desk.backup_folder to another place.",
            ) from err
        return Done(f"one backup made, {deleted} old ones deleted")

    def _delete_before(self, moment: datetime, newest: Path) -> int:
        old = [
            file
            for file in self._folder.iterdir()
            if file.is_file() and file != newest and file.stat().st_mtime < moment.timestamp()
        ]
        for file in old:
            file.unlink()
        return len(old)


SQLITE, POSTGRESQL = ".sqlite", ".pgdump"
_TOOL_SECONDS: Final = 3600.0
_ASIDE: Final = "before_"
"""How the name begins of a schema that a restore kept aside; it is in no later dump, as erasures do not reach it."""
_DUMP: Final = ("--format=custom", "--no-owner", "--no-privileges", f"--exclude-schema={_ASIDE}*")
_REVISION: Final = "SELECT version_num FROM alembic_version"


async def backup(place: Path | URL, folder: Path) -> Path:
    """Copy the database as it is at one moment, into a new file of ``folder``, while others read and write it.

    Returns:
        The file: it is whole, checked and on the disk, and readable by its owner alone.

    Raises:
        StoreUnavailable: the database cannot be read, the disk is full, or ``pg_dump`` is missing or refuses.
    """
    if isinstance(place, Path):
        return await asyncio.to_thread(_new_file, partial(_copy_sqlite, place), folder, SQLITE)
    return await asyncio.to_thread(_new_file, partial(_dump_postgresql, place), folder, POSTGRESQL)


async def restore(file: Path, place: Path | URL, *, force: bool = False) -> str | None:
    """Make the database of a backup again, where there is none.

    Args:
        force: where there is one, keep it aside; nobody may be using it.

    Returns:
        Where the earlier database is now: a file, or a schema of the PostgreSQL database.

    Raises:
        BadInput: the file is not a backup for such a place, or there is a database and ``force`` was not given.
        StoreUnavailable: the backup is damaged, or the place cannot be written or is in use.
    """
    _check_kind(file, SQLITE if isinstance(place, Path) else POSTGRESQL)
    if isinstance(place, Path):
        check_no_folder(place)
        return await asyncio.to_thread(_restore_sqlite, file, place, force)
    return await _restore_postgresql(file, place, force)


async def check(place: Path | URL) -> list[Finding]:
    """Look whether the database is whole, of this version, and keeps what it is given."""
    engine = connected(place)
    try:
        own: dict[str, Callable[[AsyncConnection], Awaitable[str]]] = {
            "whole": _whole if isinstance(place, Path) else _readable,
            "revision": _revision,
            "durable": _durable,
        }
        findings = []
        for name, look in own.items():

            async def probe(look: Callable[[AsyncConnection], Awaitable[str]] = look) -> str:
                with translating():
                    async with engine.begin() as connection:
                        return await look(connection)

            findings.append(await finding_of(name, probe))
        if isinstance(place, Path):
            findings.append(await finding_of("private", partial(_private, place)))
    finally:
        await engine.dispose()
    return findings


async def _whole(connection: AsyncConnection) -> str:
    for pragma in ("integrity_check", "foreign_key_check"):
        rows = [tuple(row) for row in (await connection.exec_driver_sql(f"PRAGMA {pragma}")).fetchall()]
        if rows not in ([], [("ok",)]):
            raise _damaged(f"{pragma} finds {len(rows)} faults")
    return "integrity and references hold"


async def _readable(connection: AsyncConnection) -> str:
    version = (await connection.exec_driver_sql("SHOW server_version")).scalar_one()
    return f"PostgreSQL {version} answers; it checks its own pages (pg_amcheck, data checksums)"


async def _revision(connection: AsyncConnection) -> str:
    await connection.run_sync(check_revision)
    return f"revision {await connection.run_sync(revision)}"


async def _durable(connection: AsyncConnection) -> str:
    await (sqlite if connection.dialect.name == "sqlite" else postgresql).check_durable(connection)
    return "a commit survives a power cut"


async def _private(place: Path) -> str:
    check_private(place)
    return "not everybody on this machine may read it"


def check_private(place: Path) -> None:
    """Check that a file with a database is not for everybody's eyes; ``StoreUnavailable`` if it is."""
    if place.exists() and sqlite.is_open_to_all(place):
        raise StoreUnavailable(
            f"Everybody with an account on this machine may read {place}.",
            remedy=f"Run: chmod 600 {place}*.",
        )


def _damaged(what: str) -> StoreUnavailable:
    return StoreUnavailable(f"The database is damaged: {what}.", remedy="Stop Antiphon and restore a backup.")


# Files


def _check_kind(file: Path, ending: str) -> None:
    if not file.exists():
        raise BadInput(
            f"There is no file {file}.", remedy="Correct the path; backup_folder of config.toml has backups."
        )
    if file.is_dir():
        raise BadInput(f"{file} is a folder.", remedy=f"Name a backup in it: a file that ends with {ending}.")
    if file.suffix != ending:
        vendor = "SQLite" if ending == SQLITE else "PostgreSQL"
        raise BadInput(
            f"{file} is not a backup of a {vendor} database, which is what the settings name.",
            remedy=f"Give a file that ends with {ending}, or correct desk.database or ANTIPHON__DESK__DATABASE_URL.",
        )


def _new_file(make: Callable[[Path], None], folder: Path, ending: str) -> Path:
    """A new file, named after the moment, that is whole or not there at all."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".backup-") as temporary:
            target = Path(temporary) / f"made{ending}"
            target.touch(0o600)
            make(target)
            _flush(target)
            file = folder / f"antiphon-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}{ending}"
            target.rename(file)
        _flush(folder)
    except OSError as err:
        raise StoreUnavailable(
            f"No backup can be kept in {folder}: {err.strerror}.", remedy="Make room, or correct the rights."
        ) from err
    return file


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}")


# SQLite


def _copy_sqlite(place: Path, target: Path) -> None:
    """Copy a file by SQLite's own backup: one read transaction, in which writers go on and are not seen."""
    with (
        translating(),
        closing(sqlite3.connect(f"{place.absolute().as_uri()}?mode=ro", uri=True)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        source.backup(copy, pages=-1)
        copy.execute("PRAGMA journal_mode=DELETE").close()  # one file, with nothing beside it
        _check_copy(copy)


def _check_copy(copy: sqlite3.Connection) -> None:
    for pragma in ("integrity_check", "foreign_key_check"):
        rows = copy.execute(f"PRAGMA {pragma}").fetchall()
        if rows not in ([], [("ok",)]):
            raise _damaged(f"{pragma} finds {len(rows)} faults")


def _restore_sqlite(file: Path, place: Path, force: bool) -> str | None:
    with translating():
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as source:
            _check_copy(source)
            has_revision = source.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
            row = source.execute(_REVISION).fetchone() if has_revision else None
        if not is_known(row[0] if row else None):
            raise BadInput(f"{file} holds no revision that this version knows.", remedy="Install the version it is of.")
        if place.exists() and not force:
            raise BadInput(f"{place} exists.", remedy="Restore to another place, or add --force, which keeps it aside.")
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".restore-") as temporary:
            copy = Path(temporary) / "copy"
            copy.touch(0o600)
            shutil.copyfile(file, copy)
            _flush(copy)
            aside = _put_aside(place) if place.exists() else None
            copy.rename(place)
        _flush(place.parent)
    return None if aside is None else str(aside)


def _put_aside(place: Path) -> Path:
    """Rename a database that is not in use, with all that its log holds; ``StoreUnavailable`` if it is in use."""
    with closing(sqlite3.connect(place, isolation_level=None, timeout=0)) as last:
        try:
            last.execute("PRAGMA locking_mode=EXCLUSIVE").close()
            last.execute("BEGIN EXCLUSIVE").close()
            last.execute("COMMIT").close()
            last.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()
        except sqlite3.DatabaseError as err:
            if "not a database" not in str(err) and "malformed" not in str(err):
                raise  # a damaged one is what a backup is for
    aside = _aside(place)
    for ending in ("", "-wal", "-shm"):
        beside = place.with_name(place.name + ending)
        if beside.exists():
            beside.rename(aside.with_name(aside.name + ending))
    return aside


# PostgreSQL


def dump_command(place: URL, file: str) -> str:
    """What somebody types for a backup of a PostgreSQL database that ``restore`` takes; it names no password."""
    options = _libpq(place)
    names = {"PGHOST": "--host", "PGPORT": "--port", "PGUSER": "--username", "PGDATABASE": "--dbname"}
    where = [f"{option}={options[name]}" for name, option in names.items() if name in options]
    return shlex.join(["pg_dump", *_DUMP, f"--file={file}{POSTGRESQL}", *where])


def _dump_postgresql(place: URL, target: Path) -> None:
    _run_tool("pg_dump", place, *_DUMP, f"--file={target}")


async def _restore_postgresql(file: Path, place: URL, force: bool) -> str | None:
    aside = None
    engine = connected(place)
    try:
        with translating():
            async with engine.begin() as connection:
                if await connection.run_sync(revision) is not None:
                    if not force:
                        raise BadInput(
                            "The PostgreSQL database is not empty.",
                            remedy="Restore to an empty one, or add --force, which keeps its tables aside.",
                        )
                    aside = f"{_ASIDE}{datetime.now(UTC):%Y%m%dT%H%M%S}".lower()
                    await connection.exec_driver_sql(f"ALTER SCHEMA public RENAME TO {aside}")
                    await connection.exec_driver_sql("CREATE SCHEMA public")
        options = ("--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", "--schema=public")
        try:
            await asyncio.to_thread(
                _run_tool, "pg_restore", place, *options, f"--dbname={_libpq(place)['PGDATABASE']}", str(file)
            )
        except StoreUnavailable:
            if aside is not None:
                with translating():
                    async with engine.begin() as connection:
                        await connection.exec_driver_sql("DROP SCHEMA public CASCADE")
                        await connection.exec_driver_sql(f"ALTER SCHEMA {aside} RENAME TO public")
            raise
    finally:
        await engine.dispose()
    return None if aside is None else f"schema {aside}"


def _run_tool(name: str, place: URL, *options: str) -> None:
    """Run one of PostgreSQL's own tools; the password goes through its environment, which nobody else reads.

    Raises:
        StoreUnavailable: it is missing, or refuses. Only the first line of what it says is told: others quote rows.
    """
    program = shutil.which(name)
    if program is None:
        raise StoreUnavailable(
            f"{name} is not on the PATH.", remedy="Install PostgreSQL's client tools, of the server's version or later."
        )
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PG")} | _libpq(place)
    command = [program, "--no-password", *options]
    try:
        result = subprocess.run(  # nosec B603 # noqa: S603 - a fixed tool with our own options
            command, env=environment, capture_output=True, text=True, timeout=_TOOL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as err:
        raise StoreUnavailable(f"{name} did not end.", remedy="Look at the server's load and locks.") from err
    if result.returncode:
        reason = next(iter(result.stderr.splitlines()), "it gave no reason")
        raise StoreUnavailable(
            f"{name} failed: {reason}.", remedy="Use tools of the server's version or later, and check its rights."
        )


def _libpq(place: URL) -> dict[str, str]:
    """The address in the variables that PostgreSQL's tools read."""
    options: dict[str, object] = {
        "PGHOST": place.host or place.query.get("host"),
        "PGPORT": place.port or place.query.get("port"),
        "PGUSER": place.username,
        "PGPASSWORD": place.password,
        "PGDATABASE": place.database,
    }
    return {name: str(value) for name, value in options.items() if value} | postgresql.ssl_options(place)
