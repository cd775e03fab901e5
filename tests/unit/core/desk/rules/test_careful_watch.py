"""The filter's threshold in one community: it follows what moderators say of the finds, upwards only, within bounds."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.desk.rules.careful_watch import LEAST_CAREFUL, MOST_CAREFUL, FindLabel, WatchRecord, careful_threshold


def threshold(one_in: float) -> float:
    """The score that one in so many ordinary messages exceeds, of an imagined filter."""
    return float(1 - one_in**-0.5)


ONE_IN = 2000
BASE, CEILING = threshold(ONE_IN), threshold(MOST_CAREFUL)
LABELS = st.lists(st.builds(FindLabel, st.floats(0, 1), st.booleans()), max_size=40)
RATES = st.integers(LEAST_CAREFUL, MOST_CAREFUL)


def wrong(*scores: float) -> list[FindLabel]:
    return [FindLabel(score, is_hateful=False) for score in scores]


def right(*scores: float) -> list[FindLabel]:
    return [FindLabel(score, is_hateful=True) for score in scores]


def test_without_labels_the_communitys_rate_decides() -> None:
    """And with right finds alone."""
    assert careful_threshold(ONE_IN, [], threshold) == BASE
    assert careful_threshold(ONE_IN, right(0.98, 0.99, 1.0), threshold) == BASE


def test_one_wrong_find_is_passed_but_moves_the_threshold_no_further_than_half_the_rate() -> None:
    """A low one is not found again; a high one costs less than it would take to pass it."""
    assert careful_threshold(ONE_IN, wrong(0.98), threshold) == 0.98
    assert careful_threshold(ONE_IN, wrong(0.999), threshold) == threshold(2 * ONE_IN)
    assert careful_threshold(ONE_IN, wrong(0.999, 0.999), threshold) == threshold(4 * ONE_IN)


def test_nine_right_finds_outweigh_a_wrong_one() -> None:
    """Eight do not: at most one in ten may be wrong."""
    assert careful_threshold(ONE_IN, [*wrong(0.98), *right(*[0.99] * 8)], threshold) == 0.98
    assert careful_threshold(ONE_IN, [*wrong(0.98), *right(*[0.99] * 9)], threshold) == BASE
    assert careful_threshold(ONE_IN, [*wrong(0.98), *right(*[0.979] * 9)], threshold) == BASE


def test_what_a_stricter_community_would_not_have_found_does_not_count() -> None:
    """Labels of the time before it changed its rate."""
    assert careful_threshold(20_000, wrong(*[0.98] * 9), threshold) == threshold(20_000)


def test_many_wrong_finds_stop_at_one_false_alarm_in_a_hundred_thousand() -> None:
    """The filter is never switched off by them."""
    assert careful_threshold(ONE_IN, wrong(*[1.0] * 5000), threshold) == CEILING


@given(RATES, LABELS)
def test_it_is_between_the_base_and_the_ceiling(one_in: int, labels: list[FindLabel]) -> None:
    assert threshold(one_in) <= careful_threshold(one_in, labels, threshold) <= CEILING


@given(RATES, LABELS, st.floats(0, 1))
def test_another_wrong_find_never_lowers_it_and_another_right_one_never_raises_it(
    one_in: int, labels: list[FindLabel], score: float
) -> None:
    """Nor does the order of the labels change it."""
    now = careful_threshold(one_in, labels, threshold)
    assert careful_threshold(one_in, [*labels, *wrong(score)], threshold) >= now
    assert careful_threshold(one_in, [*labels, *right(score)], threshold) <= now
    assert careful_threshold(one_in, labels[::-1], threshold) == now


@given(RATES, LABELS)
def test_labels_that_age_out_bring_it_back(one_in: int, labels: list[FindLabel]) -> None:
    """One wrong find after the other, down to the base."""
    kept = [label for label in labels if label.is_hateful]
    unkind = [label for label in labels if not label.is_hateful]
    steps = [careful_threshold(one_in, [*kept, *unkind[gone:]], threshold) for gone in range(len(unkind) + 1)]
    assert all(before >= after for before, after in pairwise(steps))
    assert steps[-1] == threshold(one_in)


@pytest.mark.parametrize(("days", "a_week"), [(0.0, None), (0.99, None), (1.0, 7.0), (7.0, 1.0), (28.0, 0.25)])
def test_false_alarms_a_week_are_known_after_a_day(days: float, a_week: float | None) -> None:
    """From what was looked at, in the time in which it was looked at."""
    assert WatchRecord(looked_at=2000, days=days).alarms_a_week(1 / 2000) == a_week
