"""What every rule of the random histories rests on: a world for each, steps, and the invariants after each of them."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, ClassVar, Final

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant

from core.desk.rules.approval import CaseState
from core.desk.store.cases import Case
from tests.fakes.desk.people import MODERATOR, OTHER_MODERATOR, STRANGER, VOLUNTEER
from tests.fakes.ports.roles import FakeRoles
from tests.torture.world.figures import Figures, TickingClock, counting_points
from tests.torture.world.ground import Ground
from tests.torture.world.people import NATIVE
from tests.torture.world.platform import LoggedPlatform, Outcome
from tests.torture.world.posts import author_of
from tests.torture.world.world import World

POSTS: Final = 6
PEOPLE: Final = (MODERATOR, MODERATOR, OTHER_MODERATOR, NATIVE, VOLUNTEER, STRANGER)
COPIES: Final = 3
NUMBERS: Final = st.integers(0, POSTS - 1)
ERASABLE: Final = (
    *(author_of(number) for number in range(POSTS)),
    *(author_of(number, 1) for number in range(2)),
    *(person.user for person in (MODERATOR, NATIVE)),
)
SENDS: Final = (Outcome.WELL, Outcome.WELL, *Outcome)
READS: Final = (Outcome.WELL, Outcome.WELL, Outcome.WELL, Outcome.BUSY, Outcome.RESET)
RESTLESS: Final = frozenset(
    {
        CaseState.CAPTURED,
        CaseState.QUEUED,
        CaseState.DRAFTING,
        CaseState.APPROVED,
        CaseState.SENDING,
        CaseState.UNKNOWN,
    }
)


class Steps(RuleBasedStateMachine):
    """A history of a desk without any rule yet."""

    ground: ClassVar[Ground]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.world: World | None = None

    def do(self, call: Callable[[World], Awaitable[object]]) -> None:
        """One step: it may be refused, and must not break anything."""
        assert self.world is not None
        world = self.world
        self.runner.run(world.attempt(_later(call, world)))

    def on_case(self, number: int, call: Callable[[World, Case], Awaitable[object]], *states: CaseState) -> None:
        """One step with one of the cases in ``states``, if there is any."""

        async def work(world: World) -> None:
            cases = await world.cases(*states)
            if cases:
                await call(world, cases[number % len(cases)])

        self.do(work)

    @initialize(has_keys=st.booleans(), flags=st.integers(1, 3))
    def begin(self, has_keys: bool, flags: int) -> None:
        async def work() -> None:
            clock = TickingClock()
            await self.stack.enter_async_context(_points(self.ground.figures))
            platform = LoggedPlatform(clock=clock, has_keys=has_keys)
            database, ground = await self.ground.open(self.stack, clock), self.ground
            if (beside := ground.beside()) is not None:
                self.stack.callback(beside.dispose)
            self.world = World(database, clock, platform, ground.figures, beside, native=FakeRoles())
            for number in range(flags):
                await self.world.flag(number)
                await self.world.take(0)
                await self.world.store(0, 2)

        self.runner.run(work())

    def misbehave(self, sends: list[Outcome], reads: list[Outcome]) -> None:
        """Let the platform answer its next calls so, and then well."""
        assert self.world is not None
        send, read = iter(sends), iter(reads)
        self.world.platform.next_send = lambda: next(send, Outcome.WELL)
        self.world.platform.next_read = lambda: next(read, Outcome.WELL)

    @invariant()
    def holds(self) -> None:
        if self.world is not None:
            broken = self.runner.run(self.world.broken())
            assert not broken, broken

    def teardown(self) -> None:
        """Everything heals: every case ends, or waits for a person, and every promise holds."""
        try:
            if self.world is not None:
                self.misbehave([], [])
                self.runner.run(self._rest(self.world))
                self.ground.count(self.world.platform)
        finally:
            self.runner.run(self.stack.aclose())
            self.runner.close()

    async def _rest(self, world: World) -> None:
        await world.settle_down()
        broken = await world.broken(is_quiet=True)
        assert not broken, broken
        restless = [(case.id, case.state) for case in await world.cases() if case.state in RESTLESS]
        assert not restless, restless
        assert not await world.unfinished(), "An erasure was not finished."


async def _later(call: Callable[[World], Awaitable[object]], world: World) -> object:
    return await call(world)


def _points(figures: Figures) -> Any:
    stack = AsyncExitStack()
    stack.enter_context(counting_points(figures))
    return stack
