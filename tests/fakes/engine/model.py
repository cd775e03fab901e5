"""A language model that says what a test tells it to, by the kind of prompt that it is asked."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from core.engine.llm.prompts import load_prompt, prompt_names
from core.engine.ports import Answer, Generation, Message
from core.errors import ModelAway

Shares = dict[str, float] | None
Text = str | Sequence[str] | Callable[[Sequence[Message]], str | tuple[str, ...]]
Choice = Shares | Callable[[Sequence[Message], Sequence[str]], Shares]


@cache
def _system_texts() -> dict[str, re.Pattern[str]]:
    """Each prompt's system text as a pattern, its blanks open."""
    found = {}
    for name in prompt_names():
        parts = re.split(r"\{[a-z_]+\}", load_prompt(name).messages[0].content)
        found[name] = re.compile(".*".join(re.escape(part) for part in parts), re.DOTALL)
    return found


def kind_of(messages: Sequence[Message]) -> str:
    return next(name for name, text in _system_texts().items() if text.fullmatch(messages[0].content))


class FakeModel:
    """A ``LanguageModel`` without a model.

    Args:
        texts: what it writes for a kind of prompt: a text, texts for one call after the other (the last is repeated),
            or a function of the messages: one text, or a tuple of samples. Of any other kind it writes ``otherwise``.
        shares: what it chooses for a kind: the options' shares, ``None`` for no readable answer, or a function of
            messages and options. Of any other kind it gives every option the same share.
        chances: the probabilities of yes that are read from its JSON, by the kind of prompt and the field.
        down: the kinds that raise ``ModelAway``; ``True`` for all.
        delay_seconds: how long it takes for each answer.
    """

    def __init__(
        self,
        *,
        texts: Mapping[str, Text] | None = None,
        shares: Mapping[str, Choice] | None = None,
        otherwise: str = "",
        chances: Mapping[str, Mapping[str, float]] | None = None,
        down: bool | Iterable[str] = (),
        delay_seconds: float = 0.0,
    ) -> None:
        self._texts, self._shares, self._otherwise = dict(texts or {}), dict(shares or {}), otherwise
        self._chances = dict(chances or {})
        self._down = down if isinstance(down, bool) else frozenset(down)
        self._delay_seconds = delay_seconds
        self.calls: Counter[str] = Counter()
        self.asked: list[tuple[str, Sequence[Message], Generation | None]] = []
        self.was_asked = asyncio.Event()

    async def generate(self, messages: Sequence[Message], how: Generation, timeout_seconds: float) -> Answer:
        """The text that the test gave, ``how.n`` times."""
        kind = await self._ask(messages, how)
        text = self._texts.get(kind, self._otherwise)
        if callable(text):
            text = text(messages)
        elif not isinstance(text, str):
            text = text[min(self.calls[kind], len(text)) - 1]
        chances = {name: one for name, one in self._chances.get(kind, {}).items() if name in how.read}
        samples = text if isinstance(text, tuple) else (text,) * how.n
        return Answer(samples, prompt_tokens=10, completion_tokens=5, chances=chances)

    async def choose(
        self, messages: Sequence[Message], options: Sequence[str], timeout_seconds: float
    ) -> tuple[Shares, Answer]:
        kind = await self._ask(messages, None)
        shares = self._shares.get(kind, dict.fromkeys(options, 1 / len(options)))
        if callable(shares):
            shares = shares(messages, options)
        return shares, Answer(("",), prompt_tokens=10, completion_tokens=1)

    async def _ask(self, messages: Sequence[Message], how: Generation | None) -> str:
        kind = kind_of(messages)
        self.calls[kind] += 1
        self.asked.append((kind, messages, how))
        self.was_asked.set()
        await asyncio.sleep(self._delay_seconds)
        if self._down is True or (not isinstance(self._down, bool) and kind in self._down):
            raise ModelAway("The fake model is down.")
        return kind
