"""Backups: made while Antiphon runs, and deleted later, since they hold what was erased from the database meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path

from bot.store.engine.database import Database, Session
from bot.store.work.jobs import Job
from bot.upkeep.chore import Done
from core.errors import StoreUnavailable


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
        self._kept = timedelta(days=kept_days)

    async def do(self, _: Job) -> Done:
        """Make a backup, then delete those that are too old."""

        async def now(session: Session) -> datetime:
            return session.moment

        moment = await self._database.run("look at the clock", now)
        try:
            await asyncio.to_thread(self._folder.mkdir, mode=0o700, parents=True, exist_ok=True)
            made = await self._make(self._folder)
            deleted = await asyncio.to_thread(self._delete_before, moment - self._kept, made)
        except OSError as err:
            raise StoreUnavailable(
                f"A backup cannot be made in {self._folder}: {err.strerror}.",
                remedy="Make room or give the rights, or set desk.backup_folder to another place.",
            ) from err
        return Done(f"one backup made, {deleted} old ones deleted")

    def _delete_before(self, moment: datetime, made: Path) -> int:
        old = [
            file
            for file in self._folder.iterdir()
            if file.is_file() and file != made and file.stat().st_mtime < moment.timestamp()
        ]
        for file in old:
            file.unlink()
        return len(old)
