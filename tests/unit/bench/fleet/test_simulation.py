"""The simulated installation: nothing is lost or done twice, limits hold, and the same seed gives the same run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.fleet.arrivals import Arrival, Load, Raid, arrivals_of
from bench.fleet.asked.demands import Call, Demand, Step
from bench.fleet.processes.bots import People
from bench.fleet.service import Rates
from bench.fleet.simulation.queue import CaseQueue
from bench.fleet.simulation.system import Costs, Shape, simulate
from core.models import Priority

_DEMAND = Demand(
    (Call((), 0.1, 100, 50, 20), Call((0,), 0.0, 100, 50, 20), Call((0,), 0.0, 100, 50, 40, 2)),
    (Step(0, "reading", False), Step(2, "draft", True)),
    0.1,
    4000,
)
_COSTS = Costs(flag=0.02, look=0.02, read=0.01, store=0.02, call=0.01, card=0.02, decide=0.1, send=0.1, core=0.002)
_SHAPE = Shape(Rates("test", 1000.0, ((1, 100.0),), 8, ""), people=People(4, 2.0, 0.5))


def _posts(a_minute: float = 60, seconds: float = 60, *raids: Raid, communities: int = 6) -> list[Arrival]:
    return arrivals_of(Load(a_minute, seconds, communities, "", 3, raids), [_DEMAND])


def test_every_post_is_drafted_once_and_a_raid_is_folded() -> None:
    """Protects the counts: what is folded is not drafted, everything else is, and half of that is sent."""
    posts = _posts(60, 60, Raid(10.0, 30, different=5))
    found = simulate(posts, _SHAPE, _COSTS)
    apart = {post.number for post in posts if post.like == post.number}
    assert len(posts) - len(apart) == 24
    assert set(found.drafted) == set(found.taken) == apart
    assert set(found.posted) < apart
    assert all(found.due[number] < found.taken[number] < found.drafted[number] for number in apart)
    assert all(found.drafted[number] + _SHAPE.undo_seconds < at for number, at in found.posted.items())


def test_the_same_seed_gives_the_same_run_and_another_one_another() -> None:
    """Protects comparisons."""
    posts = _posts()
    assert posts == _posts()
    assert simulate(posts, _SHAPE, _COSTS, 1) == simulate(posts, _SHAPE, _COSTS, 1)
    assert simulate(posts, _SHAPE, _COSTS, 1).drafted != simulate(posts, _SHAPE, _COSTS, 2).drafted


def test_an_idle_installation_takes_as_long_as_its_parts() -> None:
    """Protects the path of one post: looking, reading, the longest chain of calls, and the engine's own work."""
    found = simulate(_posts()[:1], _SHAPE, _COSTS)
    (taken,), (drafted,) = found.taken.values(), found.drafted.values()
    read, together = 0.05, 60 / 100
    chain = 0.1 + 0.01 + read + 0.2 + 0.01 + 2 * read + together
    assert drafted - taken == pytest.approx(_COSTS.look / 2 + _COSTS.read + chain + _DEMAND.tail, abs=0.02)


def test_too_many_posts_are_drafted_at_the_rate_of_the_model() -> None:
    """Protects capacity: a server that writes 100 tokens a second and reads 1,000 needs 0.95 s for each post."""
    found = simulate(_posts(600, 30), replace(_SHAPE, slots=8), _COSTS, until=600)
    whole = max(found.drafted.values()) - min(found.taken.values())
    assert len(found.drafted) / whole == pytest.approx(1 / 0.95, rel=0.05)
    assert found.longest_queue > 200


def test_no_community_gets_more_replies_in_an_hour_than_it_may() -> None:
    """Protects the outbox's limit: what comes after it waits."""
    posts = _posts(60, 60, communities=1)
    shape = replace(_SHAPE, bots=1, workers=1, people=People(8, 1.0, 1.0), replies_per_hour=3)
    costs = replace(_COSTS, poll=15.0)
    found = simulate(posts, shape, costs, until=1800)
    assert len(found.posted) == 3
    assert found.held_back > 0
    assert len(simulate(posts, shape, costs, until=3800).posted) > 3


def test_the_most_urgent_comes_first_and_communities_take_turns() -> None:
    """Protects the order of ``bot.store.work.jobs``: priority, then the community served longest ago, then time."""
    queue = CaseQueue()
    for number, (community, priority) in enumerate(
        [
            (1, Priority.DETECTED),
            (1, Priority.FLAGGED),
            (1, Priority.FLAGGED),
            (2, Priority.FLAGGED),
            (3, Priority.ASKED),
        ]
    ):
        queue.put(number, community, priority)
    assert [queue.take(float(now)) for now in range(6)] == [4, 1, 3, 2, 0, None]
    assert len(queue) == 0
