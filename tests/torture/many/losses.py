"""Workers lost under load: killed, stopped for longer than their leases, and cut off from the database.

Real processes draft from one PostgreSQL database, each over a line of its own, while posts are flagged. A worker that
has a case in hand is lost, again and again, each time in one of three ways. At the end every case was finished once,
and all promises hold. How soon each case had another owner is counted in leases, by the database's clock.
"""

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Final

from sqlalchemy import URL, func, select, text

from core.desk.database.connection import Database, Session
from core.desk.intake import Intake
from core.desk.invariants.checks import violations
from core.desk.invariants.facts import AuditLimits, OutsideRecord, read_facts
from core.desk.rules.approval import CaseState
from core.desk.schema import AuditRow, JobRow, JobState, SuggestionRow
from core.desk.store.cases import DRAFT, all_cases, counts
from core.models import FlaggedPost, PostRef, Priority
from tests.fakes.desk.people import COMMUNITY, PLATFORM, SECRET, VOLUNTEER, settle
from tests.torture.many.line import Line
from tests.torture.many.worker import READY, REFUSED, Job, main
from tests.torture.world.processes import CHILDREN

_WAITING: Final = 6
_BACKGROUND: Final = 4
"""Every so many posts one was found by a filter, and nobody waits for it."""
_SILENT_SECONDS: Final = 120.0
"""Only bounds a hang."""
_LOOK_SECONDS: Final = 0.05


class Way(Enum):
    """How a worker is lost."""

    KILLED = "SIGKILL"
    STOPPED = "SIGSTOP for three leases"
    CUT_OFF = "cut off from the database"


@dataclass(slots=True)
class _Held:
    """A piece of work that a lost worker had in hand."""

    job_id: str
    attempts: int
    is_for_people: bool
    lost_at: datetime


_When = Callable[[Session, _Held], Awaitable[datetime | None]]


@dataclass
class Lost:
    """What a run left behind, by the way in which workers were lost.

    Attributes:
        leases: after how many leases each case was in the queue again, or in other hands.
        taken: after how many each case that people wait for was in other hands.
    """

    losses: Counter[Way] = field(default_factory=Counter)
    leases: dict[Way, list[float]] = field(default_factory=lambda: {way: [] for way in Way})
    taken: dict[Way, list[float]] = field(default_factory=lambda: {way: [] for way in Way})
    refused: int = 0
    cases: int = 0
    in_review: int = 0
    given_up: int = 0
    broken: list[str] = field(default_factory=list)


@dataclass
class _Child:
    name: str
    process: BaseProcess
    said: Connection
    line: Line
    closing: AsyncExitStack
    is_in_trouble: bool = False


async def run(
    server: URL, losses: int, *, seed: int = 0, lease_seconds: float = 6.0, workers: int = 8, at_once: int = 4
) -> Lost:
    """Lose workers so many times over the database at ``server``; flags go on meanwhile, and all comes to rest.

    Args:
        at_once: how many of the workers are lost at the same time; the others are there to take over.
    """
    database = await Database.open(server, secret=SECRET)
    try:
        await settle(database)
        return await _Run(server, database, losses, seed, lease_seconds).all(workers, at_once)
    finally:
        await database.close()


