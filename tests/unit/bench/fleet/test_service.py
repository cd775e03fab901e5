"""The law of a model server, on cases that can be counted by hand."""

from __future__ import annotations

import pytest

from bench.fleet.service import CPU, Batch, Rates, rates_named
from core.errors import BadInput

_RATES = Rates("two", 100.0, ((1, 10.0), (3, 20.0)), 2, "")


def _ends(batch: Batch) -> list[tuple[float, object]]:
    found = list[tuple[float, object]]()
    while (due := batch.next_at()) is not None:
        found += [(due, key) for key in batch.advance(due)]
    return found


def test_prompts_are_read_first_and_answers_grow_together() -> None:
    """Protects the law: two prompts of a second each, then two answers at 7.5 tokens a second each."""
    batch = Batch(_RATES)
    batch.arrive("a", 100, 15)
    batch.arrive("b", 100, 30)
    (first, a), (second, b) = _ends(batch)
    assert (a, b) == ("a", "b")
    assert (first, second) == pytest.approx((4.0, 5.5))
    assert batch.busy == pytest.approx(5.5)
    assert batch.read_seconds == pytest.approx(2.0)


def test_a_call_waits_for_a_slot_and_several_answers_of_one_grow_side_by_side() -> None:
    """Protects slots and n: four answers at 20 tokens a second, of which the call with three needs ten tokens each."""
    batch = Batch(_RATES)
    batch.arrive("many", 0, 30, 3)
    batch.arrive("second", 0, 1_000_000)
    batch.arrive("third", 0, 1)
    assert len(batch) == 3
    assert batch.advance(1.99) == []
    assert batch.advance(2.01) == ["many"]
    assert batch.advance(2.2) == ["third"]
    assert CPU.alone(75, 28) == pytest.approx(2.0)


@pytest.mark.parametrize(("answers", "tokens"), [(1, 10.0), (2, 15.0), (3, 20.0), (9, 20.0)])
def test_rates_are_interpolated_and_stay_at_the_last(answers: int, tokens: float) -> None:
    """Protects what was measured at some sizes only."""
    assert _RATES.together(answers) == pytest.approx(tokens)


def test_unknown_rates_are_refused_by_name() -> None:
    """Protects against a mistyped profile."""
    with pytest.raises(BadInput, match="rates fast"):
        rates_named("fast")
