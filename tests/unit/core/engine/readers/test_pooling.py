"""Two opinions as one: what the rule promises for any weights, and which weights a model has."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.engine.readers.pooling import (
    PoolingWeights,
    Question,
    Weights,
    log_odds,
    pooling_of,
    probability,
    read_by,
    shipped,
)
from core.models import ReadBy

CHANCES = st.floats(0.0, 1.0)
WEIGHTS = st.floats(0.0, 3.0)


def _pooling(**weights: float) -> PoolingWeights:
    return PoolingWeights("fake", weights={Question.HATEFUL: Weights(**weights)})


def test_by_default_log_odds_are_added() -> None:
    """Two that agree are surer than either, two that differ cancel out, and a certain one cannot silence the other."""
    both = PoolingWeights("unknown")
    assert both.pooled(Question.HATEFUL, 0.8, 0.8) == pytest.approx(16 / 17)
    assert both.pooled(Question.HATEFUL, 0.8, 0.2) == pytest.approx(0.5)
    assert both.pooled(Question.HATEFUL, 1.0, 0.0) == pytest.approx(0.5)
    assert both.pooled(Question.HATEFUL, None, 0.3) == pytest.approx(0.3)


@given(CHANCES)
def test_one_alone_keeps_its_word(chance: float) -> None:
    """A spent budget leaves the small reader's word; nothing is made up where nobody spoke."""
    pooling = _pooling(bias=2.0, large=0.5)
    assert pooling.pooled(Question.HATEFUL, chance, None) == chance
    assert pooling.pooled(Question.HATEFUL, None, None) is None


@given(CHANCES, CHANCES, CHANCES, WEIGHTS, WEIGHTS, st.floats(-4, 4))
def test_more_of_either_never_makes_it_less(
    small: float, large: float, more: float, w_small: float, w_large: float, bias: float
) -> None:
    """The pooled probability rises with each opinion, and is a probability."""
    pooling = _pooling(bias=bias, small=w_small, large=w_large)
    found = pooling.pooled(Question.HATEFUL, small, large)
    assert found is not None
    assert 0 < found < 1
    up = pooling.pooled(Question.HATEFUL, max(small, more), large)
    over = pooling.pooled(Question.HATEFUL, small, max(large, more))
    assert up is not None
    assert over is not None
    assert up >= found
    assert over >= found


@given(CHANCES, CHANCES)
def test_a_model_without_weight_changes_nothing(small: float, large: float) -> None:
    """Up to the limits of what one reader may say."""
    pooling = _pooling(large=0.0)
    assert not pooling.counts(Question.HATEFUL, is_alone=False)
    found = pooling.pooled(Question.HATEFUL, small, large)
    assert found == pytest.approx(min(max(small, 0.01), 0.99))


@given(st.floats(-30, 30))
def test_odds_and_probability_are_inverse(odds: float) -> None:
    """Within the limits."""
    assert math.isclose(log_odds(probability(odds)), min(max(odds, log_odds(0.01)), log_odds(0.99)), abs_tol=1e-9)


def test_alone_the_model_has_weights_of_its_own() -> None:
    """What it is worth beside a good small reader says nothing of what it is worth alone."""
    pooling = _pooling(large=0.0, alone_bias=1.0, alone=0.5)
    assert pooling.counts(Question.HATEFUL, is_alone=True)
    assert pooling.pooled(Question.HATEFUL, None, 0.5) == pytest.approx(probability(1.0))


def test_the_model_that_ships_has_weights_and_others_have_the_defaults() -> None:
    """Another model is taken for a larger one, and believed as much as the small reader."""
    ours, other = shipped(), pooling_of("great-70b")
    assert not ours.is_larger
    assert (other.is_larger, other.of(Question.HATEFUL)) == (True, Weights())
    assert set(ours.weights) == set(Question)


@pytest.mark.parametrize(
    ("small", "large", "who"),
    [(0.5, 0.5, ReadBy.BOTH), (0.0, None, ReadBy.SMALL), (None, 0.0, ReadBy.LARGE), (None, None, ReadBy.RULES)],
)
def test_whose_word_counts(small: float | None, large: float | None, who: ReadBy) -> None:
    assert read_by(small, large) is who
