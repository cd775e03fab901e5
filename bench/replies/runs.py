"""Runs systems over posts, one post after the other or several at once, and then the referee over their replies.

The referee comes after all answers: its prompts would push the engine's prompts out of the model's slots, and the
engine's time would include reading them again. No stage of the engine uses its prompts, so that no loop optimises for
them. Three questions are asked in both orders with log-probabilities; the names of the replies are drawn by seed. A
reply is compared with the reply that a person wrote. The mean of its shares over the questions is its composite reward:
0.5 is as good as the person's. It says what the configured model prefers, not what people prefer.
"""

import asyncio
import itertools
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, fields
from itertools import combinations
from statistics import fmean
from typing import Any

from scipy.special import expit, logit

from bench.measures.output import note
from bench.measures.samples import Log, Sample
from bench.replies.systems import Answering, SystemOutcome, answer
from bot.compose.engine import open_engine
from bot.settings import load_settings
from core.engine.llm.prompts import quoted
from core.engine.pipeline import Engine
from core.engine.ports import LanguageModel, Message
from core.errors import BadInput

QUESTIONS = {
    "cogency": "Whose reasons hold? Prefer sound reasons and true, checkable statements to slogans, and never a reply "
    "that grants the post a point.",
    "relevance": "Which one answers this very post? Prefer what meets the claim that the post makes about these people "
    "to what could stand under any post.",
    "effect": "Imagine a silent reader of the thread. Prefer what would make that reader side calmly with the people "
    "under attack; scorn, preaching and anger would not.",
}
_ROLE = "Two comments stand under a message that attacks people. Answer with the letter of one comment."
NAMES = ("A", "B", "M", "N", "P", "Q", "X", "Y")
_SUREST = 0.999
_SECONDS = 600.0


@dataclass(frozen=True)
class Referee:
    """Compares replies. ``seed`` draws the names, the same for the same post and replies."""

    model: LanguageModel
    seed: int = 0

    async def share(self, post: str, left: str, right: str) -> float | None:
        """What ``left`` gets of the preference against ``right``, in [0, 1]; ``None`` if any answer is unreadable.

        Both orders are asked under the same two names, so that the effects of a place and a name cancel out. The
        questions come last in the prompt, so that a server reads post and replies once for all of them.
        """
        chance = random.Random(f"{self.seed}:{post}:{left}:{right}")  # nosec B311 # noqa: S311 - repeatable, no secret
        names = chance.sample(NAMES, 2)
        there = [await self._logit(question, post, (left, right), names) for question in QUESTIONS.values()]
        back = [await self._logit(question, post, (right, left), names) for question in QUESTIONS.values()]
        if None in there or None in back:
            return None
        # The share at the mean of two logits, the second taken the other way round.
        gaps = [(first or 0.0) - (second or 0.0) for first, second in zip(there, back, strict=True)]
        return fmean(float(expit(gap / 2)) for gap in gaps)

    async def _logit(self, question: str, post: str, replies: tuple[str, str], names: list[str]) -> float | None:
        """The logit of the share of the reply that is read first."""
        comments = "\n".join(f"Comment {name}: {text}" for name, text in zip(names, replies, strict=True))
        messages = [Message("system", _ROLE), Message("user", f"{quoted(post)}\n{comments}\n{question}")]
        shares, _ = await self.model.choose(messages, tuple(names), _SECONDS)
        if shares is None:
            return None
        return float(logit(min(max(shares[names[0]], 1 - _SUREST), _SUREST)))


ANSWER, REWARD, DUEL = "answer", "reward", "duel"
Turn = tuple[str, Sample]
"""A system and the post that it answers next."""
Reply = tuple[str, str]
"""A system and what it said."""
_FIELDS = [part.name for part in fields(SystemOutcome)]


def open_bench_engine() -> AbstractAsyncContextManager[Engine]:
    """The configured engine with one slot more than it has prompts, so that ``plain`` does not take a slot from it."""
    settings = load_settings()
    if settings.llm.backend == "embedded":
        more = settings.llm.model_copy(update={"parallel": settings.llm.parallel + 1})
        settings = settings.model_copy(update={"llm": more})
    return open_engine(settings)


def unanswered(systems: Iterable[str], samples: Sequence[Sample], limits: Mapping[str, int], log: Log) -> list[Turn]:
    """The answers that are still missing, as system and post, in the order of their turns.

    Every system gets the first ``limits[system]`` samples. The systems take turns at each post, so that changes in the
    machine's speed affect all of them alike.
    """
    done = {(row["system"], row["id"]) for row in log.of_kind(ANSWER)}
    names = list(systems)
    turns = [(name, sample) for place, sample in enumerate(samples) for name in names if place < limits[name]]
    return [(name, sample) for name, sample in turns if (name, sample.id) not in done]


