"""All words of a message on Discord, from the fields in which it sends them."""

import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from adapters.discord.speech import title_of, words_now, words_of
from core.models import CUT, MOST_WORDS, PartKind, Unread
from tests.fakes.discord.written import BEGUN, BO, message, town

CASES = [json.loads(line) for line in Path("tests/data/cases/platform_discord.jsonl").read_text().splitlines()]
HATE = "they are vermin and should go"
FORWARD = {"type": 1, "channel_id": "5", "message_id": "6"}


def _parts(said: dict[str, Any], title: str = "a thread") -> list[tuple[str, str]]:
    square, thread = town(title)
    place = thread if "title" in said else square
    rest = {name: value for name, value in said.items() if name != "title"}
    return [(part.kind, part.text) for part in words_now(message(place, **rest), place).parts]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["kind"])
async def test_what_the_world_reported_is_read(case: dict[str, Any]) -> None:
    """The words are there for whoever reads the message: filter, keywords, reader and card."""
    said = dict(case["message"])
    square, thread = town(HATE)
    place = thread if said.pop("channel", None) else square
    words = await words_of(message(place, **said), place)
    assert HATE in words.text and said["content"] in words.text


def _forward(*said: dict[str, Any]) -> dict[str, Any]:
    return {"message_reference": FORWARD, "message_snapshots": [{"message": each} for each in said]}


def _poll(question: str, *answers: str) -> dict[str, Any]:
    listed = [{"answer_id": number, "poll_media": {"text": text}} for number, text in enumerate(answers, 1)]
    return {"poll": {"question": {"text": question}, "answers": listed}}


def _preview(**said: Any) -> dict[str, Any]:
    return {"content": "look", "embeds": [{"type": "rich", "title": "t", "description": "a"} | said]}


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        ({"content": "a"} | _poll("Q"), [("own", "a"), ("poll", "Q")]),
        (_poll("Q", "b", "c"), [("poll", "Q\nb\nc")]),
        ({"attachments": [{"description": "a"}, {"description": "b"}]}, [("description", "a"), ("description", "b")]),
        (_forward({"attachments": [{"description": "a"}]}), [("forwarded", "a")]),
        (_forward({"content": "a"}, {"content": "b"}), [("forwarded", "a"), ("forwarded", "b")]),
        (_preview(author={"name": "@bo"}), [("own", "look"), ("quoted", "t\na")]),
        (_preview(), [("own", "look")]),
        ({"content": "title says it all", "title": True}, [("title", "a thread"), ("own", "title says it all")]),
    ],
)
def test_each_field_is_a_part_of_its_kind(said: dict[str, Any], parts: list[tuple[str, str]]) -> None:
    """In the order in which people read them."""
    assert _parts(said) == parts


@pytest.mark.parametrize(
    ("number", "by", "has_title"),
    [
        (BEGUN, 7, True),
        (BEGUN + 1, BO, True),
        (BEGUN + 1, 7, False),
        (BEGUN + (59_000 << 22), BO, True),
        (BEGUN + (61_000 << 22), BO, False),
    ],
)
def test_a_title_goes_with_the_first_post_alone(number: int, by: int, has_title: bool) -> None:
    """That of a forum, or what its owner wrote when they began the thread; others have it in their conversation."""
    _, thread = town()
    author = {"id": str(by), "username": "x", "discriminator": "0", "avatar": None}
    words = words_now(message(thread, number, content="a", author=author), thread)
    assert (PartKind.TITLE in [part.kind for part in words.parts]) is has_title
    title = title_of(thread)
    assert title is not None and (title.text, title.author) == ("a thread", str(BO))


def _files(*kinds: str) -> dict[str, Any]:
    return {"attachments": [{"content_type": kind} for kind in kinds]}


@pytest.mark.parametrize(
    ("said", "unread"),
    [
        (_files("image/png"), {Unread.PICTURE}),
        (_files("audio/ogg"), {Unread.VOICE}),
        (_files("video/mp4", "application/pdf"), {Unread.VIDEO, Unread.FILE}),
        ({"sticker_items": [{"id": "3", "name": "wave", "format_type": 1}]}, {Unread.STICKER}),
        ({"message_reference": FORWARD}, {Unread.FORWARD}),
        (_forward(_files("image/png")), {Unread.PICTURE}),
    ],
)
def test_what_holds_no_words_is_named(said: dict[str, Any], unread: set[Unread]) -> None:
    """Whoever flags it is told what Antiphon did not read."""
    square, _ = town()
    words = words_now(message(square, **said), square)
    assert (words.text, set(words.unread)) == ("", unread)


def test_who_forwards_is_not_the_author() -> None:
    """Discord does not say who wrote what is forwarded: nobody is held to."""
    square, _ = town()
    forwarded = message(
        square, content="so true", message_reference=FORWARD, message_snapshots=[{"message": {"content": HATE}}]
    )
    assert words_now(forwarded).author_of(str(BO), "Bo") == ("", "")
    assert words_now(message(square, content="so true")).author_of(str(BO), "Bo") == (str(BO), "Bo")


@pytest.mark.parametrize(
    ("name", "data", "size", "read"),
    [
        ("message.txt", HATE.encode(), 40, HATE),
        ("notes.md", b"\xef\xbb\xbf" + HATE.encode(), 40, HATE),
        ("long.txt", HATE.encode(), 70_000, ""),
        ("binary.txt", b"\xff\xfe\x00", 3, ""),
        ("paper.pdf", HATE.encode(), 40, ""),
    ],
)
async def test_short_text_files_are_read(
    monkeypatch: pytest.MonkeyPatch, name: str, data: bytes, size: int, read: str
) -> None:
    """Discord makes one of what is pasted and too long; any other file is named as not read."""
    square, _ = town()

    async def fetched(url: str) -> bytes:
        return data

    monkeypatch.setattr(square._state.http, "get_from_cdn", fetched)
    words = await words_of(message(square, attachments=[{"filename": name, "size": size}]), square)
    assert (words.text, words.unread) == (read, () if read else (Unread.FILE,))
    assert words.compared == "", "a file is not fetched again to see whether the post was edited"


@pytest.mark.parametrize("fault", [aiohttp.ClientError, TimeoutError, OSError])
async def test_a_file_that_cannot_be_fetched_keeps_no_word_of_the_message_away(
    monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    square, _ = town()

    async def fetched(url: str) -> bytes:
        raise fault

    monkeypatch.setattr(square._state.http, "get_from_cdn", fetched)
    words = await words_of(message(square, content=HATE, attachments=[{"filename": "message.txt"}]), square)
    assert (words.text, words.unread) == (HATE, (Unread.FILE,))


def test_more_than_can_be_read_is_cut_with_a_mark() -> None:
    """Over all parts together."""
    square, _ = town()
    words = words_now(message(square, content="a" * 4000, message_snapshots=[{"message": {"content": "b" * 4000}}]))
    assert (len(words.text), words.text.endswith(CUT), words.unread) == (MOST_WORDS, True, (Unread.REST,))
