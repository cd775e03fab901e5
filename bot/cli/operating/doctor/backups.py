"""Whether backups are made, can be made, and are not too old."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import URL

from bot.cli.operating.doctor.database import is_there, opened
from bot.compose.chores import BACKUP, SCHEDULED
from bot.compose.engine import make_folder
from bot.compose.settings.settings import Settings
from bot.runtime.findings import Finding, finding_of
from bot.store.engine.database import Session
from bot.store.upkeep.backup import POSTGRESQL, SQLITE
from bot.store.views.overdue import first_community, last_done
from core.errors import StoreUnavailable

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
    known = files if isinstance(settings.database_place, Path) or made is None else [*files, made]
    return now, max(known, default=None), begun
