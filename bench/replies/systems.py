"""The systems that are compared, and the result of each for a post, with what it cost.

A system is a name and a way to answer; ``plain`` is the same model with the RAG paper's prompt without retrieval
(Appendix B), the others are the engine under a profile. What an answer cost is measured from outside the engine: time
in model calls, calls, tokens, memory.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any

import psutil

from bench.measures.samples import Sample
from core.engine.llm.budget import PROFILES, Profile
from core.engine.llm.prompts import quoted
from core.engine.pipeline import Engine
from core.engine.ports import Answer, Embedder, Generation, LanguageModel, Message
from core.engine.readers.networks import Readers
from core.engine.request import Request
from core.engine.scoring.check import check_reply, read_drafts
from core.engine.scoring.gates import GateContext
from core.engine.scoring.grounding import NAME, unsupported
from core.engine.wording.slurs import slurs_in
from core.engine.wording.text import sentences
from core.models import Action, Brief, Evidence, FlaggedPost, PostRef, Reading, Suggestion, TargetGroup

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


SLUR = "slur"
FIGURE = "figure without evidence"


def flags_of(text: str, brief: Brief, readers: Readers, max_characters: int = 2000) -> list[str]:
    """Why a person should look at a reply, in words; empty where nothing stood out. Blocking: call it in a thread."""
    flags = []
    scores = read_drafts(readers.drafts, brief.post.text, [text], brief.language)[0]
    if scores and scores.fault:
        flags.append(f"reader: {scores.fault}")
    fault = check_reply(text, GateContext(brief, max_characters)).fault
    if fault:
        flags.append(f"gate: {fault}")
    if slurs_in(text):
        flags.append(SLUR)
    if strange_figures(text, brief.evidence, brief.reading.language):
        flags.append(FIGURE)
    return flags


def strange_figures(text: str, evidence: Sequence[Evidence], language: str | None) -> set[str]:
    """The figures and dates, as written in the text, that no passage holds."""
    items = unsupported(text, evidence, language or "en")
    return {item.text for item in items if item.kind != NAME}


PLAIN = "plain"
_PLAIN_SYSTEM = (
    "You answer hateful posts with counterspeech that is concise, respectful, persuasive and self-contained, in at "
    "most two sentences, fit for social media."
)
_PLAIN = Generation(max_tokens=150, temperature=0.5, seed=0)
_SECONDS = 600.0
_DROPPED = re.compile(r"^gates: drafts dropped[^:]*: (\d+) ")


@dataclass(frozen=True)
class FirstReply:
    """A system's first reply, before its cost is added; ``reply`` is empty where it advised against one."""

    reply: str
    brief: Brief
    seconds: float
    first_draft_seconds: float | None = None
    dropped: int = 0


@dataclass(frozen=True)
class SystemOutcome:
    """The result of one system for one post, and its cost.

    ``model_seconds`` is the time in which a call of the language model was in flight, ``embedding_seconds`` the time in
    which the embedding model worked (``None`` where it worked for other posts meanwhile), ``dropped`` the number of
    drafts that a gate stopped, ``flags`` why a person should look at it.
    """

    system: str
    id: str
    reply: str
    seconds: float
    first_draft_seconds: float | None
    model_seconds: float
    embedding_seconds: float | None
    calls: int
    prompt_tokens: int
    completion_tokens: int
    peak_mib: float
    dropped: int
    flags: list[str]

    @property
    def overhead_seconds(self) -> float | None:
        """The engine's own time, without the time in which a model worked; ``None`` where that is not known."""
        return None if self.embedding_seconds is None else self.seconds - self.model_seconds - self.embedding_seconds


Answering = Callable[[Engine, Sample], Awaitable[FirstReply]]


async def answer(
    name: str, answering: Answering, engine: Engine, sample: Sample, *, alone: bool = True
) -> SystemOutcome:
    """One system's answer to one post, measured; ``alone`` says that the engine answers no other post meanwhile."""
    metered, meter = measured(engine)
    embedded = seconds_of(engine.readers.embedder)
    async with watched_memory() as peak:
        first = await answering(metered, sample)
    embedded = seconds_of(engine.readers.embedder) - embedded
    flags = await asyncio.to_thread(flags_of, first.reply, first.brief, engine.readers) if first.reply else []
    return SystemOutcome(
        system=name,
        id=sample.id,
        reply=first.reply,
        seconds=first.seconds,
        first_draft_seconds=first.first_draft_seconds,
        model_seconds=meter.seconds,
        embedding_seconds=embedded if alone else None,
        calls=meter.calls,
        prompt_tokens=meter.prompt_tokens,
        completion_tokens=meter.completion_tokens,
        peak_mib=peak.mib,
        dropped=first.dropped,
        flags=flags,
    )


def system_named(name: str, profiles: Callable[[str], Profile] = PROFILES.__getitem__) -> Answering:
    """The plain model, or the engine under the profile of that name."""
    return plain if name == PLAIN else under(profiles(name))


def under(profile: Profile) -> Answering:

    async def suggest(engine: Engine, sample: Sample) -> FirstReply:
        started = time.monotonic()
        suggestion = await engine.suggest(Request(post_of(sample), profile))
        return first_reply(suggestion, time.monotonic() - started)

    return suggest


async def plain(engine: Engine, sample: Sample) -> FirstReply:
    """The model alone, its first two sentences."""
    started = time.monotonic()
    messages = [Message("system", _PLAIN_SYSTEM), Message("user", f"{quoted(sample.post)}\nWrite the reply.")]
    completion = await engine.model.generate(messages, _PLAIN, _SECONDS)
    reply = " ".join(sentences(" ".join(completion.texts[0].split()))[:2])
    took = time.monotonic() - started
    return FirstReply(reply, brief_of(sample), took, took)


def post_of(sample: Sample) -> FlaggedPost:
    return FlaggedPost(PostRef("bench", "bench", "bench", sample.id), sample.post, "author", "bench", "bench")


def brief_of(sample: Sample) -> Brief:
    """What is known of a sample without a reading: an English post about its group, and no evidence."""
    group = TargetGroup(sample.target_group) if sample.target_group in list(TargetGroup) else None
    reading = Reading("en", group, None, None, None, None, None, None, None, Action.REPLY, "benchmark")
    return Brief(post_of(sample), reading, "", ())


def first_reply(suggestion: Suggestion, seconds: float) -> FirstReply:
    """What the engine would have said, with the number of drafts that its notes say were dropped."""
    first = suggestion.drafts[0] if suggestion.drafts else None
    dropped = (_DROPPED.match(text) for text in suggestion.degraded)
    return FirstReply(
        reply=first.text if first else "",
        brief=Brief(suggestion.post, suggestion.reading, suggestion.claim or "", suggestion.evidence),
        seconds=seconds,
        first_draft_seconds=suggestion.cost.first_draft_seconds,
        dropped=sum(int(match.group(1)) for match in dropped if match),
    )