class _Run:
    def __init__(self, server: URL, database: Database, losses: int, seed: int, lease_seconds: float) -> None:
        self._server, self._database = server, database
        self._chance = random.Random(seed)
        ways = [way for _ in range(losses) for way in Way][:losses]
        self._chance.shuffle(ways)
        self._ways = iter(ways)
        self._lease = lease_seconds
        self._alive = list[_Child]()
        self._started = 0
        self._posts = list[PostRef]()
        self._found = Lost()

    async def all(self, workers: int, at_once: int) -> Lost:
        """The whole run."""
        flagging = asyncio.create_task(self._flag_on())
        try:
            for _ in range(workers):
                await self._start()
            async with asyncio.TaskGroup() as together:
                for _ in range(at_once):
                    together.create_task(self._lose_on())
            flagging.cancel()
            await asyncio.wait({flagging})
            await self._until(self._is_at_rest)
            await asyncio.sleep(2 * self._lease)  # whoever was stopped or cut off last finds out
            await self._look()
        finally:
            flagging.cancel()
            for child in list(self._alive):
                await self._end(child)
        return self._found

    # Processes

    async def _start(self) -> None:
        self._started += 1
        name, closing, line = f"worker-{self._started}", AsyncExitStack(), Line(self._server)
        address = (await closing.enter_async_context(line.open())).render_as_string(hide_password=False)
        said, theirs = CHILDREN.Pipe(duplex=False)
        job = Job(address, name, self._chance.randrange(2**32), self._lease, self._lease / 8)
        process: BaseProcess = CHILDREN.Process(target=main, args=(job, theirs), daemon=True)
        await asyncio.to_thread(process.start)
        theirs.close()
        if await asyncio.to_thread(said.recv_bytes) != READY:
            raise RuntimeError("A worker of the torture did not begin.")
        self._alive.append(_Child(name, process, said, line, closing))

    async def _end(self, child: _Child) -> None:
        self._alive.remove(child)
        child.process.kill()
        await asyncio.to_thread(child.process.join)
        self._hear(child)
        child.said.close()
        await child.closing.aclose()
        if child.process.exitcode != -signal.SIGKILL:
            raise RuntimeError(f"A worker of the torture ended by itself with {child.process.exitcode}.")

    def _hear(self, child: _Child) -> None:
        try:
            while child.said.poll():
                self._found.refused += child.said.recv_bytes() == REFUSED
        except EOFError:
            return

    # Losses

    async def _lose_on(self) -> None:
        for way in self._ways:
            while not await self._lose(way):  # noqa: ASYNC110 - what others finish is no event
                await asyncio.sleep(_LOOK_SECONDS)
            self._found.losses[way] += 1

    async def _lose(self, way: Way) -> bool:
        """Lose a worker that has a case in hand; ``False`` if it had finished by then, and nothing was lost."""
        child = await self._busy_one()
        child.is_in_trouble = True
        pid = child.process.pid
        assert pid is not None
        await asyncio.sleep(self._chance.uniform(0, self._lease / 8))
        match way:
            case Way.KILLED:
                child.process.kill()
            case Way.STOPPED:
                os.kill(pid, signal.SIGSTOP)
            case Way.CUT_OFF:
                child.line.cut()
        held = await self._held_by(child.name)
        await asyncio.gather(*(self._watch(way, one) for one in held))
        match way:
            case Way.KILLED:
                await self._end(child)
                await self._start()
            case Way.STOPPED:
                await self._rest_of(held, 3)
                os.kill(pid, signal.SIGCONT)
            case Way.CUT_OFF:
                await self._rest_of(held, 2)
                child.line.mend()
        child.is_in_trouble = False
        return bool(held)

    async def _busy_one(self) -> _Child:
        """A worker without trouble that has a case in hand; after a while, so that chance decides which."""
        async with asyncio.timeout(_SILENT_SECONDS):
            while True:
                for child in self._chance.sample(self._alive, len(self._alive)):
                    if not child.is_in_trouble and await self._held_by(child.name):
                        if child.is_in_trouble:  # the other one who loses workers was faster
                            continue
                        return child
                await asyncio.sleep(_LOOK_SECONDS)

    async def _held_by(self, owner: str) -> list[_Held]:
        async def work(session: Session) -> list[_Held]:
            is_its = JobRow.kind == DRAFT, JobRow.state == JobState.RUNNING, JobRow.owner == owner
            found = await session.scalars(select(JobRow).where(*is_its))
            return [_Held(row.id, row.attempts, row.priority > Priority.DETECTED, session.moment) for row in found]

        return await self._database.run("see what a worker has in hand", work)

    async def _watch(self, way: Way, held: _Held) -> None:
        """Wait until the lost worker has the work no more; where people wait for it, until somebody has or had it.

        A find waits in the queue for as long as people keep every worker busy.
        """
        for moments, when in ((self._found.leases[way], _released_at), (self._found.taken[way], _taken_at)):
            at: datetime | None = None

            async def is_so(when: _When = when) -> bool:
                nonlocal at
                at = await self._database.run("see who has the work", lambda session: when(session, held))
                return at is not None

            if when is _released_at or held.is_for_people:
                try:
                    await self._until(is_so)
                except TimeoutError as err:
                    raise RuntimeError(await self._database.run("describe", lambda s: _described(s, held))) from err
                assert at is not None
                moments.append((at - held.lost_at).total_seconds() / self._lease)

    async def _rest_of(self, held: Sequence[_Held], leases: int) -> None:
        """Wait until so many leases have passed since the loss."""
        for one in held[:1]:
            moment = await self._database.run("read the time", _moment)
            left = one.lost_at + timedelta(seconds=leases * self._lease) - moment
            await asyncio.sleep(max(0.0, left.total_seconds()))

    # Load, and what is left

    async def _flag_on(self) -> None:
        """Keep some cases waiting, so that no worker is ever idle."""
        intake = Intake(self._database, campaign_hours=0, max_queued=10**6)
        while True:
            waiting = await self._database.run("count what waits", lambda s: counts(s, CaseState.QUEUED))
            for _ in range(_WAITING - sum(waiting.values())):
                number = len(self._posts)
                ref = PostRef(PLATFORM, COMMUNITY, "square", f"{number}")
                priority = Priority.FLAGGED if number % _BACKGROUND else Priority.DETECTED
                who = VOLUNTEER.user if number % _BACKGROUND else "antiphon"
                await intake.flag(
                    FlaggedPost(ref, f"Post {number}.", f"author {number}", who, "test", priority=priority)
                )
                self._posts.append(ref)
            for child in self._alive:
                self._hear(child)
            await asyncio.sleep(_LOOK_SECONDS)

    async def _is_at_rest(self) -> bool:
        open_ = (CaseState.QUEUED, CaseState.DRAFTING)
        found = await self._database.run("count what is open", lambda s: all_cases(s, *open_))
        return not found

    async def _until(self, is_so: Callable[[], Any]) -> None:
        async with asyncio.timeout(_SILENT_SECONDS + 20 * self._lease):
            while not await is_so():  # noqa: ASYNC110 - a row is no event
                await asyncio.sleep(_LOOK_SECONDS)

    async def _look(self) -> None:
        for child in self._alive:
            self._hear(child)
        found = self._found

        async def work(session: Session) -> None:
            cases = await all_cases(session)
            suggestions = dict(
                (
                    await session.execute(select(SuggestionRow.case_id, func.count()).group_by(SuggestionRow.case_id))
                ).all()
            )
            reviewed = select(AuditRow.stream, func.count()).where(
                AuditRow.from_state == CaseState.DRAFTING, AuditRow.to_state == CaseState.IN_REVIEW
            )
            moves = dict((await session.execute(reviewed.group_by(AuditRow.stream))).all())
            found.cases = len(cases)
            for case in cases:
                is_reviewed = case.state is CaseState.IN_REVIEW
                found.in_review += is_reviewed
                found.given_up += case.state is CaseState.NEEDS_PERSON
                finished = (suggestions.get(case.id, 0), moves.get(case.id, 0))
                if finished != ((1, 1) if is_reviewed else (0, 0)) or case.state not in _ENDS:
                    found.broken.append(
                        f"{case.id} is {case.state} with {finished[0]} drafts, reviewed {finished[1]} times."
                    )
            record = OutsideRecord(acknowledged=tuple(self._posts))
            limits = AuditLimits(lease=timedelta(seconds=self._lease))
            facts = await read_facts(session, record, limits, looks_at_schema=False)
            found.broken += [f"{name}: {one}" for name, some in violations(facts).items() for one in some]

        await self._database.run("look at the end", work)


