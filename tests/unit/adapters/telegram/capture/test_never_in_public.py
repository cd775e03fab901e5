"""That nothing in the adapter answers where a group reads it: by what its code says, on every path.

Whatever makes a message is in ``LOOKED_AT``. Who adds a place looks first where its words stand and who reads them.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from telegram import Bot, Message

import adapters.telegram

ROOT = Path(adapters.telegram.__file__).parent
_MAKING: Final = (
    "send",
    "copy",
    "forward",
    "answer_guest",
    "answer_inline",
    "answer_web_app",
    "post_",
    "repost_",
    "save_",
)
_CHANGING: Final = ("edit_message_text", "edit_message_caption", "edit_message_media")
_WRITING: Final = {name for name in dir(Bot) if name.startswith(_MAKING) or name in _CHANGING}
"""Those methods of the library's bot that put words where somebody reads them."""
_RAW: Final = ("call", "do_api_request", "_post")
"""What calls any method by its name."""

LOOKED_AT: Final = {
    ("client.py", "TelegramClient.call", "do_api_request(?)"): "nothing by itself: who calls it is below",
    ("client.py", "_Bot._post", "_post(?)"): "nothing by itself: every request of the library passes here",
    ("client.py", "_Bot.raw_updates", "_post(getUpdates)"): "asks for updates",
    ("events.py", "PrivatePosts._ask", "send_message"): "who forwarded a post, in their private chat",
    ("surface.py", "TelegramNotifier._below_the_card", "send_message"): "moderators, below a card in their group",
    ("surface.py", "TelegramNotifier.tell", "send_message"): "one person, in their private chat",
    ("platform.py", "TelegramPlatform.post", "send_message"): "everybody: a reply that a person approved",
    ("presses.py", "PrivateWords._change", "call(editEphemeralMessageText)"): "who pressed a button, ephemerally",
    ("presses.py", "PrivateWords._change", "edit_message_text"): "who pressed a button, in their private chat",
    ("presses.py", "PrivateWords._send", "send_document"): "who pressed a button, in their private chat",
    (
        "presses.py",
        "PrivateWords._send",
        "send_message",
    ): "who pressed a button, ephemerally or in their private chat",
    ("presses.py", "PrivateWords.tell_alone", "send_message"): "who pressed a button, in their private chat",
    ("speech.py", "TelegramAnswer._change_shown", "editMessageText"): "who asked, in their private chat",
    ("speech.py", "TelegramAnswer._edit", "call(?)"): "who asked, ephemerally",
    ("speech.py", "TelegramAnswer._edit", "editMessageText"): "compares the name",
    ("speech.py", "TelegramAnswer._edit", "edit_message_text"): "who asked, in their private chat",
    ("speech.py", "TelegramAnswer._whisper_anew", "send_message"): "who asked, ephemerally, or nobody",
    ("speech.py", "TelegramAnswer._write", "send_message"): "who asked, in their private chat",
    ("messages.py", "PrivateChat._changed", "edit_message_text"): "a manager, in their private chat",
    ("messages.py", "PrivateChat.ask", "send_message"): "a manager, in their private chat",
    ("messages.py", "PrivateChat.put", "send_message"): "a manager, in their private chat",
    ("messages.py", "PrivateChat.send", "send_document"): "a manager, in their private chat",
    ("surface.py", "TelegramReviewSurface._edit", "edit_message_text"): "moderators, on a card in their group",
    ("surface.py", "TelegramReviewSurface._send", "send_message"): "moderators, as a card in their group",
}
"""Each place that makes or changes a message, by its file and function, and who reads it there."""


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def test_the_librarys_shortcuts_for_answers_are_not_used() -> None:
    """As an answer to an ephemeral message they write for everybody."""
    shortcuts = {name for name in dir(Message) if name.startswith("reply_") and callable(getattr(Message, name))}
    assert "reply_text" in shortcuts
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert shortcuts.isdisjoint(node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)), path


def _places(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """What makes a message, with the function that it stands in; ``call(?)`` names its method only as it runs."""
    named = {_plain(name) for name in _WRITING}
    left: list[tuple[ast.AST, str]] = [(tree, "")]
    while left:
        node, inside = left.pop()
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            inside = f"{inside}.{node.name}".lstrip(".")
        left += [(child, inside) for child in ast.iter_child_nodes(node)]
        if isinstance(node, ast.Attribute) and node.attr in _WRITING:
            yield inside, node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _plain(node.value) in named:
            yield inside, node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _RAW:
            method = node.args[0] if node.args else None
            yield inside, f"{node.func.attr}({str(method.value) if isinstance(method, ast.Constant) else '?'})"


def test_every_place_that_makes_a_message_was_looked_at() -> None:
    """A new one fails here, and so does one that has gone, until somebody has looked who reads its words."""
    found = Counter(
        (path.name, *place)
        for path in sorted(ROOT.rglob("*.py"))
        for place in _places(ast.parse(path.read_text(encoding="utf-8")))
    )
    assert found == Counter(dict.fromkeys(LOOKED_AT, 1))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("async def f(bot):\n    await bot.send_photo(1)", ("f", "send_photo")),
        ("class A:\n    def f(self):\n        return lambda: self.bot.copy_message", ("A.f", "copy_message")),
        ("send = getattr(bot, 'send_message')", ("", "send_message")),
        ("await client.call('sendMessage', chat_id=1)", ("", "call(sendMessage)")),
        ("await client.call(name)", ("", "call(?)")),
        ("await bot.do_api_request(endpoint=name)", ("", "do_api_request(?)")),
    ],
)
def test_each_way_to_make_a_message_is_seen(code: str, found: tuple[str, str]) -> None:
    """By the library's methods, by their names, and by a call of any method."""
    assert found in set(_places(ast.parse(code)))
