"""The send protocol: an approved reply is posted once, exactly as approved, or a person is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from adapters.sample.community import SampleCommunity
from bot.desk import Desk
from bot.outbox import Outbox
from bot.store.cases import Case
from bot.store.database import Database
from core.errors import AmbiguousSend, NotAllowed, PlatformUnavailable
from core.models import Posted, PostRef
from core.review import ApprovedReply, CaseState, text_hash
from tests.fakes import suggestion_for
from tests.fakes.clock import FakeClock

TEXT = "Most newcomers work, **pay taxes** and live next door. @everyone"


class _FaultyCommunity(SampleCommunity):
    """A platform with a bad line: a send may fail before or after it arrives, a reading may fail too."""

    def __init__(self) -> None:
        super().__init__()
        self.send_fault: Exception | None = None
        self.arrives = True
        self.hangs = False
        self.read_fault: Exception | None = None
        self.find_fault: Exception | None = None
        self.while_reading: Callable[[], Awaitable[object]] | None = None
        self.sending = asyncio.Event()
        self.sends = 0

    async def read(self, ref: PostRef) -> str | None:
        if self.read_fault is not None:
            raise self.read_fault
        found = await super().read(ref)
        if self.while_reading is not None:
            await self.while_reading()
        return found

    async def post(self, reply: ApprovedReply) -> Posted:
        self.sends += 1
        posted = await super().post(reply) if self.arrives else None
        self.sending.set()
        if self.hangs:
            await asyncio.Event().wait()
        if self.send_fault is not None:
            raise self.send_fault
        assert posted is not None
        return posted

    async def find_reply(self, reply: ApprovedReply) -> Posted | None:
        if self.find_fault is not None:
            raise self.find_fault
        return await super().find_reply(reply)

    def replies(self) -> list[tuple[str | None, str]]:
        return [(post.in_reply_to, post.text) for post in self.thread() if post.author == "antiphon"]


class _Scene:
    """A desk, an outbox and a platform over one database, with one approved case."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.clock = FakeClock()
        self.desk = Desk(database, self.clock, undo_seconds=15)
        self.community = _FaultyCommunity()
        self.outbox = self.restarted()
        self.case_id = ""

    def restarted(self, timeout_seconds: float = 30) -> Outbox:
        """The outbox of a process that has just started."""
        return Outbox(
            self.database, {"sample": self.community}, self.clock, timeout_seconds=timeout_seconds, max_attempts=3
        )

    async def approve(self, message: str = "103") -> Case:
        """Bring one post to an approved reply, and let the undo window pass."""
        post = self.community.flag(message, "mill_pond")
        self.case_id = (await self.desk.flag(post)).id
        taken = await self.desk.take_next()
        assert taken is not None
        case = await self.desk.store_suggestion(taken.id, taken.version, suggestion_for(post))
        await self.desk.approve(case.id, case.version, TEXT, text_hash(TEXT), "moderator_one")
        self.clock.advance(15)
        return await self.desk.case(case.id)

    async def stop_while_sending(self, *, arrives: bool) -> None:
        """Let the process end between the intent and the answer."""
        self.community.hangs, self.community.arrives = True, arrives
        task = asyncio.create_task(self.outbox.send_due())
        await self.community.sending.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        self.community.hangs, self.community.arrives = False, True

    async def state(self) -> CaseState:
        return (await self.desk.case(self.case_id)).state

    async def reason(self) -> str:
        return (await self.desk.history(self.case_id))[-1].reason

    async def row(self) -> tuple[object, ...]:
        async def work(session: AsyncSession) -> tuple[object, ...]:
            query = text("SELECT state, attempts, remote_message FROM outbox")
            return tuple((await session.execute(query)).one())

        return await self.database.run(work)

    async def execute(self, statement: str) -> None:
        await self.database.run(lambda session: session.execute(text(statement)))


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[_Scene]:
    database = await Database.open(tmp_path / "antiphon.sqlite")
    yield _Scene(database)
    await database.close()


async def test_an_approved_reply_is_posted_once(scene: _Scene) -> None:
    """The exact bytes, under the right post, once, however often the outbox runs."""
    await scene.approve()
    (delivery,) = await scene.outbox.send_due()
    assert (delivery.case_id, delivery.state) == (scene.case_id, CaseState.POSTED)
    assert await scene.outbox.send_due() == []
    assert await scene.restarted().recover() == []
    assert scene.community.replies() == [("103", TEXT)]
    assert await scene.state() is CaseState.POSTED
    assert await scene.row() == ("posted", 1, scene.community.thread()[-1].id)
    assert [entry.to_state for entry in await scene.desk.history(scene.case_id)][-2:] == ["sending", "posted"]


async def test_nothing_is_sent_inside_the_undo_window(scene: _Scene) -> None:
    """The moderator has the whole window to change their mind (invariant I9)."""
    await scene.approve()
    scene.clock.advance(-0.001)
    assert await scene.outbox.send_due() == []
    assert scene.community.sends == 0
    scene.clock.advance(0.001)
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]


