"""Sends without an answer: read back, sent again under the same key inside the window, or left to a person."""

import asyncio

import pytest

from core.desk.rules.approval import CaseState
from core.desk.sending.checks import SendLimits
from core.desk.sending.outbox import Ledger, UnknownSends
from core.desk.sending.outbox_rows import Rules, SendLease
from core.desk.store import communities, people
from core.desk.store.outbox import Entry, due
from core.errors import AmbiguousSend, BadInput, Conflict, NotAllowed, PlatformUnavailable
from tests.fakes.desk.decisions import execute
from tests.fakes.desk.people import AUDITOR, COMMUNITY_ID, MODERATOR, OTHER_MODERATOR
from tests.fakes.desk.sending import LEASE_SECONDS, SendingScene

FAULTS = [AmbiguousSend("The answer was lost."), TimeoutError(), ConnectionResetError(), ValueError("bad JSON")]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
async def test_an_ambiguous_send_that_arrived_is_posted(scene: SendingScene, fault: Exception) -> None:
    """The reply is read back and found: posted, and never sent again."""
    await scene.approve()
    scene.community.send_fault = fault
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.POSTED
    assert await scene.row() == ("posted", scene.community.thread()[-1].id)
    moves = [entry.to_state for entry in await scene.desk.queries.history(scene.case_id)]
    assert moves[-3:] == ["sending", "unknown", "posted"]
    assert scene.community.sends == 1


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
async def test_without_keys_a_send_that_is_not_found_asks_a_person(scene: SendingScene, fault: Exception) -> None:
    """It may still appear: a person looks, the program does not send again (Telegram)."""
    await scene.approve()
    scene.community.resend, scene.community.send_fault, scene.community.arrives = 0.0, fault, False
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert (await scene.row())[0] == "unknown"
    assert "The reply was not found." in await scene.reason()
    assert "bad JSON" not in await scene.reason()
    scene.clock.advance(LEASE_SECONDS + 1)
    assert await scene.outbox.send_due() == await scene.started().recover() == []
    assert scene.community.sends == 1


async def test_inside_the_window_it_is_sent_again_under_the_same_key(scene: SendingScene) -> None:
    """Where the platform knows keys, an answer that was lost needs nobody: the reply stands, once."""
    await scene.approve()
    scene.community.lose_answers(arrive=False)
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.UNKNOWN
    assert scene.community.sends == 2
    scene.community.mend()
    scene.clock.advance(60)
    (delivery,) = await scene.outbox.recover()
    assert delivery.state is await scene.state() is CaseState.POSTED
    assert scene.community.replies() == [("103", scene.text)]


async def test_a_late_arrival_is_not_doubled_by_the_second_send(scene: SendingScene) -> None:
    """The first send is under way still when the reply is read back: the key makes both one."""
    await scene.approve()
    scene.community.send_fault, scene.community.hides_replies = ConnectionResetError(), True
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.UNKNOWN
    scene.community.mend()
    scene.clock.advance(60)
    (delivery,) = await scene.outbox.recover()
    assert delivery.state is CaseState.POSTED
    assert scene.community.sends == 3
    assert scene.community.replies() == [("103", scene.text)]


async def test_after_the_window_nothing_is_sent_again(scene: SendingScene) -> None:
    """The platform has forgotten the key by then, and would post a second reply (invariant I2)."""
    await scene.approve()
    scene.community.lose_answers(arrive=False)
    await scene.outbox.send_due()
    scene.community.mend()
    sends = scene.community.sends
    scene.clock.advance(scene.community.resend_seconds + 1)
    (delivery,) = await scene.outbox.recover()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert (await scene.row())[0] == "unknown"
    assert scene.community.sends == sends


async def test_a_send_is_not_repeated_for_ever(scene: SendingScene) -> None:
    """Inside a long window, too, a person is asked after some attempts."""
    await scene.approve()
    scene.community.resend = 1e6
    scene.community.lose_answers(arrive=False)
    results = await scene.outbox.send_due()
    for _ in range(6):
        scene.clock.advance(LEASE_SECONDS)
        results += await scene.outbox.recover()
    assert results[-1].state is await scene.state() is CaseState.NEEDS_PERSON
    assert scene.community.sends < 6


@pytest.mark.parametrize("obstacle", ["pause", "revoke", "shadow", "edit"])
async def test_what_forbids_a_first_send_forbids_a_second(scene: SendingScene, obstacle: str) -> None:
    """Sending again is sending: pause, rights, shadow mode and the original are looked at anew."""
    await scene.approve()
    scene.community.lose_answers(arrive=False)
    await scene.outbox.send_due()
    scene.community.mend()
    sends = scene.community.sends
    run = scene.database.run
    if obstacle == "pause":
        await run("pause", lambda session: communities.pause(session, COMMUNITY_ID, "test"))
    elif obstacle == "revoke":
        await run("revoke", lambda session: people.grant(session, COMMUNITY_ID, MODERATOR, [], by="test"))
    elif obstacle == "shadow":
        await execute(scene.database, "UPDATE communities SET is_posting = (1 = 0)")
    else:
        scene.community.edit("103", "I was wrong about this, sorry.")
    scene.clock.advance(60)
    (delivery,) = await scene.outbox.recover()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert scene.community.sends == sends


