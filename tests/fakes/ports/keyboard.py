"""A person at a keyboard who types what a script says, and to whom a text is shown to be changed."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class ScriptedKeyboard:
    """Implements ``Keyboard``; at the end of the script the input ends. ``edited`` are the texts that stood there.

    A function in the script is called when its turn comes, and what it returns is typed. What is typed while something
    else goes on is taken from ``meanwhile``; when that is empty nobody types.
    """

    script: deque[str | Callable[[], str]] = field(default_factory=deque)
    meanwhile: deque[str | Callable[[], str]] = field(default_factory=deque)
    questions: list[str] = field(default_factory=list)
    consents: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)

    def types(self, *answers: str | Callable[[], str]) -> None:
        """Add to the script."""
        self.script.extend(answers)

    async def ask(self, question: str, *, is_consent: bool = False) -> str | None:
        self.questions.append(question)
        if is_consent:
            self.consents.append(question)
        return self._next()

    async def edit(self, question: str, text: str) -> str | None:
        self.questions.append(question)
        self.edited.append(text)
        return self._next()

    async def paste(self, question: str) -> str | None:
        self.questions.append(question)
        return self._next()

    async def line(self) -> str:
        if self.meanwhile:
            return _typed(self.meanwhile.popleft())
        await asyncio.Event().wait()
        raise AssertionError("nobody types")

    def _next(self) -> str | None:
        return _typed(self.script.popleft()) if self.script else None


def _typed(answer: str | Callable[[], str]) -> str:
    return answer if isinstance(answer, str) else answer()
