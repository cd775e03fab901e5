"""Random histories of a desk: a Hypothesis state machine that asks every invariant after every step.

    python -m tests.torture histories --examples 20000 --steps 100

Each example is a world of its own, over a copy of a database in which the people are settled.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, ClassVar, Final

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from sqlalchemy import URL, Engine, create_engine

from bot.store.cases import Case
from bot.store.database import Database, connected
from core.review import CaseState
from tests.fakes.people import COMMUNITY_ID, MODERATOR, OTHER_MODERATOR, SECRET, STRANGER, VOLUNTEER, settle
from tests.fakes.postgres import new_database
from tests.torture.crash import CrashAt, crashing
from tests.torture.platform import LoggedPlatform, Outcome
from tests.torture.world import Figures, TickingClock, World, counting_points

_POSTS: Final = 6
_PEOPLE: Final = (MODERATOR, MODERATOR, OTHER_MODERATOR, VOLUNTEER, STRANGER)
_SECONDS: Final = (1, 16, 16, 61, 130, 3_700, 90_000)
_MOSTLY: Final = st.sampled_from([True, True, False])
_SELDOM: Final = st.sampled_from([False, False, True])
_SENDS: Final = (Outcome.WELL, Outcome.WELL, *Outcome)
_READS: Final = (Outcome.WELL, Outcome.WELL, Outcome.WELL, Outcome.BUSY, Outcome.RESET)


class Ground:
    """Where the worlds of one run come from: a template file, or a PostgreSQL server.

    Use it as a context manager.
    """

    def __init__(self, server: URL | None = None) -> None:
        self.server, self.figures = server, Figures()
        self.sends = self.ambiguous = self.posted = 0
        self.examples = 0

    def __enter__(self) -> Ground:
        shared_memory = Path("/dev/shm")  # a file there needs no disk; what fsync does is not under test
        self._folder = Path(tempfile.mkdtemp(dir=shared_memory if shared_memory.is_dir() else None))
        if self.server is None:
            _run_apart(self.make_template())
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder)

    async def make_template(self) -> None:
        database = await Database.open(self._folder / "template", secret=SECRET, clock=TickingClock())
        await settle(database)
        await database.close()

    async def open(self, stack: AsyncExitStack, clock: TickingClock) -> Database:
        """A new database with people in it, given back when ``stack`` is closed."""
        self.examples += 1
        if self.server is None:
            stack.callback(self._empty)
            shutil.copy(self._folder / "template", self.file)
            database = Database(connected(self.file), SECRET, clock)
            stack.push_async_callback(database.close)
            return database
        place = await stack.enter_async_context(new_database(self.server))
        database = await Database.open(place, secret=SECRET, clock=clock)
        stack.push_async_callback(database.close)
        await settle(database)
        return database

    def _empty(self) -> None:
        for file in self._folder.glob("world*"):
            file.unlink()

    @property
    def file(self) -> Path:
        """Where the SQLite file of the current world is."""
        return self._folder / "world"

    def beside(self) -> Engine | None:
        """Another way to the current world's database."""
        return None if self.server else create_engine(URL.create("sqlite", database=str(self.file)))

    def count(self, platform: LoggedPlatform) -> None:
        """Add what a platform saw to the figures."""
        self.sends += platform.sends
        self.ambiguous += platform.ambiguous
        self.posted += len(platform.sent())


def _run_apart(work: Coroutine[Any, Any, None]) -> None:
    """Run something in an event loop of its own, although one may be running here."""
    thread = threading.Thread(target=asyncio.run, args=(work,))
    thread.start()
    thread.join()


