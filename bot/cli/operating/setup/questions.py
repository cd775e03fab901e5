"""Questions at a terminal, or to a pipe: a bad answer is asked again, with the reason.

Owns the reading of answers. Must never echo a secret.
"""

from __future__ import annotations

import sys
import termios
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.text import Text

from core.errors import AntiphonError, BadInput, Unavailable

_T = TypeVar("_T")


class NoMoreAnswers(Exception):
    """The answers ended before the questions did."""


class Questions:
    """What is asked, one question after the other.

    Args:
        console: where questions stand.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, words: str, style: str = "") -> None:
        """Something that needs no answer."""
        self._console.print(Text(words, style), soft_wrap=True)

    def ask(
        self,
        question: str,
        check: Callable[[str], _T],
        *,
        default: str = "",
        look: Callable[[_T], object] = lambda _: None,
    ) -> _T:
        """An answer that holds.

        Args:
            check: gives what the answer means; raises ``AntiphonError`` for one that is refused.
            default: what an empty answer means.
            look: tries what was answered. Where that is not to be had now (``Unavailable``), the person may use it all
                the same; any other ``AntiphonError`` refuses it.
        """
        hint = f" [{default}]" if default else ""
        return self._until_right(lambda: self._line(question, hint) or default, check, look)

    def secret(
        self,
        question: str,
        check: Callable[[str], _T],
        *,
        kept: str = "",
        look: Callable[[_T], object] = lambda _: None,
    ) -> _T:
        """As ``ask``, without an echo.

        Args:
            kept: the secret that is set already, which an empty answer keeps; it is not shown.
        """
        hint = " [Enter keeps the one that is set]" if kept else ""

        def read() -> str:
            with _without_echo():
                answer = self._line(question, hint)
            if sys.stdin.isatty():
                self._console.print()
            return answer or kept

        return self._until_right(read, check, look)

    def choose(self, question: str, options: Mapping[str, str], default: str) -> str:
        """One of several, by its number or its name.

        Args:
            options: what each one means, by its name.
        """
        names = list(options)
        self.say(question)
        for number, (name, meaning) in enumerate(options.items(), start=1):
            self.say(f"  {number}  {name}: {meaning}")

        def check(answer: str) -> str:
            if answer.isdecimal() and 1 <= int(answer) <= len(names):
                return names[int(answer) - 1]
            if answer in options:
                return answer
            raise BadInput("That is none of them.", remedy=f"Type a number from 1 to {len(names)}, or a name.")

        return self.ask("Which one", check, default=default)

    def confirm(self, question: str, *, default: bool) -> bool:
        """Yes or no."""

        def check(answer: str) -> bool:
            if answer.casefold() in ("y", "yes"):
                return True
            if answer.casefold() in ("n", "no"):
                return False
            raise BadInput("That is neither yes nor no.", remedy="Type y or n.")

        return self.ask(question, check, default="y" if default else "n")

    def _until_right(self, read: Callable[[], str], check: Callable[[str], _T], look: Callable[[_T], object]) -> _T:
        while True:
            try:
                found = check(read())
                look(found)
            except Unavailable as err:
                self.say(str(err), "yellow")
                if self.confirm("Use it all the same", default=False):
                    return found
            except AntiphonError as err:
                self.say(str(err), "bold red")
            else:
                return found

    def _line(self, question: str, hint: str) -> str:
        self._console.print(Text(f"{question}{hint}: "), end="", soft_wrap=True)
        line = sys.stdin.readline()
        if not line.endswith("\n"):
            raise NoMoreAnswers
        if not sys.stdin.isatty():
            self._console.print()
        return line.strip()


@contextmanager
def _without_echo() -> Iterator[None]:
    """Let the terminal show nothing of what is typed; a pipe shows nothing anyway."""
    if not sys.stdin.isatty():
        yield
        return
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    quiet = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
    termios.tcsetattr(number, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)
