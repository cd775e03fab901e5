"""Taking a posted reply back: asked for by a person, committed first, and brought to an end whatever happens."""

from contextlib import suppress

import pytest

from core.desk.rules.approval import CaseState
from core.desk.rules.closures import RetractReason
from core.desk.rules.roles import Person
from core.desk.runtime import faults
from core.desk.sending.outbox_rows import Delivery
from core.errors import BadInput, Conflict, NotAllowed, PlatformBusy, PlatformUnavailable
from tests.fakes.desk.decisions import execute, one_row
from tests.fakes.desk.people import AUDITOR, MODERATOR, OTHER_MODERATOR, VOLUNTEER
from tests.fakes.desk.sending import LEASE_SECONDS, SendingScene

pytestmark = pytest.mark.both_databases

NOTE = "The person asked us to."


class _Died(BaseException):
    """The process is gone."""


@pytest.fixture
async def posted(scene: SendingScene) -> SendingScene:
    await scene.approve()
    await scene.outbox.send_due()
    assert await scene.state() is CaseState.POSTED
    return scene


async def _version(posted: SendingScene) -> int:
    return (await posted.desk.queries.case(posted.case_id)).version


async def _retract(posted: SendingScene, by: Person = MODERATOR) -> Delivery:
    return await posted.outbox.retract_reply(posted.case_id, await _version(posted), by, RetractReason.OTHER, NOTE)


async def _job(posted: SendingScene) -> tuple[object, ...]:
    return await one_row(posted.database, "SELECT state, error FROM jobs WHERE kind = 'retract:sample'")


async def test_a_posted_reply_is_taken_back(posted: SendingScene) -> None:
    """It is gone from the platform, and the audit log says who took it back, and why."""
    delivery = await _retract(posted, OTHER_MODERATOR)
    assert delivery.state is await posted.state() is CaseState.RETRACTED
    assert posted.community.replies() == []
    assert (await posted.row())[0] == "retracted"
    entry = (await posted.desk.queries.history(posted.case_id))[-1]
    assert (entry.to_state, entry.reason, entry.note) == ("retracted", "taken back: other", NOTE)
    assert entry.actor.startswith("p-")
    kept = "SELECT count(*) FROM jobs WHERE CAST(payload AS TEXT) LIKE '%asked us%'"
    assert await one_row(posted.database, kept) == (0,)


async def test_only_who_may_retract_does(posted: SendingScene) -> None:
    """A right of its own, read at this moment."""
    for by in (AUDITOR, VOLUNTEER):
        with pytest.raises(NotAllowed):
            await _retract(posted, by)
    assert len(posted.community.replies()) == 1


async def test_a_retraction_needs_a_reason_the_version_and_a_posted_reply(posted: SendingScene) -> None:
    version = await _version(posted)
    with pytest.raises(BadInput):
        await posted.outbox.retract_reply(posted.case_id, version, MODERATOR, RetractReason.OTHER, " ")
    with pytest.raises(Conflict):
        await posted.outbox.retract_reply(posted.case_id, version - 1, MODERATOR, RetractReason.OTHER, NOTE)
    await posted.outbox.retract_reply(posted.case_id, version, MODERATOR, RetractReason.OTHER, NOTE)
    with pytest.raises(NotAllowed):
        await posted.outbox.retract_reply(posted.case_id, version + 1, MODERATOR, RetractReason.OTHER, NOTE)


async def test_a_reply_that_stands_nobody_knows_where_is_left_to_people(posted: SendingScene) -> None:
    """A person settled it without its id: it can be taken away on the platform only."""
    await execute(posted.database, "UPDATE outbox SET remote_message = NULL")
    with pytest.raises(NotAllowed, match="Nobody knows where"):
        await _retract(posted)


async def test_the_limit_of_the_platform_is_said(posted: SendingScene) -> None:
    """After 48 hours this platform takes nothing away: the reply counts as posted still."""
    posted.clock.advance(49 * 3600)
    delivery = await _retract(posted)
    assert delivery.state is await posted.state() is CaseState.POSTED
    assert "48 hours" in delivery.reason
    assert (await _job(posted))[0] == "dead"
    assert len(posted.community.replies()) == 1


