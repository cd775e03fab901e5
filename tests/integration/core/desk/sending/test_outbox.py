"""The send protocol: an approved reply is posted once, exactly as approved, or a person is asked."""

import asyncio
from dataclasses import replace

import pytest

from core.desk.rules.approval import CaseState
from core.errors import Conflict, NotAllowed, PlatformBusy, PlatformUnavailable
from tests.fakes.desk.decisions import approve, execute
from tests.fakes.desk.people import MODERATOR, OTHER_MODERATOR
from tests.fakes.desk.sending import LEASE_SECONDS, SendingScene
from tests.fakes.machine.patience import GUARD_SECONDS


async def test_an_approved_reply_is_posted_once(scene: SendingScene) -> None:
    """The exact bytes, under the right post, once, however often the outbox runs."""
    await scene.approve()
    (delivery,) = await scene.outbox.send_due()
    assert (delivery.case_id, delivery.state) == (scene.case_id, CaseState.POSTED)
    scene.clock.advance(LEASE_SECONDS + 1)
    assert await scene.outbox.send_due() == []
    assert await scene.started().recover() == []
    assert scene.community.replies() == [("103", scene.text)]
    assert await scene.state() is CaseState.POSTED
    assert await scene.row() == ("posted", scene.community.thread()[-1].id)
    message = scene.community.thread()[-1].id  # it is all that is kept: the reply stands in the channel of its post
    assert await scene.community.read(replace(scene.community.ref("103"), message=message)) == scene.text
    assert await scene.row("posted_at IS NULL, first_sent_at IS NULL, lease_until IS NULL") == (False, False, True)
    assert [entry.to_state for entry in await scene.desk.queries.history(scene.case_id)][-2:] == ["sending", "posted"]


async def test_nothing_is_sent_inside_the_undo_window(scene: SendingScene) -> None:
    """The moderator has the whole window to change their mind (invariant I9)."""
    await scene.approve()
    scene.clock.advance(-0.001)
    assert await scene.outbox.send_due() == []
    assert scene.community.sends == 0
    scene.clock.advance(0.001)
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]


async def test_an_undone_reply_is_never_sent(scene: SendingScene) -> None:
    """Undo in the window prevents the post, for good."""
    case = await scene.approve()
    await scene.desk.decisions.undo(case.id, case.version, MODERATOR)
    assert await scene.outbox.send_due() == []
    assert scene.community.replies() == []
    assert await scene.state() is CaseState.IN_REVIEW


async def test_a_posted_reply_cannot_be_undone(scene: SendingScene) -> None:
    """Undo says honestly that it is too late, to a fresh page and to a stale one."""
    case = await scene.approve()
    await scene.outbox.send_due()
    posted = await scene.desk.queries.case(case.id)
    with pytest.raises(NotAllowed):
        await scene.desk.decisions.undo(case.id, posted.version, MODERATOR)
    with pytest.raises(Conflict):
        await scene.desk.decisions.undo(case.id, case.version, MODERATOR)
    assert await scene.state() is CaseState.POSTED


@pytest.mark.both_databases
async def test_an_undo_during_the_last_check_wins(scene: SendingScene) -> None:
    """The intent is committed by compare-and-set: an undo that came first is not overrun."""
    case = await scene.approve()
    scene.community.while_reading = lambda: scene.desk.decisions.undo(case.id, case.version, MODERATOR)
    assert await scene.outbox.send_due() == []
    assert scene.community.sends == 0
    assert await scene.state() is CaseState.IN_REVIEW
    assert (await scene.row())[0] == "cancelled"


@pytest.mark.both_databases
async def test_a_row_cancelled_during_the_last_check_is_not_sent(scene: SendingScene) -> None:
    """The row must still be queued in the very transaction that commits the intent."""
    await scene.approve()
    scene.community.while_reading = lambda: execute(scene.database, "UPDATE outbox SET state = 'cancelled'")
    assert await scene.outbox.send_due() == []
    assert scene.community.sends == 0


async def test_only_the_last_approval_is_sent(scene: SendingScene) -> None:
    """After an undo and another approval, only the text that was approved last stands there."""
    case = await scene.approve()
    undone = await scene.desk.decisions.undo(case.id, case.version, MODERATOR)
    other = await approve(scene.desk, undone, OTHER_MODERATOR, "Who told you that?")
    scene.clock.advance(15)
    await scene.outbox.send_due()
    assert scene.community.replies() == [("103", other.text)]


@pytest.mark.both_databases
async def test_the_intent_is_committed_before_the_call(scene: SendingScene) -> None:
    """A process that dies in the call leaves ``sending`` behind, in the case and in the row, with its lease."""
    await scene.approve()
    await scene.stop_while_sending(arrives=False)
    assert await scene.state() is CaseState.SENDING
    assert await scene.row("state, lease_until > first_sent_at") == ("sending", True)


@pytest.mark.both_databases
async def test_a_row_without_an_approved_case_is_cancelled(scene: SendingScene) -> None:
    """A queued row is no permission by itself: the case must be approved."""
    await scene.approve()
    await execute(scene.database, "UPDATE cases SET state = 'declined'")
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.DECLINED
    assert scene.community.sends == 0
    assert (await scene.row())[0] == "cancelled"


