"""How many verdicts a ranking needs, and whether the judge's verdicts agree with another judge's.

    python -m bench.judge                                    simulated judges, no model
    python -m bench.judge --record MATRICES --posts FILE     full matrices of the configured judge, post by post
    python -m bench.judge --matrices MATRICES                the same methods on recorded verdicts
    python -m bench.judge --pairs FILE [--resume LOG]        agreement with the scores of another judge

``MATRICES`` and ``LOG`` are JSON lines that grow row by row; after a kill the same command continues. Matrices are
recorded for 12 drafts and replayed for the 6 and the 12 with the best rewards.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations, permutations, takewhile
from math import ceil
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import kendalltau

from bench.measures.meter import Meter, measured
from bench.measures.output import Row, note, save, show
from bench.measures.samples import Log, Sample, read_rows, read_samples, spread
from bench.replies.runs import open_bench_engine
from bench.replies.systems import brief_of
from core.engine.arguing.evidence import find_evidence
from core.engine.cards.answers import answers, shipped_vectors
from core.engine.cards.bank import cards_on, general_cards
from core.engine.llm.budget import Budget, MeteredModel
from core.engine.llm.profiles import PAPER, VERDICTS_EACH
from core.engine.pipeline import Engine
from core.engine.review import tournament
from core.engine.review.judge import Comparison, Judge
from core.engine.review.tournament import Tournament
from core.engine.scoring.rewards import argument_quality, embedded_scorers, evaluate
from core.engine.wording.target_groups import named
from core.engine.writing.first_drafts import compose
from core.errors import AntiphonError, BadInput
from core.models import Brief, Intent

Matrix = Mapping[tuple[int, int], float]
"""The logit of the share that goes to the first of an ordered pair."""
Method = Callable[[Sequence[float], Matrix], tuple[list[int], int]]
"""From seeds and verdicts to the order, best first, and how many verdicts it asked for."""
Truth = Callable[[Matrix, int], list[int]]
"""The right order, best first, from all verdicts and the number of candidates."""
TRIALS = 300
SIZES = (4, 6, 12, 24)
SCALES = (0.1, 1.0, 4.0)
TOP = 3
BUDGETS = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 7.0, 9.0)
"""The limits that are swept, in verdicts for each candidate."""
MARGINS = (0.0, 0.02)
LARGEST_SWEPT = 12
_NO_DOUBT = 1e-12
_RIDGE = 1e-4
_ROUNDING = 1e-9
_BEST, _THREE, _VERDICTS = "best found", "best three found", "verdicts"


@dataclass(frozen=True)
class Trial:
    """One post: the right order, the seeds that a method may see, and every verdict that it may ask for."""

    truth: list[int]
    seeds: Sequence[float]
    matrix: Matrix


def hard_round_robin(seeds: Sequence[float], matrix: Matrix) -> tuple[list[int], int]:
    """The seed: every pair in both orders, one point for the likelier letter."""
    points = dict.fromkeys(range(len(seeds)), 0)
    for (first, second), logit in matrix.items():
        points[first if logit > 0 else second] += 1
    return sorted(points, key=lambda index: -points[index]), len(matrix)


def soft_round_robin(seeds: Sequence[float], matrix: Matrix) -> tuple[list[int], int]:
    """Every pair in both orders, with the logits summed."""
    points = dict.fromkeys(range(len(seeds)), 0.0)
    for (first, second), logit in matrix.items():
        points[first] += logit
        points[second] -= logit
    return sorted(points, key=lambda index: -points[index]), len(matrix)


def knockout(seeds: Sequence[float], matrix: Matrix) -> tuple[list[int], int]:
    """A knockout: the best seed meets the worst, with a verdict in each order; those who lose later rank higher."""
    alive, fallen, calls = sorted(range(len(seeds)), key=lambda index: -seeds[index]), list[int](), 0
    while len(alive) > 1:
        half = len(alive) // 2
        winners = alive[: len(alive) - 2 * half]
        losers = []
        for strong, weak in zip(alive[len(alive) - 2 * half :][:half], reversed(alive), strict=False):
            calls += 2
            wins = matrix[strong, weak] - matrix[weak, strong] > 0
            winners.append(strong if wins else weak)
            losers.append(weak if wins else strong)
        fallen = sorted(losers, key=lambda index: -seeds[index]) + fallen
        alive = sorted(winners, key=lambda index: -seeds[index])
    return alive + fallen, calls


def adaptive(seeds: Sequence[float], matrix: Matrix) -> tuple[list[int], int]:
    """Ours, within its limit of two verdicts a candidate."""
    tournament = Tournament(seeds)
    while len(tournament.asked) < VERDICTS_EACH * len(seeds) and (pair := tournament.next_pair()):
        tournament.add_verdict(*pair, matrix[pair])
    return tournament.order, len(tournament.asked)


def rewards_alone(seeds: Sequence[float], _: Matrix) -> tuple[list[int], int]:
    """No judge at all."""
    return sorted(range(len(seeds)), key=lambda index: -seeds[index]), 0


HARD, SOFT = "round robin, letters (seed)", "round robin, logits"
METHODS: dict[str, Method] = {
    HARD: hard_round_robin,
    SOFT: soft_round_robin,
    "knockout, both orders": knockout,
    "adaptive (ours)": adaptive,
    "rewards alone": rewards_alone,
}


def simulated(size: int, scale: float, chance: random.Random) -> tuple[list[float], list[float], Matrix]:
    """True qualities, seeds and all verdicts of one simulated judge."""
    qualities = [chance.gauss(0, 1) for _ in range(size)]
    seeds = [0.6 * quality + 0.8 * chance.gauss(0, 1) for quality in qualities]
    shared = {pair: chance.gauss(0, 0.5) for pair in combinations(range(size), 2)}
    matrix = {}
    for first, second in permutations(range(size), 2):
        whim = shared[first, second] if first < second else -shared[second, first]
        own = qualities[first] - qualities[second] + 0.5 + 0.7 * chance.gauss(0, 1)
        matrix[first, second] = scale * (own + whim)
    return qualities, seeds, matrix


def simulation(seed: int = 0) -> list[Row]:
    """Every method on the same judges: how often it finds the best and the best three, and how much it asks for."""
    return [row for size in SIZES for row in _table(simulated_trials(size, seed), {"candidates": size})]


def simulated_trials(size: int, seed: int = 0) -> list[Trial]:
    """Judges of all scales, each with its verdicts on other candidates."""
    chance = random.Random(seed + size)  # nosec B311 # noqa: S311 - repeatable, no secret
    judges = [simulated(size, chance.choice(SCALES), chance) for _ in range(TRIALS)]
    return [Trial(_order(qualities), seeds, matrix) for qualities, seeds, matrix in judges]


def recorded_trials(records: Sequence[Mapping[str, Any]], size: int, truth: Truth) -> list[Trial]:
    """Recorded verdicts cut down to the ``size`` candidates with the best seeds, as the engine would choose them.

    Cutting is exact: a verdict on two candidates does not depend on the others.
    """
    trials = []
    for record in records:
        whole = dict(zip(permutations(range(len(record["seeds"])), 2), record["logits"], strict=True))
        order = _order(record["seeds"])[:size]
        if len(order) == size:
            matrix = {(a, b): whole[order[a], order[b]] for a, b in permutations(range(size), 2)}
            trials.append(Trial(truth(matrix, size), [record["seeds"][index] for index in order], matrix))
    return trials


def replay(records: Sequence[Mapping[str, Any]], sizes: Sequence[int]) -> list[Row]:
    """Every method on recorded verdicts, compared with each truth, which only the round robins see as a whole."""
    rows: list[Row] = []
    for size in sizes:
        for name, truth in TRUTHS.items():
            trials = recorded_trials(records, size, truth)
            if trials:
                rows += _table(trials, {"candidates": size, "truth": name, "posts": len(trials)})
    return rows


def savings(trials: Sequence[Trial], about: Row) -> list[Row]:
    """The fewest verdicts with which ours is as good as a round robin at the best and at the best three.

    The limit of verdicts is swept, and ours must use all of it. Every greater limit must be as good too, so that a
    lucky one does not count. ``None`` where no limit is good enough.
    """
    ours = [_hits(outcomes) for outcomes in zip(*map(swept, trials), strict=True)]
    rows: list[Row] = []
    for peer in (HARD, SOFT):
        theirs = _hits(_run(METHODS[peer], trials))
        for margin in MARGINS:
            enough = _least(ours, theirs, margin)
            verdicts = enough[_VERDICTS] if enough else None
            rows.append({
                **about, "as good as": peer, "within": margin, "its best": theirs[_BEST], "its three": theirs[_THREE],
                "its verdicts": theirs[_VERDICTS], "ours": verdicts,
                "saved %": None if verdicts is None else 100 * (1 - verdicts / theirs[_VERDICTS]),
            })  # fmt: skip
    return rows


def simulated_savings() -> list[Row]:
    """``savings`` on simulated judges of each size except the largest, where a sweep takes very long."""
    sizes = [size for size in SIZES if size <= LARGEST_SWEPT]
    return [row for size in sizes for row in savings(simulated_trials(size), {"candidates": size})]


def recorded_savings(records: Sequence[Mapping[str, Any]], sizes: Sequence[int]) -> list[Row]:
    """``savings`` on recorded verdicts, compared with each truth."""
    return [
        row
        for size in sizes
        for name, truth in TRUTHS.items()
        if (trials := recorded_trials(records, size, truth))
        for row in savings(trials, {"candidates": size, "truth": name})
    ]


def swept(trial: Trial) -> list[tuple[list[int], list[int], int]]:
    """Our outcome under each of ``BUDGETS``, using all verdicts even where the first places seem settled.

    One run gives all of them: the order of the questions does not depend on the limit.
    """
    n, outcomes = len(trial.seeds), list[tuple[list[int], list[int], int]]()
    with _never_settled():
        tournament = Tournament(trial.seeds)
        for each in BUDGETS:
            while len(tournament.asked) < ceil(each * n) and (pair := tournament.next_pair()):
                tournament.add_verdict(*pair, trial.matrix[pair])
            outcomes.append((trial.truth, tournament.order, len(tournament.asked)))
    return outcomes


@contextmanager
def _never_settled() -> Iterator[None]:
    before = tournament.ERROR_BUDGET
    tournament.ERROR_BUDGET = _NO_DOUBT
    try:
        yield
    finally:
        tournament.ERROR_BUDGET = before


def logit_sums(matrix: Matrix, size: int) -> list[int]:
    """The order of the round robin on logits, the best first."""
    return soft_round_robin([0.0] * size, matrix)[0]


def bradley_terry(matrix: Matrix, size: int) -> list[int]:
    """The order by Bradley-Terry's maximum likelihood on all shares, without one preference for a place."""
    pairs, logits = np.array(list(matrix)), np.array(list(matrix.values()))
    shares = 1 / (1 + np.exp(-logits))

    def loss(x: NDArray[np.float64]) -> float:
        gaps = x[pairs[:, 0]] - x[pairs[:, 1]] + x[size]
        return float(np.sum(np.logaddexp(0, gaps) - shares * gaps) + _RIDGE * np.sum(x[:size] ** 2))

    return _order(list(minimize(loss, np.zeros(size + 1)).x[:size]))


