"""The outbox under faults: whatever dies, hangs or races, no reply stands twice and none is lost."""

import asyncio
import os
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import pytest

from core.desk.database.connection import Database, Session
from core.desk.rules.approval import ApprovedReply, CaseState
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Role
from core.desk.runtime import faults
from core.desk.sending.outbox import Outbox, SendLimits
from core.desk.store import communities, people
from core.desk.store.cases import Case
from core.errors import Conflict, PlatformBusy
from core.models import SentReply
from tests.fakes.desk.people import COMMUNITY_ID, MODERATOR, STRANGER
from tests.fakes.desk.sending import LEASE_SECONDS, REPLY, FaultyCommunity, SendingScene
from tests.fakes.machine.clock import FakeClock

pytestmark = pytest.mark.both_databases

SCALE = int(os.environ.get("ANTIPHON_TEST_SCALE", "1"))
"""How much longer than usual the long tests run; ``make torture`` sets it."""
SENDS, RACES, AT_ONCE = 24 * SCALE, 32 * SCALE, 12 * SCALE
NO_CAP = SendLimits(per_hour=10**6, per_day=10**6)


class _Died(BaseException):
    """The process is gone: nothing in it can catch this."""


class _BadLine(FaultyCommunity):
    """Every send ends as chance will have it."""

    def __init__(self, clock: FakeClock, chance: random.Random) -> None:
        super().__init__(clock)
        self.chance = chance
        self.is_bad = True
        self.ends = Counter[str]()

    async def post(self, reply: ApprovedReply) -> SentReply:
        ends = ("answered", "lost after it arrived", "lost before it arrived", "busy", "timeout")
        (end,) = self.chance.choices(ends, (50, 18, 12, 12, 8)) if self.is_bad else ("answered",)
        self.ends[end] += 1
        self.mend()
        if end == "busy":
            raise PlatformBusy("Slow down.", retry_after_seconds=self.chance.uniform(0.5, 120))
        if end != "answered":
            self.lose_answers(arrive=end != "lost before it arrived")
        if end == "timeout":
            self.send_fault, self.arrives = TimeoutError(), self.chance.random() < 0.5
        return await super().post(reply)


class _Processes(SendingScene):
    """A scene without caps, so that hundreds of replies can be sent."""

    def know_keys(self, keys: bool) -> None:
        """Whether the platform posts a reply once that comes twice with the same key."""
        self.community.resend = None if keys else 0.0

    def outbox_of_another_process(self) -> Outbox:
        return self.started(limits=NO_CAP)

    async def check(self, approved: list[Case], settled: Sequence[Case] = ()) -> Counter[CaseState]:
        """No duplicate, nothing lost; how many cases ended where, without those that were ``settled`` before."""
        stands = Counter(message for message, _ in self.community.replies())
        assert {text for _, text in self.community.replies()} <= {REPLY}
        ended = Counter[CaseState]()
        for before in (*approved, *settled):
            case = await self.desk.queries.case(before.id)
            if before not in settled:
                ended[case.state] += 1
            count = stands.pop(case.post.ref.message, 0)
            assert count <= 1, "a reply stands twice"
            if case.state is CaseState.POSTED:
                assert count == 1, "a reply counts as posted, and does not stand"
            elif case.state is not CaseState.NEEDS_PERSON:
                assert count == 0, f"a reply stands, and its case is {case.state}"
        assert not stands, "a reply stands that nobody approved"
        return ended


@pytest.fixture
def processes(database: Database, clock: FakeClock) -> _Processes:
    made = _Processes(database, clock)
    made.outbox = made.outbox_of_another_process()
    return made


class _At:
    """Does something at the n-th point that is reached; counts the points."""

    def __init__(self, number: int, does: Callable[[], Awaitable[None]]) -> None:
        self.number, self.does, self.reached = number, does, list[str]()

    async def __call__(self, point: str) -> None:
        self.reached.append(point)
        if len(self.reached) - 1 == self.number:
            await self.does()


async def _die() -> None:
    raise _Died


async def _nothing() -> None:
    return None


@pytest.mark.parametrize("line", ["answers", "loses the answer", "loses the reply"])
async def test_a_death_at_every_point_neither_doubles_nor_loses_a_reply(processes: _Processes, line: str) -> None:
    """The process dies at each commit and each call in turn; another one brings the send to its end (I2, I3).

    Each two of line, keys and database meet; all three do in ``make torture``.
    """

    async def send(at: _At) -> None:
        processes.community.mend()
        if line != "answers":
            processes.community.lose_answers(arrive=line == "loses the answer")
        with faults.installed(at), suppress(_Died):
            await processes.outbox.send_due()
        processes.community.mend()

    other = (line == "loses the answer") is processes.database.is_postgresql
    settled = list[Case]()
    for keys in (other, not other) if SCALE > 1 else (other,):
        processes.know_keys(keys)
        approved = await processes.approve_many(1)
        dry = _At(-1, _nothing)
        await send(dry)
        points = dry.reached
        assert {"post: before the call", "post: after the call", "commit the intent: before the commit"} <= set(points)
        for number in range(len(points)):
            await processes.settled(processes.outbox_of_another_process)
            approved += await processes.approve_many(1)
            at = _At(number, _die)
            await send(at)
            assert at.reached[-1] == points[number]
            processes.clock.advance(LEASE_SECONDS)
        await processes.settled(processes.outbox_of_another_process)
        ended = await processes.check(approved, settled=settled)
        if keys:
            assert set(ended) == {CaseState.POSTED}
        else:
            assert ended[CaseState.POSTED] + ended[CaseState.NEEDS_PERSON] == len(approved)
        settled += approved


