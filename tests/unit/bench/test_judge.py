"""The benchmark of ranking: methods, truths, what ours saves, and agreement with another judge."""

from __future__ import annotations

import random
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from bench import judge
from bench.judge import (
    Trial,
    accuracy,
    agreement,
    balanced_accuracy,
    bradley_terry,
    judge_pairs,
    logit_sums,
    recorded_trials,
    savings,
    simulated,
    swept,
    tau,
)
from bench.measures.samples import Log
from core.engine.pipeline import Engine
from core.engine.review import tournament
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.readers import readers_saying


def _matrix(qualities: list[float], place: float = 0.0) -> dict[tuple[int, int], float]:
    return {(a, b): qualities[a] - qualities[b] + place for a, b in permutations(range(len(qualities)), 2)}


def test_the_simulation_tells_methods_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours finds more than the rewards alone, and asks for at most two verdicts a candidate, the seed for n - 1."""
    monkeypatch.setattr(judge, "TRIALS", 40)
    monkeypatch.setattr(judge, "SIZES", (6,))
    rows: dict[object, dict[str, Any]] = {row["method"]: dict(row) for row in judge.simulation()}
    ours, seed, alone = (rows[name] for name in ("adaptive (ours)", "round robin, letters (seed)", "rewards alone"))
    assert ours["best three found"] > alone["best three found"]
    assert ours["verdicts a candidate"] <= 2
    assert (seed["verdicts a candidate"], alone["verdicts"]) == (5, 0)


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_every_method_ranks_everybody(size: int) -> None:
    """Where rewards and judge agree, every method names the same winner."""
    seeds = [float(index) for index in range(size)]
    for name, method in judge.METHODS.items():
        order, calls = method(seeds, _matrix(seeds))
        assert sorted(order) == list(range(size)), name
        assert order[0] == size - 1, name
        assert calls <= size * (size - 1), name


def test_both_truths_see_through_a_liking_for_the_first_place() -> None:
    """It is in every verdict alike, and so owed to nobody."""
    matrix = _matrix([0.3, 0.9, -0.4, 0.1], place=2.0)
    assert logit_sums(matrix, 4) == bradley_terry(matrix, 4) == [1, 0, 3, 2]


def test_recorded_verdicts_are_cut_down_to_the_best_seeds() -> None:
    """The two with the best rewards stay, with their own verdicts; a post with too few drafts is left out."""
    logits = [10 * a + b for a, b in permutations(range(3), 2)]
    records: list[dict[str, Any]] = [{"seeds": [1.0, 3.0, 2.0], "logits": logits}, {"seeds": [1.0], "logits": []}]
    (trial,) = recorded_trials(records, 2, logit_sums)
    assert trial.seeds == [3.0, 2.0]
    assert trial.matrix == {(0, 1): 12, (1, 0): 21}


def test_a_sweep_never_stops_early_and_leaves_the_rule_as_it_was() -> None:
    """Each limit is used up, although a judge this clear settles the first places at once."""
    before = tournament.ERROR_BUDGET
    qualities = [3.0, 2.0, 1.0, 0.0, -1.0, -2.0]
    outcomes = swept(Trial([0, 1, 2, 3, 4, 5], qualities, _matrix(qualities)))
    asked = [calls for _, _, calls in outcomes]
    assert asked[judge.BUDGETS.index(0.5)] == 3
    assert asked[judge.BUDGETS.index(2.0)] == 12
    assert asked == sorted(asked)
    assert before == tournament.ERROR_BUDGET


def test_savings_name_the_fewest_verdicts_that_are_as_good() -> None:
    """With rewards that are right already less than one verdict a candidate does; five of thirty save five sixths."""
    qualities = [3.0, 2.0, 1.0, 0.0, -1.0, -2.0]
    rows = savings([Trial([0, 1, 2, 3, 4, 5], qualities, _matrix(qualities))] * 3, {"candidates": 6})
    assert [row["ours"] for row in rows] == [5] * 4
    assert [row["saved %"] for row in rows] == pytest.approx([250 / 3] * 4)


def test_what_no_limit_reaches_is_not_called_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one verdict for all, ours cannot keep up with a round robin against the rewards' lead."""
    monkeypatch.setattr(judge, "BUDGETS", (0.1,))
    chance = random.Random(3)
    trials = [Trial(logit_sums(matrix, 6), seeds, matrix) for _, seeds, matrix in (simulated(6, 4, chance),) * 5]
    assert logit_sums(trials[0].matrix, 6)[:3] != judge.rewards_alone(trials[0].seeds, trials[0].matrix)[0][:3]
    assert savings(trials, {})[-1]["saved %"] is None


def test_agreement_counts_no_opinion_half_and_both_preferences_alike() -> None:
    """Always naming the second is right for three of four pairs, but only for one of the two preferences."""
    theirs = [-1.0, -2.0, -1.0, 3.0]
    assert accuracy([-1.0] * 4, theirs) == 0.75
    assert balanced_accuracy([-1.0] * 4, theirs) == 0.5
    assert accuracy([0.0] * 4, theirs) == 0.5
    assert balanced_accuracy([1.0], [1.0]) is None
    assert tau([-1.0] * 4, theirs) is None
    assert tau([1.0, 2.0], [3.0, 4.0]) == pytest.approx(1)


async def test_pairs_are_judged_in_every_way_and_not_twice(tmp_path: Path) -> None:
    """A judge that always says A is of no opinion in both orders; equal scores are left out; a second run asks nothing.

    Each step's calls and tokens are its own.
    """
    rows = [
        {"id": "1", "post": "A post.", "reply_1": "Short.", "reply_2": "A longer one.", "score_1": 4, "score_2": 8},
        {"id": "2", "post": "A post.", "reply_1": "Short.", "reply_2": "A longer one.", "score_1": 5, "score_2": 5},
    ]
    model = FakeModel(shares={"judge": {"A": 0.8, "B": 0.2}})
    engine = Engine(model, FakeEvidence(), readers_saying())
    log = Log(tmp_path / "pairs.jsonl", {"bench": "pairs"})
    await judge_pairs(engine, rows, log)
    table = {row["opinion"]: dict(row) for row in agreement(log.rows)}
    assert {name: row["accuracy"] for name, row in table.items()} == {
        "one order, logits": 0, "one order, letters": 0, "both orders, logits": 0.5, "both orders, letters": 0.5,
        "quality reward": 0.5, "stance head": 0.5, "the longer reply": 1, "always the second": 1,
    }  # fmt: skip
    costs = {name: (row["calls a pair"], row["tokens a pair"]) for name, row in table.items()}
    assert costs["one order, letters"] == (1, 11)
    assert costs["both orders, logits"] == costs["quality reward"] == (2, 22)
    assert costs["stance head"] == costs["the longer reply"] == (0, 0)
    asked = len(model.asked)
    await judge_pairs(engine, rows, Log(tmp_path / "pairs.jsonl", {"bench": "pairs"}))
    assert len(model.asked) == asked
