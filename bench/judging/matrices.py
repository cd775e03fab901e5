"""All verdicts of the configured judge on real drafts, on which the ranking methods are replayed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import Any

from bench.measuring.output import note
from bench.measuring.samples import Log, Sample
from bench.replies.systems import brief_of
from core.cards.bank import cards_on, general_cards, load_cards
from core.engine import Engine
from core.llm.budget import Budget, MeteredModel
from core.llm.profiles import PAPER
from core.models import Brief, Intent
from core.scoring.rewards import embedded_scorers, evaluate
from core.stages.arguing.evidence import find_evidence
from core.stages.judging.judge_formats import Comparison, Judge
from core.stages.search.drafting import compose

MATRIX = "matrix"


async def record(engine: Engine, samples: Sequence[Sample], size: int, log: Log) -> None:
    """The logits of all ordered pairs of ``size`` drafts for each post, with their rewards as seeds.

    They are in the order of ``itertools.permutations``: those with the same first draft are together. A post that is in
    the log is not asked about again; one with fewer drafts is left out. The log holds rewards and logits, no text.
    """
    done = {row["id"] for row in log.of_kind(MATRIX)}
    for place, sample in enumerate(samples, start=1):
        if sample.id in done:
            continue
        brief, texts = await drafts_for(engine, sample, size)
        if len(texts) < size:
            note(f"{place}/{len(samples)} {sample.id}: only {len(texts)} drafts, left out")
            continue
        scores, _ = await evaluate(brief, texts, embedded_scorers(engine.readers))
        model = MeteredModel(engine.model, Budget(PAPER))
        judge = Judge(model)
        said: list[Comparison | None] = []
        for first in texts:  # together: a server reads what they share once
            others = [other for other in texts if other != first]
            said += await asyncio.gather(*(judge.compare(brief, first, other) for other in others))
        logits = [comparison.logit for comparison in said if comparison]
        if len(logits) < len(said):
            note(f"{place}/{len(samples)} {sample.id}: an unreadable answer, left out")
            continue
        row: dict[str, Any] = {"id": sample.id, "seeds": [score.total or 0.0 for score in scores], "logits": logits}
        log.add({"kind": MATRIX, **row})
        note(f"{place}/{len(samples)} {sample.id}: {len(logits)} verdicts in {model.budget.seconds:.0f} s")


async def drafts_for(engine: Engine, sample: Sample, size: int) -> tuple[Brief, list[str]]:
    """The drafts that the engine would start from: prepared replies and evidence, the likeliest stereotype first."""
    brief = brief_of(sample)
    group = brief.reading.target_group
    if group is None:
        return brief, []
    routes = await asyncio.to_thread(engine.router.route, sample.post, "en", group)
    close = [*(card for one in routes for card in cards_on(one.stereotype.id, "en")), *general_cards(group, "en")]
    named = [card.fact for card in close if card.fact]
    evidence, _ = await find_evidence([sample.post], brief.reading, close[0].claim, engine.evidence, named=named)
    brief = Brief(brief.post, brief.reading, close[0].claim, tuple(evidence))
    rest = [card for card in load_cards("en") if card.target_group is group and card not in close]
    found: dict[str, None] = {}
    for card in [*close, *rest]:
        composed = compose(brief, [card], tuple(Intent), random.Random(sample.id))  # nosec B311 # noqa: S311 - repeatable, no secret
        found |= dict.fromkeys(candidate.text for candidate in composed)
        if len(found) >= size:
            break
    return brief, list(found)[:size]
