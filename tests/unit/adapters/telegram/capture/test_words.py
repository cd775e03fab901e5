"""All words of a message on Telegram, from the fields in which it sends them."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.telegram.capture.posts import RecentMessages, check_capturable, words_of
from core.desk.rules.policy import CommunityPolicy
from core.errors import BadInput
from core.models import MessageWords, Unread
from tests.fakes.telegram.written import BO, GROUP, message

CASES = [json.loads(line) for line in Path("tests/data/cases/platform_telegram.jsonl").read_text().splitlines()]
HATE = "they are vermin and should go"
CY = {"id": 8, "is_bot": False, "first_name": "Cy"}
NEWS = {"id": -100777, "type": "channel", "title": "News"}
PHOTO = [{"file_id": "a", "file_unique_id": "a", "width": 1, "height": 1}]
FILE = {"file_id": "a", "file_unique_id": "a"}
POLL = {
    "id": "3",
    "total_voter_count": 0,
    "is_closed": False,
    "is_anonymous": True,
    "type": "regular",
    "allows_multiple_answers": False,
    "allows_revoting": False,
    "members_only": False,
}
BY_CY = {"type": "user", "date": 1, "sender_user": CY}


def _poll(question: str, *options: str) -> dict[str, Any]:
    listed = [{"persistent_id": text, "text": text, "voter_count": 0} for text in options]
    return {"poll": POLL | {"question": question, "options": listed}}


def _words(**said: Any) -> MessageWords:
    return words_of(message(**({"text": None} | said)))


def _elsewhere(origin: dict[str, Any] = BY_CY, **more: Any) -> dict[str, Any]:
    return {"external_reply": {"origin": origin} | more}


def _parts(words: MessageWords) -> list[tuple[str, str, str, str]]:
    return [(part.kind, part.text, part.author, part.name) for part in words.parts]


def _sent(said: dict[str, Any], number: int) -> Any:
    """A message of the file of cases, with what Telegram sends beside it."""
    more = dict(said) | ({"photo": PHOTO} if "photo" in said else {})
    if poll := said.get("poll"):
        more |= _poll(poll["question"], *(option["text"] for option in poll["options"]))
    return message(number, **({"text": None} | more))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["kind"])
def test_what_the_world_reported_is_read(case: dict[str, Any]) -> None:
    """A flag on any picture of an album is one on the message with the caption."""
    said = case["message"]
    sent = [_sent(each, number) for number, each in enumerate(said if isinstance(said, list) else [said], 1)]
    recent = RecentMessages()
    for each in sent:
        recent.add(each)
    for each in sent:
        assert HATE in words_of(recent.with_words(each)).text
    if not isinstance(said, list) and "text" in said:
        assert said["text"] in words_of(sent[0]).text


@pytest.mark.parametrize(
    ("origin", "author", "name"),
    [
        (BY_CY, "8", "Cy"),
        ({"type": "user", "date": 1, "sender_user": CY | {"is_bot": True}}, "", "Cy"),
        ({"type": "hidden_user", "date": 1, "sender_user_name": "Cy"}, "", "Cy"),
        ({"type": "chat", "date": 1, "sender_chat": GROUP}, "", "Brenmoor"),
        ({"type": "channel", "date": 1, "chat": NEWS, "message_id": 5}, "", "News"),
    ],
)
def test_who_forwards_is_not_the_author(origin: dict[str, Any], author: str, name: str) -> None:
    """A person who can be told from others is; a hidden one, a channel and a bot are nobody."""
    for said in ({"text": HATE}, {"caption": HATE, "photo": PHOTO}, _poll(HATE)):
        words = _words(forward_origin=origin, **said)
        assert _parts(words) == [("forwarded", HATE, author, name)]
        assert words.author_of("5", "Bo Lund") == ((author, name) if author else ("", ""))


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        ({"quote": {"text": HATE, "position": 0}} | _elsewhere(), HATE),
        (_elsewhere(**_poll("Q", HATE)), f"Q\n{HATE}"),
        (_elsewhere(venue={"location": {"longitude": 1, "latitude": 1}, "title": HATE, "address": "b"}), f"{HATE}\nb"),
        (
            _elsewhere(checklist={"title": "T", "tasks": [{"id": 1, "text": HATE}]}),
            f"T\n{HATE}",
        ),
        ({"quote": {"text": "a", "position": 0}} | _elsewhere(**_poll(HATE)), f"a\n\n{HATE}"),
    ],
)
def test_what_is_quoted_from_elsewhere_is_read_with_who_wrote_it(said: dict[str, Any], quoted: str) -> None:
    """Who quotes it with words of their own stays the author of these."""
    words = _words(text="so true", **said)
    assert _parts(words) == [("own", "so true", "", ""), ("quoted", quoted, "8", "Cy")]
    assert (words.author_of("5", "Bo"), words.compared) == (("5", "Bo"), "so true")


def test_a_quote_of_the_same_group_is_not_said_twice() -> None:
    """The whole message that is answered stands in the conversation, unless nobody wrote it who could stand there."""
    quote = {"quote": {"text": HATE, "position": 0}}
    answered = {"message_id": 1, "date": 1, "chat": GROUP, "from": BO, "text": HATE}
    by_nobody = answered | {"sender_chat": NEWS, "is_automatic_forward": True}
    assert _words(text="no", reply_to_message=answered, **quote).text == "no"
    assert _words(text="no", reply_to_message=by_nobody, **quote).text == f"no\n\n{HATE}"
    assert _words(text="no", **quote).text == f"no\n\n{HATE}"


def test_a_quote_that_telegram_does_not_give_is_named() -> None:
    assert _words(text="so true", **_elsewhere()).unread == (Unread.QUOTE,)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (_poll("Q", "a", "b"), "Q\na\nb"),
        ({"poll": _poll("Q", "a")["poll"] | {"type": "quiz", "explanation": "b"}}, "Q\na\nb"),
        ({"checklist": {"title": "T", "tasks": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]}}, "T\na\nb"),
        ({"checklist_tasks_added": {"tasks": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]}}, "a\nb"),
        ({"venue": {"location": {"longitude": 1, "latitude": 1}, "title": "T", "address": "a"}}, "T\na"),
        ({"caption": "a", "photo": PHOTO}, "a"),
        ({"caption": "a", "document": FILE}, "a"),
    ],
)
def test_polls_lists_places_and_captions_are_words(said: dict[str, Any], text: str) -> None:
    """Each line of them; they are what an edit changes."""
    words = _words(**said)
    assert (words.text, words.compared) == (text, text)


@pytest.mark.parametrize(
    ("said", "unread"),
    [
        ({"photo": PHOTO}, "Not read: pictures."),
        ({"video_note": FILE | {"length": 1, "duration": 1}}, "Not read: videos."),
        ({"voice": FILE | {"duration": 1}}, "Not read: voice and sound."),
        ({"document": FILE}, "Not read: files."),
        ({"dice": {"emoji": "🎲", "value": 1}}, "Not read: something in a form that Antiphon does not know."),
        ({"photo": PHOTO, "media_group_id": "g"}, "Not read: pictures."),
    ],
)
def test_a_message_without_words_is_refused_with_what_it_holds_and_what_helps(
    said: dict[str, Any], unread: str
) -> None:
    """Never with the step that the person just took."""
    with pytest.raises(BadInput) as caught:
        check_capturable(message(text=None, **said), CommunityPolicy(review_channel="-1002"), "77", "en")
    assert unread in caught.value.message
    assert caught.value.remedy is not None and "behind /counter" in caught.value.remedy
    assert ("album" in caught.value.remedy) is ("media_group_id" in said)


def test_an_album_is_that_of_its_own_group() -> None:
    """Another album, and another group's, hold other words."""
    recent = RecentMessages()
    for number, more in (
        (1, {"caption": "a", "media_group_id": "h"}),
        (2, {"caption": "b", "media_group_id": "g", "chat": GROUP | {"id": -9}}),
        (4, {"caption": "c", "media_group_id": "g"}),
    ):
        recent.add(message(number, None, photo=PHOTO, **more))
    second = message(3, None, photo=PHOTO, media_group_id="g")
    assert recent.with_words(second).message_id == 4
    lone = message(5, None, photo=PHOTO)
    assert recent.with_words(lone) is lone
