"""The interval of a share."""

import pytest

from core.desk.rules.numbers import Share


@pytest.mark.parametrize(
    ("share", "interval"),
    [
        # Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        (Share(81, 263), (0.2553, 0.3662)),
        (Share(15, 148), (0.0624, 0.1605)),
        (Share(0, 20), (0.0, 0.1611)),
        (Share(1, 29), (0.0061, 0.1718)),
    ],
)
def test_the_interval_is_wilsons(share: Share, interval: tuple[float, float]) -> None:
    """Against figures that were published."""
    assert share.interval == pytest.approx(interval, abs=0.00005)


def test_of_none_nothing_is_known() -> None:
    """And of few no share is told."""
    assert (Share(0, 0).value, Share(0, 0).interval) == (0.0, (0.0, 1.0))
    assert [Share(1, of).is_enough for of in (4, 5)] == [False, True]
    low, high = Share(5, 5).interval
    assert high == 1.0
    assert 0.5 < low < 0.6
