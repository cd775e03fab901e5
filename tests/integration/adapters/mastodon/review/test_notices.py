"""Notices: to those who are called, or to one person, directly, once, and without a word of a post."""

from __future__ import annotations

import pytest

from adapters.mastodon.review import MastodonNotifier
from core.errors import AmbiguousSend, PlatformBusy, PlatformUnavailable
from core.models import PostRef
from core.moderation.approval import CaseState
from core.moderation.community.notices import CallKind, Notice
from tests.fakes.mastodon.review import AUTHORS, MastodonRoom, text_in
from tests.fakes.ports.cards import CASE_ID


def _notice(card: PostRef, **more: object) -> Notice:
    return Notice("key", CASE_ID, card.community, card, **more)  # type: ignore[arg-type]


async def test_who_is_called_is_told_below_the_card(room: MastodonRoom) -> None:
    """Only those of the named accounts that review; the same notice twice is one status."""
    shown = await room.show()
    for _ in range(2):
        await MastodonNotifier(room.client).call(_notice(shown, kind=CallKind.THREAT), "moderator auditor nobody")
    _, said = await room.said()
    assert said["in_reply_to_id"] == shown.message
    assert [each["acct"] for each in said["mentions"]] == ["moderator"]
    assert "threatens or calls for violence" in text_in(said)


async def test_a_role_that_names_nobody_who_reviews_calls_nobody(room: MastodonRoom) -> None:
    """It is told why."""
    shown = await room.show()
    with pytest.raises(PlatformUnavailable, match="stranger has no role"):
        await MastodonNotifier(room.client).call(_notice(shown, kind=CallKind.THREAT), "stranger")
    assert len(await room.said()) == 1


async def test_one_person_is_told(room: MastodonRoom) -> None:
    """Who approved, of a reply that was not sent; who flagged, of what became of it."""
    shown = await room.show()
    notifier = MastodonNotifier(room.client)
    await notifier.tell(_notice(shown, reason="The post is gone."), room.people["second"].id)
    said = (await room.said())[-1]
    assert "was not sent" in text_in(said)
    assert [each["acct"] for each in said["mentions"]] == ["second@hills.example"]
    post = PostRef("mastodon", room.community, AUTHORS, room.post["id"])
    outcome = Notice("other", CASE_ID, room.community, post, outcome=CaseState.POSTED)
    await notifier.tell(outcome, room.people["stranger"].id)
    said = (await room.said())[-1]
    assert "Thank you for flagging a post" in text_in(said)
    assert [each["acct"] for each in said["mentions"]] == ["stranger"]


async def test_who_is_gone_cannot_be_told(room: MastodonRoom) -> None:
    """Certainly not, and nobody else is."""
    shown = await room.show()
    for user in ("1", "not an id"):
        with pytest.raises(PlatformUnavailable):
            await MastodonNotifier(room.client).tell(_notice(shown, reason="So."), user)
    assert len(await room.said()) == 1


async def test_a_lost_answer_is_not_asked_for_again(room: MastodonRoom) -> None:
    """They may have been called; a refusal is told as one."""
    shown = await room.show()
    notifier = MastodonNotifier(room.client)
    room.server.fault("/api/v1/statuses", "lose reply", method="POST")
    with pytest.raises(AmbiguousSend):
        await notifier.call(_notice(shown, kind=CallKind.SECOND), room.channel)
    await notifier.call(_notice(shown, kind=CallKind.SECOND), room.channel)
    assert len(await room.said()) == 2
    room.server.fault("/api/v1/statuses", "429", method="POST")
    with pytest.raises(PlatformBusy):
        await MastodonNotifier(room.client).call(_notice(shown, kind=CallKind.WAITING), room.channel)
