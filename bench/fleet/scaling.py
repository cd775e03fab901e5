"""From a day's posts to machines, a database, an index and people: arithmetic over measured unit costs.

Owns which figures are measured, computed and assumed. The assumptions are ``Assumed``; the rest comes from the
committed results of a fleet (``results.json``), the recorded posts and ``docs/knowledge-base.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from bench.fleet.arrivals import Load, arrivals_of
from bench.fleet.asked.demands import demands_of, means
from bench.fleet.processes.bots import People
from bench.fleet.service import GPU
from bench.fleet.simulation.system import Costs, Shape, Simulated, simulate
from core.errors import BadInput

SIZES: Final = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
_DAY: Final = 86_400.0
_TOGETHER: Final = 32
"""Answers that grow at once on a GPU, where its seconds for a post are counted."""
EMBEDDED_SECONDS: Final = 18.0
"""A post of ``live`` with the embedded model on two quieter cores (docs/figures/measured.md, median)."""
SQLITE_FLAGS: Final = 238.0
"""Flags a second that one SQLite file takes (docs/figures/measured.md, the desk)."""
CARDS_A_STEP: Final = 20
PLATFORM_LIMITS: Final = {"Discord": 50.0, "Telegram": 30.0, "Mastodon": 1.0}
"""Requests a second of one bot or account, by the platforms' own pages; they were not tried."""
MESSAGES: Final = 2.0
"""Requests of a platform for a send: the post is read again, and the reply is posted."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """What nobody measured.

    Attributes:
        peak: how many times the day's mean the busiest hour brings.
        busy: the share of a machine's time that is planned to be used in that hour.
        minutes: of a person, for each case.
        shift_hours: that a person reviews on a day.
        kept_days: how long words are kept (the default of ``retention_days``).
    """

    peak: float = 3.0
    busy: float = 0.7
    minutes: float = 1.0
    shift_hours: float = 6.0
    kept_days: float = 30.0


@dataclass(frozen=True, slots=True)
class Unit:
    """What one post uses; ``seconds`` of a core, a GPU or the embedded model."""

    gpu_seconds: float
    draft_seconds: float
    own_seconds: float
    bot_seconds: float
    worker_seconds: float
    database_seconds: float
    transactions: float
    rows: float
    stored: float
    logged: float
    cards: float


def unit_of(spent: Mapping[str, float], demand: str, costs: Costs) -> Unit:
    """A post's use, from a fleet's figures (``bench.fleet.compare.spent``) and the recorded posts of a name."""
    around = costs.look + costs.read + costs.store
    asked = means(demands_of(demand))
    gpu = asked["new_prompt_tokens"] / GPU.reading + asked["written_tokens"] / GPU.together(_TOGETHER)
    each = GPU.together(_TOGETHER) / _TOGETHER
    return Unit(
        gpu_seconds=gpu,
        draft_seconds=around + asked["calls"] * costs.call + asked["own_seconds"] + asked["written_tokens"] / each,
        own_seconds=asked["own_seconds"],
        bot_seconds=spent["core s, bots"],
        worker_seconds=spent["core s, workers"],
        database_seconds=spent["core s, database"],
        transactions=spent["transactions"],
        rows=spent["rows"],
        stored=spent["KiB stored"] * 1024,
        logged=spent["KiB of log"] * 1024,
        cards=spent["cards"],
    )


def size(posts: int, unit: Unit, assumed: Assumed) -> dict[str, float]:
    """What so many posts a day need in the busiest hour, and over the day."""
    mean, peak = posts / _DAY, assumed.peak * posts / _DAY
    planned = peak / assumed.busy
    gpus = math.ceil(planned * unit.gpu_seconds)
    cores = planned * (unit.own_seconds + unit.bot_seconds + unit.worker_seconds)
    return {
        "posts a day": posts,
        "a second, peak": peak,
        "embedded models": math.ceil(planned * EMBEDDED_SECONDS),
        "GPUs": gpus,
        "worker slots": math.ceil(planned * unit.draft_seconds),
        "cores, bots and workers": cores,
        "cores, database": planned * unit.database_seconds,
        "transactions a second": peak * unit.transactions,
        "rows a second": peak * unit.rows,
        "GB a day": posts * unit.stored / 1e9,
        "GB of log a day": posts * unit.logged / 1e9,
        "GB kept": posts * unit.stored * assumed.kept_days / 1e9,
        "people": posts * assumed.minutes / 60 / assumed.shift_hours,
        "GPU hours a day": posts * unit.gpu_seconds / 3600,
        "core hours a day": mean
        * 24
        * (unit.own_seconds + unit.bot_seconds + unit.worker_seconds + unit.database_seconds),
    }


def bottlenecks(unit: Unit, costs: Costs, assumed: Assumed) -> list[dict[str, Any]]:
    """How many posts a day one of each part takes, the first to be full at the top."""
    day = _DAY / assumed.peak * assumed.busy
    requests = unit.cards + MESSAGES
    parts = {
        "one person": 60 * assumed.shift_hours / assumed.minutes,
        "one embedded model on two cores": day / EMBEDDED_SECONDS,
        "one GPU": day / unit.gpu_seconds,
        "one worker of 16 slots": 16 * day / unit.draft_seconds,
        "one core of workers (the engine's own work)": day / (unit.own_seconds + unit.worker_seconds),
        "one bot process": day / unit.bot_seconds,
        "one board, by its steps": day * CARDS_A_STEP / (costs.card + costs.answer + costs.poll) / unit.cards,
        "eight cores of PostgreSQL": 8 * day / unit.database_seconds,
        "one SQLite file, by its flags": day * SQLITE_FLAGS,
        **{f"one account on {name}": day * limit / requests for name, limit in PLATFORM_LIMITS.items()},
    }
    return [{"part": part, "posts a day": float(posts)} for part, posts in sorted(parts.items(), key=lambda p: p[1])]


def at_full_size(
    posts: int, unit: Unit, costs: Costs, assumed: Assumed, demand: str, seconds: float, seed: int = 0
) -> dict[str, Any]:
    """Simulate the busiest hour of so many posts a day, for so many seconds, with what ``size`` says."""
    needs = size(posts, unit, assumed)
    servers, slots = int(needs["GPUs"]), 16
    workers = math.ceil(needs["worker slots"] / slots)
    peak = needs["a second, peak"]
    think = 60 * assumed.minutes
    people = math.ceil(peak * think / assumed.busy)
    bots = max(3, math.ceil(peak * unit.cards * (costs.card + costs.answer + costs.poll) / CARDS_A_STEP / assumed.busy))
    shape = Shape(
        GPU,
        bots=bots,
        workers=workers,
        slots=slots,
        servers=servers,
        is_shared=True,
        database_cores=max(1, math.ceil(needs["cores, database"])),
        people=People(math.ceil(people / bots), think, 0.5),
        undo_seconds=15.0,
    )
    load = Load(60 * peak, seconds, 100 * bots, demand, seed)
    costs = replace(costs, core=unit.database_seconds / unit.transactions)
    found = simulate(arrivals_of(load), shape, costs, seed, seconds)
    waits = _settled(found, seconds / 4, seconds - 3 * unit.draft_seconds)
    return {
        "posts a day": posts,
        "a second": peak,
        "GPUs": servers,
        "worker slots": workers * slots,
        "bots": bots,
        "p50 s": float(np.percentile(waits, 50, method="higher")),
        "p95 s": float(np.percentile(waits, 95, method="higher")),
        "GPUs busy": found.servers_busy,
        "slots busy": found.workers_busy,
        "database busy": found.database_busy,
        "transactions a second": found.transactions / seconds,
        "longest queue": found.longest_queue,
    }


def _settled(found: Simulated, first: float, last: float) -> list[float]:
    """Seconds from flag to drafts of the posts that were flagged in between; endless where there are none yet."""
    waits = [found.drafted.get(number, math.inf) - at for number, at in found.due.items() if first <= at <= last]
    if not waits:
        raise BadInput("Too few seconds are simulated to see a post pass.", remedy="Simulate more.")
    return waits
