"""When posts are flagged, where, and what they ask of the model: the same for a fleet and for its simulation.

Owns the plan of a run. The times are drawn by seed: flags that come by themselves (a Poisson process), and raids, in
which many near-identical posts reach one community within seconds.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bench.desk.database import words
from bench.fleet.asked.demands import Demand, demands_of, drawn
from core.models import Priority

_WORDS: Final = 18


@dataclass(frozen=True, slots=True)
class Raid:
    """So many posts in one community within ``seconds`` from ``at`` on; all but ``different`` say the same."""

    at: float
    posts: int
    different: int = 5
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Load:
    """What comes in during one run.

    Attributes:
        a_minute: flags that come by themselves, on average.
        seconds: how long they come.
        communities: how many share them, alike.
        demand: the name of the recorded posts of ``bench.fleet.asked``.
        detected: the share of posts that a filter found; the others were flagged by a person.
    """

    a_minute: float
    seconds: float
    communities: int
    demand: str
    seed: int
    raids: tuple[Raid, ...] = ()
    detected: float = 0.0


@dataclass(frozen=True, slots=True)
class Arrival:
    """One flag: ``number`` is its place, ``at`` seconds after the beginning, ``like`` the first post that says so."""

    number: int
    at: float
    community: int
    priority: Priority
    text: str
    demand: Demand
    like: int


def arrivals_of(load: Load, demands: Sequence[Demand] | None = None) -> list[Arrival]:
    """All flags of a load, in their order; the same for the same load.

    Args:
        demands: what posts ask of the model, where it is not what was recorded as ``load.demand``.
    """
    chance = random.Random(f"arrivals {load.seed} {load.a_minute} {load.seconds}")  # nosec B311 # noqa: S311 - repeatable
    found = [*_flags(load, chance), *(flag for raid in load.raids for flag in _raid(raid, load, chance))]
    found.sort(key=lambda flag: flag[0])
    asked = drawn(demands or demands_of(load.demand), len(found), load.seed)
    first: dict[tuple[int, str], int] = {}
    return [
        Arrival(number, at, community, priority, text, asked[number], first.setdefault((community, text), number))
        for number, (at, community, priority, text) in enumerate(found)
    ]


_Flag = tuple[float, int, Priority, str]


def _flags(load: Load, chance: random.Random) -> list[_Flag]:
    found, at = list[_Flag](), 0.0
    while load.a_minute and (at := at + chance.expovariate(load.a_minute / 60)) < load.seconds:
        is_found = chance.random() < load.detected
        priority = Priority.DETECTED if is_found else Priority.FLAGGED
        found.append((at, chance.randrange(load.communities), priority, words(chance, _WORDS)))
    return found


def _raid(raid: Raid, load: Load, chance: random.Random) -> list[_Flag]:
    community, same = chance.randrange(load.communities), words(chance, _WORDS)
    times = sorted(raid.at + chance.uniform(0, raid.seconds) for _ in range(raid.posts))
    apart = set(chance.sample(range(raid.posts), min(raid.different, raid.posts)))
    return [
        (at, community, Priority.FLAGGED, words(chance, _WORDS) if place in apart else same)
        for place, at in enumerate(times)
    ]
