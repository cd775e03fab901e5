"""The benchmarks' tests of significance, against values worked out by hand."""

import math

import pytest

from bench.measures.significance import compare, percentile, signed_rank


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
    assert compare("composite", {"live": {"1": 0.5}, "plain": {}}) == []
