"""Posts whose words the platform keeps from us: answered while they stand unedited, and only then."""

from dataclasses import replace

import pytest

from core.desk.rules.approval import CaseState
from core.errors import TextHidden
from tests.fakes.desk.decisions import approve, drafted
from tests.fakes.desk.sending import SendingScene


async def _approve(scene: SendingScene, revision: str) -> None:
    """Bring a post to an approved reply, of which the platform said this revision when it was flagged."""
    post = replace(scene.community.flag("103", "mill_pond"), revision=revision)
    case = await drafted(scene.desk, scene.queue, post)
    assert case.post.revision == revision
    await approve(scene.desk, case)
    scene.case_id = case.id
    scene.clock.advance(15)


def _hide(scene: SendingScene, revision: str) -> None:
    scene.community.read_fault = TextHidden("The words are hidden.", revision=revision)


async def test_an_unedited_post_is_answered(scene: SendingScene) -> None:
    """The revision stands for the words: the same one means that nothing was changed since a person read them."""
    await _approve(scene, "unedited")
    _hide(scene, "unedited")
    assert [delivery.state for delivery in await scene.outbox.send_due()] == [CaseState.POSTED]


async def test_an_edited_post_is_not_answered(scene: SendingScene) -> None:
    """Nobody knows what it says now; a person looks (invariant I8)."""
    await _approve(scene, "unedited")
    _hide(scene, "2026-03-02T14:00:05+00:00")
    (delivery,) = await scene.outbox.send_due()
    assert delivery.state is CaseState.NEEDS_PERSON
    assert "changed" in await scene.reason()
    assert scene.community.sends == 0


@pytest.mark.both_databases
async def test_a_post_of_unknown_revision_is_not_answered(scene: SendingScene) -> None:
    """Flagged where nobody looked at its edits, it cannot be told; it waits, and then a person is asked."""
    await _approve(scene, "")
    _hide(scene, "unedited")
    assert await scene.outbox.send_due() == []
    for _ in range(10):
        scene.clock.advance(60)
        await scene.outbox.send_due()
    assert await scene.state() is CaseState.NEEDS_PERSON
    assert "hidden" in await scene.reason()
    assert scene.community.sends == 0
