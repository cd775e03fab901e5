"""The benchmark of the desk, small: that it measures what it says, on both databases."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sqlalchemy import URL

from bench.desk import captures, commits, enqueued, paced, raid, raided, worked
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
