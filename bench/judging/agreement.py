"""Ways to find the better of two replies, compared with the scores that another judge gave to both.

The recorded judge saw each pair in one order only and mostly prefers the reply that it read second. So there is also a
balanced accuracy: the mean of the accuracy on pairs that it decided for the first reply and on those for the second.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from scipy.stats import kendalltau

from bench.measuring.meter import Meter, measured
from bench.measuring.output import Row, note
from bench.measuring.samples import Log, Sample
from bench.replies.systems import brief_of
from core.engine import Engine
from core.llm.budget import Budget, MeteredModel
from core.llm.profiles import PAPER
from core.scoring.rewards import argument_quality
from core.stages.judging.judge_formats import Judge

PAIR = "pair"
Opinion = Callable[[Mapping[str, Any]], float]
"""From a recorded row to how strongly it prefers the first reply; 0 is no opinion."""


def _letter(logit: float) -> float:
    return math.copysign(1.0, logit) if logit else 0.0


OPINIONS: dict[str, tuple[Opinion, tuple[str, ...]]] = {
    "one order, logits": (lambda row: row["there"], ("there",)),
    "one order, letters": (lambda row: _letter(row["there"]), ("there",)),
    "both orders, logits": (lambda row: row["there"] - row["back"], ("there", "back")),
    "both orders, letters": (lambda row: _letter(row["there"]) - _letter(row["back"]), ("there", "back")),
    "quality reward": (lambda row: row["quality"], ("quality",)),
    "stance head": (lambda row: row["stance"], ("stance",)),
    "the longer reply": (lambda row: row["longer"], ()),
    "always the second": (lambda row: -1.0, ()),
}
"""The ways to judge, each with the measured steps that it needs."""


async def judge_pairs(engine: Engine, rows: Sequence[Mapping[str, Any]], log: Log) -> None:
    """Ask in every way about every pair with different scores, except for answers that the log holds."""
    done = {row["id"] for row in log.of_kind(PAIR)}
    for place, row in enumerate(rows, start=1):
        if row["id"] not in done and row["score_1"] != row["score_2"]:
            log.add({"kind": PAIR, "id": row["id"], "gap": row["score_1"] - row["score_2"], **await _ask(engine, row)})
            if not place % 10:
                note(f"{place}/{len(rows)} pairs")


async def _ask(engine: Engine, row: Mapping[str, Any]) -> dict[str, object]:
    """The opinions, and for each measured step its seconds, calls and tokens."""
    counted, meter = measured(engine)
    model, brief = MeteredModel(counted.model, Budget(PAPER)), brief_of(Sample(row["id"], row["post"]))
    first, second = row["reply_1"], row["reply_2"]
    cost: dict[str, list[float]] = {}

    async def quality() -> float | None:
        marks = [await argument_quality(brief, text, model) for text in (first, second)]
        return None if None in marks else float(marks[0] or 0.0) - float(marks[1] or 0.0)

    async def stance() -> float:
        sure = await asyncio.to_thread(engine.readers.drafts.read, brief.post.text, [first, second], brief.language)
        return sure[0].opposes - sure[1].opposes

    async def verdict(one: str, other: str) -> float | None:
        said = await Judge(model).compare(brief, one, other)
        return said.logit if said else None

    return {
        "there": await _timed("there", verdict(first, second), meter, cost),
        "back": await _timed("back", verdict(second, first), meter, cost),
        "quality": await _timed("quality", quality(), meter, cost),
        "stance": await _timed("stance", stance(), meter, cost),
        "longer": float(len(first) - len(second)),
        "cost": cost,
    }


async def _timed(
    step: str, asking: Awaitable[float | None], meter: Meter, cost: dict[str, list[float]]
) -> float | None:
    started, calls = time.monotonic(), meter.calls
    tokens = meter.prompt_tokens + meter.completion_tokens
    found = await asking
    spent = meter.prompt_tokens + meter.completion_tokens - tokens
    cost[step] = [time.monotonic() - started, meter.calls - calls, spent]
    return found


def agreement(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Each way's agreement and price, over the pairs for which all its steps gave an answer."""
    table: list[Row] = []
    for name, (opinion, steps) in OPINIONS.items():
        known = [row for row in rows if all(row[step] is not None for step in steps)]
        if not known:
            continue
        mine, theirs = [opinion(row) for row in known], [row["gap"] for row in known]
        seconds, calls, tokens = ([sum(row["cost"][step][at] for step in steps) for row in known] for at in range(3))
        table.append({
            "opinion": name, "pairs": len(known), "accuracy": accuracy(mine, theirs),
            "balanced": balanced_accuracy(mine, theirs), "kendall's tau": tau(mine, theirs),
            "calls a pair": fmean(calls), "s a pair (median)": median(seconds), "tokens a pair": fmean(tokens),
        })  # fmt: skip
    return table


def accuracy(mine: Sequence[float], theirs: Sequence[float]) -> float | None:
    """The share of pairs with the same preference; no opinion counts half. ``None`` without pairs."""
    hits = [0.5 if not own else float((own > 0) == (other > 0)) for own, other in zip(mine, theirs, strict=True)]
    return fmean(hits) if hits else None


def balanced_accuracy(mine: Sequence[float], theirs: Sequence[float]) -> float | None:
    """The mean accuracy over the two preferences of the other judge; ``None`` where it has one only."""
    sides = [accuracy(*_where(mine, theirs, is_first)) for is_first in (True, False)]
    known = [side for side in sides if side is not None]
    return fmean(known) if len(known) == len(sides) else None


def tau(mine: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Kendall's tau-b between the gaps of both judges; ``None`` where one of them never differs."""
    if len({*mine}) < 2 or len({*theirs}) < 2:
        return None
    return float(kendalltau(mine, theirs).statistic)


def _where(mine: Iterable[float], theirs: Iterable[float], is_first: bool) -> tuple[list[float], list[float]]:
    kept = [(own, other) for own, other in zip(mine, theirs, strict=True) if (other > 0) == is_first]
    return [own for own, _ in kept], [other for _, other in kept]
