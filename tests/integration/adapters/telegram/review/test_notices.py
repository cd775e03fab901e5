"""Notices: below the card where many are called, in private where one is told."""

import pytest

from adapters.telegram.review.surface import TelegramNotifier
from core.desk.rules.approval import CaseState
from core.desk.rules.platforms import Notice
from core.desk.rules.policy import CallKind
from core.errors import AmbiguousSend, PlatformBusy, PlatformUnavailable
from core.models import PostRef
from tests.fakes.ports.cards import CASE_ID
from tests.fakes.telegram.review import TelegramRoom


def _notice(card: PostRef, **more: object) -> Notice:
    return Notice("key", CASE_ID, card.community, card, **more)  # type: ignore[arg-type]


async def test_moderators_are_called_below_the_card(room: TelegramRoom) -> None:
    """Nobody is mentioned: the message notifies the chat. The same notice twice is one message."""
    shown = await room.show()
    notifier = TelegramNotifier(room.client)
    for _ in range(2):
        await notifier.call(_notice(shown, kind=CallKind.THREAT), "everybody")
    card, said = room.cards
    assert said["reply_to_message"]["message_id"] == card["message_id"]
    assert "threatens or calls for violence" in said["text"]
    assert [one["type"] for one in said["entities"]] == ["text_link"]


async def test_an_approver_is_told_in_private_or_below_the_card(room: TelegramRoom) -> None:
    """Who never wrote to the bot cannot be written to."""
    shown = await room.show()
    notifier, user = TelegramNotifier(room.client), room.people["moderator"]
    await notifier.tell(_notice(shown, reason="The post is gone."), str(user))
    said = room.cards[-1]
    assert "was not sent" in said["text"]
    assert said["entities"][0]["type"] in ("text_mention", "text_link")
    room.town.start(user)
    await TelegramNotifier(room.client).tell(_notice(shown, reason="The post is gone."), str(user))
    title = room.server.state.chats[int(room.community)].shown["title"]
    assert f" in {title}: the reply that you approved was not sent" in room.town.of_bot(user)[-1]["text"]
    assert len(room.cards) == 2


async def test_a_flagger_is_told_in_private_or_not_at_all(room: TelegramRoom) -> None:
    """Never in a group, where it would name them."""
    await room.show()
    post = PostRef("telegram", room.community, room.community, "333")
    notifier, user = TelegramNotifier(room.client), room.people["stranger"]
    await notifier.tell(_notice(post, outcome=CaseState.POSTED), str(user))
    assert len(room.cards) == 1
    room.town.start(user)
    await notifier.tell(_notice(post, outcome=CaseState.POSTED), str(user))
    assert "Thank you for flagging a post" in room.town.of_bot(user)[-1]["text"]


async def test_nobody_is_named_where_others_can_read(room: TelegramRoom) -> None:
    """A card's chat that was opened, or a card that is said to stand in the watched group."""
    shown = await room.show()
    user = str(room.people["moderator"])
    with pytest.raises(PlatformUnavailable):
        await TelegramNotifier(room.client).tell(
            _notice(PostRef("telegram", room.community, room.community, "1"), reason="So."), user
        )
    room.server.state.chats[room.chat].shown["username"] = "open_house"
    with pytest.raises(PlatformUnavailable):
        await TelegramNotifier(room.client).tell(_notice(shown, reason="So."), user)
    assert len(room.cards) == 1


async def test_a_lost_answer_is_not_asked_for_again(room: TelegramRoom) -> None:
    """They may have been called; a refusal is told as one."""
    shown = await room.show()
    notifier = TelegramNotifier(room.client)
    room.server.fault("sendMessage", "lose reply")
    with pytest.raises(AmbiguousSend):
        await notifier.call(_notice(shown, kind=CallKind.SECOND), "")
    await notifier.call(_notice(shown, kind=CallKind.SECOND), "")
    assert len(room.cards) == 2
    room.server.fault("sendMessage", "429")
    with pytest.raises(PlatformBusy):
        await TelegramNotifier(room.client).call(_notice(shown, kind=CallKind.SECOND), "")
