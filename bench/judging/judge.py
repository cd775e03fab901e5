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
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.judging.agreement import PAIR, agreement, judge_pairs
from bench.judging.tournaments import TRIALS, recorded_savings, replay, simulated_savings, simulation
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
