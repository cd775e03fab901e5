"""Cards in the moderators' chat: once for each case, never older than they were, never where others can read."""

from dataclasses import replace
from typing import Any

import pytest

from adapters.telegram.review.surface import TelegramReviewSurface
from core.desk.rules.approval import CaseState
from core.desk.rules.policy import CommunityPolicy
from core.errors import PlatformBusy, PlatformUnavailable, StoreUnavailable
from core.models import PostRef
from tests.fakes.ports.cards import POST_TEXT, REVIEWED, samples
from tests.fakes.telegram.review import TelegramRoom, labels_of


async def test_a_card_is_one_message_with_the_post_under_a_cover(room: TelegramRoom) -> None:
    """First without a word of the post, so that no notification holds one."""
    shown = await room.show()
    (card,) = room.cards
    assert shown == PostRef("telegram", room.community, str(room.chat), str(card["message_id"]))
    (sent,) = room.server.asked("sendMessage")
    assert "benefits" not in sent["text"]
    assert POST_TEXT.split(",")[0] in card["text"]
    (cover,) = [one for one in card["entities"] if one["type"] == "spoiler"]
    assert card["text"][cover["offset"] :].startswith("They only came")
    assert not [one for one in card["entities"] if one["type"] in ("url", "mention", "hashtag", "bot_command")]
    assert {"Approve draft 1…", "Not hateful", "More…"} <= set(labels_of(card))
    assert sent["link_preview_options"] == {"is_disabled": True}


async def test_a_card_is_edited_in_place_and_never_goes_back(room: TelegramRoom) -> None:
    """An older version that comes late changes nothing; the same one twice is no fault."""
    shown = await room.show()
    before = await room.desk.now()
    later = replace(before, version=9, gist="It says something else.")
    for card in (later, later, before):
        assert await room.client.surface.show(card, str(room.chat), shown) == shown
    assert len(room.cards) == 1
    assert "It says something else." in room.card["text"]


async def test_a_card_that_somebody_deleted_is_shown_again_while_its_case_is_open(room: TelegramRoom) -> None:
    """That of a closed case stays gone."""
    shown = await room.show()
    room.town.delete(room.card)
    again = await room.client.surface.show(await room.desk.now(), str(room.chat), shown)
    assert again != shown
    assert len(room.cards) == 1
    room.town.delete(room.card)
    closed = replace(await room.desk.now(), state=CaseState.NO_REPLY, version=9)
    assert await room.client.surface.show(closed, str(room.chat), again) == again
    assert room.cards == []


async def test_two_calls_of_one_process_without_a_place_are_one_card(room: TelegramRoom) -> None:
    """The second one edits; a process that ends in between remembers nothing, and Telegram knows no keys."""
    shown = await room.show()
    assert await room.client.surface.show(await room.desk.now(), str(room.chat), None) == shown
    assert len(room.cards) == 1
    await room.restart()
    assert await room.client.surface.show(await room.desk.now(), str(room.chat), None) != shown
    assert len(room.cards) == 2


@pytest.mark.parametrize(
    "more",
    [{"username": "open_house"}, {"kind": "channel", "bot_rights": ["can_post_messages"], "bot": "administrator"}],
)
async def test_no_card_stands_where_others_can_read(room: TelegramRoom, more: dict[str, Any]) -> None:
    """A chat with a public name, or a channel."""
    await room.show()
    chat = room.town.add_group("Open", **more)
    with pytest.raises(PlatformUnavailable, match="Others than moderators"):
        await room.client.surface.show(await room.desk.now(), str(chat), None)
    with pytest.raises(PlatformUnavailable, match="Others than moderators"):
        await room.client.surface.check(room.community, str(chat))
    assert room.town.of_bot(chat) == []


async def test_no_card_stands_in_the_discussion_of_a_channel(room: TelegramRoom) -> None:
    """A person who reads the channel can join it."""
    await room.show()
    chat, channel = room.town.add_group("Talk"), room.town.add_group("News", kind="channel")
    room.town.link(channel, chat)
    with pytest.raises(PlatformUnavailable, match="Others than moderators"):
        await room.client.surface.show(await room.desk.now(), str(chat), None)


@pytest.mark.parametrize("channel", ["", "news", "12/x", "../1"])
async def test_what_is_no_chat_is_refused(room: TelegramRoom, channel: str) -> None:
    """With a remedy for the manager."""
    await room.show()
    with pytest.raises(PlatformUnavailable, match="not on Telegram"):
        await room.client.surface.show(await room.desk.now(), channel, None)


async def test_no_card_stands_in_the_watched_group(room: TelegramRoom) -> None:
    """Nor in a topic of it."""
    await room.show()
    topic = room.town.add_topic(room.group)
    for channel in (room.community, f"{room.community}/{topic}"):
        with pytest.raises(PlatformUnavailable, match="the group that they come from"):
            await room.client.surface.show(await room.desk.now(), channel, None)


async def test_a_card_stands_in_a_topic_and_in_a_private_chat(room: TelegramRoom) -> None:
    """Its buttons are answered there."""
    forum = room.town.add_group("Forum", members=room.people.values(), forum=True)
    topic = room.town.add_topic(forum)
    room.town.start(room.people["moderator"])
    await room.client.hear_all()
    await room.show()
    card = await room.desk.now()
    await room.client.surface.show(card, f"{forum}/{topic}", None)
    (there,) = room.town.of_bot(forum)
    assert there["message_thread_id"] == topic
    await room.press("moderator", there, "More…")
    (menu,) = room.town.whispers_to(room.people["moderator"], forum)
    assert menu["message_thread_id"] == topic
    await room.client.surface.show(card, str(room.people["moderator"]), None)
    alone = room.town.of_bot(room.people["moderator"])[-1]
    await room.press("moderator", alone, "More…")
    assert "Show the post and its thread" in labels_of(room.town.of_bot(room.people["moderator"])[-1])