@pytest.mark.parametrize("keys", [True, False], ids=["keys", "no keys"])
async def test_ambiguous_sends_leave_no_duplicate_and_lose_nothing(processes: _Processes, keys: bool) -> None:
    """Half of the sends end badly, and now and then the process dies: no reply twice, no case without an end (I2)."""
    chance = random.Random(20260302)
    processes.community = line = _BadLine(processes.clock, chance)
    processes.know_keys(keys)
    approved = await processes.approve_many(SENDS)
    deaths = Counter[str]()

    async def maybe_die(point: str) -> None:
        if chance.random() < 0.01:
            deaths[point] += 1
            raise _Died

    with faults.installed(maybe_die):
        for _ in range(25):
            with suppress(_Died):
                await processes.outbox_of_another_process().send_due()
            with suppress(_Died):
                await processes.outbox_of_another_process().recover()
            processes.clock.advance(30)
    line.is_bad = False
    await processes.settled(processes.outbox_of_another_process)
    ended = await processes.check(approved)
    assert sum(deaths.values()) > 3
    assert len(line.ends) == 5
    assert ended[CaseState.POSTED] > SENDS / 2
    assert set(ended) <= {CaseState.POSTED, CaseState.NEEDS_PERSON, CaseState.FAILED}


async def test_undo_and_send_never_both_win(processes: _Processes) -> None:
    """Undo at any point of a send: it holds and nothing is posted, or it says that it is too late (invariant I9)."""
    chance = random.Random(9)
    approved = await processes.approve_many(RACES)
    undone = set[str]()
    tasks = list[asyncio.Task[None]]()

    async def undo(case: Case) -> None:
        with suppress(Conflict):
            await processes.desk.decisions.undo(case.id, case.version, MODERATOR)
            undone.add(case.id)

    waiting = list(approved)

    async def race(point: str) -> None:
        if not point.startswith("undo") and waiting and chance.random() < 0.2:
            tasks.append(asyncio.create_task(undo(waiting.pop(chance.randrange(min(3, len(waiting)))))))

    with faults.installed(race):
        await processes.outbox.send_due()
    await asyncio.gather(*tasks, *(undo(case) for case in waiting))
    ended = await processes.check(approved)
    assert ended[CaseState.IN_REVIEW] == len(undone)
    assert ended[CaseState.POSTED] == len(approved) - len(undone)
    assert len(ended) == 2, "a race that one side always wins shows nothing"


async def test_many_outboxes_send_each_reply_once(processes: _Processes) -> None:
    """Whichever process is faster, and all at once (invariant I2)."""
    approved = await processes.approve_many(AT_ONCE)
    outboxes = [processes.outbox_of_another_process() for _ in range(4)]
    results = await asyncio.gather(*(outbox.send_due() for outbox in outboxes))
    assert Counter(delivery.state for result in results for delivery in result) == {CaseState.POSTED: AT_ONCE}
    assert processes.community.sends == AT_ONCE
    assert await processes.check(approved) == {CaseState.POSTED: AT_ONCE}


async def test_whatever_happens_at_once_nobody_waits_for_ever(processes: _Processes) -> None:
    """Sends, undos, withdrawals, pauses, changed rules, roles and new posts in one community: no deadlock."""
    chance = random.Random(4)
    approved = await processes.approve_many(24 * SCALE)

    async def undo(case: Case) -> None:
        with suppress(Conflict):
            await processes.desk.decisions.undo(case.id, case.version, MODERATOR)

    async def withdraw(case: Case) -> None:
        with suppress(Conflict):
            await processes.desk.decisions.close(
                case.id, case.version, MODERATOR, CloseReason.MISTAKE, "we were asked to"
            )

    async def pause() -> None:
        await processes.database.run("pause", lambda session: communities.pause(session, COMMUNITY_ID, "test"))
        await processes.database.run("resume", lambda session: communities.resume(session, COMMUNITY_ID))

    async def change() -> None:
        async def work(session: Session) -> None:
            await communities.change(session, COMMUNITY_ID, actor="test", reason="a line")
            await people.grant(session, COMMUNITY_ID, STRANGER, {Role.VOLUNTEER}, by="test")

        await processes.database.run("change", work)

    async def flag() -> None:
        post = processes.community.add("somebody", "Something unkind.")
        await processes.desk.intake.flag(processes.community.flag(post.id, "mill_pond"))

    async def send() -> None:
        outbox = processes.outbox_of_another_process()
        await outbox.send_due()
        await outbox.recover()

    work = [undo(case) for case in approved[:8]] + [withdraw(case) for case in approved[8:16]]
    work += [make() for make in (pause, change, flag, send) for _ in range(4)]
    chance.shuffle(work)
    await asyncio.gather(*work)
    processes.clock.advance(120)
    await processes.settled(processes.outbox_of_another_process)
    assert (await processes.check(approved)).total() == len(approved)
