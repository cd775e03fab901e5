"""Which part of a conversation is kept with a flagged status."""

from typing import Any

from mastodon.return_types import Context, Status
from mastodon.types_base import try_cast_recurse

from adapters.common.capture.flagged_posts import MAX_MESSAGES
from adapters.mastodon.capture import conversation_of
from core.models import ThreadMessage

OWN = "1"


def _status(id_: str, text: str, above: str | None = None, *, by: str = "7", bot: bool = False, **more: Any) -> Status:
    account = {"id": by, "acct": f"account{by}", "bot": bot}
    said: dict[str, Any] = {
        "id": id_,
        "content": f"<p>{text}</p>",
        "in_reply_to_id": above,
        "visibility": "public",
        "mentions": [],
    }
    made: Status = try_cast_recurse(Status, said | {"account": account} | more)
    return made


def _around(above: list[Status], below: list[Status]) -> Context:
    made: Context = try_cast_recurse(Context, {"ancestors": above, "descendants": below})
    return made


def _texts(thread: tuple[ThreadMessage, ...]) -> list[str]:
    return [message.text for message in thread]


def test_a_status_alone_begins_its_conversation() -> None:
    found = conversation_of(_status("01J", "hate"), _around([], []), OWN)
    assert (found.thread, found.root) == ((), "01J")


def test_a_conversation_that_is_not_told_has_its_root_as_far_as_it_is_known() -> None:
    """The first status that the instance knows may answer one that it does not."""
    assert conversation_of(_status("9", "hate", "8"), None, OWN).root == "8"
    assert conversation_of(_status("9", "hate", "8"), _around([_status("8", "x", "7")], []), OWN).root == "7"


def test_what_is_answered_comes_before_the_answers() -> None:
    above = [_status(str(number), f"above {number}", str(number - 1)) for number in range(10, 19)]
    below = [_status("30", "below", "20")]
    found = conversation_of(_status("20", "hate", "18"), _around(above, below), OWN)
    assert _texts(found.thread) == [f"above {number}" for number in range(13, 19)]
    assert len(found.thread) == MAX_MESSAGES


def test_two_answers_are_kept_where_there_is_room_and_none_to_others() -> None:
    below = [_status("30", "one", "20"), _status("31", "deeper", "30"), _status("32", "two", "20")]
    below += [_status("33", "three", "20")]
    found = conversation_of(_status("20", "hate", "10"), _around([_status("10", "first")], below), OWN)
    assert _texts(found.thread) == ["first", "one", "two"]


def test_what_is_not_for_everybody_is_left_out() -> None:
    """So are bots, we among them, what calls us, and what has no words."""
    left_out = [
        _status("10", "to followers", visibility="private"),
        _status("11", "to some", visibility="direct"),
        _status("12", "of ours", by=OWN),
        _status("13", "beep", bot=True),
        _status("14", "@antiphon counter", mentions=[{"id": OWN, "acct": "antiphon"}]),
        _status("15", " "),
        _status("16", "kept", visibility="unlisted"),
    ]
    found = conversation_of(_status("20", "hate", "16"), _around(left_out, []), OWN)
    assert found.thread == (ThreadMessage("7", "kept"),)


def test_a_message_stands_with_all_its_words_and_the_flagged_one_is_not_repeated() -> None:
    """A content warning is the first of them."""
    above = [_status("10", "words", spoiler_text="housing,\n politics")]
    found = conversation_of(_status("20", "hate", "10", by="8", spoiler_text="my view"), _around(above, []), OWN)
    assert found.thread == (ThreadMessage("7", "housing, politics\n\nwords"),)
