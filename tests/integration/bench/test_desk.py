"""The benchmarks of the desk, small: that they measure what they say."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import URL

from bench.desk.cards import Plan, measured
from bench.desk.database import captures, commits, enqueued, paced, raid, raided, worked
from bench.desk.servers import Plan as ServersPlan
from bench.desk.servers import measured as call_servers
from core.llm.backends.servers import reaching
from core.wording.near_duplicates import NEAR_IDENTICAL, likeness_of


async def test_every_part_measures_what_it_says(place: Path | URL) -> None:
    """Protects the figures: nothing is lost, a raid folds, and work is done once."""
    assert len((await asyncio.to_thread(commits, place, 3))["seconds"]) == 3
    for callers in (1, 4):
        taken = await asyncio.to_thread(captures, place, 5, callers)
        assert taken["states"] == {"queued": 5}
    found = await asyncio.to_thread(raided, place, 60)
    assert sum(found["states"].values()) == len(found["seconds"]) == 60
    assert found["states"]["folded"] >= 10
    steady = await asyncio.to_thread(paced, place, 10, 50.0)
    assert len(steady["seconds"]) == 10
    await asyncio.to_thread(enqueued, place, "bench", 6)
    done = await asyncio.to_thread(worked, place, "bench")
    assert len(done["seconds"]) == 6
    assert done["ended"] > done["began"]


def test_a_raid_is_near_duplicates_for_the_most_part_and_the_same_each_time() -> None:
    """Protects comparisons of two runs."""
    said = raid(200)
    assert said == raid(200)
    alike = [likeness_of(text) for text in said]
    repeated = sum(any(one.to(other) >= NEAR_IDENTICAL for other in alike[:at]) for at, one in enumerate(alike))
    assert 0.35 < repeated / len(said) < 0.75


@pytest.mark.parametrize("is_troubled", [False, True])
async def test_the_others_cards_are_timed_and_the_two_in_trouble_are_asked(is_troubled: bool) -> None:
    """Protects the comparison: the first card of every other community counts, and two channels do refuse."""
    plan = Plan(communities=5, rounds=1, cases=2, answer_seconds=0.0, is_troubled=is_troubled)
    found = await asyncio.to_thread(measured, plan)
    (firsts,) = found["firsts"]
    assert list(firsts) == plan.others == ["203", "204", "205"]
    assert min(firsts.values()) > 0
    requests = found["requests"]
    assert requests.pop(200) >= 2 * 2 * 3, "each card is written and then filled in"
    assert set(requests) == ({403, 429} if is_troubled else set())


@pytest.mark.parametrize(("is_pool", "lost"), [(True, 0), (False, 10)], ids=["pool", "turns"])
async def test_a_black_hole_loses_calls_by_turns_and_none_in_the_pool(
    is_pool: bool, lost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects the comparison: both meet the same three servers, of which one never answers."""
    monkeypatch.setattr(reaching, "SECONDS", 0.7)
    plan = ServersPlan(3, 1, is_pool, calls=30, at_once=30, places=10, seconds=0.01, limit=20.0 if is_pool else 1.0)
    found = await asyncio.to_thread(call_servers, plan)
    assert (len(found["seconds"]), found["lost"]) == (30 - lost, lost)
    assert sum(sum(got.values()) for got in found["got"][1:]) == 30 - lost
