"""Which messages may become cases, read from what Telegram sends."""

from typing import Any

import pytest

from adapters.telegram.capture.posts import author_of, check_capturable, is_private, words_of
from core.desk.rules.policy import CommunityPolicy
from core.errors import AntiphonError, BadInput, NotAllowed
from tests.fakes.telegram.written import BO, GROUP, message

SET_UP = CommunityPolicy(review_channel="-1002")
CHANNEL = {"id": -1003, "type": "channel", "title": "News"}


@pytest.mark.parametrize(
    ("chat", "policy", "private"),
    [
        (GROUP, CommunityPolicy(), True),
        (GROUP, SET_UP, False),
        (GROUP | {"username": "brenmoor"}, CommunityPolicy(), False),
        (GROUP | {"type": "group"}, SET_UP, False),
        (GROUP | {"is_direct_messages": True}, SET_UP, True),
        ({"id": 5, "type": "private", "first_name": "Bo", "username": "bo"}, SET_UP, True),
        (CHANNEL | {"username": "news"}, SET_UP, True),
    ],
)
def test_only_groups_that_all_can_read_or_that_were_set_up_are_open(
    chat: dict[str, Any], policy: CommunityPolicy, private: bool
) -> None:
    """A chat of two people is private whatever anybody set, and so is what people write to a channel."""
    assert is_private(message(chat=chat).chat, policy) is private


def test_a_person_or_a_channel_is_an_author() -> None:
    """Each by the number that stays the same, and the name that the group sees."""
    assert [
        (author.id, author.name) for sent in (message(), message(sender_chat=CHANNEL)) if (author := author_of(sent))
    ] == [
        ("5", "Bo Lund"),
        ("-1003", "News"),
    ]


@pytest.mark.parametrize(
    ("more", "error", "said"),
    [
        ({"from": BO | {"is_bot": True}}, NotAllowed, "No person wrote this message"),
        ({"from": BO | {"id": 77, "is_bot": True}}, NotAllowed, "This message is Antiphon's own."),
        ({"sender_chat": GROUP}, NotAllowed, "An administrator wrote this message in the group's name"),
        (
            {"sender_chat": CHANNEL, "is_automatic_forward": True},
            NotAllowed,
            "This is a post of the group's own channel.",
        ),
        ({"sender_business_bot": BO | {"is_bot": True}}, NotAllowed, "No person wrote this message"),
        ({"text": None}, BadInput, "This message has no words"),
        ({"message_id": 0}, BadInput, "This message has no words"),
        ({"chat": GROUP | {"type": "channel"}}, NotAllowed, "Antiphon takes nothing from private chats"),
    ],
)
def test_what_cannot_be_answered_is_refused(more: dict[str, Any], error: type[AntiphonError], said: str) -> None:
    with pytest.raises(error) as caught:
        check_capturable(message(**more), SET_UP, "77", "en")
    assert caught.value.message.startswith(said)


def test_a_caption_is_the_text() -> None:
    """Of a picture, for example."""
    assert words_of(message(text=None, caption="go home")).text == "go home"