async def _released_at(session: Session, held: _Held) -> datetime | None:
    row = await session.get_one(JobRow, held.job_id)
    if row.attempts > held.attempts:
        return row.started_at
    return None if row.state is JobState.RUNNING else row.updated_at


async def _taken_at(session: Session, held: _Held) -> datetime | None:
    row = await session.get_one(JobRow, held.job_id)
    if row.attempts > held.attempts:
        return row.started_at
    return None if row.state in (JobState.READY, JobState.RUNNING) else row.updated_at


async def _described(session: Session, held: _Held) -> str:
    """Why a case may have no owner: its work, and what each connection does."""
    row = await session.get_one(JobRow, held.job_id)
    seen = [
        f"{held} is {row.state}, attempt {row.attempts} of {row.owner}, leased until {row.lease_until}, due at "
        f"{row.run_at}; it is {session.moment}"
    ]
    doing = (
        "SELECT state, wait_event, now() - state_change, left(query, 60) FROM pg_stat_activity WHERE state <> 'idle'"
    )
    seen += [str(tuple(one)) for one in await session.execute(text(doing))]
    return "\n".join(seen)


_ENDS: Final = (CaseState.IN_REVIEW, CaseState.NEEDS_PERSON)


async def _moment(session: Session) -> datetime:
    return session.moment
