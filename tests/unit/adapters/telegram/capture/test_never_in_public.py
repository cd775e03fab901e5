"""That nothing in the adapter answers where a group reads it: by what its code says, on every path."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from telegram import Message

import adapters.telegram

ROOT = Path(adapters.telegram.__file__).parent


def _named() -> Iterator[tuple[str, str]]:
    """Each name and each text in the code, with its file; what docstrings say is no code."""
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docstrings = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                yield path.name, node.attr
            elif isinstance(node, ast.Name):
                yield path.name, node.id
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                yield path.name, node.value


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def test_the_code_is_read() -> None:
    """Else the other tests would find nothing in any code."""
    assert ("private_answers.py", "send_message") in set(_named())


def test_no_guest_query_is_answered() -> None:
    """The only answer to one is a public post, which nobody approved."""
    assert [found for found in _named() if "answerguest" in _plain(found[1])] == []


def test_the_librarys_shortcuts_for_answers_are_not_used() -> None:
    """As an answer to an ephemeral message they write for everybody."""
    shortcuts = {name for name in dir(Message) if name.startswith("reply_") and callable(getattr(Message, name))}
    assert "reply_text" in shortcuts
    assert [found for found in _named() if found[1] in shortcuts] == []