async def answer_all(
    engine: Engine,
    systems: Mapping[str, Answering],
    samples: Sequence[Sample],
    limits: Mapping[str, int],
    log: Log,
    at_once: int = 1,
) -> None:
    """Every answer that the log does not hold yet, ``at_once`` at a time.

    Raises:
        AntiphonError: the first error of a system; the answers in flight are given up.
        BadInput: ``at_once`` is below 1.
    """
    if at_once < 1:
        raise BadInput(f"--at-once {at_once} is wrong.", remedy="Name a number above 0.")
    turns = unanswered(systems, samples, limits, log)
    free, came, started = asyncio.Semaphore(at_once), itertools.count(1), time.monotonic()

    async def take(name: str, sample: Sample) -> None:
        async with free:
            outcome = await answer(name, systems[name], engine, sample, alone=at_once == 1)
        log.add({"kind": ANSWER, **asdict(outcome)})
        note(f"{next(came)}/{len(turns)} {name}: {outcome.seconds:.1f} s, {outcome.calls} calls")

    try:
        async with asyncio.TaskGroup() as group:
            for name, sample in turns:
                group.create_task(take(name, sample))
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    if turns:
        took = time.monotonic() - started
        note(f"{len(turns)} answers in {took:.0f} s, {at_once} at once: {60 * len(turns) / took:.2f} a minute.")


def unrewarded(systems: Iterable[str], samples: Sequence[Sample], log: Log) -> list[tuple[Sample, str]]:
    """The replies that the referee has not yet compared with the person's; equal replies to a post count once."""
    names, human = set(systems), {sample.id: sample for sample in samples if sample.human_reply}
    replies = {(o.id, o.reply): None for o in outcomes_of(log) if o.system in names and o.reply and o.id in human}
    rewarded = {(row["id"], row["reply"]) for row in log.of_kind(REWARD)}
    return [(human[id_], reply) for id_, reply in replies if (id_, reply) not in rewarded]


async def referee_all(referee: Referee, samples: Sequence[Sample], systems: Iterable[str], log: Log) -> None:
    """The composite reward of every reply that has none yet."""
    for sample, reply in unrewarded(systems, samples, log):
        share = await referee.share(sample.post, reply, sample.human_reply)
        log.add({"kind": REWARD, "id": sample.id, "reply": reply, "share": share})


def unfought(systems: Sequence[str], samples: Sequence[Sample], log: Log) -> list[tuple[Sample, Reply, Reply]]:
    """The first replies of two systems to the same post that the referee has not yet compared."""
    done = {(row["left"], row["right"], row["id"]) for row in log.of_kind(DUEL)}
    replies = {(outcome.system, outcome.id): outcome.reply for outcome in outcomes_of(log)}
    return [
        (sample, (left, replies[left, sample.id]), (right, replies[right, sample.id]))
        for sample in samples
        for left, right in combinations(systems, 2)
        if replies.get((left, sample.id)) and replies.get((right, sample.id)) and (left, right, sample.id) not in done
    ]


async def duel_all(referee: Referee, samples: Sequence[Sample], systems: Sequence[str], log: Log) -> None:
    """The first replies of every two systems against each other; equal replies share evenly."""
    for sample, (left, reply), (right, other) in unfought(systems, samples, log):
        share = 0.5 if reply == other else await referee.share(sample.post, reply, other)
        log.add({"kind": DUEL, "id": sample.id, "left": left, "right": right, "share": share})


def outcomes_of(log: Log) -> list[SystemOutcome]:
    return [SystemOutcome(**_only(row)) for row in log.of_kind(ANSWER)]


def rewards_of(log: Log) -> dict[tuple[str, str], float]:
    """The composite reward of each system for each post, where there is one."""
    shares = {(row["id"], row["reply"]): row["share"] for row in log.of_kind(REWARD)}
    rewards = {(outcome.system, outcome.id): shares.get((outcome.id, outcome.reply)) for outcome in outcomes_of(log)}
    return {key: share for key, share in rewards.items() if share is not None}


def column(outcomes: Iterable[SystemOutcome], system: str, figure: str) -> dict[str, float]:
    """One figure of one system for each post that it replied to, by the post's id."""
    return {o.id: float(getattr(o, figure)) for o in outcomes if o.system == system and o.reply}


def _only(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in _FIELDS}
