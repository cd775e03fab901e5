"""A desk in the middle of its world: people, workers, a platform, a clock, and everything that may go wrong.

Owns, with ``tests.torture.world.people`` and ``tests.torture.world.keepers``, the one place in the tests of torture
that calls the desk, so that all of them do what an application does.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import URL, select

from core.desk.database.connection import Database, Session
from core.desk.review.casework import note_original
from core.desk.rules.approval import CaseState
from core.desk.schema import JobRow
from tests.fakes.desk.people import COMMUNITY_ID, SECRET, settle
from tests.torture.world.figures import TickingClock
from tests.torture.world.keepers import Keepers
from tests.torture.world.people import People
from tests.torture.world.platform import LoggedPlatform
from tests.torture.world.posts import drafted, numbered_post
from tests.torture.world.scene import LEASE_SECONDS, OPEN


class World(People, Keepers):
    """Everything over one database."""

    # The platform

    def edit(self, number: int) -> None:
        """The author changes their post."""
        ref = numbered_post(number).ref
        if ref in self.platform.posts:
            self.platform.posts[ref] += " Really."

    def delete(self, number: int) -> None:
        self.platform.posts.pop(numbered_post(number).ref, None)

    async def hear(self, number: int) -> None:
        """The platform says how a post reads now, or that it is gone."""
        ref = numbered_post(number).ref
        text = self.platform.posts.get(ref)
        await self.database.run("note what a post says now", lambda session: note_original(session, ref, text))

    # Workers

    async def take(self, worker: int) -> None:
        """A worker takes a case, and forgets the one that it had."""
        taken = await self.queues[worker].take()
        if (before := self.hands.pop(worker, None)) is not None:
            self.ghosts = [*self.ghosts, before][-4:]
        if taken is not None:
            self.hands[worker] = taken

    async def store(self, worker: int, drafts: int) -> None:
        if (taken := self.hands.pop(worker, None)) is not None:
            await self.queues[worker].store(taken, drafted(taken.case.post, drafts))

    async def give_up(self, worker: int) -> None:
        if (taken := self.hands.pop(worker, None)) is not None:
            await self.queues[worker].give_up(taken, "The model gave no answer.")

    async def release(self, worker: int) -> None:
        if (taken := self.hands.pop(worker, None)) is not None:
            await self.queues[worker].release(taken, "drafting was interrupted")

    async def keep(self, worker: int) -> None:
        if (taken := self.hands.get(worker)) is not None and not await self.queues[worker].keep(taken, "half way"):
            del self.hands[worker]

    async def haunt(self, number: int) -> None:
        """A worker that was lost long ago wakes up, and says what it has; only if nobody took over is it heard."""
        if not self.ghosts:
            return
        taken = self.ghosts[number % len(self.ghosts)]

        async def work(session: Session) -> int | None:
            return await session.scalar(select(JobRow.attempts).filter_by(id=taken.job.id))

        is_lost = await self.database.run("look at the fence", work) != taken.job.attempts
        await self.queue_of(taken.job.owner).store(taken, drafted(taken.case.post, 1))
        assert not is_lost, "A worker that lost its lease kept something."

    # The program

    async def send(self) -> None:
        """The outbox sends what is due."""
        await self.outbox.send_due()
        await self.outbox.carry_out_retractions()  # what ``Outbox.run`` does between two sends

    async def recover(self) -> None:
        await self.outbox.recover()

    async def restart(self) -> None:
        """The process ends and starts again."""
        self.start()
        await self.recover()

    async def settle_down(self) -> None:
        """Let everything heal and come to rest: every case ends, or waits for a person."""
        self.platform.while_reading = None
        for scope in ("*", COMMUNITY_ID):
            await self.resume(scope)
        if any(one.until is None for one in self.closed.get("shadow", ())):
            await self.set_posting(True)
        await self.restart()
        for _ in range(24):
            self.clock.advance(LEASE_SECONDS * 2 + 1)
            if await self.is_erasing():
                await self.do_what_was_asked()
            while (taken := await self.queues[0].take()) is not None:
                await self.queues[0].store(taken, drafted(taken.case.post, 1))
            await self.send()
            await self.recover()
            if not await self.cases(*OPEN) and not await self.is_erasing():
                break
        if await self.cases(CaseState.FOLDED):
            self.clock.advance(self.undo_seconds)
            await self.close_folded()


@asynccontextmanager
async def opened_world(place: Path | URL, *, has_keys: bool = True, busy_seconds: float = 30.0) -> AsyncIterator[World]:
    """A world over a new database in which the people are settled.

    Args:
        place: a SQLite file, or the address of a PostgreSQL database.
        has_keys: whether its platform posts nothing twice under one key.
        busy_seconds: how long a transaction waits for another one.
    """
    clock = TickingClock()
    database = await Database.open(place, secret=SECRET, clock=clock, busy_seconds=busy_seconds)
    try:
        await settle(database)
        yield World(database, clock, LoggedPlatform(clock=clock, has_keys=has_keys))
    finally:
        await database.close()


async def approve_first_post(world: World) -> None:
    """Bring the first post to an approved reply whose window is over."""
    await world.flag(0)
    await world.take(0)
    await world.store(0, 1)
    await world.approve((await world.cases(CaseState.IN_REVIEW))[0])
    world.clock.advance(16)
