"""A background case calls the model when no person waits, or after enough patience; by a clock that a test moves."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from core.desk.drafting.precedence import BackgroundCase, Precedence
from core.desk.store.jobs import PeoplesWork
from core.errors import StoreUnavailable
from core.models import Priority
from tests.fakes.machine.clock import Seconds
from tests.fakes.machine.patience import GUARD_SECONDS

NOBODY, WAITS = PeoplesWork(), PeoplesWork(is_waiting=True)


class _World:
    """What the database would say, and the precedence that asks it all the time."""

    def __init__(self) -> None:
        self.said: PeoplesWork | Exception = NOBODY
        self.looks = 0
        self.clock = Seconds()
        self.precedence = Precedence(self._look, look_seconds=0.0, patience_seconds=100.0, clock=self.clock)

    async def _look(self) -> PeoplesWork:
        self.looks += 1
        if isinstance(self.said, Exception):
            raise self.said
        return self.said

    async def say(self, said: PeoplesWork | Exception) -> None:
        """From now on the database says this, and it was asked."""
        self.said = said
        seen = self.looks
        async with asyncio.timeout(GUARD_SECONDS):
            while self.looks < seen + 2:  # noqa: ASYNC110 - a count is no event
                await asyncio.sleep(0)


@pytest.fixture
def world() -> _World:
    return _World()


@contextmanager
def _calling(case: BackgroundCase, times: int = 1) -> Iterator[list[asyncio.Task[None]]]:
    """Calls of the model that begin in their turn, and take no time."""

    async def call() -> None:
        async with case.turn():
            pass

    calls = [asyncio.create_task(call()) for _ in range(times)]
    try:
        yield calls
    finally:
        for one in calls:
            one.cancel()


async def _settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_without_people_each_case_makes_one_call_at_a_time(world: _World) -> None:
    """What is under way when a person comes is no more than there are cases."""
    async with world.precedence.background("1") as one, world.precedence.background("2") as two:
        async with one.turn(), two.turn():
            with _calling(one) as calls:
                await _settle()
                assert not calls[0].done()
        with _calling(one, 3) as calls:
            await asyncio.gather(*calls)
        await world.say(PeoplesWork(in_hand=frozenset("1")))
        async with one.turn(), one.turn():
            pass


@pytest.mark.parametrize("said", [WAITS, PeoplesWork(in_hand=frozenset("9"))], ids=["waits", "is drafted elsewhere"])
async def test_no_call_begins_while_a_person_s_case_is_anywhere(world: _World, said: PeoplesWork) -> None:
    """Not even the first one, before the database was asked; and all go on when people are served."""
    world.said = said
    async with world.precedence.background("1") as case:
        with _calling(case, 2) as calls:
            await world.say(said)
            assert not any(one.done() for one in calls)
            await world.say(NOBODY)
            await asyncio.gather(*calls)


async def test_what_this_process_drafts_for_a_person_counts_before_the_database_is_asked(world: _World) -> None:
    async with world.precedence.background("1") as case:
        await world.say(NOBODY)
        with world.precedence.person(), world.precedence.person(), _calling(case) as calls:
            await _settle()
            assert not calls[0].done()
        with _calling(case) as calls:
            await asyncio.gather(*calls)


async def test_a_call_that_was_begun_goes_on(world: _World) -> None:
    """It is paid for; only the next one waits."""
    async with world.precedence.background("1") as case, case.turn():
        await world.say(WAITS)
        with _calling(case) as calls:
            await _settle()
            assert not calls[0].done()


async def test_a_case_that_somebody_asks_for_meanwhile_is_held_no_longer_and_holds_others(world: _World) -> None:
    async with world.precedence.background("1") as one, world.precedence.background("2") as two:
        await world.say(PeoplesWork(in_hand=frozenset("1")))
        with _calling(one) as mine, _calling(two) as others:
            await asyncio.gather(*mine)
            await _settle()
            assert not others[0].done()


async def test_after_enough_patience_cases_go_on_one_call_of_all_at_a_time(world: _World) -> None:
    """All times count in which people came first while it was in hand, and none before."""
    under_way = 0
    most = 0

    @asynccontextmanager
    async def counted(case: BackgroundCase) -> AsyncIterator[None]:
        nonlocal under_way, most
        async with case.turn():
            under_way += 1
            most = max(most, under_way)
            yield
            under_way -= 1

    async def call(case: BackgroundCase) -> None:
        async with counted(case):
            await asyncio.sleep(0)

    async with world.precedence.background("0") as longer:
        await world.say(WAITS)
        world.clock.now += 1000
        async with world.precedence.background("1") as case:
            world.clock.now += 60
            await world.say(NOBODY)
            world.clock.now += 500
            await world.say(WAITS)
            world.clock.now += 39
            with _calling(case) as calls:
                await _settle()
                assert not calls[0].done(), "99 seconds"
            world.clock.now += 1
            async with asyncio.timeout(GUARD_SECONDS):
                await asyncio.gather(*(call(one) for one in (case, longer) * 3))
    assert most == 1


async def test_a_call_that_waits_wakes_up_when_its_patience_ends() -> None:
    """By the real clock: nothing else happens meanwhile."""

    async def look() -> PeoplesWork:
        return WAITS

    precedence = Precedence(look, look_seconds=3600, patience_seconds=0.05)
    async with precedence.background("1") as case, asyncio.timeout(GUARD_SECONDS), case.turn():
        pass


async def test_no_second_background_case_is_begun_while_people_come_first(world: _World) -> None:
    """One may be: so each process has one that goes on at last, however long people come."""
    found = [world.precedence.least]
    async with world.precedence.background("1"):
        for said in (NOBODY, WAITS):
            await world.say(said)
            found.append(world.precedence.least)
    found.append(world.precedence.least)
    assert found == [Priority.DETECTED, Priority.DETECTED, Priority.FLAGGED, Priority.DETECTED]


async def test_the_database_is_asked_only_while_a_background_case_is_in_hand(world: _World) -> None:
    async with world.precedence.background("1"), world.precedence.background("2"):
        await world.say(NOBODY)
    seen = world.looks
    await _settle()
    assert world.looks == seen


async def test_what_was_seen_last_counts_while_the_database_is_away(
    world: _World, caplog: pytest.LogCaptureFixture
) -> None:
    """Other processes may still reach it, and draft for people."""
    with caplog.at_level(logging.WARNING):
        async with world.precedence.background("1") as case:
            await world.say(WAITS)
            await world.say(StoreUnavailable("The database does not answer.", remedy="Wait."))
            with _calling(case) as calls:
                await _settle()
                assert not calls[0].done()
    assert "who waits for a draft is not known" in caplog.text


async def test_who_works_beside_is_told_who_waits_and_when_the_case_is_over(world: _World) -> None:
    async with world.precedence.background("1") as case:
        told = asyncio.create_task(case.somebody_waits())
        await world.say(PeoplesWork(in_hand=frozenset("9")))
        assert not told.done()
        await world.say(WAITS)
        assert await told
        await world.say(NOBODY)
        told = asyncio.create_task(case.somebody_waits())
        await _settle()
        case.end()
        assert not await told
