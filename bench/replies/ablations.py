"""The engine without one of its parts at a time, to measure what each part adds.

Every change is made at a port, in a profile or in the rewards' weights; the engine itself is not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from bench.measuring.meter import with_models
from bench.measuring.output import Row
from bench.measuring.samples import Log, Sample
from bench.measuring.significance import compare
from bench.replies.runs import column, rewards_of
from bench.replies.systems import Answering, Said, SystemOutcome, under
from core.engine import Engine
from core.llm.profiles import Profile
from core.llm.prompting import load_prompt, prompt_names
from core.ports import Answer, EvidenceQuery, Found, Generation, LanguageModel, Message
from core.scoring.rewards import WEIGHTS

AS_IS = "as is"
PATIENCE_SECONDS = 3600.0
SAME_CLAIM = "People deserve to be judged by what they do."
"""The claim of the variant without claim guidance: the same for every post, as a moderator might set it."""
MEASURES: Mapping[str, Callable[[SystemOutcome], float]] = {
    "flagged": lambda outcome: bool(outcome.flags),
    "facts supported": lambda outcome: outcome.facts_supported,
    "facts unsupported": lambda outcome: outcome.facts - outcome.facts_supported,
    "dropped": lambda outcome: outcome.dropped,
    "calls": lambda outcome: outcome.calls,
    "tokens": lambda outcome: outcome.prompt_tokens + outcome.completion_tokens,
}


class NoEvidence:
    """An ``EvidenceSource`` that finds nothing."""

    async def search(self, query: EvidenceQuery) -> Found:
        """Return no passages for any query."""
        return Found()


@dataclass(frozen=True)
class UnheardJudge:
    """A ``LanguageModel`` that gives no readable verdict to the judge's prompts, so that the rewards decide."""

    model: LanguageModel

    async def generate(self, messages: Sequence[Message], how: Generation, timeout_seconds: float) -> Answer:
        """As the model's."""
        return await self.model.generate(messages, how, timeout_seconds)

    async def choose(
        self, messages: Sequence[Message], options: Sequence[str], timeout_seconds: float
    ) -> tuple[dict[str, float] | None, Answer]:
        """As the model's, but ``None`` for a judge's prompt."""
        if messages[0].content in judging_prompts():
            return None, Answer(("",), 0, 0)
        return await self.model.choose(messages, options, timeout_seconds)


@cache
def judging_prompts() -> frozenset[str]:
    """How the judge's prompts begin."""
    return frozenset(load_prompt(name).messages[0].content for name in prompt_names() if name.startswith("judge"))


def variants(profile: Profile) -> dict[str, Answering]:
    """The engine under a profile unchanged, without each stage, and without each reward.

    The deadline is raised to an hour, so that the result does not depend on how busy the machine is. The limits of
    calls and tokens stay.
    """
    patient = replace(profile, deadline_seconds=PATIENCE_SECONDS)
    as_is = under(patient)

    def with_parts(change: Callable[[Engine], Engine]) -> Answering:
        async def suggest(engine: Engine, sample: Sample) -> Said:
            return await as_is(change(engine), sample)

        return suggest

    def unweighted(name: str) -> Answering:
        weights = {own: weight for own, weight in WEIGHTS.items() if own != name}
        return with_parts(lambda engine: replace(engine, scorers=replace(engine.scorers, weights=weights)))

    return {
        AS_IS: as_is,
        "no claim guidance": under(patient, claim=SAME_CLAIM),
        "no evidence": with_parts(lambda engine: replace(engine, evidence=NoEvidence())),
        "no annealing": under(replace(patient, target_score=0.0)),
        "no judge": with_parts(lambda engine: with_models(engine, UnheardJudge)),
        **{f"no {name}": unweighted(name) for name in WEIGHTS},
    }


def summary(names: Sequence[str], outcomes: Sequence[SystemOutcome], log: Log) -> list[Row]:
    """Each variant's means over the posts that it and the unchanged engine replied to, and what the part adds."""
    composite = _composite(names, log)
    rows: list[Row] = []
    for name in names:
        shared = [post for post in column(outcomes, name, "seconds") if post in column(outcomes, AS_IS, "seconds")]
        own = {outcome.id: outcome for outcome in outcomes if outcome.system == name}
        judged = [post for post in shared if post in composite[name] and post in composite[AS_IS]]
        rows.append({
            "variant": name,
            "posts": len(shared),
            "composite": _mean([composite[name][post] for post in judged]),
            "the part adds": _mean([composite[AS_IS][post] - composite[name][post] for post in judged]),
            "other reply": _mean([own[p].reply != _reply(outcomes, p) for p in shared]),
            **{measure: _mean([of(own[post]) for post in shared]) for measure, of in MEASURES.items()},
        })  # fmt: skip
    return rows


def tests(names: Sequence[str], outcomes: Sequence[SystemOutcome], log: Log) -> list[Row]:
    """Every variant against the unchanged engine, paired by post, with Bonferroni's correction for each measure."""
    found = compare("composite", _composite(names, log), against=AS_IS)
    for measure, of in MEASURES.items():
        columns = {name: {o.id: float(of(o)) for o in outcomes if o.system == name and o.reply} for name in names}
        found += compare(measure, columns, against=AS_IS)
    return found


def _composite(names: Sequence[str], log: Log) -> dict[str, dict[str, float]]:
    shares = rewards_of(log)
    return {name: {post: share for (own, post), share in shares.items() if own == name} for name in names}


def _reply(outcomes: Sequence[SystemOutcome], post: str) -> str:
    return next(outcome.reply for outcome in outcomes if outcome.system == AS_IS and outcome.id == post)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
