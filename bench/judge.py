"""How many verdicts a ranking needs, and whether the judge's verdicts agree with another judge's.

    python -m bench.judge                                       simulated judges, no model
    python -m bench.judge --record matrices.json --posts FILE   full matrices of the configured model
    python -m bench.judge --matrices matrices.json              the same methods on recorded verdicts
    python -m bench.judge --pairs FILE                          agreement with the scores of another judge

The peers are the seed's round robin of hard verdicts in both orders (CODEOFCONDUCT, section 3), the same round robin
on log-probabilities, and a knockout. A simulated judge's logit for a pair is its scale times (the difference of the
qualities, its liking for the first place, noise of its own and noise that both orders share). The seeds correlate with
the qualities by 0.6.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, permutations
from pathlib import Path
from statistics import fmean

import numpy as np
from scipy.stats import kendalltau

from bench.output import Row, save, show
from bot.app import open_engine
from bot.settings import load_settings
from core.budget import Budget, MeteredModel
from core.drafting import compose
from core.heads import Heads
from core.judge import VERDICTS_EACH
from core.models import Action, Brief, FlaggedPost, Intent, PostRef, Reading, TargetGroup
from core.profiles import PAPER
from core.ranking import Tournament
from core.verdicts import Judge
from core.vetted import matching_themes

Matrix = Mapping[tuple[int, int], float]
"""The logit of the share that goes to the first of an ordered pair."""
Method = Callable[[Sequence[float], Matrix], tuple[list[int], int]]
TRIALS = 300
SIZES = (4, 6, 12, 24)
SCALES = (0.1, 1.0, 4.0)
TOP = 3


def hard_round_robin(seeds: Sequence[float], matrix: Matrix) -> tuple[list[int], int]:
    """The seed: every pair in both orders, one point for the letter that is likelier."""
    points = dict.fromkeys(range(len(seeds)), 0)
    for (first, second), logit in matrix.items():
        points[first if logit > 0 else second] += 1
    return sorted(points, key=lambda index: -points[index]), len(matrix)


def soft_round_robin(seeds: Sequence[float], matrix: Matrix) -> tuple[list[int], int]:
    """Every pair in both orders, the logits summed."""
    points = dict.fromkeys(range(len(seeds)), 0.0)
    for (first, second), logit in matrix.items():
        points[first] += logit
        points[second] -= logit
    return sorted(points, key=lambda index: -points[index]), len(matrix)


def knockout(seeds: Sequence[float], matrix: Matrix) -> tuple[list[int], int]:
    """The best seed meets the worst; a pair is two verdicts, one in each order; losers rank by how late they fell."""
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
        tournament.tell(*pair, matrix[pair])
    return tournament.order, len(tournament.asked)


def rewards_alone(seeds: Sequence[float], _: Matrix) -> tuple[list[int], int]:
    """No judge at all."""
    return sorted(range(len(seeds)), key=lambda index: -seeds[index]), 0


METHODS: dict[str, Method] = {
    "round robin, letters (seed)": hard_round_robin,
    "round robin, logits": soft_round_robin,
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
    """Every method on the same judges: how often it finds the best and the best three, and what it asks for that."""
    rows: list[Row] = []
    for size in SIZES:
        chance = random.Random(seed + size)  # noqa: S311 - repeatable, no secret
        trials = [simulated(size, chance.choice(SCALES), chance) for _ in range(TRIALS)]
        for name, method in METHODS.items():
            outcomes = [(_order(qualities), *method(seeds, matrix)) for qualities, seeds, matrix in trials]
            rows.append({"method": name, "candidates": size, **_hits(outcomes)})
    return rows


def replay(recorded: Sequence[Mapping[str, list[float]]]) -> list[Row]:
    """Every method on recorded verdicts; the truth is the round robin on logits, which no method sees whole."""
    outcomes: dict[str, list[tuple[list[int], list[int], int]]] = {name: [] for name in METHODS}
    for one in recorded:
        pairs = list(permutations(range(len(one["seeds"])), 2))
        matrix = dict(zip(pairs, one["logits"], strict=True))
        truth, _ = soft_round_robin(one["seeds"], matrix)
        for name, method in METHODS.items():
            outcomes[name].append((truth, *method(one["seeds"], matrix)))
    return [{"method": name, "posts": len(found), **_hits(found)} for name, found in outcomes.items()]


def _order(qualities: Sequence[float]) -> list[int]:
    return sorted(range(len(qualities)), key=lambda index: -qualities[index])


def _hits(outcomes: Sequence[tuple[list[int], list[int], int]]) -> dict[str, float]:
    return {
        "best found": fmean(truth[0] == order[0] for truth, order, _ in outcomes),
        "best three found": fmean(len({*truth[:TOP]} & {*order[:TOP]}) / TOP for truth, order, _ in outcomes),
        "verdicts": fmean(calls for _, _, calls in outcomes),
        "verdicts a candidate": fmean(calls / len(truth) for truth, _, calls in outcomes),
    }


async def record(posts: Sequence[Mapping[str, str]], size: int = 6) -> list[dict[str, list[float]]]:
    """All ordered verdicts of the configured model on vetted drafts for each post, with the rewards as seeds."""
    found = []
    async with open_engine(load_settings()) as engine:
        for row in posts:
            judge = Judge(MeteredModel(engine.model, Budget(PAPER)))
            group = TargetGroup(row["target_group"])
            themes = matching_themes(row["post"], "en", group, engine.heads.embedder)
            brief = _brief(row["post"], group)
            drafts = compose(brief, themes, tuple(Intent), random.Random(0))[:size]  # noqa: S311
            texts = [draft.text for draft in drafts]
            seeds = [float(share) for share in engine.heads.opposes(row["post"], texts)]
            said = [await judge.compare(brief, texts[a], texts[b]) for a, b in permutations(range(len(texts)), 2)]
            logits = [comparison.logit for comparison in said if comparison]
            if len(logits) == len(said):
                found.append({"seeds": seeds, "logits": logits})
    return found


def _brief(text: str, group: TargetGroup | None = None) -> Brief:
    post = FlaggedPost(PostRef("bench", "bench", "bench", "1"), text, "author", "bench", "bench")
    reading = Reading("en", group, None, None, None, None, None, None, None, Action.REPLY, "benchmark")
    return Brief(post, reading, "", ())


async def agreement(rows: Sequence[Mapping[str, str]]) -> list[Row]:
    """How often our judge and our heads prefer the reply to which another judge gave the higher score.

    Kendall's tau is between the differences of the scores. Always naming the second is the least to beat, since the
    other judge was asked in one order only.
    """
    pairs = [row for row in rows if row["score_1"] != row["score_2"]]
    gaps = [float(row["score_1"]) - float(row["score_2"]) for row in pairs]
    opinions: dict[str, list[float]] = {}
    async with open_engine(load_settings()) as engine:
        judge = Judge(MeteredModel(engine.model, Budget(PAPER)))
        as_is, both = [], []
        for row in pairs:
            brief = _brief(row["post"])
            there = await judge.compare(brief, row["reply_1"], row["reply_2"])
            back = await judge.compare(brief, row["reply_2"], row["reply_1"])
            if there is None or back is None:
                raise RuntimeError("the judge gave no letter")
            as_is.append(there.logit)
            both.append(there.logit - back.logit)
        opinions |= {"our judge, one order": as_is, "our judge, both orders": both}
        opinions["stance head"] = [_stance_gap(engine.heads, row) for row in pairs]
    opinions["the longer reply"] = [float(len(row["reply_1"]) - len(row["reply_2"])) for row in pairs]
    opinions["always the second"] = [-1.0] * len(pairs)
    return [
        {
            "opinion": name,
            "pairs": len(pairs),
            "agrees": fmean((mine > 0) == (theirs > 0) for mine, theirs in zip(values, gaps, strict=True)),
            "kendall's tau": _tau(values, gaps),
        }
        for name, values in opinions.items()
    ]


def _tau(mine: Sequence[float], theirs: Sequence[float]) -> float:
    tau = float(kendalltau(mine, theirs).statistic) if len({*mine}) > 1 else math.nan
    return round(tau, 3)


def _stance_gap(heads: Heads, row: Mapping[str, str]) -> float:
    first, second = heads.opposes(row["post"], [row["reply_1"], row["reply_2"]])
    return float(np.subtract(first, second))


def _rows(path: Path, limit: int) -> list[dict[str, str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    random.Random(0).shuffle(rows)  # noqa: S311
    return rows[:limit]


def main() -> None:
    """Run what the options ask for; without any, the simulation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, help="write full matrices of the configured model here")
    parser.add_argument("--posts", type=Path, help="JSON lines with post and target_group, for --record")
    parser.add_argument("--matrices", type=Path, help="replay what --record wrote")
    parser.add_argument("--pairs", type=Path, help="JSON lines with post, reply_1, reply_2, score_1, score_2")
    parser.add_argument("--limit", type=int, default=40, help="rows that are read of a file")
    parser.add_argument("--out", type=Path, help="write the JSON here instead of standard output")
    options = parser.parse_args()
    if options.record:
        matrices = asyncio.run(record(_rows(options.posts, options.limit)))
        options.record.write_text(json.dumps(matrices), encoding="utf-8")
        return
    if options.matrices:
        title, rows = "Recorded judge", replay(json.loads(options.matrices.read_text(encoding="utf-8")))
    elif options.pairs:
        title, rows = "Agreement with another judge", asyncio.run(agreement(_rows(options.pairs, options.limit)))
    else:
        title, rows = f"Simulated judges, {TRIALS} each", simulation()
    show(title, rows)
    save(options.out, {"title": title, "rows": rows})


if __name__ == "__main__":
    main()
