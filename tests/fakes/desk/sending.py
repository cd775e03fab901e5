"""A desk, outboxes and a platform with a bad line over one database, for the tests of the send protocol."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

from adapters.sample import SampleCommunity
from bot.compose.desk import build_desk
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import ApprovedReply, CaseState, text_hash
from core.desk.rules.roles import Person, Role
from core.desk.schema import ApprovalRow, OutboxRow, OutboxState
from core.desk.sending.outbox import Outbox, SendLimits
from core.desk.store import captures, cases, communities, people
from core.desk.store.cases import Case
from core.errors import PlatformUnavailable
from core.models import FlaggedPost, PostRef, SentReply
from tests.fakes.desk.decisions import approve, drafted, one_row
from tests.fakes.desk.people import COMMUNITY_ID, MODERATOR
from tests.fakes.machine.clock import FakeClock

REPLY = "Most newcomers work, **pay taxes** and live next door."
LEASE_SECONDS = 90.0
"""Three times the default of how long one call may take."""


class FaultyCommunity(SampleCommunity):
    """The sample community behind a bad line: a call may fail before or after it arrives, or never end.

    With a ``resend`` of 0 it knows no keys: a reply that is sent twice is there twice. ``place`` is the community and
    the channel of its posts, if not those of the sample community.
    """

    def __init__(self, clock: FakeClock, **how: Any) -> None:
        super().__init__(clock=clock, **how)
        self.place: tuple[str, str] | None = None
        self.send_fault: BaseException | None = None
        self.arrives = True
        self.hangs = False
        self.hides_replies = False
        self.line: asyncio.Event | None = None
        self.read_fault: Exception | None = None
        self.find_fault: Exception | None = None
        self.retract_fault: Exception | None = None
        self.while_reading: Callable[[], Awaitable[object]] | None = None
        self.resend: float | None = None
        self.sending = asyncio.Event()
        self.sends = 0

    def ref(self, message_id: str) -> PostRef:
        return super().ref(message_id) if self.place is None else PostRef(self.name, *self.place, message_id)

    @property
    def resend_seconds(self) -> float:
        """As set; as the sample community's by default."""
        return super().resend_seconds if self.resend is None else self.resend

    async def read(self, ref: PostRef) -> str | None:
        found = None if self.read_fault is not None else await super().read(ref)
        if self.while_reading is not None:
            meddle, self.while_reading = self.while_reading, None
            await meddle()
        if self.read_fault is not None:
            raise self.read_fault
        return found

    async def post(self, reply: ApprovedReply) -> SentReply:
        self.sends += 1
        if self.line is not None:
            self.sending.set()
            await self.line.wait()
        if self.resend == 0.0:
            self._sent.pop(reply.key, None)
        posted = await super().post(reply) if self.arrives else None
        self.sending.set()
        if self.hangs:
            await asyncio.Event().wait()
        if self.send_fault is not None:
            raise self.send_fault
        assert posted is not None
        return posted

    async def find_reply(self, reply: ApprovedReply) -> SentReply | None:
        if self.find_fault is not None:
            raise self.find_fault
        return None if self.hides_replies else await super().find_reply(reply)

    async def retract(self, ref: PostRef) -> None:
        if self.arrives:
            await super().retract(ref)
        if self.retract_fault is not None:
            raise self.retract_fault

    def lose_answers(self, *, arrive: bool) -> None:
        """From now on the outcome of a send is not reported."""
        self.send_fault, self.arrives = ConnectionResetError(), arrive

    def mend(self) -> None:
        """From now on every call arrives and is answered."""
        self.send_fault = self.read_fault = self.find_fault = self.retract_fault = None
        self.arrives, self.hangs = True, False

    def replies(self) -> list[tuple[str | None, str]]:
        return [(post.in_reply_to, post.text) for post in self.thread() if post.author == "antiphon"]


class FakeRoles:
    """A platform's own rights: everybody's as set, or nobody can ask."""

    def __init__(self, **roles: Role) -> None:
        self.held = roles
        self.fault: PlatformUnavailable | None = None

    async def roles(self, community: str, user: str) -> frozenset[Role]:
        if self.fault is not None:
            raise self.fault
        return frozenset({self.held[user]}) if user in self.held else frozenset()


