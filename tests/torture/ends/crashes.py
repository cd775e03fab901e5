"""Every point at which the program can end: each commit and each call of the platform, before and after it.

A scenario is run once to learn the points that it passes; then once more for each of them, ended there by an
exception or a cancellation, started again, brought to rest, and held against every invariant.
"""

import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Final

from core.desk.rules.approval import CaseState
from tests.fakes.desk.people import OTHER_MODERATOR
from tests.torture.ends.crash import CrashAt, crashing
from tests.torture.histories.steps import RESTLESS
from tests.torture.world.figures import TickingClock
from tests.torture.world.ground import Ground
from tests.torture.world.keepers import RETENTION_DAYS, Keeping
from tests.torture.world.platform import LoggedPlatform, Outcome
from tests.torture.world.posts import author_of
from tests.torture.world.world import World

Scenario = Callable[[World], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Plan:
    """Where one run ends: at a point of the scenario, and perhaps at another one of what follows.

    ``number`` counts the points of that ``name``, or all of them.
    """

    number: int
    cancels: bool = False
    name: str | None = None
    second: int = 0
    has_keys: bool = True


@dataclass
class Enumerated:
    """What an enumeration found: how often each point was crashed at, and what broke."""

    points: dict[str, int] = field(default_factory=dict)
    runs: int = 0
    broken: list[str] = field(default_factory=list)


async def scenario(world: World) -> None:
    """What people, workers and the outbox do on an ordinary bad day."""
    for number in range(3):
        await world.flag(number)
    await world.take(0)
    await world.keep(0)
    await world.release(0)
    for drafts in (2, 2, 0):
        await world.take(0)
        await world.store(0, drafts)
    first, _ = await world.cases(CaseState.IN_REVIEW)
    await world.approve(first)
    await world.undo((await world.cases(CaseState.APPROVED))[0])
    (first,) = [case for case in await world.cases(CaseState.IN_REVIEW) if case.id == first.id]
    await world.redraft(first, 1)
    await world.take(1)
    await world.store(1, 1)
    for case in await world.cases(CaseState.IN_REVIEW):
        await world.approve(case, OTHER_MODERATOR)
    answers = iter([Outcome.BUSY, Outcome.ANSWER_LOST, Outcome.CALL_LOST])
    world.platform.next_send = lambda: next(answers, Outcome.WELL)
    for _ in range(4):
        world.clock.advance(31)
        await world.send()
        await world.recover()
    for case in (await world.cases(CaseState.POSTED))[:1]:
        await world.retract(case)
    await world.flag(3)
    await world.take(0)
    await world.give_up(0)
    for case in await world.cases(CaseState.NEEDS_PERSON):
        await world.close(case)


async def keeping(world: World) -> None:
    """What moderators and the schedule do about a raid, and about somebody who wants to be forgotten."""
    await world.raid(0, 3)
    await world.take(0)
    await world.store(0, 1)
    await world.split((await world.cases(CaseState.FOLDED))[0])
    await world.take(0)
    await world.flag(1, quotes=author_of(0, 1))
    for user in (author_of(0), author_of(0, 1)):
        await world.erase(user)
    await world.take(1)
    await world.store(1, 1)
    for case in await world.cases(CaseState.IN_REVIEW):
        await world.close(case)
    world.clock.advance(world.undo_seconds)
    for what in (Keeping.FOLDED, Keeping.DIGEST, Keeping.ASKED):
        await world.keep_order(what)
    world.clock.advance(RETENTION_DAYS * 24 * 3600 + 1)
    for what in (Keeping.EXPIRY, Keeping.STALE, Keeping.RETENTION, Keeping.ASKED, Keeping.PRUNING):
        await world.keep_order(what)


SCENARIOS: Final[dict[str, Scenario]] = {"sending": scenario, "keeping": keeping}


async def points(ground: Ground, play: Scenario = scenario) -> list[str]:
    """The points that a scenario passes, in order."""
    async with AsyncExitStack() as stack:
        world = await _world(ground, stack, has_keys=True)
        fault = CrashAt(0)
        await crashing(lambda: play(world), fault)
        return fault.reached


async def run(ground: Ground, plan: Plan, found: Enumerated, play: Scenario = scenario) -> None:
    """Run a scenario with one or two crashes, and hold what is left against every invariant."""
    async with AsyncExitStack() as stack:
        world = await _world(ground, stack, has_keys=plan.has_keys)
        fault = CrashAt(plan.number, cancels=plan.cancels, name=plan.name)
        await crashing(lambda: play(world), fault)
        world.platform.next_send = lambda: Outcome.WELL
        if plan.second:
            await crashing(world.settle_down, CrashAt(plan.second, cancels=not plan.cancels))
        await world.settle_down()
        where = fault.where if fault.crashed else "the end"
        found.points[where] = found.points.get(where, 0) + 1
        found.runs += 1
        broken = await world.broken(is_quiet=True)
        restless = [case.state for case in await world.cases() if case.state in RESTLESS]
        unfinished = await world.unfinished()
        if broken or restless or unfinished:
            found.broken.append(f"{plan} at {where}: {broken} {restless} {unfinished}")
        ground.count(world.platform)


def first_of_each(reached: list[str]) -> Iterator[Plan]:
    """One crash at each named point, the first time that it is passed; every other one is a cancellation."""
    for number, name in enumerate(dict.fromkeys(reached)):
        yield Plan(1, cancels=bool(number % 2), name=name)


def all_single(reached: list[str]) -> Iterator[Plan]:
    """Every point that is passed, ended in both ways, on a platform with keys and one without."""
    for number in range(1, len(reached) + 1):
        for cancels in (False, True):
            for has_keys in (True, False):
                yield Plan(number, cancels, has_keys=has_keys)


def pairs(reached: list[str], count: int, seed: int = 0) -> Iterator[Plan]:
    """Crashes with a second one while the first is being recovered from, drawn at random."""
    chance = random.Random(seed)
    for _ in range(count):
        yield Plan(
            chance.randint(1, len(reached)),
            chance.random() < 0.5,
            second=chance.randint(1, 40),
            has_keys=chance.random() < 0.7,
        )


async def _world(ground: Ground, stack: AsyncExitStack, *, has_keys: bool) -> World:
    clock = TickingClock()
    database = await ground.open(stack, clock)
    beside = ground.beside()
    if beside is not None:
        stack.callback(beside.dispose)
    return World(database, clock, LoggedPlatform(clock=clock, has_keys=has_keys), ground.figures, beside)
