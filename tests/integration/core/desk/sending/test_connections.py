"""A platform whose connection comes and goes: what is to be sent there waits, and nothing is given up for it."""

import pytest

from adapters.sample import SampleCommunity
from bot.compose.application import admit
from core.desk.rules.approval import ApprovedReply, CaseState
from core.desk.rules.closures import RetractReason
from core.desk.rules.platforms import ChatPlatform
from core.desk.rules.roles import Person
from core.desk.sending.outbox import Outbox
from core.models import SentReply
from tests.fakes.desk.decisions import approve, drafted, one_row
from tests.fakes.desk.people import MODERATOR
from tests.fakes.desk.sending import LEASE_SECONDS, SendingScene

HOURS = 3600.0


class Line:
    """The one outbox of a process, and whether its platform is connected."""

    def __init__(self, scene: SendingScene) -> None:
        self.scene = scene
        self.platforms: dict[str, ChatPlatform] = {"sample": scene.community}
        self.faults: list[tuple[str, str]] = []
        self.outbox = Outbox(
            scene.database, self.platforms, on_fault=lambda name, err: self.faults.append((name, type(err).__name__))
        )

    async def cut(self) -> None:
        self.platforms.clear()

    def mend(self) -> None:
        self.platforms["sample"] = self.scene.community
        self.scene.community.mend()

    async def rounds(self) -> None:
        """Let the outbox do all it can, again and again for five hours."""
        for _ in range(20):
            await self.outbox.send_due()
            await self.outbox.recover()
            await self.outbox.carry_out_retractions()
            self.scene.clock.advance(HOURS / 4)


@pytest.fixture
def line(scene: SendingScene) -> Line:
    return Line(scene)


async def test_what_is_approved_while_it_is_away_waits_without_an_attempt(scene: SendingScene, line: Line) -> None:
    """However long it takes, within the time that an approval holds."""
    await line.cut()
    await scene.approve()
    await line.rounds()
    assert await scene.row("state, attempts") == ("queued", 0)
    line.mend()
    await line.outbox.send_due()
    assert await scene.state() is CaseState.POSTED


async def test_one_that_is_lost_just_before_the_send_is_asked_again(scene: SendingScene, line: Line) -> None:
    """The original was read; the send itself found no connection, so that it was certainly not made."""
    await scene.approve()
    scene.community.while_reading = line.cut
    await line.outbox.send_due()
    assert await scene.state() is CaseState.APPROVED
    await line.rounds()
    line.mend()
    await line.outbox.send_due()
    assert await scene.state() is CaseState.POSTED
    assert scene.community.sends == 1


@pytest.mark.parametrize("arrives", [True, False])
async def test_a_send_that_ended_with_the_connection_is_read_back_when_it_is_back(
    scene: SendingScene, line: Line, arrives: bool
) -> None:
    """It waits as long as that takes, and is given to a person only if it was not found then."""
    scene.community.lose_answers(arrive=arrives)
    post = scene.community.post

    async def lost(reply: ApprovedReply) -> SentReply:
        await line.cut()
        return await post(reply)

    scene.community.post = lost  # type: ignore[method-assign]
    await scene.approve()
    await line.outbox.send_due()
    assert line.faults == [("sample", "ConnectionResetError")]
    await line.rounds()
    assert await scene.state() is CaseState.UNKNOWN
    line.mend()
    await line.outbox.recover()
    assert await scene.state() is (CaseState.POSTED if arrives else CaseState.NEEDS_PERSON)
    assert len(scene.community.replies()) == arrives


async def test_one_that_is_lost_in_a_read_back_is_read_back_later(scene: SendingScene, line: Line) -> None:
    """The row is under its lease until then; a person is not asked what the platform can still tell."""
    scene.community.resend = 0.0
    await scene.approve()
    await scene.stop_while_sending(arrives=True)
    scene.clock.advance(LEASE_SECONDS)
    find = scene.community.find_reply

    async def lost(reply: ApprovedReply) -> SentReply | None:
        await line.cut()
        raise ConnectionResetError

    scene.community.find_reply = lost  # type: ignore[method-assign]
    assert await line.outbox.recover() == []
    assert await scene.state() is CaseState.UNKNOWN
    scene.community.find_reply = find  # type: ignore[method-assign]
    line.mend()
    scene.clock.advance(LEASE_SECONDS)
    await line.outbox.recover()
    assert await scene.state() is CaseState.POSTED


async def test_a_retraction_waits_for_the_connection(scene: SendingScene, line: Line) -> None:
    """It is asked for at once, and counts no attempt."""
    await scene.approve()
    await line.outbox.send_due()
    await line.cut()
    case = await scene.desk.queries.case(scene.case_id)
    delivery = await line.outbox.retract_reply(
        case.id, case.version, MODERATOR, RetractReason.OTHER, "They asked us to."
    )
    assert delivery.state is CaseState.POSTED
    await line.rounds()
    assert await one_row(scene.database, "SELECT state, attempts FROM jobs WHERE kind = 'retract:sample'") == (
        "ready",
        0,
    )
    line.mend()
    await line.outbox.carry_out_retractions()
    assert await scene.state() is CaseState.RETRACTED


async def test_taking_a_reply_back_on_one_platform_calls_no_other(scene: SendingScene, line: Line) -> None:
    """What waits on another one, which may be silent, is left to the run that serves it."""
    other, by = SampleCommunity(name="other", community="quay", clock=scene.clock), Person("other", "m", "m")
    await admit(scene.database, "other", "quay", by)
    line.platforms["other"] = other
    await scene.approve()
    approved = await approve(scene.desk, await drafted(scene.desk, scene.queue, other.flag("105", "mill_pond")), by)
    scene.clock.advance(15)
    await line.outbox.send_due()
    case = await scene.desk.queries.case(scene.case_id)
    del line.platforms["sample"]
    await line.outbox.retract_reply(case.id, case.version, MODERATOR, RetractReason.OTHER, "They asked us to.")
    line.mend()
    (found,) = [each for each in await scene.desk.queries.cases() if each.post.ref == approved.in_reply_to]
    delivery = await line.outbox.retract_reply(found.id, found.version, by, RetractReason.OTHER, "They asked us to.")
    assert delivery.state is CaseState.RETRACTED
    assert await scene.state() is CaseState.POSTED
    await line.outbox.carry_out_retractions("sample".__eq__)
    assert await scene.state() is CaseState.RETRACTED
