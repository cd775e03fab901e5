"""Names of Telegram's messages: there and back, and nothing for what names none."""

from datetime import UTC, datetime

import pytest
import telegram

from adapters.telegram.connection.refs import MessageNumbers, channel_of, numbers_of, ref_of, revision_of, topic_of
from core.errors import PlatformUnavailable
from core.models import PostRef

GROUP = -1001234567890


def _message(**more: object) -> telegram.Message:
    raw = {"message_id": 7, "date": 1_772_000_000, "chat": {"id": GROUP, "type": "supergroup"}, "text": "Hello."}
    return telegram.Message.de_json({**raw, **more}, None)


@pytest.mark.parametrize(("topic", "channel"), [(None, str(GROUP)), (12, f"{GROUP}/12")])
def test_a_message_is_named_and_found_again(topic: int | None, channel: str) -> None:
    """The community is the group, the channel the group or the topic in it."""
    ref = ref_of(GROUP, 7, topic)
    assert ref == PostRef("telegram", str(GROUP), channel, "7")
    assert channel_of(GROUP, topic) == channel
    assert numbers_of(ref) == MessageNumbers(GROUP, topic, 7)


@pytest.mark.parametrize(
    "ref",
    [
        PostRef("discord", "1", "1", "7"),
        PostRef("telegram", str(GROUP), str(GROUP), "0"),
        PostRef("telegram", str(GROUP), str(GROUP), "-7"),
        PostRef("telegram", str(GROUP), str(GROUP), "\u0667"),
        PostRef("telegram", str(GROUP), str(GROUP), ""),
        PostRef("telegram", str(GROUP), "the square", "7"),
        PostRef("telegram", str(GROUP), f"{GROUP}/news", "7"),
    ],
)
def test_what_names_no_message_is_refused(ref: PostRef) -> None:
    """Ephemeral messages are all number 0: a reply to that would answer nobody, or anybody."""
    with pytest.raises(PlatformUnavailable):
        numbers_of(ref)


@pytest.mark.parametrize("number", [0, -1])
def test_an_ephemeral_message_has_no_name(number: int) -> None:
    """Nothing may be keyed by a number that all of them share."""
    with pytest.raises(ValueError, match="number of its own"):
        ref_of(GROUP, number)


def test_only_topics_are_topics() -> None:
    """Replies in ordinary groups carry a thread's number, too, which is no topic's."""
    assert topic_of(_message(message_thread_id=12, is_topic_message=True)) == 12
    assert topic_of(_message(message_thread_id=12)) is None
    assert topic_of(_message()) is None


def test_each_edit_has_a_revision_of_its_own() -> None:
    """Equal revisions mean equal words."""
    never, once, twice = _message(), _message(edit_date=1_772_000_060), _message(edit_date=1_772_000_090)
    assert len({revision_of(message) for message in (never, once, twice)}) == 3
    assert revision_of(never) == revision_of(_message())
    assert revision_of(once) == datetime.fromtimestamp(1_772_000_060, UTC).isoformat()
