"""HostTurns at a host never overlap and keep their distance, by a clock that only the test moves."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from kb.sources.web_client import HostTurns, seconds_to_wait
from tests.fakes.machine.clock import Seconds

NOW = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)


async def test_the_pause_counts_from_the_end_of_a_turn_to_the_start_of_the_next() -> None:
    seconds, starts = Seconds(), []
    turns = HostTurns(2.0, seconds, seconds.sleep)
    for _ in range(3):
        async with turns.at("example.org"):
            starts.append(seconds.now)
            seconds.now += 5
    assert starts == [100.0, 107.0, 114.0]
    assert seconds.slept == [2.0, 2.0]


async def test_turns_at_one_host_never_overlap_and_those_at_another_need_not_wait() -> None:
    seconds, open_turns, most = Seconds(), 0, 0
    turns = HostTurns(1.0, seconds, seconds.sleep)

    async def take(host: str) -> None:
        nonlocal open_turns, most
        async with turns.at(host):
            open_turns += host == "example.org"
            most = max(most, open_turns)
            await asyncio.sleep(0)
            open_turns -= host == "example.org"

    await asyncio.gather(*(take("example.org") for _ in range(5)), take("example.com"))
    assert most == 1
    assert seconds.slept == [1.0] * 4


async def test_a_longer_interval_wins_and_is_never_shortened() -> None:
    seconds = Seconds()
    turns = HostTurns(1.0, seconds, seconds.sleep)
    turns.slow_down("example.org", 5.0)
    turns.slow_down("example.org", 0.5)
    for _ in range(2):
        async with turns.at("example.org"):
            pass
    assert seconds.slept == [5.0]


async def test_a_host_that_is_held_lets_nobody_through_before() -> None:
    seconds = Seconds()
    turns = HostTurns(1.0, seconds, seconds.sleep)
    turns.hold("example.org", 30.0)
    async with turns.at("example.org"):
        pass
    async with turns.at("example.com"):
        pass
    assert seconds.slept == [30.0]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        ("7", 7.0),
        ("86400", 300.0),
        ("Mon, 02 Mar 2026 14:00:20 GMT", 20.0),
        ("Mon, 02 Mar 2026 13:00:00 GMT", 0.0),
        ("Mon, 02 Mar 2026 14:00:20", 20.0),
        ("soon", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date_up_to_a_limit(header: str | None, seconds: float | None) -> None:
    assert seconds_to_wait(header, NOW, 300.0) == seconds


def test_a_date_with_a_zone_is_that_moment() -> None:
    there = (NOW + timedelta(seconds=9)).strftime("%a, %d %b %Y %H:%M:%S +0000")
    assert seconds_to_wait(there, NOW, 300.0) == 9.0
