"""A language model whose choices are kept, so that a killed run goes on without asking them again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.samples import Log
from core.ports import Answer, Generation, LanguageModel, Message

CHOICE = "choice"


@dataclass
class RememberedModel:
    """A ``LanguageModel`` that keeps the shares of each choice in a log, under a hash of what was asked.

    Choices are made at temperature 0, so the kept one is what the model would say again. What it writes is not kept.
    """

    model: LanguageModel
    log: Log
    _known: dict[str, dict[str, float] | None] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._known = {row["key"]: row["shares"] for row in self.log.of_kind(CHOICE)}

    async def generate(self, messages: Sequence[Message], how: Generation, timeout_seconds: float) -> Answer:
        """As the model's."""
        return await self.model.generate(messages, how, timeout_seconds)

    async def choose(
        self, messages: Sequence[Message], options: Sequence[str], timeout_seconds: float
    ) -> tuple[dict[str, float] | None, Answer]:
        """As the model's; one that is known costs no tokens."""
        asked = [[[message.role, message.content] for message in messages], list(options)]
        key = hashlib.sha256(json.dumps(asked).encode()).hexdigest()
        if key in self._known:
            return self._known[key], Answer(("",), 0, 0)
        shares, answer = await self.model.choose(messages, options, timeout_seconds)
        self._known[key] = shares
        self.log.add({"kind": CHOICE, "key": key, "shares": shares})
        return shares, answer
