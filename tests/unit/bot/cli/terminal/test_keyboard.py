"""A keyboard without a line editor: a person is told what that means, and loses nothing.

With one it is tested at a real terminal (``tests/e2e/drafting/test_run_command.py``).
"""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from bot.cli.terminal.keyboard import TypedKeyboard


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("typed", "text"),
    [("Another text.\n", "Another text."), ("\n", "A draft."), ("", None)],
    ids=["anew", "kept", "end"],
)
async def test_a_text_is_typed_anew(
    console: Console, monkeypatch: pytest.MonkeyPatch, typed: str, text: str | None
) -> None:
    """It is shown whole first, and Enter alone keeps it."""
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert await TypedKeyboard(console, None).edit("Change it.", "A draft.") == text
    assert "A draft.\nThere is no line editor here: type it anew." in shown(console)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("One.\n\n  Two.\n.\nq\n", "One.\n\n  Two."),
        ("One.\nTwo.", "One.\nTwo."),
        ("A line that ends with one.\n.\n", "A line that ends with one."),
        (".\n", None),
        ("", None),
    ],
)
async def test_all_lines_of_a_post_are_taken(
    console: Console, monkeypatch: pytest.MonkeyPatch, typed: str, text: str | None
) -> None:
    """Empty ones too, up to a full stop alone or the end of the input; what follows is not part of it."""
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert await TypedKeyboard(console, None).paste("Paste it.") == text
    assert "may cut a line of more than 4,095 bytes" in shown(console)
