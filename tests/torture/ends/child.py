"""A process that does all that Antiphon does, until it is killed: flags, drafts, approvals, sends, erasures.

It does so much and no more, however long it lives, and tells its parent of every step. Whatever it acknowledges, it
writes to a file first-hand, as a platform would remember it. Its platform is a log on the disk, which outlives it.
"""

import asyncio
import multiprocessing
import os
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from sqlalchemy import make_url

from core.desk.database.connection import Database, connected
from core.desk.rules.approval import CaseState
from core.desk.runtime.faults import installed
from core.desk.upkeep.retention import FoldedCases
from tests.fakes.desk.chores import NOW
from tests.fakes.desk.people import MODERATOR, OTHER_MODERATOR, SECRET
from tests.torture.world.figures import TickingClock
from tests.torture.world.keepers import Keeping
from tests.torture.world.platform import FileLog, LoggedPlatform, Outcome, utc_now
from tests.torture.world.posts import author_of, drafted, text_at
from tests.torture.world.scene import EXPECTED
from tests.torture.world.world import World

POINTS = 600
"""After so many points of ``core.desk.runtime.faults`` a process begins nothing more, and waits to be killed."""
FLAGS, ERASURES = 24, 3
"""How many posts a process flags at most, and how many people it erases."""
POINT, FLAGGED = b"point", b"flagged"
"""What a process tells its parent."""
POSTS = 3000
ERASABLE = range(POSTS, 2 * POSTS, 2)
"""Whose authors are erased. Each is flagged twice: their own post, and the next number's, which quotes them."""
_FAULTY = 0.3
_LATER = 60
"""So many points later, at most, somebody who was flagged asks to be erased."""
Part = Callable[[World, "Place", "Life"], Awaitable[None]]


@dataclass(frozen=True)
class Place:
    """Where a run keeps its things; ``address`` is a PostgreSQL database, "" for a SQLite file in ``folder``."""

    folder: Path
    address: str = ""

    def database(self, clock: Callable[[], datetime] | None = None) -> Database:
        where = make_url(self.address) if self.address else self.folder / "world"
        return Database(connected(where), SECRET, clock)

    def platform(self, outcome: Callable[[], Outcome], **how: Any) -> LoggedPlatform:
        log = FileLog(self.folder / "platform.jsonl")
        return LoggedPlatform(log, next_send=outcome, text_at=text_at, **how)

    def erasable(self) -> int:
        """A number of ``ERASABLE`` that no process was given before."""
        for number in ERASABLE:
            try:
                (self.folder / f"erasable-{number}").touch(exist_ok=False)
            except FileExistsError:
                continue
            return number
        raise RuntimeError("Every author was erased; ERASABLE is too short for so many cycles.")

    def say(self, file: str, what: str) -> None:
        """Append a line in one write: it is there whole, or not at all."""
        with (self.folder / file).open("ab", buffering=0) as out:
            out.write(f"{what}\n".encode())

    def said(self, file: str) -> list[str]:
        """Every line of a file, none if there is no file."""
        path = self.folder / file
        return path.read_text().splitlines() if path.exists() else []


@dataclass
class Life:
    """What one process still does: how many points it reaches, posts it flags and people it erases."""

    steps: Connection
    chance: random.Random
    points: int = POINTS
    flags: int = FLAGS
    erasures: int = ERASURES

    async def reach(self, _: str) -> None:
        self.points -= 1
        self.steps.send_bytes(POINT)


def main(place: Place, seed: int, has_keys: bool, steps: Connection) -> None:
    """Work until killed; when nothing is left to do, say so by the end of ``steps``, and wait to be killed."""
    life = Life(steps, random.Random(seed))
    with installed(life.reach):
        asyncio.run(_live(place, life, has_keys))
    steps.close()
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()


async def _live(place: Place, life: Life, has_keys: bool) -> None:
    def outcome() -> Outcome:
        return life.chance.choice(list(Outcome)) if life.chance.random() < _FAULTY else Outcome.WELL

    world = World(
        place.database(),
        TickingClock(utc_now()),
        place.platform(outcome, has_keys=has_keys),
        undo_seconds=0.05,
        lease_seconds=1.0,
    )
    await world.attempt(world.recover())
    await asyncio.gather(*(_again(world, place, life, work) for work in (_flag, _draft, _decide, _send, _keep, _erase)))
    await world.database.close()


async def _again(world: World, place: Place, life: Life, work: Part) -> None:
    while life.points > 0:
        try:
            await work(world, place, life)
        except EXPECTED:
            continue
        await asyncio.sleep(life.chance.uniform(0, 0.01))


async def _flag(world: World, place: Place, life: Life) -> None:
    """Somebody flags a post, a new one or an old one, and is told so."""
    if life.flags == 0:
        return
    life.flags -= 1
    number, copy = life.chance.randrange(POSTS), life.chance.choice((0, 0, 0, 1, 2))
    await world.flag(number, copy)
    place.say("acknowledged", f"{number} {copy}")
    life.steps.send_bytes(FLAGGED)


async def _draft(world: World, place: Place, life: Life) -> None:
    """A worker of a name of its own drafts a case, more or less quickly."""
    queue = world.queue_of(f"{os.getpid()}")
    taken = await queue.take()
    if taken is None:
        return
    await asyncio.sleep(life.chance.uniform(0, 0.02))
    await queue.store(taken, drafted(taken.case.post, 1))


async def _decide(world: World, place: Place, life: Life) -> None:
    """A moderator approves, undoes or declines something."""
    cases = await world.cases(CaseState.IN_REVIEW, CaseState.APPROVED, CaseState.NEEDS_PERSON)
    if not cases:
        return
    case = life.chance.choice(cases)
    if case.state is CaseState.NEEDS_PERSON:
        await world.look(case)
    elif case.state is CaseState.APPROVED:
        if life.chance.random() < 0.05:
            await world.undo(case)
    elif life.chance.random() < 0.9:
        await world.approve(case, life.chance.choice((MODERATOR, OTHER_MODERATOR)))
    else:
        await world.close(case)


async def _send(world: World, place: Place, life: Life) -> None:
    """The outbox sends what is due, and settles what was interrupted."""
    await world.send()
    await world.recover()


async def _keep(world: World, place: Place, life: Life) -> None:
    """The schedule closes what was decided with another case, ends erasures, and writes down what the log is."""
    await FoldedCases(world.database).do(NOW)
    await world.keep_order(Keeping.DIGEST)
    await world.keep_order(Keeping.ASKED)
    await asyncio.sleep(life.chance.uniform(0, 0.2))


async def _erase(world: World, place: Place, life: Life) -> None:
    """Somebody was flagged and quoted, and after a while, at whatever stage that is, asks to be erased."""
    if life.erasures == 0:
        return
    life.erasures -= 1
    number = place.erasable()
    await world.flag(number)
    await world.flag(number + 1, quotes=author_of(number))
    erased_at = life.points - life.chance.randint(0, _LATER)
    while life.points > erased_at:  # noqa: ASYNC110 - a count is no event
        await asyncio.sleep(0.005)
    await world.erase(author_of(number))
    place.say("erased", f"{number} {world.erased[-1]}")
