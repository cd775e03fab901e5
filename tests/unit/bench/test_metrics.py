"""The benchmarks' measures of texts: what they count is what their names say."""

import pytest

from bench.replies.engine import bleu_4, distinct, novelty, repetition_rate, rouge_l


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


def test_the_repetition_rate_is_the_geometric_mean_of_the_repeated_n_grams() -> None:
    """Of "a b c d e a b c d": 4 of 5 words, 3 of 5 pairs, 2 of 5 threes and 1 of 5 fours occur twice."""
    expected = (4 / 5 * 3 / 5 * 2 / 5 * 1 / 5) ** 0.25
    assert repetition_rate(["a b c d e", "a b c d"]) == pytest.approx(expected)
    assert repetition_rate(["a b c d e"]) == 0
    assert repetition_rate([]) == 0


def test_what_is_repeated_beyond_the_window_does_not_count() -> None:
    """A system that says the same after a long time repeats itself less than one that does so at once."""
    both = ["a b c d e f g h"] * 2
    assert repetition_rate(both, window=8, step=8) == 0
    assert repetition_rate(both, window=16) == pytest.approx((8 / 8 * 7 / 8 * 6 / 8 * 5 / 8) ** 0.25)


def test_novelty_is_the_distance_to_the_closest_text() -> None:
    """One shared word of three in all; the closest of several counts; nothing to compare with is no score."""
    assert novelty("we bake", ["we sing"]) == pytest.approx(1 - 1 / 3)
    assert novelty("we bake", ["they sing", "we bake"]) == 0
    assert novelty("we bake", []) is None
    assert novelty("", ["we bake"]) is None


def test_bleu_of_the_reference_itself_is_full() -> None:
    text = "the bakers of our street start long before sunrise"
    assert bleu_4([text], [text]) == pytest.approx(100)
    assert bleu_4([text], ["nothing of this kind was ever said by any of us"]) < 5  # type: ignore[operator]
    assert bleu_4([], []) is None