class DeskMachine(RuleBasedStateMachine):
    """Everything that people, workers, the platform and bad luck do to a desk, in any order."""

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
            self.world = World(database, clock, platform, ground.figures, beside)
            for number in range(flags):
                await self.world.flag(number)
                await self.world.take(0)
                await self.world.store(0, 2)

        self.runner.run(work())

    @rule(number=st.integers(0, _POSTS - 1), times=st.integers(1, 3))
    def flag(self, number: int, times: int) -> None:
        async def work(world: World) -> None:
            await asyncio.gather(*(world.flag(number) for _ in range(times)))

        self.do(work)

    @rule(worker=st.integers(0, 1))
    def take(self, worker: int) -> None:
        self.do(lambda world: world.take(worker))

    @rule(worker=st.integers(0, 1), drafts=st.integers(0, 2))
    def draft(self, worker: int, drafts: int) -> None:
        async def work(world: World) -> None:
            if worker not in world.hands:
                await world.take(worker)
            await world.store(worker, drafts)

        self.do(work)

    @rule(worker=st.integers(0, 1), how=st.sampled_from(["keep", "release", "give_up"]))
    def end_drafting(self, worker: int, how: str) -> None:
        self.do(lambda world: getattr(world, how)(worker))

    @rule(number=st.integers(0, 3))
    def haunt(self, number: int) -> None:
        self.do(lambda world: world.haunt(number))

    @rule(number=st.integers(0, 5), by=st.sampled_from(_PEOPLE), is_own=st.booleans())
    def approve(self, number: int, by: Any, is_own: bool) -> None:
        text = "We all live here, and most of us came from somewhere." if is_own else ""
        self.on_case(number, lambda world, case: world.approve(case, by, text), CaseState.IN_REVIEW)

    @rule(number=st.integers(0, 5))
    def approve_what_was_not_shown(self, number: int) -> None:
        self.on_case(number, lambda world, case: world.approve(case, shown="Another text."), CaseState.IN_REVIEW)

    @rule(number=st.integers(0, 5))
    def approve_at_once(self, number: int) -> None:
        self.on_case(number, lambda world, case: world.approve_at_once(case), CaseState.IN_REVIEW)

    @rule(number=st.integers(0, 5))
    def undo(self, number: int) -> None:
        self.on_case(number, lambda world, case: world.undo(case), CaseState.APPROVED)

    @rule(number=st.integers(0, 5), how=st.sampled_from(["decline", "withdraw"]))
    def close_case(self, number: int, how: str) -> None:
        self.on_case(number, lambda world, case: getattr(world, how)(case))

    @rule(number=st.integers(0, 5), outcome=st.sampled_from(_SENDS))
    def retract(self, number: int, outcome: Outcome) -> None:
        self.misbehave([outcome], [])
        self.on_case(number, lambda world, case: world.retract(case), CaseState.POSTED)

    @rule(number=st.integers(0, 5))
    def look(self, number: int) -> None:
        self.on_case(number, lambda world, case: world.look(case), CaseState.NEEDS_PERSON)

    @rule(number=st.integers(0, 5), claim=st.integers(0, 9))
    def redraft(self, number: int, claim: int) -> None:
        self.on_case(number, lambda world, case: world.redraft(case, claim), CaseState.IN_REVIEW)

    @rule(number=st.integers(0, _POSTS - 1), how=st.sampled_from(["edit", "delete"]))
    def change_post(self, number: int, how: str) -> None:
        assert self.world is not None
        getattr(self.world, how)(number)

    @rule(is_back=_MOSTLY, person=st.sampled_from([MODERATOR, OTHER_MODERATOR]))
    def change_rights(self, is_back: bool, person: Any) -> None:
        self.do(lambda world: world.restore_rights(person) if is_back else world.revoke(person))

    @rule(scope=st.sampled_from(["*", COMMUNITY_ID]), is_on=_SELDOM)
    def kill_switch(self, scope: str, is_on: bool) -> None:
        self.do(lambda world: world.pause(scope) if is_on else world.resume(scope))

    @rule(is_posting=_MOSTLY)
    def shadow_mode(self, is_posting: bool) -> None:
        self.do(lambda world: world.set_posting(is_posting))

    @rule(seconds=st.sampled_from(_SECONDS))
    def advance(self, seconds: int) -> None:
        assert self.world is not None
        self.world.clock.advance(seconds)

    @rule(sends=st.lists(st.sampled_from(_SENDS), max_size=3), reads=st.lists(st.sampled_from(_READS), max_size=3))
    def send(self, sends: list[Outcome], reads: list[Outcome]) -> None:
        self.misbehave(sends, reads)
        self.do(lambda world: world.send())

    @rule(number=st.integers(0, _POSTS - 1), outcome=st.sampled_from(_SENDS))
    def reply(self, number: int, outcome: Outcome) -> None:
        """The whole way of a post that nothing disturbs but the platform."""
        self.misbehave([outcome], [])

        async def work(world: World) -> None:
            case = await world.flag(number)
            for _ in range(_POSTS):
                await world.take(0)
                await world.store(0, 1)
            case = await world.desk.case(case.id)
            if case.state is CaseState.IN_REVIEW:
                await world.approve(case, OTHER_MODERATOR)
            world.clock.advance(16)
            await world.send()

        self.do(work)

    @rule(reads=st.lists(st.sampled_from(_READS), max_size=2))
    def recover(self, reads: list[Outcome]) -> None:
        self.misbehave([], reads)
        self.do(lambda world: world.recover())

    @rule(
        what=st.sampled_from(["undo", "revoke", "pause", "shadow", "edit", "withdraw"]), person=st.sampled_from(_PEOPLE)
    )
    def change_while_sending(self, what: str, person: Any) -> None:
        """Somebody acts between the reading of the original post and the intent."""
        assert self.world is not None
        world = self.world

        async def happens() -> None:
            waiting = await world.cases(CaseState.APPROVED)
            acts: dict[str, Callable[[], Awaitable[object]]] = {
                "undo": lambda: _each(world.undo, waiting),
                "withdraw": lambda: _each(world.withdraw, waiting),
                "revoke": lambda: world.revoke(person),
                "pause": lambda: world.pause("*"),
                "shadow": lambda: world.set_posting(False),
                "edit": lambda: _each(_edit(world), waiting),
            }
            await world.attempt(acts[what]())

        world.clock.advance(16)
        world.platform.while_reading = happens
        self.do(lambda world: world.send())
        world.platform.while_reading = None

    @rule(
        what=st.sampled_from(["send", "recover", "draft", "approve", "flag", "undo"]),
        point=st.integers(1, 6),
        cancels=st.booleans(),
        outcome=st.sampled_from(_SENDS),
    )
    def crash(self, what: str, point: int, cancels: bool, outcome: Outcome) -> None:
        """The process ends in the middle of something, and starts again."""
        assert self.world is not None
        world = self.world
        fault = CrashAt(point, cancels=cancels)
        self.misbehave([outcome], [])

        async def work() -> None:
            await crashing(lambda: _act(world, what), fault)
            world.figures.crashes += fault.crashed
            await world.restart()

        self.do(lambda _: work())

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


