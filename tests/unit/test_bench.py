"""The measures of the benchmarks: what they count is what their names say."""

from __future__ import annotations

from typing import Any

import pytest

from bench import judge
from bench.engine import distinct, rouge_l, shared_words


def test_rouge_l_is_the_longest_common_subsequence() -> None:
    """Order counts, gaps do not, and both lengths do."""
    assert rouge_l("We bake bread", "we bake bread") == 1
    assert rouge_l("we often bake bread", "we bake") == pytest.approx(2 * 2 / 6)
    assert rouge_l("bread bake we", "we bake bread") == pytest.approx(2 * 1 / 6)
    assert rouge_l("", "we bake") == 0


def test_distinct_counts_different_runs() -> None:
    """The same reply twice is half as distinct."""
    assert distinct(["a b c"], 2) == 1
    assert distinct(["a b c", "a b c"], 2) == 0.5
    assert distinct([], 1) == 0


def test_shared_words_are_the_reply_s() -> None:
    """Novelty is about what the reply takes from the post, not the other way round."""
    assert shared_words("we bake", "we sing and dance") == 0.5
    assert shared_words("", "we") == 0


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
    matrix = {(a, b): float(a - b) for a in range(size) for b in range(size) if a != b}
    for name, method in judge.METHODS.items():
        order, calls = method(seeds, matrix)
        assert sorted(order) == list(range(size)), name
        assert order[0] == size - 1, name
        assert calls <= size * (size - 1), name
