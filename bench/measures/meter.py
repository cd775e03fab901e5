"""What an answer cost, measured from outside the engine: time in model calls, calls, tokens, memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any

import psutil

from core.engine.pipeline import Engine
from core.engine.ports import Answer, Embedder, Generation, LanguageModel, Message

_LOOKS_EVERY_SECONDS = 0.1


@dataclass
class Meter:
    """Counts the calls of all models of one engine. ``clock`` gives seconds; only differences matter."""

    clock: Callable[[], float] = time.monotonic
    seconds: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    _in_flight: int = field(default=0, repr=False)
    _since: float = field(default=0.0, repr=False)

    @contextmanager
    def running(self) -> Iterator[None]:
        """One call; ``seconds`` grows by the time in which at least one was in flight."""
        self.calls += 1
        self._in_flight += 1
        if self._in_flight == 1:
            self._since = self.clock()
        try:
            yield
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self.seconds += self.clock() - self._since

    def count(self, answer: Answer) -> None:
        """Add the tokens of an answer."""
        self.prompt_tokens += answer.prompt_tokens
        self.completion_tokens += answer.completion_tokens


@dataclass(frozen=True)
class MeasuredModel:
    """A ``LanguageModel`` whose calls are counted."""

    model: LanguageModel
    meter: Meter

    async def generate(self, messages: Sequence[Message], how: Generation, timeout_seconds: float) -> Answer:
        with self.meter.running():
            answer = await self.model.generate(messages, how, timeout_seconds)
        self.meter.count(answer)
        return answer

    async def choose(
        self, messages: Sequence[Message], options: Sequence[str], timeout_seconds: float
    ) -> tuple[dict[str, float] | None, Answer]:
        with self.meter.running():
            shares, answer = await self.model.choose(messages, options, timeout_seconds)
        self.meter.count(answer)
        return shares, answer


def measured(engine: Engine) -> tuple[Engine, Meter]:
    """The same engine, with the calls of all its language models counted by one meter."""
    meter = Meter()
    return with_models(engine, lambda model: MeasuredModel(model, meter)), meter


def with_models(engine: Engine, wrap: Callable[[LanguageModel], LanguageModel]) -> Engine:
    parts = {part.name: getattr(engine, part.name) for part in fields(engine)}
    models: dict[str, Any] = {name: wrap(part) for name, part in parts.items() if hasattr(part, "choose")}
    return replace(engine, **models)


def seconds_of(embedder: Embedder) -> float:
    """How long an embedding model has worked so far; 0 where it does not count this."""
    return float(getattr(embedder, "seconds", 0.0))


@dataclass
class Peak:
    """The most memory that this process held, in MiB."""

    mib: float = 0.0

    def look(self) -> None:
        """Note how much memory the process holds now."""
        self.mib = max(self.mib, psutil.Process().memory_info().rss / 2**20)


@asynccontextmanager
async def watched_memory() -> AsyncIterator[Peak]:
    """Look every tenth of a second. An embedded model counts, with its mapped weights: it runs in this process."""
    peak = Peak()

    async def watch() -> None:
        while True:
            peak.look()
            await asyncio.sleep(_LOOKS_EVERY_SECONDS)

    watching = asyncio.create_task(watch())
    try:
        yield peak
    finally:
        peak.look()
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
