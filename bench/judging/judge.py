"""How many verdicts a ranking needs, and whether the judge's verdicts agree with another judge's.

    python -m bench.judging.judge                                    simulated judges, no model
    python -m bench.judging.judge --record MATRICES --posts FILE     full matrices of the configured judge, post by post
    python -m bench.judging.judge --matrices MATRICES                the same methods on recorded verdicts
    python -m bench.judging.judge --pairs FILE [--resume LOG]        agreement with the scores of another judge

``MATRICES`` and ``LOG`` are JSON lines that grow row by row; after a kill the same command continues. Matrices are
recorded for 12 drafts and replayed for the 6 and the 12 with the best rewards.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from scipy.stats import kendalltau

from bench.judging.tournaments import TRIALS, recorded_savings, replay, simulated_savings, simulation
from bench.measuring.meter import Meter, measured
from bench.measuring.output import Row, note, save, show
from bench.measuring.samples import Log, Sample, read_rows, read_samples, spread
from bench.replies.runs import open_bench_engine
from bench.replies.systems import brief_of
from core.cards.bank import cards_on, general_cards, load_cards
from core.engine import Engine
from core.errors import AntiphonError, BadInput
from core.llm.budget import Budget, MeteredModel
from core.llm.profiles import PAPER
from core.models import Brief, Intent
from core.scoring.rewards import argument_quality, embedded_scorers, evaluate
from core.stages.arguing.evidence import find_evidence
from core.stages.judging.judge_formats import Comparison, Judge
from core.stages.search.drafting import compose

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


RECORDED = 12
REPLAYED = (6, 12)
_PAIR_FIELDS = frozenset({"id", "post", "reply_1", "reply_2", "score_1", "score_2"})


async def _record(path: Path, posts: Path, limit: int, seed: int) -> None:
    log = Log(path, {"bench": "matrices", "drafts": RECORDED, "seed": seed})
    async with open_bench_engine() as engine:
        await record(engine, spread(read_samples(posts), seed)[:limit], RECORDED, log)


async def _pairs(path: Path, limit: int, seed: int, resume: Path | None) -> list[Row]:
    rows: list[Mapping[str, Any]] = [*read_rows(path)]
    if not all(row.keys() >= _PAIR_FIELDS for row in rows):
        raise BadInput(f"A row of {path} lacks a field.", remedy=f"Each needs {', '.join(sorted(_PAIR_FIELDS))}.")
    random.Random(seed).shuffle(rows)  # nosec B311 # noqa: S311 - repeatable, no secret
    log = Log(resume, {"bench": "pairs", "pairs": path.name, "seed": seed})
    async with open_bench_engine() as engine:
        await judge_pairs(engine, rows[:limit], log)
    return agreement(log.of_kind(PAIR))


def _replayed(path: Path, seed: int) -> dict[str, Sequence[Row]]:
    if not path.exists():
        raise BadInput(f"There is no {path}.", remedy="Make it with --record.")
    records = Log(path, {"bench": "matrices", "drafts": RECORDED, "seed": seed}).of_kind(MATRIX)
    return {
        "Recorded judge": replay(records, REPLAYED),
        "Recorded judge: verdicts saved": recorded_savings(records, REPLAYED),
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, help="add full matrices of the configured judge to this file")
    parser.add_argument("--posts", type=Path, help="JSON lines with post and target_group, for --record")
    parser.add_argument("--matrices", type=Path, help="replay what --record wrote")
    parser.add_argument("--pairs", type=Path, help="JSON lines with id, post, reply_1, reply_2, score_1, score_2")
    parser.add_argument("--resume", type=Path, help="a log for --pairs that is added to, and gone on from")
    parser.add_argument("--limit", type=int, default=40, help="rows that are used of a file")
    parser.add_argument("--seed", type=int, default=0, help="draws those rows")
    parser.add_argument("--out", type=Path, help="write the JSON here instead of standard output")
    options = parser.parse_args()
    if options.record and not options.posts:
        parser.error("--record needs --posts FILE")
    return options


def main() -> None:
    """Run what the options ask for; without any, the simulation."""
    options = _options()
    tables: dict[str, Sequence[Row]]
    try:
        if options.record:
            asyncio.run(_record(options.record, options.posts, options.limit, options.seed))
            return
        if options.matrices:
            tables = _replayed(options.matrices, options.seed)
        elif options.pairs:
            found = asyncio.run(_pairs(options.pairs, options.limit, options.seed, options.resume))
            tables = {"Agreement with another judge": found}
        else:
            tables = {f"Simulated judges, {TRIALS} each": simulation(), "Verdicts saved": simulated_savings()}
    except AntiphonError as err:
        raise SystemExit(str(err)) from err
    for title, rows in tables.items():
        show(title, rows)
    save(options.out, tables)


if __name__ == "__main__":
    main()
