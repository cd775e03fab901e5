"""What a person types: an answer, a text that is there already to be changed, a post of several lines.

Owns the line editor and the modes of the terminal, which are as they were once it is closed, also after Ctrl-C. Must
never take what was typed before a question for the answer, where the answer is a consent.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Final, Protocol

from rich.console import Console
from rich.text import Text

from core.errors import BadInput

END_OF_PASTE: Final = "."
_PROMPT: Final = "> "
_PASTES_END: Final = b"\x1b[?2004l"
"""Takes back what a line editor asked of the terminal: to mark what is pasted."""


class Keyboard(Protocol):
    """A person at a keyboard; ``None`` is the end of the input (Ctrl-D)."""

    async def ask(self, question: str, *, is_consent: bool = False) -> str | None:
        """One line. A consent is only what was typed after the question was shown."""
        ...

    async def edit(self, question: str, text: str) -> str | None:
        """A text, as the person changed it."""
        ...

    async def paste(self, question: str) -> str | None:
        """All lines up to one that holds a full stop alone, or up to Ctrl-D; ``None`` where there are none."""
        ...

    async def line(self) -> str:
        """The next line that is typed while something else goes on; it can be cancelled, and no key is lost."""
        ...


class TypedKeyboard:
    """``Keyboard`` over the terminal that the process was started in.

    Args:
        lines: GNU readline (``line_editor``). Without it the person types a text anew, and is told so.
    """

    def __init__(self, console: Console, lines: ModuleType | None) -> None:
        self._console = console
        self._lines = lines

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Within the block it may be typed on; afterwards the terminal is as it was."""
        screen = sys.stdin.fileno()
        modes = termios.tcgetattr(screen)
        try:
            yield
        finally:
            termios.tcsetattr(screen, termios.TCSANOW, modes)
            if self._lines is not None:
                os.write(sys.stdout.fileno(), _PASTES_END)

    async def ask(self, question: str, *, is_consent: bool = False) -> str | None:
        """One line; what was typed before is thrown away where it would be taken for a consent."""
        if is_consent:
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        self._say(question)
        answer = await asyncio.to_thread(self._read)
        return None if answer is None else answer.strip()

    async def edit(self, question: str, text: str) -> str | None:
        """A text that stands in the line already."""
        self._say(question)
        if self._lines is not None:
            return await asyncio.to_thread(self._read, text)
        self._say(f"Now it reads:\n{text}\nThere is no line editor here: type it anew. Enter alone keeps it as it is.")
        anew = await asyncio.to_thread(self._read)
        return anew if anew is None else anew or text

    async def paste(self, question: str) -> str | None:
        """All lines up to a full stop alone, or up to Ctrl-D."""
        self._say(question)
        if self._lines is None:
            self._say("There is no line editor here, and the terminal may cut a line of more than 4,095 bytes.")
        found = list[str]()
        while (typed := await asyncio.to_thread(self._read)) is not None:
            found += typed.split("\n")
            if found[-1].strip() == END_OF_PASTE:
                found.pop()
                break
        return "\n".join(found).strip("\n") or None

    async def line(self) -> str:
        """The next line; without the line editor, so that a cancelled call leaves no reader behind."""
        loop, screen = asyncio.get_running_loop(), sys.stdin.fileno()
        typed: asyncio.Future[str] = loop.create_future()

        def read() -> None:
            raw = os.read(screen, 4096)
            if not raw:  # the end of the input: nothing more is typed
                loop.remove_reader(screen)
            elif not typed.done():
                typed.set_result(raw.decode(errors="replace").strip())

        loop.add_reader(screen, read)
        try:
            return await typed
        finally:
            loop.remove_reader(screen)

    def _say(self, question: str) -> None:
        self._console.print(Text(question, style="bold"), soft_wrap=True)

    def _read(self, begun: str = "") -> str | None:
        """One line, which begins with a text that can be changed; blocking."""
        begin: Callable[[], None] | None = None
        if self._lines is not None and begun:
            insert = self._lines.insert_text

            def begin() -> None:
                insert(begun)

        if self._lines is not None:
            self._lines.set_startup_hook(begin)
        try:
            return input(_PROMPT)
        except EOFError:
            self._console.print()
            return None
        except UnicodeDecodeError as fault:
            raise BadInput("What was typed is not UTF-8.", remedy="Type it again without that character.") from fault


def line_editor() -> ModuleType | None:
    """GNU readline, set so that it takes a tab for a tab and remembers no post.

    ``None`` where this Python has none, or where what it shows would not reach a terminal.
    """
    if not sys.stdout.isatty():
        return None
    try:
        lines = importlib.import_module("readline")
    except ImportError:
        return None
    lines.parse_and_bind("tab: self-insert")
    lines.parse_and_bind("set enable-bracketed-paste on")
    lines.set_auto_history(False)
    return lines