class SendingScene:
    """A desk, an outbox and a platform over one database, all by one clock."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.database = database
        self.clock = clock
        self.desk = build_desk(database, undo_seconds=15)
        self.queue = DraftQueue(database, "worker-1")
        self.community = FaultyCommunity(clock)
        self.outbox = self.started()
        self.case_id = ""
        self.text = ""

    def started(
        self,
        *,
        timeout_seconds: float = 30.0,
        max_attempts: int = 6,
        limits: SendLimits | None = None,
        roles: FakeRoles | None = None,
        ticks: Callable[[], float] = lambda: 0.0,
    ) -> Outbox:
        return Outbox(
            self.database,
            {"sample": self.community},
            role_sources=None if roles is None else {"sample": roles},
            limits=limits,
            timeout_seconds=timeout_seconds,
            max_attempts=max_attempts,
            poll_seconds=0.001,
            ticks=ticks,
        )

    async def approve(self, message: str = "103", by: Person = MODERATOR, reply: str = REPLY) -> Case:
        """Bring one post to an approved reply, whose undo window is over."""
        case = await self.approve_later(message, by, reply)
        self.clock.advance(15)
        return case

    def know_roles(self, roles: FakeRoles) -> None:
        """Let the platform say what people are when they approve."""
        self.desk = build_desk(self.database, undo_seconds=15, role_sources={"sample": roles})

    async def approve_later(self, message: str = "103", by: Person = MODERATOR, reply: str = REPLY) -> Case:
        """Bring one post to an approved reply, whose undo window begins."""
        case = await drafted(self.desk, self.queue, self.community.flag(message, "mill_pond"))
        approved = await approve(self.desk, case, by, reply)
        self.case_id, self.text = case.id, approved.text
        return await self.desk.queries.case(case.id)

    async def approve_post_of(self, author: str, in_reply_to: str | None = None) -> Case:
        """Let somebody write, and approve a reply to it."""
        written = self.community.add(author, f"Something unkind, said by {author}.", in_reply_to)
        return await self.approve(written.id)

    async def stop_while_sending(self, *, arrives: bool) -> None:
        """Let the process end between the intent and the answer."""
        self.community.hangs, self.community.arrives = True, arrives
        task = asyncio.create_task(self.outbox.send_due())
        await self.community.sending.wait()
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        self.community.mend()

    async def until_posted(self, count: int) -> None:
        """Wait until so many replies count as posted."""
        while await one_row(self.database, "SELECT count(*) FROM outbox WHERE state = 'posted'") != (count,):  # noqa: ASYNC110 - the database tells nobody
            await asyncio.sleep(0.01)

    async def state(self, case_id: str = "") -> CaseState:
        """The state of the case now; the last approved one by default."""
        return (await self.desk.queries.case(case_id or self.case_id)).state

    async def reason(self, case_id: str = "") -> str:
        return (await self.desk.queries.history(case_id or self.case_id))[-1].reason

    async def row(self, columns: str = "state, remote_message") -> tuple[object, ...]:
        return await one_row(self.database, f"SELECT {columns} FROM outbox")

    async def approve_many(self, count: int) -> list[Case]:
        """Bring as many posts of as many authors to approved replies, in one transaction, all due now."""
        writers = range(len(self.community.thread()), len(self.community.thread()) + count)
        posts = [self.community.add(f"author_{n}", f"Something unkind, number {n}.") for n in writers]
        flagged = [self.community.flag(post.id, "mill_pond") for post in posts]
        moment = self.clock.now

        async def work(session: Session) -> list[Case]:
            who = await people.pseudonym(session, MODERATOR.platform, MODERATOR.user)
            policy = (await communities.load(session, COMMUNITY_ID)).rules_version
            return [await approved_now(session, post, who, policy, moment) for post in flagged]

        return await self.database.run("approve many", work)

    async def settled(self, outbox: Callable[[], Outbox], *, rounds: int = 60) -> None:
        """Let outboxes work, minute by minute, until nothing waits for them."""
        for _ in range(rounds):
            await outbox().send_due()
            await outbox().recover()
            if await one_row(self.database, _WAITING) == (0,):
                return
            self.clock.advance(60)
        raise AssertionError("Some replies were never brought to an end.")


_WAITING = "SELECT count(*) FROM cases WHERE state IN ('approved', 'sending', 'unknown')"


async def approved_now(session: Session, post: FlaggedPost, who: str, policy: int, moment: datetime) -> Case:
    """Bring a post to an approved ``REPLY`` that is due, in the transaction of the caller."""
    ids = await captures.lock_communities(session, [post.ref])
    (case,) = await captures.capture_all(session, [captures.new_case(post, ids)])
    for state in (CaseState.QUEUED, CaseState.DRAFTING, CaseState.IN_REVIEW, CaseState.APPROVED):
        case = await cases.transition(session, case.id, case.version, state, actor="test", reason="prepared")
    session.add(
        ApprovalRow(
            id=f"approval-{case.id}",
            case_id=case.id,
            suggestion_id=None,
            draft_rank=None,
            text=REPLY,
            footer="",
            sha256=text_hash(REPLY),
            moderator=who,
            seconded_by=None,
            approved_at=moment,
            expires_at=moment + timedelta(hours=24),
            policy_version=policy,
            edited=True,
            target_sha256=text_hash(post.text),
        )
    )
    await session.flush()
    session.add(
        OutboxRow(
            id=f"row-{case.id}",
            approval_id=f"approval-{case.id}",
            state=OutboxState.QUEUED,
            not_before=moment,
            attempts=0,
            updated_at=moment,
        )
    )
    await session.flush()
    return case