async def test_an_undone_reply_is_never_sent(scene: _Scene) -> None:
    """Undo in the window prevents the post, for good."""
    case = await scene.approve()
    await scene.desk.undo(case.id, case.version, "moderator_one")
    assert await scene.outbox.send_due() == []
    assert scene.community.replies() == []
    assert await scene.state() is CaseState.IN_REVIEW


async def test_a_posted_reply_cannot_be_undone(scene: _Scene) -> None:
    """Undo says honestly that it is too late, to a fresh page and to a stale one."""
    case = await scene.approve()
    await scene.outbox.send_due()
    posted = await scene.desk.case(case.id)
    with pytest.raises(NotAllowed):
        await scene.desk.undo(case.id, posted.version, "moderator_one")
    assert await scene.state() is CaseState.POSTED


async def test_an_undo_during_the_last_check_wins(scene: _Scene) -> None:
    """The intent is committed by compare-and-set: an undo that came first is not overrun."""
    case = await scene.approve()
    scene.community.while_reading = lambda: scene.desk.undo(case.id, case.version, "moderator_one")
    assert await scene.outbox.send_due() == []
    assert scene.community.sends == 0
    assert await scene.state() is CaseState.IN_REVIEW
    assert (await scene.row())[0] == "cancelled"


async def test_a_row_cancelled_during_the_last_check_is_not_sent(scene: _Scene) -> None:
    """The row must still be queued in the very transaction that commits the intent."""
    await scene.approve()
    scene.community.while_reading = lambda: scene.execute("UPDATE outbox SET state = 'cancelled'")
    assert await scene.outbox.send_due() == []
    assert scene.community.sends == 0


async def test_two_outboxes_send_once(scene: _Scene) -> None:
    """Two processes, or two ticks of a schedule, may run at once (invariant I2)."""
    await scene.approve()
    results = await asyncio.gather(*(scene.restarted().send_due() for _ in range(4)))
    assert [delivery.state for result in results for delivery in result] == [CaseState.POSTED]
    assert scene.community.sends == 1


async def test_only_the_last_approval_is_sent(scene: _Scene) -> None:
    """After an undo and another approval, only the text that was approved last stands there."""
    case = await scene.approve()
    undone = await scene.desk.undo(case.id, case.version, "moderator_one")
    other = "Who told you that?"
    await scene.desk.approve(case.id, undone.version, other, text_hash(other), "moderator_two")
    scene.clock.advance(15)
    await scene.outbox.send_due()
    assert scene.community.replies() == [("103", other)]


@pytest.mark.parametrize("change", ["edit", "delete"])
async def test_a_changed_original_is_not_answered(scene: _Scene, change: str) -> None:
    """A reply to words that no longer stand there would be wrong; a person decides (invariant I8)."""
    await scene.approve()
    if change == "edit":
        scene.community.edit("103", "I was wrong about this, sorry.")
    else:
        scene.community.delete("103")
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert scene.community.sends == 0
    assert (await scene.row())[0] == "cancelled"
    assert ("changed" if change == "edit" else "gone") in await scene.reason()
    assert await scene.outbox.send_due() == []


@pytest.mark.parametrize("column", ["text", "sha256"])
async def test_a_tampered_approval_is_not_posted(scene: _Scene, column: str) -> None:
    """One changed byte between approval and send, and a person is asked (invariant I1)."""
    await scene.approve()
    await scene.execute(f"UPDATE approvals SET {column} = {column} || 'x'")
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert scene.community.sends == 0
    assert "not the one that was approved" in await scene.reason()


async def test_a_text_tampered_with_during_the_last_check_is_not_posted(scene: _Scene) -> None:
    """The hash is checked in the very transaction that commits the intent."""
    await scene.approve()
    scene.community.while_reading = lambda: scene.execute("UPDATE approvals SET text = 'something else'")
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert scene.community.sends == 0


async def test_a_row_without_an_approved_case_is_cancelled(scene: _Scene) -> None:
    """A queued row is no permission by itself: the case must be approved."""
    await scene.approve()
    await scene.execute("UPDATE cases SET state = 'declined'")
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.DECLINED
    assert scene.community.sends == 0
    assert (await scene.row())[0] == "cancelled"


async def test_an_unknown_platform_asks_a_person(scene: _Scene) -> None:
    """A platform that was taken out of the settings must not leave a reply waiting for ever."""
    await scene.approve()
    (delivery,) = await Outbox(scene.database, {}, scene.clock).send_due()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert "No platform named sample" in delivery.reason


@pytest.mark.parametrize("fault", [PlatformUnavailable("No line."), TimeoutError(), ValueError("quotes the post")])
async def test_an_original_that_cannot_be_read_waits(scene: _Scene, fault: Exception) -> None:
    """Reading may be tried again, since nothing was sent; but not for ever, and others are not held up."""
    await scene.approve()
    scene.community.read_fault = fault
    assert await scene.outbox.send_due() == []
    assert await scene.row() == ("queued", 1, None)
    assert await scene.outbox.send_due() == []
    assert await scene.row() == ("queued", 1, None)
    scene.community.read_fault = None
    scene.clock.advance(30)
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]


