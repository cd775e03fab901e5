"""The systems that are compared, and the result of each for a post.

A system is a name and a way to answer; ``plain`` is the same model with the RAG paper's prompt without retrieval
(Appendix B), the others are the engine under a profile.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bench.measures.meter import measured, seconds_of, watched_memory
from bench.measures.samples import Sample
from core.engine.llm.budget import PROFILES, Profile
from core.engine.llm.prompts import quoted
from core.engine.pipeline import Engine
from core.engine.ports import Generation, Message
from core.engine.readers.networks import Readers
from core.engine.request import Request
from core.engine.scoring.check import check_reply, read_drafts
from core.engine.scoring.gates import GateContext
from core.engine.scoring.grounding import NAME, unsupported
from core.engine.wording.slurs import slurs_in
from core.engine.wording.text import sentences
from core.models import Action, Brief, Evidence, FlaggedPost, PostRef, Reading, Suggestion, TargetGroup, Verdict

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
    facts: int = 0
    facts_supported: int = 0


@dataclass(frozen=True)
class SystemOutcome:
    """The result of one system for one post, and its cost.

    ``model_seconds`` is the time in which a call of the language model was in flight, ``embedding_seconds`` the time in
    which the embedding model worked (``None`` where it worked for other posts meanwhile), ``dropped`` the number of
    drafts that a gate stopped, ``facts`` the number of factual sentences in the reply, ``flags`` why a person should
    look at it.
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
    facts: int
    facts_supported: int
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
        facts=first.facts,
        facts_supported=first.facts_supported,
        flags=flags,
    )


def system_named(name: str, profiles: Callable[[str], Profile] = PROFILES.__getitem__) -> Answering:
    """The plain model, or the engine under the profile of that name."""
    return plain if name == PLAIN else under(profiles(name))


def under(profile: Profile, claim: str | None = None) -> Answering:
    """The engine under a profile; ``claim`` as a moderator would choose it."""

    async def suggest(engine: Engine, sample: Sample) -> FirstReply:
        started = time.monotonic()
        suggestion = await engine.suggest(Request(post_of(sample), profile, claim=claim))
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
    receipts = first.receipts if first else ()
    dropped = (_DROPPED.match(text) for text in suggestion.degraded)
    return FirstReply(
        reply=first.text if first else "",
        brief=Brief(suggestion.post, suggestion.reading, suggestion.claim or "", suggestion.evidence),
        seconds=seconds,
        first_draft_seconds=suggestion.cost.first_draft_seconds,
        dropped=sum(int(match.group(1)) for match in dropped if match),
        facts=len(receipts),
        facts_supported=sum(receipt.verdict is Verdict.SUPPORTED for receipt in receipts),
    )