TRUTHS: dict[str, Truth] = {"round robin, logits": logit_sums, "Bradley-Terry": bradley_terry}


def _order(qualities: Sequence[float]) -> list[int]:
    return sorted(range(len(qualities)), key=lambda index: -qualities[index])


def _run(method: Method, trials: Sequence[Trial]) -> list[tuple[list[int], list[int], int]]:
    return [(trial.truth, *method(trial.seeds, trial.matrix)) for trial in trials]


def _table(trials: Sequence[Trial], about: Row) -> list[Row]:
    return [{"method": name, **about, **_hits(_run(method, trials))} for name, method in METHODS.items()]


def _hits(outcomes: Sequence[tuple[list[int], list[int], int]]) -> dict[str, float]:
    return {
        _BEST: fmean(truth[0] == order[0] for truth, order, _ in outcomes),
        _THREE: fmean(len({*truth[:TOP]} & {*order[:TOP]}) / TOP for truth, order, _ in outcomes),
        _VERDICTS: fmean(calls for _, _, calls in outcomes),
        "verdicts a candidate": fmean(calls / len(truth) for truth, _, calls in outcomes),
    }


def _least(
    ours: Sequence[Mapping[str, float]], theirs: Mapping[str, float], margin: float
) -> Mapping[str, float] | None:
    """Our result with the smallest limit from which on all results are as good as theirs."""
    good = list(takewhile(lambda hits: _is_as_good(hits, theirs, margin), reversed(ours)))
    return good[-1] if good else None