async def test_a_card_moves_when_its_chat_was_opened(room: TelegramRoom) -> None:
    """It is taken away there, and shown in the chat that was chosen instead."""
    shown = await room.show()
    room.server.state.chats[room.chat].shown["username"] = "open_house"
    room.client.surface.places.forget(room.chat)
    other = room.town.add_group("Others")
    moved = await room.client.surface.show(await room.desk.now(), str(other), shown)
    assert moved.channel == str(other)
    assert room.cards == []
    assert len(room.town.of_bot(other)) == 1


async def test_a_group_that_shut_us_out_is_told_to_the_manager(room: TelegramRoom) -> None:
    """And the board learns that something changed there."""
    shown = await room.show()
    room.client.surface.changed()
    room.town.set_member(room.chat, int(room.client.own_id()), "kicked")
    await room.client.hear_all()
    assert room.client.surface.changed() == frozenset({room.community})
    with pytest.raises(PlatformUnavailable, match="Antiphon is not in it"):
        await room.client.surface.show(await room.desk.now(), str(room.chat), shown)


@pytest.mark.parametrize("kind", ["429", "5xx", "drop"])
async def test_what_telegram_does_not_take_now_is_tried_again(room: TelegramRoom, kind: str) -> None:
    shown = await room.show()
    room.server.fault("editMessageText", kind)
    card = replace(await room.desk.now(), version=9)
    with pytest.raises(PlatformBusy) as caught:
        await room.client.surface.show(card, str(room.chat), shown)
    assert caught.value.retry_after_seconds > 0


async def test_deleted_cards_are_looked_for_once_an_hour(room: TelegramRoom) -> None:
    """Telegram tells no bot of them; the look changes nothing that people see."""
    shown = await room.show()
    assert room.client.surface.unheard() == frozenset({room.community})
    assert room.client.surface.unheard() == frozenset()
    looked = await room.client.surface.look([shown])
    assert (looked.standing, looked.gone) == (frozenset({shown}), frozenset())
    room.town.delete(room.card)
    looked = await room.client.surface.look([shown])
    assert (looked.standing, looked.gone) == (frozenset(), frozenset({shown}))


async def test_where_a_community_chose_no_language_a_card_speaks_that_of_most_people_heard_there(
    room: TelegramRoom,
) -> None:
    """Of all who did something in the group or the review chat, each counted once; before that it is English."""
    shown = await room.show(samples()["Queued"])
    assert "Waits for drafts." in room.card["text"]
    for who in (room.town.add_user(name, language="es") for name in ("Uxue", "Koldo")):
        for _ in range(2):
            room.town.command(who, room.group, "help")
    for _ in range(5):
        room.town.command(room.people["stranger"], room.group, "help")
    await room.client.hear_all()
    later = replace(await room.desk.now(), version=9)
    await room.client.surface.show(later, str(room.chat), shown)
    assert "Espera borradores." in room.card["text"]
    await room.client.surface.show(replace(later, version=10, community_language="it"), str(room.chat), shown)
    assert "In attesa di bozze." in room.card["text"]


async def test_a_case_of_another_platform_is_shown_in_a_closed_group_alone(room: TelegramRoom) -> None:
    """Looked at before anything is shown: no open group, no private chat, and none whose own cases go elsewhere."""
    opened = room.town.add_group("Open", username="open_house")
    room.town.start(room.people["moderator"])
    room.governance.policies[str(room.group)] = CommunityPolicy(review_channel=str(room.chat))
    refusals = {opened: "Others than moderators", room.people["moderator"]: "private chat", room.group: "not shown in"}
    card = replace(REVIEWED, community="social.example")
    for chat, said in refusals.items():
        with pytest.raises(PlatformUnavailable, match=said):
            await room.client.surface.check("social.example", str(chat))
        with pytest.raises(PlatformUnavailable, match=said):
            await room.client.surface.show(card, str(chat), None)
    await room.client.surface.check("social.example", str(room.chat))


async def test_a_card_of_another_platform_leads_to_its_post(room: TelegramRoom) -> None:
    """Where it has an address; also after it was decided about on the card itself."""
    ref = PostRef("mastodon", "social.example", "far.example", "109")
    card = replace(REVIEWED, community=ref.community, post=replace(REVIEWED.post, ref=ref))
    url = f"https://{ref.community}/statuses/{ref.message}"
    surface = TelegramReviewSurface(room.client, elsewhere={ref: url}.__getitem__)
    place = await surface.show(card, str(room.chat), None)
    assert url in str(room.card)
    await surface.update(replace(card, version=card.version + 1), place)
    assert url in str(room.card)
    await TelegramReviewSurface(room.client).show(card, str(room.chat), place)
    assert url not in str(room.card)


async def test_no_case_of_another_platform_is_shown_while_nobody_can_say_whose_group_it_is(room: TelegramRoom) -> None:
    """The database does not answer, so the group may be one whose own cases are reviewed elsewhere."""
    room.governance.is_down = True
    with pytest.raises(StoreUnavailable):
        await room.client.surface.check("social.example", str(room.chat))
    with pytest.raises(StoreUnavailable):
        await room.client.surface.show(replace(REVIEWED, community="social.example"), str(room.chat), None)
    assert room.cards == []
    room.governance.is_down = False
    await room.client.surface.check("social.example", str(room.chat))