async def test_a_refusal_of_the_second_send_says_nothing_about_the_first(scene: SendingScene) -> None:
    """A no to the repetition does not prove that the first one did not arrive: it stays unknown."""
    await scene.approve()
    scene.community.lose_answers(arrive=False)
    await scene.outbox.send_due()
    scene.community.send_fault = PlatformUnavailable("Not allowed.")
    scene.clock.advance(60)
    (delivery,) = await scene.outbox.recover()
    assert delivery.state is CaseState.UNKNOWN


async def test_a_send_without_an_answer_ends(scene: SendingScene) -> None:
    """A platform that never answers must not stop the outbox."""
    await scene.approve()
    scene.community.hangs = True
    (delivery,) = await scene.started(timeout_seconds=0.01).send_due()
    assert delivery.state is CaseState.POSTED
    assert scene.community.replies() == [("103", scene.text)]


async def test_an_unreadable_platform_without_keys_asks_a_person(scene: SendingScene) -> None:
    """When neither the answer nor the thread can be had, nobody guesses."""
    await scene.approve()
    scene.community.resend, scene.community.send_fault = 0.0, AmbiguousSend("The answer was lost.")
    scene.community.find_fault = PlatformUnavailable("No line.")
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert "could not look whether" in delivery.reason


async def test_an_unreadable_platform_is_read_again_before_anything_is_sent_again(scene: SendingScene) -> None:
    """Read back first: the reply that arrived is found when the line is back, and not repeated."""
    await scene.approve()
    scene.community.send_fault = AmbiguousSend("The answer was lost.")
    scene.community.find_fault = PlatformUnavailable("No line.")
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.UNKNOWN
    assert await scene.outbox.recover() == []
    scene.community.mend()
    scene.clock.advance(60)
    assert [delivery.state for delivery in await scene.outbox.recover()] == [CaseState.POSTED]
    assert scene.community.sends == 1


@pytest.mark.both_databases
@pytest.mark.parametrize("arrives", [True, False])
@pytest.mark.parametrize("resend", [None, 0.0], ids=["keys", "no keys"])
async def test_an_interrupted_send_is_settled_when_its_lease_is_over(
    scene: SendingScene, arrives: bool, resend: float | None
) -> None:
    """Not before, since its sender may live; after it by any process, at any time (invariant I2)."""
    await scene.approve()
    scene.community.resend = resend
    await scene.stop_while_sending(arrives=arrives)
    outbox = scene.started()
    scene.clock.advance(LEASE_SECONDS - 1)
    assert await outbox.send_due() == await outbox.recover() == []
    scene.clock.advance(1)
    (delivery,) = await outbox.recover()
    assert delivery.state is (CaseState.NEEDS_PERSON if not arrives and resend == 0 else CaseState.POSTED)
    assert await outbox.recover() == await outbox.send_due() == []
    assert len(scene.community.replies()) == int(delivery.state is CaseState.POSTED)


@pytest.mark.both_databases
async def test_two_processes_recover_a_send_once(scene: SendingScene) -> None:
    """Who takes it over first brings it to its end; the other leaves it alone."""
    await scene.approve()
    await scene.stop_while_sending(arrives=False)
    scene.clock.advance(LEASE_SECONDS)
    results = await asyncio.gather(*(scene.started().recover() for _ in range(4)))
    assert [delivery.state for result in results for delivery in result] == [CaseState.POSTED]
    assert scene.community.sends == 2


async def test_a_crash_while_the_fate_is_unknown_is_settled_too(scene: SendingScene) -> None:
    """The second crash, between ``unknown`` and its end, loses the case as little as the first."""
    await scene.approve()
    await scene.stop_while_sending(arrives=True)
    await execute(scene.database, "UPDATE cases SET state = 'unknown'")
    await execute(scene.database, "UPDATE outbox SET state = 'unknown', lease_until = NULL")
    assert [delivery.state for delivery in await scene.started().recover()] == [CaseState.POSTED]


@pytest.mark.both_databases
async def test_a_late_answer_of_a_lost_sender_is_still_believed(scene: SendingScene) -> None:
    """Where another process gave up, who hears at last that the reply stands says so."""
    await scene.approve()
    scene.community.resend, scene.community.line = 0.0, asyncio.Event()
    sending = asyncio.create_task(scene.outbox.send_due())
    await scene.community.sending.wait()
    scene.clock.advance(LEASE_SECONDS)
    assert [delivery.state for delivery in await scene.started().recover()] == [CaseState.NEEDS_PERSON]
    scene.community.line.set()
    assert [delivery.state for delivery in await sending] == [CaseState.POSTED]
    assert await scene.state() is CaseState.POSTED


