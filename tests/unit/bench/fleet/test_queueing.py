"""The parts of the simulation against queueing theory: what is known in closed form comes out."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Generator

import pytest
import simpy

from bench.fleet.service import Rates
from bench.fleet.simulation.resources import Database, ModelServer

_CALLS = 6_000
_MANY = 10**6
_TOKENS = 10_000.0
"""Tokens a second that one answer grows by, alone; enough that whole tokens do not matter."""
Draw = Callable[[random.Random], tuple[int, int]]


def _run(rates: Rates, a_second: float, draw: Draw, seed: int = 0) -> tuple[float, float, ModelServer]:
    """Poisson calls of one server: seconds of a call, seconds that it waited beyond its own work, and the server."""
    chance, env, took, own = random.Random(seed), simpy.Environment(), list[float](), list[float]()
    server = ModelServer(env, rates)

    def call(new: int, written: int) -> Generator[simpy.Event, object, None]:
        began = env.now
        yield server.call(new, written)
        took.append(env.now - began)
        own.append(rates.alone(new, written))

    def arrive() -> Generator[simpy.Event, object, None]:
        for _ in range(_CALLS):
            yield env.timeout(chance.expovariate(a_second))
            env.process(call(*draw(chance)))

    env.process(arrive())
    env.run()
    assert len(took) == _CALLS
    return sum(took) / len(took), (sum(took) - sum(own)) / len(own), server


def _exponential(seconds: float) -> Draw:
    return lambda chance: (0, max(1, round(_TOKENS * chance.expovariate(1 / seconds))))


def _erlang_c(servers: int, offered: float) -> float:
    """The probability that a call waits in M/M/c (Erlang 1917)."""
    full = offered**servers / math.factorial(servers) * servers / (servers - offered)
    return full / (sum(offered**k / math.factorial(k) for k in range(servers)) + full)


@pytest.mark.parametrize("busy", [0.3, 0.6])
def test_equal_shares_take_as_long_as_in_m_m_1_processor_sharing(busy: float) -> None:
    """Protects writing together: the mean time is s / (1 - rho) (Kleinrock 1976, section 4.4)."""
    shared = Rates("shared", 1e12, ((1, _TOKENS),), _MANY, "")
    mean, _, server = _run(shared, busy, _exponential(1.0))
    assert mean == pytest.approx(1 / (1 - busy), rel=0.08)
    assert server.busy / server.batch.now == pytest.approx(busy, rel=0.05)


@pytest.mark.parametrize(("servers", "busy"), [(2, 0.6), (4, 0.6)])
def test_slots_that_do_not_slow_each_other_are_m_m_c(servers: int, busy: float) -> None:
    """Protects the slots: the mean wait is C(c, a) s / (c - a) with Erlang's C."""
    apart = Rates("apart", 1e12, ((1, _TOKENS), (servers, servers * _TOKENS)), servers, "")
    _, waited, _ = _run(apart, busy * servers, _exponential(1.0))
    wait = _erlang_c(servers, busy * servers) / (servers - busy * servers)
    assert waited == pytest.approx(wait, rel=0.15)


def test_prompts_that_are_read_keep_a_server_as_busy_as_their_number_says() -> None:
    """Protects reading: a second for each prompt, one after the other, so that the share of time is rho."""
    reading = Rates("reading", 100.0, ((1, 1e12),), _MANY, "")
    _, _, server = _run(reading, 0.7, lambda _: (100, 1))
    assert server.batch.read_seconds == pytest.approx(_CALLS)
    assert server.busy / server.batch.now == pytest.approx(0.7, rel=0.05)


def test_littles_law_holds_exactly_over_a_run_that_ends_empty() -> None:
    """Protects the counting: the calls in the server, over time, are the seconds of all calls (Little 1961)."""
    mixed = Rates("mixed", 500.0, ((1, 50.0), (8, 200.0)), 8, "")
    mean, _, server = _run(mixed, 1.0, lambda chance: (chance.randint(1, 200), chance.randint(1, 40)))
    assert server.batch.held == pytest.approx(_CALLS * mean)


def test_a_database_is_as_busy_as_its_transactions_say_and_is_waited_for_when_full() -> None:
    """Protects the utilisation law, and the bound of a database whose cores are all used."""
    env = simpy.Environment()
    database = Database(env, 2, 0.1)

    def client() -> Generator[simpy.Event, object, None]:
        for _ in range(100):
            yield from database.run(0.1)

    for _ in range(8):
        env.process(client())
    env.run()
    assert env.now == pytest.approx(800 * 0.1 / 2)
    assert database.busy(env.now) == pytest.approx(1.0)
