"""What is fitted beside the weights: limits, rates of false alarms, languages, and what long posts are spared."""

import numpy as np
import pytest

from training.heads.calibration import (
    LOST_IN_LONG,
    REFUSED_OF_GOOD,
    WARNED_OF_GOOD,
    by_language,
    calibration,
    even,
    false_alarms,
    limits,
    long_discount,
    unsure_between,
)


def test_the_limits_cost_the_stated_share_of_good_drafts() -> None:
    """Whatever the bad ones are like."""
    chance = np.random.default_rng(1)
    good, bad = chance.beta(2, 8, 4000), chance.beta(8, 2, 3000)
    said = np.array([False] * 4000 + [True] * 3000)
    warned, refused = limits(np.concatenate([good, bad]), said)
    assert (good >= warned).mean() == pytest.approx(WARNED_OF_GOOD, abs=0.01)
    assert (good >= refused).mean() == pytest.approx(REFUSED_OF_GOOD, abs=0.01)


def test_false_alarms_are_counted_and_then_drawn_on() -> None:
    """Among normal logits one in fifty exceeds 2.05; what is rarer than the texts can show has a higher logit."""
    rates, thresholds = false_alarms(np.random.default_rng(2).normal(size=4000))
    assert rates == sorted(rates)
    assert thresholds == sorted(thresholds)
    assert np.interp(np.log10(50), rates, thresholds) == pytest.approx(2.05, abs=0.15)
    assert np.interp(np.log10(2000), rates, thresholds) == pytest.approx(3.29, abs=0.3)
    assert np.interp(5.0, rates, thresholds) > np.interp(3.3, rates, thresholds)


def test_false_alarms_among_bounded_logits_stay_within_them() -> None:
    """A sure network says at most so much: what is rarer is hardly higher than the highest that was seen."""
    logits = np.log10(1 + 900 * np.random.default_rng(8).beta(0.3, 6, size=4000))
    rates, thresholds = false_alarms(logits)
    assert logits.max() - 0.1 <= np.interp(5.0, rates, thresholds) < logits.max() + 0.5


def test_a_language_is_known_only_where_it_surely_is() -> None:
    """Nine of ten right on few texts is not enough; on many it is; on one side alone it never is."""
    said = np.array([True, False] * 500)
    right = np.where(said, 0.9, 0.1)
    spoken = np.array(["en"] * 900 + ["es"] * 20 + ["it"] * 80)
    chances = np.where(np.arange(1000) % 10 == 3, 1 - right, right)
    chances[920:][~said[920:]] = 0.9
    rows = {row["language"]: row for row in by_language(spoken, said, chances)}
    assert [language for language, row in rows.items() if row["known"]] == ["en"]
    assert (rows["en"]["texts"], rows["en"]["recall"], rows["en"]["specificity"]) == (900, 1.0, pytest.approx(0.8))


def test_a_language_of_which_one_kind_is_missing_does_not_count() -> None:
    """However right its reader seems to be: what it would let pass nobody has seen."""
    (row,) = by_language(np.array(["en"] * 40), np.ones(40, bool), np.full(40, 0.9))
    assert (row["recall"], row["known"]) == (1.0, False)


def test_outside_the_limits_nine_in_ten_are_right() -> None:
    """Between them nobody is sure."""
    chances = np.random.default_rng(3).uniform(size=5000)
    said = np.random.default_rng(4).uniform(size=5000) < chances
    low, high = unsure_between(chances, said)
    assert 0.1 < low < 0.5 < high < 0.9
    assert said[chances >= high].mean() >= 0.9
    assert said[chances < low].mean() <= 0.1


def test_a_calibrated_output_says_how_often_it_is_right() -> None:
    """Logits that are twice too sure are halved; an output of which little is known stays as it is."""
    logits = np.random.default_rng(5).normal(size=(8000, 2)).astype(np.float32) * 4
    said = np.random.default_rng(6).uniform(size=8000) < 1 / (1 + np.exp(-logits[:, 0] / 2))
    targets = np.stack([said.astype(np.float32), np.full(8000, np.nan, np.float32)], axis=1)
    (slope, offset), untouched = calibration(logits, targets)
    assert slope == pytest.approx(0.5, abs=0.05)
    assert offset == pytest.approx(0, abs=0.1)
    assert untouched == (1.0, 0.0)


def test_texts_of_other_writers_count_as_much_as_ours_however_few_they_are() -> None:
    """Log-odds that fit ours and are two too low for the others' are raised by about one."""
    chance = np.random.default_rng(9)

    def drawn(count: int, missing: float) -> tuple[np.ndarray, np.ndarray]:
        odds = chance.normal(0, 3, count)
        return odds, chance.uniform(size=count) < 1 / (1 + np.exp(-odds - missing))

    offset, slope = even(*drawn(20_000, 0.0), *drawn(2_000, 2.0))
    assert offset == pytest.approx(1.0, abs=0.2)
    assert slope == pytest.approx(1.0, abs=0.2)


def test_long_posts_are_spared_what_chance_does() -> None:
    """As far as those with a hateful sentence are still found nearly as often as the sentence alone."""
    chance = np.random.default_rng(7)
    alone, others = chance.normal(3, 2, 2000), chance.normal(-2, 1.5, (2000, 9)).max(axis=1)
    worst, pieces = np.maximum(alone, others), np.full(2000, 10)
    discount = long_discount(worst, pieces, alone)
    found = worst - discount * np.log(10) >= 0
    assert 0.1 < discount < 1.5
    assert (alone >= 0).mean() - LOST_IN_LONG <= found.mean() < (worst >= 0).mean()
    assert long_discount(worst - 9, pieces, alone) == 0
