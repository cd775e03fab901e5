"""The random histories: replies are sent, the platform loses answers, and the program ends in the middle of it."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import rule

from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.store.cases import Case
from tests.fakes.desk.people import OTHER_MODERATOR
from tests.torture.ends.crash import CrashAt, crashing
from tests.torture.histories.steps import NUMBERS, PEOPLE, POSTS, READS, SENDS, Steps
from tests.torture.world.people import NATIVE
from tests.torture.world.platform import Outcome
from tests.torture.world.posts import author_of
from tests.torture.world.world import World

ACTS: Final = ("send", "recover", "draft", "approve", "flag", "undo", "close", "raid", "erase", "fold", "retain")


class SendingRules(Steps):
    """What the outbox goes through."""

    @rule(number=NUMBERS, how=st.sampled_from(["edit", "delete"]))
    def change_post(self, number: int, how: str) -> None:
        assert self.world is not None
        getattr(self.world, how)(number)

    @rule(sends=st.lists(st.sampled_from(SENDS), max_size=3), reads=st.lists(st.sampled_from(READS), max_size=3))
    def send(self, sends: list[Outcome], reads: list[Outcome]) -> None:
        self.misbehave(sends, reads)
        self.do(lambda world: world.send())

    @rule(number=NUMBERS, outcome=st.sampled_from(SENDS))
    def reply(self, number: int, outcome: Outcome) -> None:
        """The whole way of a post that nothing disturbs but the platform."""
        self.misbehave([outcome], [])

        async def work(world: World) -> None:
            case = await world.flag(number)
            for _ in range(POSTS):
                await world.take(0)
                await world.store(0, 1)
            case = await world.desk.queries.case(case.id)
            if case.state is CaseState.IN_REVIEW:
                await world.approve(case, OTHER_MODERATOR)
            world.clock.advance(16)
            await world.send()

        self.do(work)

    @rule(number=NUMBERS)
    def lose_rights_before_the_send(self, number: int) -> None:
        """The platform takes the approver's rights within the undo window: their reply is never sent."""

        async def work(world: World, case: Case) -> None:
            await world.regain_rights_there()
            await world.approve(case, NATIVE)
            await world.lose_rights_there()
            world.clock.advance(16)
            await world.send()
            after = await world.desk.queries.case(case.id)
            assert after.state not in (CaseState.SENDING, CaseState.POSTED, CaseState.UNKNOWN)

        self.misbehave([], [])
        self.on_case(number, work, CaseState.IN_REVIEW)

    @rule(reads=st.lists(st.sampled_from(READS), max_size=2))
    def recover(self, reads: list[Outcome]) -> None:
        self.misbehave([], reads)
        self.do(lambda world: world.recover())

    @rule(
        what=st.sampled_from(["undo", "revoke", "pause", "shadow", "edit", "withdraw", "erase"]),
        person=st.sampled_from(PEOPLE),
    )
    def change_while_sending(self, what: str, person: Any) -> None:
        """Somebody acts between the reading of the original post and the intent."""
        assert self.world is not None
        world = self.world

        async def happens() -> None:
            waiting = await world.cases(CaseState.APPROVED)
            acts: dict[str, Callable[[], Awaitable[object]]] = {
                "undo": lambda: _each(world.undo, waiting),
                "withdraw": lambda: _each(partial(world.close, reason=CloseReason.MISTAKE), waiting),
                "revoke": lambda: world.revoke(person),
                "pause": lambda: world.pause("*"),
                "shadow": lambda: world.set_posting(False),
                "edit": lambda: _each(_edit(world), waiting),
                "erase": lambda: _each(lambda case: world.erase(world.authors[case.post.ref]), waiting),
            }
            await world.attempt(acts[what]())

        world.clock.advance(16)
        world.platform.while_reading = happens
        self.do(lambda world: world.send())
        world.platform.while_reading = None

    @rule(
        what=st.sampled_from(ACTS),
        point=st.integers(1, 6),
        cancels=st.booleans(),
        outcome=st.sampled_from(SENDS),
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
        case "raid":
            await world.raid(1, 2)
        case "erase":
            await world.erase(author_of(0))
        case "fold":
            await world.close_folded()
        case "retain":
            world.clock.advance(31 * 24 * 3600)
            await world.retain()
        case "undo":
            await _each(world.undo, await world.cases(CaseState.APPROVED))
        case "close":
            await _each(partial(world.close, reason=CloseReason.NOT_HATEFUL), await world.cases(CaseState.IN_REVIEW))
            await _each(world.undo_closing, await world.cases(CaseState.NO_REPLY))
