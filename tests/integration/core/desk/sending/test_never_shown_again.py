"""Posts that the platform shows nobody a second time: answered unless an edit or a deletion was heard of."""

import pytest

from core.desk.review.casework import note_original
from core.desk.rules.approval import CaseState
from core.errors import NeverShownAgain, NotAllowed
from core.models import PostRef
from tests.fakes.desk.decisions import approve, drafted, execute
from tests.fakes.desk.sending import SendingScene

EDITED = "Other words."


async def _drafted(scene: SendingScene) -> tuple[PostRef, str]:
    """A post before a moderator, on a platform that shows it nobody again; with its words."""
    case = await drafted(scene.desk, scene.queue, scene.community.flag("103", "mill_pond"))
    scene.community.read_fault = NeverShownAgain("The platform shows no post a second time.")
    scene.case_id = case.id
    return case.post.ref, case.post.text


async def _hear(scene: SendingScene, ref: PostRef, text: str | None) -> None:
    await scene.database.run("hear of it", lambda session: note_original(session, ref, text))


async def _approve(scene: SendingScene) -> None:
    await approve(scene.desk, await scene.desk.queries.case(scene.case_id))
    scene.clock.advance(15)


async def test_a_post_of_which_nothing_was_heard_is_answered(scene: SendingScene) -> None:
    """What the platform told of edits is all that can be known; it told of none."""
    await _drafted(scene)
    await _approve(scene)
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]


@pytest.mark.both_databases
async def test_what_was_heard_before_the_approval_stops_the_send(scene: SendingScene) -> None:
    """Nobody can approve a reply to it; one that stands all the same is not sent, as nowhere else (invariant I8)."""
    ref, _ = await _drafted(scene)
    await _hear(scene, ref, None)
    with pytest.raises(NotAllowed, match="gone"):
        await _approve(scene)
    await execute(scene.database, "UPDATE cases SET original = 'unchanged'")
    await _approve(scene)
    await execute(scene.database, "UPDATE cases SET original = 'deleted'")
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert "gone" in await scene.reason()
    assert scene.community.sends == 0


@pytest.mark.both_databases
async def test_an_edit_that_is_heard_while_the_send_begins_stops_it(scene: SendingScene) -> None:
    """The approved case is drafted anew, and the send that was under way gets no lease."""
    ref, _ = await _drafted(scene)
    await _approve(scene)
    scene.community.while_reading = lambda: _hear(scene, ref, EDITED)
    await scene.outbox.send_due()
    assert await scene.state() is CaseState.QUEUED
    assert scene.community.sends == 0


async def test_an_edit_that_was_taken_back_is_drafted_as_any(scene: SendingScene) -> None:
    """Nothing is sent below words that changed twice before new drafts were decided."""
    ref, text = await _drafted(scene)
    await _hear(scene, ref, EDITED)
    await _hear(scene, ref, text)
    assert await scene.state() is CaseState.QUEUED
    assert await scene.outbox.send_due() == []
