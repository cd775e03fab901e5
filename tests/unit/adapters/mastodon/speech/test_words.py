"""All words of a status, from the fields in which instances of several kinds give them."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.mastodon.reports import kept_status
from adapters.mastodon.speech import words_of
from core.models import MessageWords, Unread

CASES = [json.loads(line) for line in Path("tests/data/cases/platform_mastodon.jsonl").read_text().splitlines()]
HATE = "they are vermin and should go"
LINE = '<span class="quote-inline"><br/>RE: <a href="https://b.example/2">https://b.example/2</a></span>'
CY = {"id": "8", "acct": "cy@b.example", "bot": False}
QUOTED = {"id": "2", "content": f"<p>{HATE}</p>", "account": CY, "visibility": "public"}


def _words(**said: Any) -> MessageWords:
    return words_of(_status(**said))


def _status(**said: Any) -> dict[str, Any]:
    return {"id": "1", "account": {"id": "7", "acct": "bo", "bot": False}, "visibility": "public"} | said


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["kind"])
def test_what_the_world_reported_is_read(case: dict[str, Any]) -> None:
    """Also from what is kept of a report, where the instance shows the status no more."""
    said = case["status"]
    wanted = "https://b.example/2" if "quote" in said else HATE
    for words in (_words(**said), words_of(kept_status(_status(**said)))):
        assert wanted in words.text
    if "quote" in said:
        assert _words(**said).unread == (Unread.QUOTE,)


@pytest.mark.parametrize(
    "said",
    [
        {"quote": {"state": "accepted", "quoted_status": QUOTED}},
        {"quote": QUOTED},
        {"pleroma": {"quote": QUOTED}},
        {"quote": {"state": "accepted", "quoted_status": QUOTED | {"content": "", "spoiler_text": HATE}}},
        {"quote": {"quoted_status": QUOTED | {"content": "", "poll": {"options": [{"title": HATE}]}}}},
    ],
)
def test_a_quote_is_read_with_who_wrote_it(said: dict[str, Any]) -> None:
    """The line that stands for it is left out; whoever quotes with words of their own stays the author."""
    words = _words(content=f"so true{LINE}", **said)
    assert [(part.kind, part.text, part.author, part.name) for part in words.parts] == [
        ("own", "so true", "", ""),
        ("quoted", HATE, "8", "cy@b.example"),
    ]
    assert (words.compared, words.unread) == ("so true", ())
    assert words.author_of("7", "bo") == ("7", "bo")
    assert words_of(kept_status(_status(content=f"so true{LINE}", **said))) == words


def test_who_quotes_without_a_word_is_not_the_author() -> None:
    assert _words(content=LINE, quote=QUOTED).author_of("7", "bo") == ("8", "cy@b.example")


@pytest.mark.parametrize(
    "said",
    [
        {"content": f"so true{LINE}"},
        {"content": "so true<br>RE: https://b.example/2"},
        {"content": "so true", "quote": {"state": "pending", "quoted_status": None}},
        {"content": "so true", "quote": {"state": "accepted", "quoted_status_id": "2"}},
        {"content": "so true", "quote": QUOTED | {"visibility": "private"}},
    ],
)
def test_a_quote_that_is_not_given_is_named(said: dict[str, Any]) -> None:
    """Nor is one read that not everybody may read."""
    words = _words(**said)
    assert Unread.QUOTE in words.unread and HATE not in words.text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"spoiler_text": HATE, "content": "<p>.</p>"}, f"{HATE}\n\n."),
        ({"spoiler_text": f" {HATE}\n", "content": ""}, HATE),
        ({"content": "<p>a</p>", "poll": {"options": [{"title": "b"}, {"title": "c"}]}}, "a\n\nb\nc"),
        ({"content": "", "media_attachments": [{"type": "video", "description": "a"}]}, "a"),
        ({"content": "a", "media_attachments": [{"type": "image", "description": None}]}, "a"),
        ({"content": "a", "poll": None, "quote": None, "media_attachments": None}, "a"),
    ],
)
def test_warning_poll_and_descriptions_are_words(said: dict[str, Any], text: str) -> None:
    """The content warning is the first line, as its readers see it."""
    assert _words(**said).text == text


@pytest.mark.parametrize(
    ("kind", "unread"),
    [
        ("image", Unread.PICTURE),
        ("gifv", Unread.VIDEO),
        ("video", Unread.VIDEO),
        ("audio", Unread.VOICE),
        ("unknown", Unread.FILE),
    ],
)
def test_media_are_named_whether_described_or_not(kind: str, unread: Unread) -> None:
    """A description is not what a picture says."""
    for medium in ({"type": kind}, {"type": kind, "description": "a"}):
        assert _words(content="lol", media_attachments=[medium]).unread == (unread,)


@pytest.mark.parametrize(
    ("more", "unread"),
    [
        ({"quote": {"quoted_status_id": "3"}}, Unread.QUOTE),
        ({"media_attachments": [{"type": "image"}]}, Unread.PICTURE),
    ],
)
def test_what_a_quoted_post_holds_beside_its_words_is_named(more: dict[str, Any], unread: Unread) -> None:
    words = _words(content="so true", quote={"state": "accepted", "quoted_status": QUOTED | more})
    assert words.unread == (unread,) and HATE in words.text