async def test_a_reply_for_another_process_platform_is_left_until_it_is_too_old(scene: SendingScene) -> None:
    """Several processes share a database; what nobody serves expires with its approval, and does not wait for ever."""
    await scene.approve()
    elsewhere = SendingScene(scene.database, scene.clock)
    elsewhere.outbox = type(scene.outbox)(scene.database, {})
    assert await elsewhere.outbox.send_due() == []
    assert await scene.state() is CaseState.APPROVED
    scene.clock.advance(24 * 3600)
    (delivery,) = await elsewhere.outbox.send_due()
    assert delivery.state is CaseState.EXPIRED


@pytest.mark.parametrize("fault", [PlatformUnavailable("No line."), TimeoutError(), ValueError("quotes the post")])
async def test_an_original_that_cannot_be_read_waits(scene: SendingScene, fault: Exception) -> None:
    """Reading may be tried again, since nothing was sent."""
    await scene.approve()
    scene.community.read_fault = fault
    assert await scene.outbox.send_due() == []
    assert await scene.outbox.send_due() == []
    assert await scene.row("state, attempts") == ("queued", 1)
    scene.community.mend()
    scene.clock.advance(2)
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]


async def test_an_original_that_is_never_read_asks_a_person(scene: SendingScene) -> None:
    """After the last attempt somebody is told; a stranger's own words are not quoted."""
    await scene.approve()
    scene.community.read_fault = ValueError("quotes the post")
    results = []
    for _ in range(6):
        results += await scene.outbox.send_due()
        scene.clock.advance(60)
    assert [delivery.state for delivery in results] == [CaseState.NEEDS_PERSON]
    assert "ValueError" in await scene.reason()
    assert "quotes" not in await scene.reason()
    assert scene.community.sends == 0


async def test_a_refused_send_has_failed(scene: SendingScene) -> None:
    """When the platform says no, it was certainly not posted; it is not tried again by itself."""
    await scene.approve()
    scene.community.send_fault, scene.community.arrives = PlatformUnavailable("The bot may not write here."), False
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.FAILED
    assert "may not write" in delivery.reason
    assert (await scene.row())[0] == "failed"
    scene.clock.advance(LEASE_SECONDS + 1)
    assert await scene.outbox.send_due() == await scene.outbox.recover() == []
    assert scene.community.sends == 1


async def test_a_busy_platform_is_asked_again_when_it_says(scene: SendingScene) -> None:
    """A rate limit posts nothing: the reply goes back, with its undo, and is sent after the pause asked for."""
    await scene.approve()
    scene.community.slow_down(40)
    assert await scene.outbox.send_due() == []
    assert await scene.state() is CaseState.APPROVED
    assert await scene.row("state, first_sent_at IS NULL") == ("queued", True)
    scene.clock.advance(39)
    assert await scene.outbox.send_due() == []
    assert scene.community.sends == 1
    scene.clock.advance(1)
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]
    assert scene.community.replies() == [("103", scene.text)]


@pytest.mark.parametrize("after", [0.0, -5.0, float("nan"), float("inf"), 1e12])
async def test_no_pause_that_a_platform_names_stops_the_outbox(scene: SendingScene, after: float) -> None:
    """An answer out of its mind is tried again within the hour, and not for ever."""
    await scene.approve()
    scene.community.arrives = False
    scene.community.send_fault = PlatformBusy("Slow down.", retry_after_seconds=after)
    results = []
    for _ in range(6):
        results += await scene.outbox.send_due()
        scene.clock.advance(3600)
    assert [delivery.state for delivery in results] == [CaseState.FAILED]
    assert scene.community.sends == 6


async def test_a_busy_reply_can_be_undone(scene: SendingScene) -> None:
    """While it waits it is approved, nothing more."""
    await scene.approve()
    scene.community.slow_down(40)
    await scene.outbox.send_due()
    case = await scene.desk.queries.case(scene.case_id)
    await scene.desk.decisions.undo(case.id, case.version, MODERATOR)
    scene.clock.advance(60)
    assert await scene.outbox.send_due() == []
    assert scene.community.replies() == []


@pytest.mark.both_databases
async def test_a_sender_that_was_stopped_past_its_lease_sends_nothing(scene: SendingScene) -> None:
    """A process that slept between its intent and the call must not post what another one settled meanwhile."""
    await scene.approve()
    ticks = iter([0.0, 61.0])
    assert await scene.started(ticks=lambda: next(ticks)).send_due() == []
    assert scene.community.sends == 0
    assert await scene.state() is CaseState.APPROVED
    assert "held up" in await scene.reason()


async def test_one_bad_reply_does_not_hold_up_the_others(scene: SendingScene) -> None:
    await scene.approve("103")
    await scene.approve("105")
    scene.community.edit("103", "I was wrong about this, sorry.")
    states = [delivery.state for delivery in await scene.outbox.send_due()]
    assert states == [CaseState.NEEDS_PERSON, CaseState.POSTED]
    assert scene.community.replies() == [("105", scene.text)]


async def test_the_loop_sends_recovers_and_stops(scene: SendingScene) -> None:
    """A long-lived process does all by itself, and ends when it is asked to."""
    await scene.approve("103")
    await scene.stop_while_sending(arrives=True)
    scene.clock.advance(LEASE_SECONDS)
    await scene.approve("105")
    stop = asyncio.Event()
    running = asyncio.create_task(scene.started().run(stop))
    async with asyncio.timeout(GUARD_SECONDS):
        await scene.until_posted(2)
    stop.set()
    await running
    assert [message for message, _ in scene.community.replies()] == ["103", "105"]
