"""A language model whose answers are kept, so that the same seeded question is not asked twice."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from bench.measuring.samples import Log
from core.ports import Answer, Generation, LanguageModel, Message

CHOICE = "choice"
Choice = tuple[dict[str, float] | None, Answer]


@dataclass
class RememberedModel:
    """A ``LanguageModel`` that keeps its answers, with their tokens, under a hash of the question.

    The shares of a choice are made at temperature 0 and are kept in the log. A text that was asked for with a seed is
    kept as long as this object lives, so that the log holds no text. A text without a seed is asked for each time.
    """

    model: LanguageModel
    log: Log
    _chosen: dict[str, Choice] = field(init=False, repr=False)
    _written: dict[str, Answer] = field(default_factory=dict, init=False, repr=False)
    _asking: dict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock), init=False, repr=False)

    def __post_init__(self) -> None:
        self._chosen = {row["key"]: _choice(row["shares"], *row["tokens"]) for row in self.log.of_kind(CHOICE)}

    async def generate(self, messages: Sequence[Message], how: Generation, timeout_seconds: float) -> Answer:
        """As the model's; those who ask the same meanwhile wait for it."""
        if how.seed is None:
            return await self.model.generate(messages, how, timeout_seconds)
        key = _key(messages, asdict(how))
        async with self._asking[key]:
            if key not in self._written:
                self._written[key] = await self.model.generate(messages, how, timeout_seconds)
        return self._written[key]

    async def choose(self, messages: Sequence[Message], options: Sequence[str], timeout_seconds: float) -> Choice:
        """As the model's; those who ask the same meanwhile wait for it."""
        key = _key(messages, list(options))
        async with self._asking[key]:
            if key not in self._chosen:
                shares, answer = await self.model.choose(messages, options, timeout_seconds)
                tokens = [answer.prompt_tokens, answer.completion_tokens]
                self.log.add({"kind": CHOICE, "key": key, "shares": shares, "tokens": tokens})
                self._chosen[key] = _choice(shares, *tokens)
        return self._chosen[key]


def _choice(shares: dict[str, float] | None, prompt_tokens: int, completion_tokens: int) -> Choice:
    return shares, Answer(("",), prompt_tokens, completion_tokens)


def _key(messages: Sequence[Message], how: object) -> str:
    asked = [[[message.role, message.content] for message in messages], how]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()
