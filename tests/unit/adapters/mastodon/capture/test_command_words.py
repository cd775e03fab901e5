"""Which mentions are the command, and which words are behind it."""

import html

import pytest
from mastodon.return_types import Status
from mastodon.types_base import try_cast_recurse

from adapters.mastodon.capture import command_words

_NAME = '<span class="h-card"><a href="https://home.example/@antiphon" class="u-url">@<span>antiphon</span></a></span>'


def _status(content: str) -> Status:
    made: Status = try_cast_recurse(Status, {"id": "9", "content": content})
    return made


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@antiphon counter", ""),
        ("@antiphon@home.example COUNTER es", "es"),
        ("@bo@far.example @antiphon counter: warm", "warm"),
        ("@antiphon @bo counter\nempathetic\n\nand short", "empathetic and short"),
        ("@antiphon /counter it @bo #now brief", "it brief"),
        ("@antiphon responder es", "es"),
        ("@antiphon rispondi", ""),
        ("counter", ""),
        ("@antiphon counterpoint", None),
        ("@antiphon counter-argument", None),
        ("@antiphon please counter this", None),
        ("so I said @antiphon counter", None),
        ("@antiphon", None),
        ("", None),
    ],
)
def test_the_command_is_ours_in_any_of_our_languages(text: str, words: str | None) -> None:
    paragraphs = "".join(f"<p>{html.escape(part)}</p>" for part in text.split("\n\n"))
    assert command_words(_status(paragraphs.replace("\n", "<br />"))) == words


@pytest.mark.parametrize(
    "content",
    [f"<p>{_NAME} counter es</p>", f"{_NAME}&nbsp;counter es", f"<p>{_NAME}</p><p>counter es</p>"],
    ids=["Mastodon", "without paragraphs", "below the name"],
)
def test_names_are_links_in_what_instances_send(content: str) -> None:
    assert command_words(_status(content)) == "es"