async def test_nothing_else_that_a_lost_sender_says_is_kept(scene: SendingScene) -> None:
    """Another process sends by now: who lost the lease must not call that send refused, busy or unknown (fencing)."""
    await scene.approve()
    rules = Rules(SendLimits(), call_seconds=30, retry_seconds=60, max_attempts=6)
    ledger, unknown = Ledger(scene.database, rules), UnknownSends(scene.database, rules)
    (approval_id,) = await scene.database.run("look for due replies", due)
    seen = await ledger.look(approval_id)
    assert isinstance(seen, Entry)
    lost = await ledger.lease(seen)
    assert isinstance(lost, SendLease)
    assert await unknown.take_over(approval_id, lambda _: True) is None
    scene.clock.advance(LEASE_SECONDS)
    taken = await unknown.take_over(approval_id, lambda _: True)
    assert isinstance(taken, SendLease)
    assert isinstance(await unknown.again(taken, 300, "Not found."), SendLease)
    assert await ledger.failed(lost, "refused") is None
    assert await ledger.busy(lost, "busy", 1) is None
    assert await ledger.unknown(lost, "no answer") is None
    assert await scene.state() is CaseState.SENDING


@pytest.mark.both_databases
async def test_a_tampered_text_is_not_even_read_back(scene: SendingScene) -> None:
    """Whose words they are is not known any more: a person looks."""
    await scene.approve()
    await scene.stop_while_sending(arrives=True)
    await execute(scene.database, "UPDATE approvals SET text = text || 'x'")
    scene.clock.advance(LEASE_SECONDS)
    (delivery,) = await scene.started().recover()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert "not the one that was approved" in delivery.reason


async def test_an_interrupted_send_on_a_platform_that_is_gone_ends_with_its_approval(scene: SendingScene) -> None:
    """A platform that was taken out of the settings must not leave a case in ``sending`` for ever."""
    await scene.approve()
    await scene.stop_while_sending(arrives=True)
    nowhere = type(scene.outbox)(scene.database, {})
    scene.clock.advance(LEASE_SECONDS)
    assert await nowhere.recover() == []
    scene.clock.advance(24 * 3600)
    assert [delivery.state for delivery in await nowhere.recover()] == [CaseState.NEEDS_PERSON]


async def _parked(scene: SendingScene) -> int:
    await scene.approve()
    scene.community.resend = 0.0
    scene.community.lose_answers(arrive=False)
    await scene.outbox.send_due()
    return (await scene.desk.queries.case(scene.case_id)).version


@pytest.mark.both_databases
@pytest.mark.parametrize(("stands", "state"), [(True, CaseState.POSTED), (False, CaseState.FAILED)])
async def test_a_person_settles_what_nobody_knows(scene: SendingScene, stands: bool, state: CaseState) -> None:
    """Who looked on the platform says whether the reply stands; the audit log says who that was, and why."""
    version = await _parked(scene)
    delivery = await scene.outbox.settle(scene.case_id, version, stands, OTHER_MODERATOR, "I looked.", message="117")
    assert delivery.state is await scene.state() is state
    assert await scene.row() == (str(state), "117" if stands else None)
    entry = (await scene.desk.queries.history(scene.case_id))[-1]
    assert (entry.note, entry.actor.startswith("p-")) == ("I looked.", True)


async def test_only_who_may_approve_settles_and_only_what_is_unknown(scene: SendingScene) -> None:
    """A wrong word here would hide a reply, or bring a second one."""
    version = await _parked(scene)
    with pytest.raises(NotAllowed):
        await scene.outbox.settle(scene.case_id, version, True, AUDITOR, "I looked.")
    with pytest.raises(BadInput):
        await scene.outbox.settle(scene.case_id, version, True, MODERATOR, "  ")
    with pytest.raises(Conflict):
        await scene.outbox.settle(scene.case_id, version - 1, True, MODERATOR, "I looked.")
    assert await scene.state() is CaseState.NEEDS_PERSON
    await scene.outbox.settle(scene.case_id, version, False, MODERATOR, "I looked.")
    with pytest.raises(NotAllowed):
        await scene.outbox.settle(scene.case_id, version + 1, True, MODERATOR, "I looked.")


async def test_a_case_that_needs_a_person_for_another_reason_cannot_be_settled(scene: SendingScene) -> None:
    """There was no send: nothing can stand."""
    await scene.approve()
    scene.community.delete("103")
    await scene.outbox.send_due()
    case = await scene.desk.queries.case(scene.case_id)
    with pytest.raises(NotAllowed, match="known already"):
        await scene.outbox.settle(case.id, case.version, True, MODERATOR, "I looked.")
