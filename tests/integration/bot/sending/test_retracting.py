"""Taking a posted reply back: asked for by a person, committed first, and brought to an end whatever happens."""

from __future__ import annotations

from contextlib import suppress

import pytest

from bot.runtime import faults
from bot.store.engine.database import Database
from core.errors import BadInput, Conflict, NotAllowed, PlatformUnavailable
from core.moderation.approval import CaseState
from tests.fakes.desk.decisions import execute, one_row
from tests.fakes.desk.people import AUDITOR, MODERATOR, OTHER_MODERATOR, VOLUNTEER
from tests.fakes.desk.sending import LEASE_SECONDS, Scene
from tests.fakes.machine.clock import FakeClock

NOTE = "The person asked us to."


class _Died(BaseException):
    """The process is gone."""


@pytest.fixture
async def scene(database: Database, clock: FakeClock) -> Scene:
    """A scene with one posted reply."""
    made = Scene(database, clock)
    await made.approve()
    await made.outbox.send_due()
    assert await made.state() is CaseState.POSTED
    return made


async def _version(scene: Scene) -> int:
    return (await scene.desk.queries.case(scene.case_id)).version


async def _job(scene: Scene) -> tuple[object, ...]:
    return await one_row(scene.database, "SELECT state, error FROM jobs WHERE kind = 'retract:sample'")


async def test_a_posted_reply_is_taken_back(scene: Scene) -> None:
    """It is gone from the platform, and the audit log says who took it back, and why."""
    delivery = await scene.outbox.retract_reply(scene.case_id, await _version(scene), OTHER_MODERATOR, NOTE)
    assert delivery.state is await scene.state() is CaseState.RETRACTED
    assert scene.community.replies() == []
    assert (await scene.row())[0] == "retracted"
    entry = (await scene.desk.queries.history(scene.case_id))[-1]
    assert (entry.to_state, entry.reason, entry.note) == ("retracted", "retracted", NOTE)
    assert entry.actor.startswith("p-")
    kept = "SELECT count(*) FROM jobs WHERE CAST(payload AS TEXT) LIKE '%asked us%'"
    assert await one_row(scene.database, kept) == (0,)


@pytest.mark.parametrize("by", [AUDITOR, VOLUNTEER])
async def test_only_who_may_retract_does(scene: Scene, by: object) -> None:
    """A right of its own, read at this moment."""
    with pytest.raises(NotAllowed):
        await scene.outbox.retract_reply(scene.case_id, await _version(scene), by, NOTE)  # type: ignore[arg-type]
    assert len(scene.community.replies()) == 1


async def test_a_retraction_needs_a_reason_the_version_and_a_posted_reply(scene: Scene) -> None:
    """As every decision does."""
    version = await _version(scene)
    with pytest.raises(BadInput):
        await scene.outbox.retract_reply(scene.case_id, version, MODERATOR, " ")
    with pytest.raises(Conflict):
        await scene.outbox.retract_reply(scene.case_id, version - 1, MODERATOR, NOTE)
    await scene.outbox.retract_reply(scene.case_id, version, MODERATOR, NOTE)
    with pytest.raises(NotAllowed):
        await scene.outbox.retract_reply(scene.case_id, version + 1, MODERATOR, NOTE)


async def test_a_reply_that_stands_nobody_knows_where_is_left_to_people(scene: Scene) -> None:
    """A person settled it without its id: it can be taken away on the platform only."""
    await execute(scene.database, "UPDATE outbox SET remote_message = NULL")
    with pytest.raises(NotAllowed, match="not known"):
        await scene.outbox.retract_reply(scene.case_id, await _version(scene), MODERATOR, NOTE)


async def test_the_limit_of_the_platform_is_said(scene: Scene) -> None:
    """After 48 hours this platform takes nothing away: the reply counts as posted still."""
    scene.clock.advance(49 * 3600)
    delivery = await scene.outbox.retract_reply(scene.case_id, await _version(scene), MODERATOR, NOTE)
    assert delivery.state is await scene.state() is CaseState.POSTED
    assert "48 hours" in delivery.reason
    assert (await _job(scene))[0] == "dead"
    assert len(scene.community.replies()) == 1


async def test_a_reply_that_was_deleted_by_hand_counts_as_retracted(scene: Scene) -> None:
    """What was asked for is so."""
    scene.community.delete(scene.community.thread()[-1].id)
    delivery = await scene.outbox.retract_reply(scene.case_id, await _version(scene), MODERATOR, NOTE)
    assert delivery.state is CaseState.RETRACTED


async def test_a_busy_platform_is_asked_again(scene: Scene) -> None:
    """The intent stands; the loop of any process carries it out later, once."""
    scene.community.slow_down(5)
    delivery = await scene.outbox.retract_reply(scene.case_id, await _version(scene), MODERATOR, NOTE)
    assert (delivery.state, "slowed down" in delivery.reason) == (CaseState.POSTED, True)
    with pytest.raises(Conflict, match="already"):
        await scene.outbox.retract_reply(scene.case_id, await _version(scene), MODERATOR, NOTE)
    scene.clock.advance(60)
    await scene.started().carry_out_retractions()
    assert await scene.state() is CaseState.RETRACTED


@pytest.mark.parametrize("arrives", [True, False])
async def test_a_retraction_without_an_answer_is_looked_at(scene: Scene, arrives: bool) -> None:
    """Gone is gone; what still stands is taken away at the next attempt."""
    scene.community.retract_fault, scene.community.arrives = ConnectionResetError(), arrives
    delivery = await scene.outbox.retract_reply(scene.case_id, await _version(scene), MODERATOR, NOTE)
    assert delivery.state is (CaseState.RETRACTED if arrives else CaseState.POSTED)
    scene.community.mend()
    scene.clock.advance(60)
    await scene.started().carry_out_retractions()
    assert await scene.state() is CaseState.RETRACTED
    assert scene.community.replies() == []


async def test_a_retraction_is_not_tried_for_ever(scene: Scene) -> None:
    """After some attempts a person must take the reply away, and is told so."""
    scene.community.retract_fault, scene.community.arrives = ConnectionResetError(), False
    scene.community.read_fault = PlatformUnavailable("No line.")
    await scene.outbox.retract_reply(scene.case_id, await _version(scene), MODERATOR, NOTE)
    for _ in range(6):
        scene.clock.advance(60)
        await scene.outbox.carry_out_retractions()
    state, error = await _job(scene)
    assert (state, "on the platform" in str(error)) == ("dead", True)
    assert await scene.state() is CaseState.POSTED


async def test_a_death_at_every_point_of_a_retraction_loses_nothing(scene: Scene) -> None:
    """Before the intent is committed nothing was asked; after it the reply goes, whoever carries that out."""
    number = 0
    while True:
        reached = list[str]()

        async def die(point: str, reached: list[str] = reached, number: int = number) -> None:
            reached.append(point)
            if len(reached) - 1 == number:
                raise _Died

        version = await _version(scene)
        with faults.installed(die), suppress(_Died):
            await scene.outbox.retract_reply(scene.case_id, version, MODERATOR, NOTE)
        if len(reached) <= number:
            break
        scene.clock.advance(LEASE_SECONDS + 1)
        await scene.started().carry_out_retractions()
        was_asked = "ask for a retraction: after the commit" in reached
        assert await scene.state() is (CaseState.RETRACTED if was_asked else CaseState.POSTED)
        assert len(scene.community.replies()) == int(not was_asked)
        if was_asked:
            scene.clock.advance(24 * 3600 + 1)
            await scene.approve_post_of(f"author_{number}")
            await scene.outbox.send_due()
        number += 1
    assert number > 6