async def test_an_original_that_is_never_read_asks_a_person(scene: _Scene) -> None:
    """After the last attempt somebody is told; the error's own words are not quoted."""
    await scene.approve()
    scene.community.read_fault = ValueError("quotes the post")
    results = []
    for _ in range(3):
        results += await scene.outbox.send_due()
        scene.clock.advance(30)
    assert [delivery.state for delivery in results] == [CaseState.NEEDS_PERSON]
    assert "ValueError" in await scene.reason()
    assert "quotes" not in await scene.reason()
    assert scene.community.sends == 0


async def test_a_refused_send_has_failed(scene: _Scene) -> None:
    """When the platform says no, it was certainly not posted; it is not tried again by itself."""
    await scene.approve()
    scene.community.send_fault, scene.community.arrives = PlatformUnavailable("The bot may not write here."), False
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.FAILED
    assert "may not write" in delivery.reason
    assert (await scene.row())[0] == "failed"
    assert await scene.outbox.send_due() == []
    assert scene.community.sends == 1


FAULTS = [AmbiguousSend("The answer was lost."), TimeoutError(), ConnectionResetError(), ValueError("bad JSON")]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
async def test_an_ambiguous_send_that_arrived_is_posted(scene: _Scene, fault: Exception) -> None:
    """The reply is read back and found: posted, and never sent again."""
    await scene.approve()
    scene.community.send_fault = fault
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.POSTED
    assert await scene.row() == ("posted", 1, scene.community.thread()[-1].id)
    assert [entry.to_state for entry in await scene.desk.history(scene.case_id)][-3:] == [
        "sending",
        "unknown",
        "posted",
    ]
    assert scene.community.sends == 1


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
async def test_an_ambiguous_send_that_is_not_found_asks_a_person(scene: _Scene, fault: Exception) -> None:
    """It may still appear: a person looks, the program does not send again."""
    await scene.approve()
    scene.community.send_fault, scene.community.arrives = fault, False
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert (await scene.row())[0] == "unknown"
    assert "look on the platform" in await scene.reason()
    assert await scene.outbox.send_due() == []
    assert await scene.restarted().recover() == []
    assert scene.community.sends == 1


async def test_a_send_without_an_answer_ends(scene: _Scene) -> None:
    """A platform that never answers must not stop the outbox."""
    await scene.approve()
    scene.community.hangs = True
    (delivery,) = await scene.restarted(timeout_seconds=0.01).send_due()
    assert delivery.state is CaseState.POSTED
    assert scene.community.replies() == [("103", TEXT)]


async def test_an_unreadable_platform_asks_a_person(scene: _Scene) -> None:
    """When neither the answer nor the thread can be had, nobody guesses."""
    await scene.approve()
    scene.community.send_fault = AmbiguousSend("The answer was lost.")
    scene.community.find_fault = PlatformUnavailable("No line.")
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert "could not be read back" in delivery.reason


async def test_the_intent_is_committed_before_the_call(scene: _Scene) -> None:
    """A process that dies in the call leaves ``sending`` behind, in the case and in the row."""
    await scene.approve()
    await scene.stop_while_sending(arrives=False)
    assert await scene.state() is CaseState.SENDING
    assert (await scene.row())[0] == "sending"


@pytest.mark.parametrize("arrives", [True, False])
async def test_an_interrupted_send_is_settled_by_reading(scene: _Scene, arrives: bool) -> None:
    """After a crash between intent and result the thread is read; nothing is sent a second time (invariant I2)."""
    await scene.approve()
    await scene.stop_while_sending(arrives=arrives)
    outbox = scene.restarted()
    assert await outbox.send_due() == []
    (delivery,) = await outbox.recover()
    assert delivery.state is (CaseState.POSTED if arrives else CaseState.NEEDS_PERSON)
    assert await scene.state() is delivery.state
    assert await outbox.recover() == []
    assert await outbox.send_due() == []
    assert scene.community.sends == 1
    assert len(scene.community.replies()) == int(arrives)


async def test_a_crash_while_the_fate_is_unknown_is_settled_too(scene: _Scene) -> None:
    """The second crash, between ``unknown`` and its end, loses the case as little as the first."""
    await scene.approve()
    await scene.stop_while_sending(arrives=True)
    await scene.execute("UPDATE cases SET state = 'unknown'")
    await scene.execute("UPDATE outbox SET state = 'unknown'")
    assert [delivery.state for delivery in await scene.restarted().recover()] == [CaseState.POSTED]


async def test_one_bad_reply_does_not_hold_up_the_others(scene: _Scene) -> None:
    """Every reply is judged for itself."""
    await scene.approve("103")
    await scene.approve("105")
    scene.community.edit("103", "I was wrong about this, sorry.")
    states = [delivery.state for delivery in await scene.outbox.send_due()]
    assert states == [CaseState.NEEDS_PERSON, CaseState.POSTED]
    assert scene.community.replies() == [("105", TEXT)]
