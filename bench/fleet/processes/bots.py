"""A bot of the fleet: the real desk, board and outbox over a sample platform, with people who flag and review.

Owns one process. Posts are flagged when the plan says so, whatever the desk does meanwhile; a moderator takes the next
case that a card shows, thinks, and approves the first draft or closes the case.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Final

from sqlalchemy import URL

from bench.fleet.arrivals import Arrival
from bench.fleet.asked.demands import Demand
from bench.fleet.processes.timed import Watch
from bench.fleet.processes.town import Town, Wall
from bench.fleet.processes.workers import suggestion_of
from bot.compose.desk import build_casework, build_desk
from bot.review.board import ReviewBoard
from bot.review.casework import FrontDesk
from bot.sending.outbox import Outbox
from core.errors import AntiphonError, Conflict
from core.models import FlaggedPost, PostRef
from core.moderation.cards import Card
from core.moderation.closing import CloseReason
from core.moderation.roles import Person
from core.scoring.edits import checked_edit

_CAMPAIGN_HOURS: Final = 24.0
"""How long near-identical posts fold into one case, as ``campaign_hours`` has it by default."""
ANSWER_SECONDS: Final = 0.15
"""How long the platform takes for each answer."""


_ANY_POST: Final = FlaggedPost(PostRef("bench", "town", "square", "0"), "A post.", "somebody", "somebody", "by hand")
_NOTHING: Final = Demand((), (), 0.0, 0)


@dataclass(frozen=True, slots=True)
class People:
    """Who reviews at each bot, and how.

    Attributes:
        moderators: how many review at the same time.
        think_seconds: the mean time from taking a case to the decision, exponentially distributed.
        approve: the share of cases whose first draft is approved; the others are closed.
    """

    moderators: int
    think_seconds: float
    approve: float


PEOPLE: Final = People(6, 8.0, 0.5)


@dataclass(frozen=True, slots=True)
class BotPlan:
    """What a bot's process is given."""

    name: str
    place: URL
    communities: tuple[str, ...]
    flags: tuple[tuple[str, Arrival], ...]
    people: People
    undo_seconds: float
    seed: int


def moderator(platform: str, number: int) -> Person:
    """Somebody who reviews on a platform of the fleet."""
    return Person(platform, f"moderator-{number}", f"moderator-{number}")


def serve(plan: BotPlan, line: Connection) -> None:
    """In a process: say that it is ready, begin at the moment that comes over the line, and end at the next word."""
    asyncio.run(_serve(plan, line))


async def _serve(plan: BotPlan, line: Connection) -> None:
    watch = Watch()
    database = await watch.open(plan.place)
    town, wall = Town(plan.name, plan.communities, ANSWER_SECONDS), Wall(plan.name, ANSWER_SECONDS)
    desk = build_desk(
        database,
        undo_seconds=plan.undo_seconds,
        campaign_hours=_CAMPAIGN_HOURS,
        max_characters={plan.name: town.max_characters},
    )
    outbox = Outbox(database, {plan.name: town})
    casework = build_casework(desk, outbox)
    bot = _Bot(plan, casework, town, wall)
    stop = asyncio.Event()
    parts = [
        asyncio.create_task(part)
        for part in (
            ReviewBoard(database, wall, plan.name, plan.name).run(stop),
            outbox.run(stop),
            *(bot.review(number) for number in range(plan.people.moderators)),
        )
    ]
    await asyncio.to_thread(checked_edit, "A sentence.", suggestion_of(_ANY_POST, _NOTHING), None)  # loads the cards
    line.send("ready")
    begins = await asyncio.to_thread(line.recv)
    if begins is not None:
        await bot.flag_all(begins)
        line.send("flagged")
        await asyncio.to_thread(line.recv)
    stop.set()
    for part in parts[2:]:
        part.cancel()
    ended = await asyncio.gather(*parts, return_exceptions=True)
    failed = [error for error in ended if isinstance(error, Exception)]
    line.send({"times": watch.times, "cards": wall.shown, "done": dict(bot.done), "waits": wall.to_review.qsize()})
    await database.close()
    if failed:
        raise failed[0]


class _Bot:
    def __init__(self, plan: BotPlan, casework: FrontDesk, town: Town, wall: Wall) -> None:
        self.done = Counter[str]()
        self._plan = plan
        self._casework = casework
        self._town = town
        self._wall = wall

    async def flag_all(self, begins: float) -> None:
        """Flag every post at its time; ``begins`` is a moment of ``time.time``."""
        async with asyncio.TaskGroup() as group:
            for community, arrival in self._plan.flags:
                await asyncio.sleep(max(0.0, begins + arrival.at - time.time()))
                group.create_task(self._flag(community, arrival))

    async def _flag(self, community: str, arrival: Arrival) -> None:
        square, number = self._town.communities[community], f"{arrival.number}"
        square.add(f"author-{number}", arrival.text, message_id=number)
        post = FlaggedPost(
            square.ref(number), arrival.text, f"author-{number}", f"flagger-{number}", "by hand",
            priority=arrival.priority,
        )  # fmt: skip
        await self._casework.flag(post)
        self.done["flagged"] += 1

    async def review(self, number: int) -> None:
        """Review one case after the other, until cancelled."""
        by, people = moderator(self._plan.name, number), self._plan.people
        chance = random.Random(f"moderator {self._plan.seed} {self._plan.name} {number}")  # nosec B311 # noqa: S311 - repeatable
        while True:
            card = await self._wall.to_review.get()
            await asyncio.sleep(chance.expovariate(1 / people.think_seconds))
            try:
                self.done[await self._decide(card, by, chance.random() < people.approve)] += 1
            except Conflict:
                self.done["changed meanwhile"] += 1
                self._wall.to_review.put_nowait(card)
            except AntiphonError as err:
                self.done[f"refused: {type(err).__name__}: {err.message}"] += 1

    async def _decide(self, card: Card, by: Person, approves: bool) -> str:
        """Decide about a case as it is now, whose card may have changed while the person thought."""
        version = (await self._casework.card(card.case_id, by)).version
        if not approves:
            await self._casework.close(card.case_id, version, by, CloseReason.OFF_TONE)
            return "closed"
        proposal = await self._casework.propose(card.case_id, version, by, rank=1)
        await self._casework.approve(proposal.id, by)
        return "approved"
