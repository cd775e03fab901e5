"""Systems over posts, one post after the other, kept as they go; then the referee over what they said.

The referee comes after all answers: its prompts would push the engine's out of the model's slots, and the engine would
then be charged for reading them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, fields
from itertools import combinations
from typing import Any

from bench.output import note
from bench.referee import Referee
from bench.samples import Log, Sample
from bench.systems import Answering, Outcome, answer
from bot.app import open_engine
from bot.settings import load_settings
from core.engine import Engine

ANSWER, REWARD, DUEL = "answer", "reward", "duel"
_FIELDS = [part.name for part in fields(Outcome)]


def open_bench_engine() -> AbstractAsyncContextManager[Engine]:
    """The configured engine with one slot more than it has prompts: ``plain`` then takes no slot away from it."""
    settings = load_settings()
    if settings.llm.backend == "embedded":
        more = settings.llm.model_copy(update={"parallel": settings.llm.parallel + 1})
        settings = settings.model_copy(update={"llm": more})
    return open_engine(settings)


async def answer_all(
    engine: Engine, systems: Mapping[str, Answering], samples: Sequence[Sample], limits: Mapping[str, int], log: Log
) -> None:
    """Every system on the first ``limits[system]`` samples; what the log holds is not asked again.

    The systems take turns at each post, so that the machine's moods fall on all alike.
    """
    done = {(row["system"], row["id"]) for row in log.of_kind(ANSWER)}
    for place, sample in enumerate(samples):
        for name, answering in systems.items():
            if place < limits[name] and (name, sample.id) not in done:
                outcome = await answer(name, answering, engine, sample)
                log.add({"kind": ANSWER, **asdict(outcome)})
                note(f"{place + 1}/{limits[name]} {name}: {outcome.seconds:.1f} s, {outcome.calls} calls")


async def referee_all(referee: Referee, samples: Sequence[Sample], systems: Iterable[str], log: Log) -> None:
    """The composite reward of every reply, against the person's; the same reply to the same post is asked once."""
    wanted = set(systems)
    known = {(row["id"], row["reply"]): row["share"] for row in log.of_kind(REWARD)}
    human = {sample.id: sample for sample in samples if sample.human_reply}
    for outcome in outcomes_of(log):
        key = (outcome.id, outcome.reply)
        if outcome.system in wanted and outcome.reply and outcome.id in human and key not in known:
            sample = human[outcome.id]
            known[key] = await referee.share(sample.post, outcome.reply, sample.human_reply)
            log.add({"kind": REWARD, "id": outcome.id, "reply": outcome.reply, "share": known[key]})


async def duel_all(referee: Referee, samples: Sequence[Sample], systems: Sequence[str], log: Log) -> None:
    """The first replies of every two systems to the same post against each other; equal replies share evenly."""
    done = {(row["left"], row["right"], row["id"]) for row in log.of_kind(DUEL)}
    said = {(outcome.system, outcome.id): outcome.reply for outcome in outcomes_of(log)}
    for sample in samples:
        for left, right in combinations(systems, 2):
            one, other = said.get((left, sample.id)), said.get((right, sample.id))
            if one and other and (left, right, sample.id) not in done:
                share = 0.5 if one == other else await referee.share(sample.post, one, other)
                log.add({"kind": DUEL, "id": sample.id, "left": left, "right": right, "share": share})


def outcomes_of(log: Log) -> list[Outcome]:
    """All answers that a log holds."""
    return [Outcome(**_only(row)) for row in log.of_kind(ANSWER)]


def rewards_of(log: Log) -> dict[tuple[str, str], float]:
    """The composite reward of each system for each post, where there is one."""
    shares = {(row["id"], row["reply"]): row["share"] for row in log.of_kind(REWARD)}
    found = {(outcome.system, outcome.id): shares.get((outcome.id, outcome.reply)) for outcome in outcomes_of(log)}
    return {key: share for key, share in found.items() if share is not None}


def column(outcomes: Iterable[Outcome], system: str, figure: str) -> dict[str, float]:
    """One figure of one system for each post that it replied to, by the post's id."""
    return {o.id: float(getattr(o, figure)) for o in outcomes if o.system == system and o.reply}


def _only(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in _FIELDS}
