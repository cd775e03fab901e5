"""A small fleet from end to end, by its counts, and the page of its figures."""

from __future__ import annotations

import asyncio
import json

from bench.fleet.arrivals import Load, Raid, arrivals_of
from bench.fleet.compare import compared, costs_of, from_json, passed, spent, to_json
from bench.fleet.driving.run import Fleet, run
from bench.fleet.page import PAGE, RESULTS, TABLES, written
from bench.fleet.processes.bots import People
from bench.fleet.service import GPU


async def test_a_small_fleet_drafts_reviews_and_sends_each_post_once() -> None:
    """Protects what the figures are taken from: real processes, every post drafted once, every case decided."""
    load = Load(60, 4, 4, "live", 2, (Raid(1, 5, different=2, seconds=0.2),))
    fleet = Fleet(load, GPU, bots=2, workers=2, slots=2, people=People(3, 0.2, 0.5), undo_seconds=0.1, idle_seconds=0)
    ran = await asyncio.to_thread(run, fleet)
    arrivals = arrivals_of(load)
    apart = {arrival.number for arrival in arrivals if arrival.like == arrival.number}
    assert len(apart) < len(arrivals)
    assert set(ran.drafted) == set(ran.taken) == apart
    assert ran.calls == ran.server["calls"] == sum(len(arrivals[number].demand.calls) for number in apart)
    assert ran.done["flagged"] == len(arrivals)
    assert ran.states["folded"] == len(arrivals) - len(apart)
    assert ran.states.get("posted", 0) == len(ran.posted) == ran.done.get("approved", 0)
    assert len(ran.posted) + ran.done.get("closed", 0) == len(apart)
    assert all(ran.due[number] < ran.taken[number] < ran.drafted[number] for number in apart)
    assert spent(ran)["rows"] > 10
    assert from_json(json.loads(json.dumps(to_json(ran)))).drafted == ran.drafted
    assert compared(fleet, ran, costs_of(ran), 2)["drafted"] == passed(ran).drafted == len(apart)


def test_the_tables_of_the_page_are_those_of_the_committed_results() -> None:
    """Protects readers from figures that nobody measured."""
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in TABLES if f"<!-- {name} -->" not in page] == []
    assert written(page, json.loads(RESULTS.read_text(encoding="utf-8"))) == page
