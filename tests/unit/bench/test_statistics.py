"""The benchmarks' tests of significance and calibration, against values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.measuring.calibration import Labelled, auc, calibration_error, measures, reliability, reliability_of
from bench.measuring.significance import compare, interval, percentile, signed_rank


def test_a_percentile_is_the_nearest_rank() -> None:
    """Of twenty values the 95th percentile is the nineteenth, of one the only one."""
    assert percentile(range(1, 21), 0.95) == 19
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2
    assert percentile([7.0], 0.95) == 7
    assert percentile([], 0.5) is None


def test_six_gaps_on_one_side_have_the_least_p_there_is() -> None:
    """Two of the 64 ways to sign six gaps are as extreme as all on one side."""
    assert signed_rank([1, 2, 3, 4, 5, 6]) == pytest.approx(2 / 64)
    assert signed_rank([0.0, 0.0]) == 1
    assert signed_rank([]) is None


def test_pairs_are_corrected_for_their_number_and_use_the_posts_of_both() -> None:
    """Three systems are three pairs; a post that one system lacks is left out of its pairs only."""
    posts = [str(number) for number in range(7)]
    slow = {post: 10.0 + int(post) for post in posts}
    fast = {post: 1.0 + 0.5 * int(post) for post in posts}
    few = {post: 5.0 + 0.25 * int(post) for post in posts[:6]}
    friedman, first, *others = compare("seconds", {"slow": slow, "fast": fast, "few": few})
    assert (friedman["test"], friedman["posts"]) == ("Friedman", 6)
    assert friedman["p"] == pytest.approx(math.exp(-6), rel=1e-6)  # ranks 1, 2, 3 at all six posts: chi2 = 12, 2 df
    assert (first["systems"], first["posts"], first["median gap"]) == ("slow - fast", 7, 10.5)
    assert first["p"] == pytest.approx(3 * 2 / 128)
    assert [row["posts"] for row in others] == [6, 6]


def test_comparing_against_one_system_corrects_for_fewer_pairs() -> None:
    """Two of the three pairs name it."""
    columns = {name: {str(at): float(at + add) for at in range(6)} for add, name in enumerate(("a", "b", "c"))}
    rows = [row for row in compare("calls", columns, against="a") if row["test"] == "Wilcoxon"]
    assert [row["systems"] for row in rows] == ["a - b", "a - c"]


def test_a_system_without_any_figure_is_not_compared() -> None:
    """Nothing is made up for it."""
    assert compare("composite", {"live": {"1": 0.5}, "plain": {}}) == []


def test_the_auc_is_the_share_of_pairs_in_order() -> None:
    """Three of the four pairs are in order; one class alone has no AUC."""
    labels = np.array([1, 1, 0, 0])
    assert auc(np.array([0.9, 0.4, 0.6, 0.1]), labels) == pytest.approx(3 / 4)
    assert math.isnan(auc(np.array([0.9, 0.4]), np.array([1, 1])))


def test_calibration_compares_what_was_said_with_what_was_true() -> None:
    """Ten rows said 0.85 of which 6 are true miss by 0.25; two said 0.05 and are false, by 0.05."""
    chances = np.array([0.85] * 10 + [0.05] * 2)
    labels = np.array([1] * 6 + [0] * 6)
    low, high = reliability(chances, labels)
    assert (low["bin"], low["rows"], low["true"]) == ("0.0-0.1", 2, 0)
    assert (high["bin"], high["rows"]) == ("0.8-0.9", 10)
    assert (high["said"], high["true"]) == (pytest.approx(0.85), pytest.approx(0.6))
    assert calibration_error(chances, labels) == pytest.approx((10 * 0.25 + 2 * 0.05) / 12)


def test_a_certain_answer_falls_into_the_last_bin() -> None:
    """1.0 belongs to 0.9-1.0."""
    assert [row["bin"] for row in reliability(np.array([1.0]), np.array([1]))] == ["0.9-1.0"]


def test_measures_of_a_perfect_scorer() -> None:
    """AUC 1 with an interval of no width, Brier and ECE 0."""
    posts = [str(number) for number in range(8)] * 2
    found = measures(Labelled("oracle", [1.0] * 8 + [0.0] * 8, [1] * 8 + [0] * 8, posts))
    assert (found["AUC"], found["from"], found["to"], found["Brier"], found["ECE"]) == (1, 1, 1, 0, 0)


def test_what_cannot_be_measured_is_null() -> None:
    """One class alone has no AUC, and JSON knows no NaN; a score of something else has no calibration."""
    found = measures(Labelled("one class", [0.9, 0.8], [1, 1], ["1", "2"], is_probability_of_label=False))
    assert [found[name] for name in ("AUC", "from", "to", "Brier", "ECE")] == [None] * 5
    assert reliability_of(Labelled("other", [0.9], [0], ["1"], is_probability_of_label=False)) == []


def test_the_bootstrap_draws_whole_clusters() -> None:
    """Two rows of one post always come together, so their mean never changes."""
    values = [0.0, 1.0] * 5
    clusters = [(at, at + 1) for at in range(0, 10, 2)]
    assert interval(lambda rows: sum(values[row] for row in rows) / len(rows), clusters) == (0.5, 0.5)
    loose = [(at,) for at in range(10)]
    low, high = interval(lambda rows: sum(values[row] for row in rows) / len(rows), loose)
    assert low < 0.5 < high
