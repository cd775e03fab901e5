"""What is remembered of a group, and for how long."""

from typing import Any

from adapters.telegram.capture.posts import RecentMessages, conversation_of
from tests.fakes.machine.clock import Seconds
from tests.fakes.telegram.written import BO, GROUP, message

ANE: dict[str, Any] = {"from": {"id": 6, "is_bot": False, "first_name": "Ane"}}


def test_the_oldest_is_forgotten_first() -> None:
    """By number, and after an hour."""
    seconds = Seconds()
    recent = RecentMessages(most=2, seconds_now=seconds)
    for number in (1, 2, 3):
        recent.add(message(number))
    assert [recent.find(-1001, number) is not None for number in (1, 2, 3)] == [False, True, True]
    seconds.now += 3601
    assert recent.find(-1001, 3) is None


def test_an_edit_takes_the_place_of_the_message_and_its_age() -> None:
    """Else editing would keep a message for ever."""
    seconds = Seconds()
    recent = RecentMessages(seconds_now=seconds)
    recent.add(message(1))
    seconds.now += 3000
    recent.add(message(1, "milder"))
    found = recent.find(-1001, 1)
    assert found is not None and found.text == "milder"
    seconds.now += 601
    assert recent.find(-1001, 1) is None


def test_a_message_without_a_number_is_not_remembered() -> None:
    recent = RecentMessages()
    recent.add(message(0))
    assert recent.find(-1001, 0) is None


def test_a_forwarded_message_is_found_by_its_author_time_and_words() -> None:
    """Nothing else that somebody wrote in the same second."""
    recent = RecentMessages()
    posts = [message(1), message(2, date=1_700_000_001, text="go"), message(3, date=1_700_000_001, **ANE)]
    for post in posts:
        recent.add(post)
    for origin in (
        {"type": "user", "sender_user": BO},
        {"type": "hidden_user", "sender_user_name": "Bo Lund"},
    ):
        forwarded = message(9, forward_origin=origin | {"date": 1_700_000_001}, chat={"id": 6, "type": "private"})
        assert recent.forwarded(forwarded) == [posts[0]]
    channel = {"type": "channel", "chat": {"id": -1003, "type": "channel", "title": "News"}, "message_id": 1}
    assert recent.forwarded(message(9, forward_origin=channel | {"date": 1_700_000_001})) == []
    assert recent.forwarded(message(9)) == []


def test_a_conversation_is_what_is_answered_and_what_came_before() -> None:
    """It is named by its first message."""
    recent = RecentMessages()
    first = message(1, "who comes?")
    second = message(2, "they do", reply_to_message=first.to_dict(), message_thread_id=1)
    flagged = message(4, reply_to_message=message(2, "they do").to_dict(), message_thread_id=1)
    for one in (first, second, message(3, "good morning"), flagged):
        recent.add(one)
    found = conversation_of(flagged, recent)
    assert [turn.text for turn in found.thread] == ["who comes?", "they do", "good morning"]
    assert found.root == "1"


def test_below_a_channels_post_each_comment_begins_a_conversation() -> None:
    """The answers to a comment belong to the comment."""
    recent = RecentMessages()
    channel = {"id": -1003, "type": "channel", "title": "News"}
    shared = message(1, "The school opens.", sender_chat=channel, is_automatic_forward=True)
    comment = message(2, "they come", reply_to_message=shared.to_dict(), message_thread_id=1)
    answer = message(3, reply_to_message=message(2, "they come").to_dict(), message_thread_id=1)
    for one in (shared, comment, answer):
        recent.add(one)
    assert conversation_of(comment, recent).root == ""
    assert conversation_of(answer, recent).root == "2"


def test_another_groups_messages_and_topics_are_no_part_of_it() -> None:
    """The note that a topic was made holds its title, and is nothing that is answered."""
    recent = RecentMessages()
    topic: dict[str, Any] = {"is_topic_message": True, "message_thread_id": 7}
    note = message(7, None, forum_topic_created={"name": "News", "icon_color": 1}, **topic)
    flagged = message(9, reply_to_message=note.to_dict(), **topic)
    for one in (
        message(1, "outside"),
        message(2, "elsewhere", chat=GROUP | {"id": -1009}),
        message(8, "inside", **topic),
    ):
        recent.add(one)
    found = conversation_of(flagged, recent)
    assert [turn.text for turn in found.thread] == ["News", "inside"] and found.root == ""
