"""A desk in the middle of its world: people, workers, a platform, a clock, and everything that may go wrong.

Owns the one place in the tests of torture that calls the desk, so that all of them do what an application does. What
was seen from outside is kept in a ``Record``, against which the invariants hold the database.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session as SyncSession

from bot import faults
from bot.community_desk import CommunityDesk
from bot.desk import Desk
from bot.draft_queue import DraftQueue, Taken
from bot.invariants import Closed, Facts, Limits, Record, Revoked, Violation, check, read_tables, violations
from bot.outbox import Limits as SendLimits
from bot.outbox import Outbox
from bot.store import sending
from bot.store.cases import Case
from bot.store.database import Database, Session
from bot.store.schema import JobRow
from core.decline import DeclineReason
from core.errors import BadInput, Conflict, NotAllowed, StoreUnavailable
from core.models import FlaggedPost, PostRef, Suggestion
from core.review import CaseState, text_hash
from core.roles import Operator, Person, Role
from tests.fakes import suggestion_for
from tests.fakes.people import COMMUNITY, COMMUNITY_ID, MODERATOR, OTHER_MODERATOR, PLATFORM, pseudonym_of
from tests.torture.platform import LoggedPlatform

T = TypeVar("T")

EXPECTED: Final = (BadInput, Conflict, NotAllowed, StoreUnavailable)
"""What the desk may answer to anything; whatever else it raises is a fault of its own."""
OPERATOR: Final = Operator("terminal")
UNDO_SECONDS: Final = 15.0
LEASE_SECONDS: Final = 60.0
WORKERS: Final = 2
CAPS: Final = SendLimits(per_hour=1000, per_day=1000)
OPEN: Final = frozenset(
    {CaseState.QUEUED, CaseState.DRAFTING, CaseState.APPROVED, CaseState.SENDING, CaseState.UNKNOWN}
)
"""The states in which the program, and not a person, has something to do."""


class TickingClock:
    """Moves by a microsecond whenever it is asked, so that any two moments differ, and by ``advance``."""

    def __init__(self, now: datetime = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class Figures:
    """What a run did."""

    steps: int = 0
    crashes: int = 0
    flags: int = 0
    refusals: int = 0
    points: set[str] = field(default_factory=set)


def numbered_post(number: int) -> FlaggedPost:
    """One of the posts of the world; each has an author and a conversation of its own."""
    ref = PostRef(PLATFORM, COMMUNITY, "town-square", f"post-{number}")
    return FlaggedPost(ref, f"Newcomers of street {number} should go.", f"author-{number}", "mill_pond", "by hand")


class World:
    """Everything over one database.

    Args:
        database: with the people of ``tests.fakes.people`` settled in it, by the same ``clock``.
        beside: another way to the same database, by which the invariants read it faster.
    """

    def __init__(
        self,
        database: Database,
        clock: TickingClock,
        platform: LoggedPlatform,
        figures: Figures | None = None,
        beside: Engine | None = None,
        undo_seconds: float = UNDO_SECONDS,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self.beside, self.undo_seconds, self.lease_seconds = beside, undo_seconds, lease_seconds
        self.database, self.clock, self.platform = database, clock, platform
        self.figures = figures or Figures()
        self.acknowledged: list[PostRef] = []
        self.revoked: list[Revoked] = []
        self.closed: dict[str, list[Closed]] = {}
        self.ghosts: list[Taken] = []
        self.hands: dict[int, Taken] = {}
        self.start()

    def start(self) -> None:
        """Build what a process builds when it starts; what an earlier one held is in nobody's hands any more."""
        self.ghosts = [*self.ghosts, *self.hands.values()][-4:]
        self.hands = {}
        self.communities = CommunityDesk(self.database)
        self.desk = Desk(self.database, undo_seconds=self.undo_seconds)
        self.queues = [self.queue_of(f"worker-{number}") for number in range(WORKERS)]
        self.outbox = Outbox(
            self.database, {PLATFORM: self.platform}, limits=CAPS, timeout_seconds=5, retry_seconds=30, max_attempts=6
        )

    def queue_of(self, worker: str) -> DraftQueue:
        """The queue as a worker sees it."""
        return DraftQueue(self.database, worker, lease_seconds=self.lease_seconds)

    # What is seen from outside

    def record(self) -> Record:
        """What was seen so far."""
        return Record(
            sent=self.platform.sent(),
            acknowledged=tuple(self.acknowledged),
            revoked=tuple(self.revoked),
            closed=tuple(one for times in self.closed.values() for one in times),
        )

    async def broken(self, *, is_quiet: bool = False, looks_at_schema: bool = False) -> dict[str, list[Violation]]:
        """The invariants that do not hold; ``is_quiet`` where nobody may be at work any more."""
        limits = Limits(lease=timedelta(seconds=self.lease_seconds) if is_quiet else None)
        if self.beside is not None and not looks_at_schema:
            with SyncSession(self.beside) as session:
                return violations(Facts(self.clock(), read_tables(session), None, self.record(), limits))
        return await check(self.database, self.record(), limits, looks_at_schema=looks_at_schema)

    async def attempt(self, call: Awaitable[T]) -> T | None:
        """Do something that may be refused; ``None`` if it was."""
        self.figures.steps += 1
        try:
            return await call
        except EXPECTED:
            self.figures.refusals += 1
            return None

    async def cases(self, *states: CaseState) -> list[Case]:
        """The cases in some states, in all by default."""
        return [case for case in await self.desk.cases() if not states or case.state in states]

    # People

    async def flag(self, number: int) -> Case:
        """Somebody flags a post, which stands on the platform."""
        post = numbered_post(number)
        self.platform.posts.setdefault(post.ref, post.text)
        case = await self.desk.flag(post)
        self.acknowledged.append(post.ref)
        self.figures.flags += 1
        return case

    async def approve(self, case: Case, by: Person = MODERATOR, text: str = "", *, shown: str | None = None) -> None:
        """Somebody approves a draft, or a text of their own; ``shown`` is what they were shown, if it was another."""
        stored = await self.desk.suggestion(case.id)
        is_draft = not text and stored is not None and bool(stored.suggestion.drafts)
        draft = stored.suggestion.drafts[0].text if is_draft and stored is not None else ""
        rendered = await self.desk.rendered(case.id, text or draft or "We all live here.")
        digest = text_hash(shown) if shown is not None else rendered.sha256
        named = {"suggestion_id": stored.id, "draft_rank": 1} if is_draft and stored is not None else {}
        await self.desk.approve(case.id, case.version, rendered.text, digest, by, **named)  # type: ignore[arg-type]

    async def approve_at_once(self, case: Case) -> None:
        """Two moderators approve the same version at the same time; one of them wins at most."""
        before = case.version
        await asyncio.gather(
            self.attempt(self.approve(case, MODERATOR)), self.attempt(self.approve(case, OTHER_MODERATOR))
        )
        after = (await self.desk.case(case.id)).version
        assert after in (before, before + 1), "Two decisions on one version were kept."

    async def undo(self, case: Case) -> None:
        await self.desk.undo(case.id, case.version, MODERATOR)

    async def decline(self, case: Case) -> None:
        await self.desk.decline(case.id, case.version, MODERATOR, DeclineReason.OFF_TONE, "too stiff for us")

    async def withdraw(self, case: Case) -> None:
        await self.desk.withdraw(case.id, case.version, MODERATOR, "flagged by mistake")

    async def redraft(self, case: Case, number: int) -> None:
        await self.desk.redraft(case.id, case.version, f"Claim {number}: newcomers pay taxes.", MODERATOR)

    async def retract(self, case: Case) -> None:
        """A moderator takes a posted reply back."""
        await self.outbox.retract_reply(case.id, case.version, MODERATOR, "it was wrong")

    async def look(self, case: Case) -> None:
        """A moderator looks on the platform for a reply of unknown fate, and says what they see."""

        async def work(session: Session) -> str | None:
            row = await sending.newest(session, case.id)
            return None if row is None else row.approval_id

        approval_id = await self.database.run("look for a reply", work)
        found = [line for line in self.platform.log.lines() if line.sent.approval_id == approval_id]
        stands = any(self.platform.log.stands(line.sent.ref.message) for line in found)
        message = found[0].sent.ref.message if stands else None
        await self.outbox.settle(case.id, case.version, stands, MODERATOR, "I looked", message=message)

    async def revoke(self, person: Person) -> None:
        """A manager takes somebody's right away."""
        await self.communities.revoke(COMMUNITY_ID, person, Role.MODERATOR, OPERATOR)
        self.revoked.append(Revoked(await pseudonym_of(self.database, person), COMMUNITY_ID, self.clock()))

    async def restore_rights(self, person: Person) -> None:
        """A manager makes somebody a moderator again."""
        who, before = await pseudonym_of(self.database, person), self.clock()
        await self.communities.grant(COMMUNITY_ID, person, Role.MODERATOR, OPERATOR)
        self.revoked = [
            replace(one, until=before) if one.person_id == who and one.until is None else one for one in self.revoked
        ]

    async def pause(self, scope: str) -> None:
        """Somebody pulls the kill switch."""
        if await self.communities.pause(scope, OPERATOR):
            self._close(f"pause of {scope}", scope)

    async def resume(self, scope: str) -> None:
        """A manager allows posting again."""
        before = self.clock()
        await self.communities.resume(scope, OPERATOR)
        self._reopen(f"pause of {scope}", before)

    async def set_posting(self, is_posting: bool) -> None:
        """A manager leaves shadow mode, or goes back to it."""
        before = self.clock()
        await self.communities.set_posting(COMMUNITY_ID, is_posting, OPERATOR)
        if is_posting:
            self._reopen("shadow", before)
        else:
            self._close("shadow", COMMUNITY_ID)

    def _close(self, why: str, scope: str) -> None:
        times = self.closed.setdefault(why, [])
        if not times or times[-1].until is not None:
            times.append(Closed(scope, self.clock()))

    def _reopen(self, why: str, moment: datetime) -> None:
        times = self.closed.get(why, [])
        self.closed[why] = [replace(one, until=one.until or moment) for one in times]

    # The platform

    def edit(self, number: int) -> None:
        """The author changes their post."""
        ref = numbered_post(number).ref
        if ref in self.platform.posts:
            self.platform.posts[ref] += " Really."

    def delete(self, number: int) -> None:
        """The author takes their post away."""
        self.platform.posts.pop(numbered_post(number).ref, None)

    # Workers

    async def take(self, worker: int) -> None:
        """A worker takes a case, and forgets the one that it had."""
        taken = await self.queues[worker].take()
        if (before := self.hands.pop(worker, None)) is not None:
            self.ghosts = [*self.ghosts, before][-4:]
        if taken is not None:
            self.hands[worker] = taken

    async def store(self, worker: int, drafts: int) -> None:
        """A worker has drafts, or none."""
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
        await self.outbox._retractions.carry_out()  # what ``Outbox.run`` does between two sends

    async def recover(self) -> None:
        """The outbox settles what was interrupted."""
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
        for _ in range(12):
            self.clock.advance(LEASE_SECONDS * 2 + 1)
            while (taken := await self.queues[0].take()) is not None:
                await self.queues[0].store(taken, drafted(taken.case.post, 1))
            await self.send()
            await self.recover()
            if not await self.cases(*OPEN):
                return


def drafted(post: FlaggedPost, drafts: int) -> Suggestion:
    """What an engine says, with some drafts or none."""
    texts = ("Most newcomers work and pay taxes.", "Who told you that nobody pays in?")[:drafts]
    return suggestion_for(post, texts)


@contextmanager
def counting_points(figures: Figures) -> Iterator[None]:
    """Remember the names of the points that are reached."""

    async def remember(point: str) -> None:
        figures.points.add(point)

    with faults.installed(remember):
        yield