async def test_a_reply_that_was_deleted_by_hand_counts_as_retracted(posted: SendingScene) -> None:
    posted.community.delete(posted.community.thread()[-1].id)
    delivery = await _retract(posted)
    assert delivery.state is CaseState.RETRACTED


async def test_a_busy_platform_is_asked_again(posted: SendingScene) -> None:
    """The intent stands; the loop of any process carries it out later, once."""
    posted.community.slow_down(5)
    delivery = await _retract(posted)
    assert (delivery.state, "slowed down" in delivery.reason) == (CaseState.POSTED, True)
    assert "tries again" in delivery.reason
    with pytest.raises(Conflict, match="already"):
        await _retract(posted)
    posted.clock.advance(60)
    await posted.started().carry_out_retractions()
    assert await posted.state() is CaseState.RETRACTED


async def test_a_wait_that_the_platform_asks_for_is_kept(posted: SendingScene) -> None:
    """Where few removals are allowed in half an hour, the attempts are not used up before one may go."""
    posted.community.retract_fault, posted.community.arrives = PlatformBusy("Wait.", retry_after_seconds=1800), False
    await _retract(posted)
    posted.community.mend()
    for _ in range(29):
        posted.clock.advance(60)
        await posted.outbox.carry_out_retractions()
    assert await posted.state() is CaseState.POSTED
    posted.clock.advance(60)
    await posted.outbox.carry_out_retractions()
    assert await posted.state() is CaseState.RETRACTED


@pytest.mark.parametrize("arrives", [True, False])
async def test_a_retraction_without_an_answer_is_looked_at(posted: SendingScene, arrives: bool) -> None:
    """Gone is gone; what still stands is taken away at the next attempt."""
    posted.community.retract_fault, posted.community.arrives = ConnectionResetError(), arrives
    delivery = await _retract(posted)
    assert delivery.state is (CaseState.RETRACTED if arrives else CaseState.POSTED)
    assert ("tries again" in delivery.reason) is not arrives
    posted.community.mend()
    posted.clock.advance(60)
    await posted.started().carry_out_retractions()
    assert await posted.state() is CaseState.RETRACTED
    assert posted.community.replies() == []


async def test_a_retraction_is_not_tried_for_ever(posted: SendingScene) -> None:
    """After some attempts a person must take the reply away, and is told so."""
    posted.community.retract_fault, posted.community.arrives = ConnectionResetError(), False
    posted.community.read_fault = PlatformUnavailable("No line.")
    await _retract(posted)
    for _ in range(6):
        posted.clock.advance(60)
        await posted.outbox.carry_out_retractions()
    state, error = await _job(posted)
    assert (state, "on the platform" in str(error)) == ("dead", True)
    assert await posted.state() is CaseState.POSTED


async def test_a_death_at_every_point_of_a_retraction_loses_nothing(posted: SendingScene) -> None:
    """Before the intent is committed nothing was asked; after it the reply goes, whoever carries that out."""
    number = 0
    while True:
        reached = list[str]()

        async def die(point: str, reached: list[str] = reached, number: int = number) -> None:
            reached.append(point)
            if len(reached) - 1 == number:
                raise _Died

        version = await _version(posted)
        with faults.installed(die), suppress(_Died):
            await posted.outbox.retract_reply(posted.case_id, version, MODERATOR, RetractReason.OTHER, NOTE)
        if len(reached) <= number:
            break
        posted.clock.advance(LEASE_SECONDS + 1)
        await posted.started().carry_out_retractions()
        was_asked = "ask for a retraction: after the commit" in reached
        assert await posted.state() is (CaseState.RETRACTED if was_asked else CaseState.POSTED)
        assert len(posted.community.replies()) == int(not was_asked)
        if was_asked:
            posted.clock.advance(24 * 3600 + 1)
            await posted.approve_post_of(f"author_{number}")
            await posted.outbox.send_due()
        number += 1
    assert number > 6
