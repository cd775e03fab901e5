"""The database, the secret that belongs to it, and its clock.

Makes no database: that a first run will make one is told.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from pwd import getpwuid
from typing import Final

from sqlalchemy import URL

from bot.compose.desk import BACKUP, SCHEDULED
from bot.compose.engine import make_folder
from bot.settings import Settings
from core.desk.database.connection import Database, Session, connected, translating
from core.desk.database.revisions import revision_of
from core.desk.database.secret import load_secret
from core.desk.runtime.findings import Finding, finding_of
from core.desk.store.people import strangers
from core.desk.upkeep.backups import POSTGRESQL, SQLITE, check_private
from core.desk.views.census import first_community, last_done, latest_line
from core.errors import AntiphonError, StoreUnavailable

_MISSED: Final = 2
"""So many backups in a row may be missed."""


async def examine_backups(settings: Settings) -> list[Finding]:
    """Nothing before the first run."""
    return [await finding_of("backups", partial(_backups, settings))] if await is_there(settings) else []


async def _backups(settings: Settings) -> str:
    hours, folder, place = settings.desk.backup_hours, settings.backup_folder, settings.database_place
    if isinstance(place, Path) or _serves_here(settings):
        _check_can_be_made(place, folder)
    if not hours:
        return "none are made by themselves: desk.backup_hours is 0"
    now, newest, begun = await _newest(settings, SQLITE if isinstance(place, Path) else POSTGRESQL)
    longest = timedelta(hours=_MISSED * hours)
    remedy = "Keep antiphon serve running, and read its log where it runs. For one now: antiphon db backup."
    if newest is None:
        if begun is not None and now - begun > longest:
            raise StoreUnavailable(f"There is no backup in {folder}, since {begun:%Y-%m-%d}.", remedy=remedy)
        return f"none yet; one is made every {hours:g} hours while antiphon serve runs"
    if now - newest > longest:
        raise StoreUnavailable(f"The newest backup is of {newest:%Y-%m-%d %H:%M} UTC.", remedy=remedy)
    return f"the newest is of {newest:%Y-%m-%d %H:%M} UTC"


def _serves_here(settings: Settings) -> bool:
    """Whether ``antiphon serve``, which makes the backups, may run with these settings; a worker makes none."""
    tokens = (settings.discord.token, settings.telegram.token, settings.mastodon.token)
    return any(token.get_secret_value().strip() for token in tokens)


def _check_can_be_made(place: Path | URL, folder: Path) -> None:
    if not isinstance(place, Path) and shutil.which("pg_dump") is None:
        raise StoreUnavailable(
            "No backup can be made: pg_dump is not on the PATH.",
            remedy="Install PostgreSQL's client tools, of the server's version or later.",
        )
    make_folder(folder, "desk.backup_folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreUnavailable(
            f"No backup can be kept in {folder}: it cannot be written.",
            remedy="Give the rights to the account that runs Antiphon, or set desk.backup_folder to another place.",
        )


async def _newest(settings: Settings, ending: str) -> tuple[datetime, datetime | None, datetime | None]:
    """The time now, that of the newest backup, made on whatever machine, and since when there are communities."""

    async def look(session: Session) -> tuple[datetime, datetime | None, datetime | None]:
        return session.moment, await last_done(session, BACKUP), await first_community(session)

    async with opened(settings) as database:
        now, made, begun = await database.run("look for backups", look)
    folders = (settings.backup_folder, settings.backup_folder / SCHEDULED)
    files = [datetime.fromtimestamp(file.stat().st_mtime, UTC) for each in folders for file in each.glob(f"*{ending}")]
    # On PostgreSQL the process that made it may run elsewhere; a file is worth more than a note that it was made.
    times = files if isinstance(settings.database_place, Path) or made is None else [*files, made]
    return now, max(times, default=None), begun


BUSY_SECONDS: Final = 5.0
"""How long another program may hold the database: the application waits longer, and somebody waits for this."""
MOST_APART: Final = timedelta(seconds=30)
"""How far two clocks may be apart: less than a lease, by which processes know each other to be alive."""


async def examine_database(settings: Settings) -> list[Finding]:
    """The database; where there is one, whether the secret is its own, and whether the clocks agree."""
    findings = [await finding_of("database", partial(_database, settings))]
    if findings[0].ok and await is_there(settings):
        findings += [
            await finding_of("secret", partial(_secret, settings)),
            await finding_of("clock", partial(_clock, settings)),
        ]
    return findings


async def is_there(settings: Settings) -> bool:
    """Whether there is a database yet: a first run makes one.

    Raises:
        BadSettings: its address cannot be used.
        StoreUnavailable: the server does not answer, or what is there is no database.
    """
    place = settings.database_place
    if isinstance(place, Path) and not place.exists():
        return False
    engine = connected(place, BUSY_SECONDS)
    try:
        with translating():
            return await revision_of(engine) is not None
    finally:
        await engine.dispose()


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Database]:
    """The database that is there, with its secret; without one where that cannot be read."""
    try:
        secret = load_secret(settings.secret_file, creates=False)
    except AntiphonError:
        secret = b""  # what is wrong with it is a finding of its own
    database = await Database.open(settings.database_place, secret=secret, busy_seconds=BUSY_SECONDS, creates=False)
    try:
        yield database
    finally:
        await database.close()


async def _database(settings: Settings) -> str:
    place = settings.database_place
    if isinstance(place, Path):
        make_folder(place.parent, "desk.database")
        _check_owner(place)
    if not await is_there(settings):
        return await _first(settings, place)
    if isinstance(place, Path):
        check_private(place)
    async with opened(settings):
        pass
    return f"{place} opens, durable and in WAL mode" if isinstance(place, Path) else _answers(place)


async def _first(settings: Settings, place: Path | URL) -> str:
    """What is said before the first run, which makes the database."""
    if settings.secret_file.exists():
        where = str(place) if isinstance(place, Path) else f"{place.host or 'localhost'}, in {place.database}"
        raise StoreUnavailable(
            f"There is no database at {where}, but the secret of an installation in {settings.secret_file}.",
            remedy="Correct desk.database or ANTIPHON__DESK__DATABASE_URL, or put a backup there: antiphon db restore. "
            "For a new database run: antiphon db upgrade.",
        )
    if isinstance(place, URL):
        return f"{_answers(place)}; its tables will be made at the first run"
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        await (await Database.open(Path(folder) / "probe.db", secret=b"probe")).close()
    return f"{place} will be made at the first run"


def _answers(place: URL) -> str:
    return f"PostgreSQL at {place.host or 'localhost'} answers, durable"


def _check_owner(place: Path) -> None:
    """Check that the account that runs this owns the file: what another one makes beside it, the service cannot read.

    Raises:
        StoreUnavailable: it belongs to another account.
    """
    if place.exists() and (owner := place.stat().st_uid) != os.geteuid():
        raise StoreUnavailable(
            f"{place} belongs to {_account(owner)}, and this runs as {_account(os.geteuid())}.",
            remedy=f"Run antiphon as {_account(owner)}, or give the file and what is beside it to the account that "
            f"runs Antiphon: chown ACCOUNT {place}*",
        )


def _account(number: int) -> str:
    try:
        return getpwuid(number).pw_name
    except KeyError:
        return f"account {number}"


async def _secret(settings: Settings) -> str:
    file = settings.secret_file
    load_secret(file, creates=False)
    if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise StoreUnavailable(
            f"Other accounts on this machine may read the secret in {file}.", remedy=f"Run: chmod 600 {file}"
        )
    async with opened(settings) as database:
        unknown = await database.run("look whether the secret is its own", strangers)
    if unknown:
        raise StoreUnavailable(
            f"The secret in {file} is not the one of this database: people in it are not found by it.",
            remedy="Put back the secret that belongs to this database, from its copy; or correct desk.secret_file, "
            "desk.database or ANTIPHON__DESK__DATABASE_URL.",
        )
    return f"{file} belongs to this database"


async def _clock(settings: Settings) -> str:
    async def look(session: Session) -> tuple[datetime, datetime | None]:
        return session.moment, await latest_line(session)

    async with opened(settings) as database:
        theirs, latest = await database.run("compare the clocks", look)
    apart = theirs - datetime.now(UTC)
    if abs(apart) > MOST_APART:
        raise StoreUnavailable(
            f"The clock of the database is {abs(apart).total_seconds():.0f} s "
            f"{'ahead of' if apart > timedelta() else 'behind'} that of this machine.",
            remedy="Let both machines set their clocks by NTP (timedatectl set-ntp true).",
        )
    if latest is not None and latest > theirs + MOST_APART:
        raise StoreUnavailable(
            f"The last line of the audit log is of {latest:%Y-%m-%d %H:%M} UTC, which is later than now: the clock was "
            "put back.",
            remedy="Set the clock right (timedatectl set-ntp true). Until then leases and waiting times are wrong.",
        )
    return "the database and this machine agree"
