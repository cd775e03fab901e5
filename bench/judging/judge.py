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
from bench.judging.matrices import MATRIX, record
from bench.judging.tournaments import TRIALS, recorded_savings, replay, simulated_savings, simulation
from bench.measuring.output import Row, save, show
from bench.measuring.samples import Log, read_rows, read_samples, spread
from bench.replies.runs import open_bench_engine
from core.errors import AntiphonError, BadInput

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