async def _later(call: Callable[[World], Awaitable[object]], world: World) -> object:
    return await call(world)


async def _each(call: Callable[[Case], Awaitable[object]], cases: list[Case]) -> None:
    for case in cases:
        await call(case)


def _edit(world: World) -> Callable[[Case], Awaitable[object]]:
    async def edit(case: Case) -> None:
        world.platform.posts[case.post.ref] = "Something else."

    return edit


async def _act(world: World, what: str) -> None:
    """What a process may be about when it ends."""
    match what:
        case "send":
            world.clock.advance(16)
            await world.send()
        case "recover":
            await world.recover()
        case "draft":
            await world.take(0)
            await world.store(0, 1)
        case "flag":
            await world.flag(0)
        case "approve":
            await _each(world.approve, await world.cases(CaseState.IN_REVIEW))
        case "undo":
            await _each(world.undo, await world.cases(CaseState.APPROVED))


def _points(figures: Figures) -> Any:
    stack = AsyncExitStack()
    stack.enter_context(counting_points(figures))
    return stack


def run_histories(ground: Ground, *, examples: int, steps: int, seed: int | None = None) -> None:
    """Run random histories; the first that breaks a promise is shrunk and raised."""
    machine = type("Histories", (DeskMachine,), {"ground": ground})
    phases = (Phase.generate, Phase.shrink)
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        derandomize=seed is None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    run_state_machine_as_test(machine, settings=chosen)