def _is_as_good(hits: Mapping[str, float], theirs: Mapping[str, float], margin: float) -> bool:
    return all(hits[name] >= theirs[name] - margin - _ROUNDING for name in (_BEST, _THREE))


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
    metered, meter = measured(engine)
    model, brief = MeteredModel(metered.model, Budget(PAPER)), brief_of(Sample(row["id"], row["post"]))
    first, second = row["reply_1"], row["reply_2"]
    cost: dict[str, list[float]] = {}

    async def quality() -> float | None:
        marks = [await argument_quality(brief, text, model) for text in (first, second)]
        return None if None in marks else float(marks[0] or 0.0) - float(marks[1] or 0.0)

    async def stance() -> float:
        sure = await asyncio.to_thread(engine.readers.drafts.read, brief.post.text, [first, second], brief.language)
        return sure[0].opposes - sure[1].opposes

    async def verdict(left: str, right: str) -> float | None:
        comparison = await Judge(model).compare(brief, left, right)
        return comparison.logit if comparison else None

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
    opinion = await asking
    spent = meter.prompt_tokens + meter.completion_tokens - tokens
    cost[step] = [time.monotonic() - started, meter.calls - calls, spent]
    return opinion


def agreement(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Each way's agreement and price, over the pairs for which all its steps gave an answer."""
    table: list[Row] = []
    for name, (opinion, steps) in OPINIONS.items():
        complete = [row for row in rows if all(row[step] is not None for step in steps)]
        if not complete:
            continue
        mine, theirs = [opinion(row) for row in complete], [row["gap"] for row in complete]
        seconds, calls, tokens = ([sum(row["cost"][step][at] for step in steps) for row in complete] for at in range(3))
        table.append({
            "opinion": name, "pairs": len(complete), "accuracy": accuracy(mine, theirs),
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
    accuracies = [side for side in sides if side is not None]
    return fmean(accuracies) if len(accuracies) == len(sides) else None


def tau(mine: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Kendall's tau-b between the gaps of both judges; ``None`` where one of them never differs."""
    if len({*mine}) < 2 or len({*theirs}) < 2:
        return None
    return float(kendalltau(mine, theirs).statistic)


def _where(mine: Iterable[float], theirs: Iterable[float], is_first: bool) -> tuple[list[float], list[float]]:
    pairs = [(own, other) for own, other in zip(mine, theirs, strict=True) if (other > 0) == is_first]
    return [own for own, _ in pairs], [other for _, other in pairs]


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
        comparisons: list[Comparison | None] = []
        for first in texts:  # together: a server reads what they share once
            others = [other for other in texts if other != first]
            comparisons += await asyncio.gather(*(judge.compare(brief, first, other) for other in others))
        logits = [comparison.logit for comparison in comparisons if comparison]
        if len(logits) < len(comparisons):
            note(f"{place}/{len(samples)} {sample.id}: an unreadable answer, left out")
            continue
        row: dict[str, Any] = {"id": sample.id, "seeds": [score.total or 0.0 for score in scores], "logits": logits}
        log.add({"kind": MATRIX, **row})
        note(f"{place}/{len(samples)} {sample.id}: {len(logits)} verdicts in {model.budget.seconds:.0f} s")


async def drafts_for(engine: Engine, sample: Sample, size: int) -> tuple[Brief, list[str]]:
    """The drafts that the engine would start from: arguments with their facts, and the replies nearest to the post."""
    brief = brief_of(sample)
    group = brief.reading.target_group
    if group is None:
        return brief, []
    routes = await asyncio.to_thread(engine.router.route, sample.post, "en", group)
    close = [*(card for route in routes for card in cards_on(route.stereotype.id, "en")), *general_cards(group, "en")]
    facts = [card.fact for card in close if card.fact]
    evidence, _ = await find_evidence([sample.post], brief.reading, close[0].claim, engine.evidence, named=facts)
    brief = Brief(brief.post, brief.reading, close[0].claim, tuple(evidence))
    texts: dict[str, None] = {}
    for card in close:
        composed = compose(brief, [card], tuple(Intent), random.Random(sample.id))  # nosec B311 # noqa: S311 - repeatable, no secret
        texts |= dict.fromkeys(candidate.text for candidate in composed)
    vectors, names = shipped_vectors(), named(sample.post)
    features = await asyncio.to_thread(vectors.features, sample.post, "en", engine.router, engine.readers.embedder)
    for answer in map(answers().__getitem__, vectors.nearest(features)):
        name = answer.of(names)
        if name or not answer.kinds:
            texts[answer.called(name)[0]] = None
        if len(texts) >= size:
            break
    return brief, list(texts)[:size]


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
            pair_rows = asyncio.run(_pairs(options.pairs, options.limit, options.seed, options.resume))
            tables = {"Agreement with another judge": pair_rows}
        else:
            tables = {f"Simulated judges, {TRIALS} each": simulation(), "Verdicts saved": simulated_savings()}
    except AntiphonError as err:
        raise SystemExit(str(err)) from err
    for title, rows in tables.items():
        show(title, rows)
    save(options.out, tables)


if __name__ == "__main__":
    main()
