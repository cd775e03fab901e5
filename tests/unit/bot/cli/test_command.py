"""What goes to a terminal can steer none: no text on a console, and no JSON document."""

import io
import json

import pytest
from rich.table import Table
from rich.text import Text

from bot.cli.command import HarmlessConsole, as_json

STEERING = {
    "escape": "\x1b[2J\x1b]0;title\x07",
    "one byte": "\x9b31m",
    "turned around": "\u202eevil\u202c",
    "unseen": "a\u200bb",
    "backspace": "good\x08\x08bad",
    "carriage return": "Fine.\rRefused.",
}


@pytest.mark.parametrize("text", STEERING.values(), ids=STEERING.keys())
@pytest.mark.parametrize("is_terminal", [False, True])
def test_no_text_steers_a_console(text: str, *, is_terminal: bool) -> None:
    """Whether it is printed as a text, with a style, in a table or as a plain string."""
    written = io.StringIO()
    console = HarmlessConsole(file=written, force_terminal=is_terminal, color_system=None, width=200)
    table = Table("name", box=None)
    table.add_row(Text(text))
    console.print(Text(text))
    console.print(Text.assemble(("Error: ", "bold red"), text), soft_wrap=True)
    console.print(table)
    console.print(text, markup=False)
    assert not any(mark in written.getvalue() for mark in "\x1b\x07\x9b\u202e\u202c\u200b\x08\r")


@pytest.mark.parametrize("text", STEERING.values(), ids=STEERING.keys())
def test_a_document_holds_every_character_and_shows_none_that_steers(text: str) -> None:
    """Who reads the JSON gets the text as it is."""
    written = as_json({"text": text, "year": 2026})
    assert json.loads(written) == {"text": text, "year": 2026}
    assert not any(mark in written for mark in "\x1b\x07\x9b\u202e\u202c\u200b\x08\r")
