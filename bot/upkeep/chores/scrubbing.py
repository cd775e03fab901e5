"""Scrubbing: after an erasure, the erased words are removed from the database's files too."""

from __future__ import annotations

from typing import Final

from bot.store.engine.database import Database, Session
from bot.store.upkeep.scrub import scrub
from bot.store.work import jobs
from bot.store.work.jobs import Job
from bot.upkeep.chore import Done

SCRUB: Final = "scrub"


async def ask_to_scrub(session: Session, because: str) -> None:
    """Have the files scrubbed after this transaction, once for each reason."""
    await jobs.enqueue(session, f"{SCRUB}:{because}", SCRUB)


class Scrubbing:
    """Rewrites the database's files."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def do(self, _: Job) -> Done:
        """Scrub the files."""
        await scrub(self._database)
        return Done("what was erased is gone from the database's files")
