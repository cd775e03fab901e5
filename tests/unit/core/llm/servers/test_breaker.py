"""When a server is left out, for how long, and who asks it again."""

from __future__ import annotations

import pytest

from core.llm.backends.servers.breaker import FAILURES, Breaker, State


class Clock:
    """Seconds that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The clock of the breaker."""
    return Clock()


def _broken(clock: Clock, chance: float = 1.0) -> Breaker:
    breaker = Breaker(1.0, 8.0, clock, lambda: chance)
    for _ in range(FAILURES):
        breaker.failed()
    return breaker


def test_only_failures_in_a_row_leave_a_server_out(clock: Clock) -> None:
    """A connection that was closed while idle, now and then, is no reason."""
    breaker = Breaker(1.0, 8.0, clock)
    for _ in range(10):
        for _ in range(FAILURES - 1):
            breaker.failed()
        breaker.worked()
    assert breaker.state is State.CLOSED
    assert _broken(clock).state is State.OPEN


def test_pauses_double_up_to_the_longest(clock: Clock) -> None:
    """A server that is away for an hour is not asked each second."""
    breaker, pauses = _broken(clock), []
    for _ in range(6):
        began = clock.now
        while not breaker.is_due:
            clock.now += 0.25
        pauses.append(clock.now - began)
        breaker.probe()
        assert (breaker.state, breaker.is_due) == (State.HALF_OPEN, False)
        breaker.trip()
    assert pauses == [1, 2, 4, 8, 8, 8]


@pytest.mark.parametrize(("chance", "pause"), [(0.0, 0.5), (0.5, 0.75), (1.0, 1.0)])
def test_pauses_differ_by_chance(clock: Clock, chance: float, pause: float) -> None:
    """Several processes do not come back in the same moment."""
    breaker = _broken(clock, chance)
    clock.now += pause - 0.01
    assert not breaker.is_due
    clock.now += 0.01
    assert breaker.is_due


def test_first_failure_after_a_probe_leaves_it_out_for_longer(clock: Clock) -> None:
    """A server that answers one token and fails at all else does not come and go each second."""
    breaker = _broken(clock)
    clock.now += 1
    breaker.probe()
    breaker.close()
    breaker.failed()
    assert breaker.state is State.OPEN
    clock.now += 1
    assert not breaker.is_due
    clock.now += 1
    assert breaker.is_due


def test_a_call_that_works_makes_all_forgotten(clock: Clock) -> None:
    """The next trouble begins with the first pause again."""
    breaker = _broken(clock)
    breaker.probe()
    breaker.close()
    breaker.worked()
    for _ in range(FAILURES):
        assert breaker.state is State.CLOSED
        breaker.failed()
    clock.now += 1
    assert breaker.is_due


def test_outcomes_of_calls_from_before_change_nothing(clock: Clock) -> None:
    """They say nothing about now, and must not make the pause longer or end it."""
    breaker = _broken(clock)
    breaker.failed()
    breaker.worked()
    breaker.trip()
    assert breaker.state is State.OPEN
    clock.now += 1
    assert breaker.is_due
