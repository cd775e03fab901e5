"""Notices on Discord: whom they mention, where they stand, and what they hold."""

from typing import Any

import pytest

from adapters.discord.review.surface import DiscordNotifier
from core.desk.rules.case_cards import short_number
from core.desk.rules.platforms import Notice
from core.desk.rules.policy import CallKind
from core.errors import PlatformUnavailable
from core.models import PostRef
from tests.fakes.discord.review import ReviewRoom
from tests.fakes.ports.cards import CASE_ID, POST_TEXT


def sent(room: ReviewRoom) -> dict[str, Any]:
    """The body of our last message."""
    calls = [call for call in room.env.http_requests if call.method == "POST" and call.path.endswith("/messages")]
    body = calls[-1].json
    assert isinstance(body, dict)
    return body


async def _notice(room: ReviewRoom, kind: CallKind | None = None, **changes: Any) -> Notice:
    place: PostRef = await room.show()
    return Notice(f"{CASE_ID}:{kind}", CASE_ID, room.community, place, kind, **changes)


@pytest.mark.parametrize("kind", list(CallKind))
async def test_a_call_mentions_one_role_and_stands_below_the_card(room: ReviewRoom, kind: CallKind) -> None:
    """With the number of the case, a link, and no word of the post."""
    role = room.channel.guild.create_role("On duty", mentionable=True)
    notice = await _notice(room, kind)
    await DiscordNotifier(room.client).call(notice, str(role.id))
    body = sent(room)
    assert body["content"].startswith(f"<@&{role.id}> Case {short_number(CASE_ID)}")
    assert body["content"].endswith(f"/{room.community}/{room.channel.id}/{notice.card.message})")
    assert body["allowed_mentions"]["roles"] == [role.id]
    assert body["allowed_mentions"]["parse"] == []
    assert str(body["message_reference"]["message_id"]) == notice.card.message
    assert body["enforce_nonce"] is True
    assert not set(POST_TEXT.split()) & {word for word in body["content"].split() if len(word) > 5}


@pytest.mark.parametrize("role", ["", "moderators", "everybody"])
async def test_everybody_and_what_is_no_role_are_never_called(room: ReviewRoom, role: str) -> None:
    """The role of everybody has the server's own number."""
    notice = await _notice(room, CallKind.THREAT)
    with pytest.raises(PlatformUnavailable, match="no role"):
        await DiscordNotifier(room.client).call(notice, room.community if role == "everybody" else role)


async def test_an_approver_is_told_in_a_direct_message(room: ReviewRoom) -> None:
    """The review channel says nothing about it."""
    notice = await _notice(room, reason="the original is gone", language="es")
    before = room.message.id
    await DiscordNotifier(room.client).tell(notice, str(room.people["moderator"].id))
    assert room.message.id == before
    body = sent(room)
    assert short_number(CASE_ID) in body["content"] and "Motivo:" in body["content"]
    assert body["allowed_mentions"]["parse"] == []


async def test_who_takes_no_direct_messages_is_mentioned_below_the_card(room: ReviewRoom) -> None:
    moderator = room.people["moderator"]
    notice = await _notice(room, reason="the original is gone")
    room.env.inject_error("POST", "/channels/*/messages", status=403, code=50007, times=1)
    await DiscordNotifier(room.client).tell(notice, str(moderator.id))
    body = sent(room)
    assert body["content"].startswith(f"<@{moderator.id}> Case {short_number(CASE_ID)} in ")
    assert body["allowed_mentions"]["users"] == [moderator.id]
    assert str(body["message_reference"]["message_id"]) == notice.card.message
