"""How many posts a fleet takes, whether its simulation agrees, and what ten million posts a day would need.

    python -m bench.fleet [--loads 4,6,8] [--minutes 6] [--repeats 2] [--resume LOG] [--out FILE]
    python -m bench.fleet --quick

Real: bots and workers as processes, PostgreSQL, the desk, the queue, leases, the board, the outbox and the sample
platform. Standing in: the model servers (real HTTP, answers without meaning after the time that ``bench.fleet.service``
says), the engine (the recorded calls of the real one, its own work waited for) and the people. The first load gives the
simulation its costs; the others are foretold and compared. The command fails if a comparison is off by more than 10 %.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import psutil

from bench.fleet.arrivals import Load, Raid
from bench.fleet.asked.demands import demands_of, means, read
from bench.fleet.compare import agrees, compared, costs_of, from_json, spent, to_json
from bench.fleet.driving.run import Fleet, Ran, run
from bench.fleet.scaling import SIZES, Assumed, at_full_size, bottlenecks, size, unit_of
from bench.fleet.service import PROFILES, rates_named
from bench.measuring.output import note, save, show
from bench.measuring.samples import Log

_SIMULATED_SECONDS: Final = 120.0
_RUN: Final = "run"
_NOT_OF_RUNS: Final = ("resume", "out", "simulated", "repeats", "side_by_side")
_FULL_SIZE: Final = {
    "What a day's posts need": "sizes",
    "How much one of each takes": "bottlenecks",
    "Simulated at full size": "simulated",
}
_SHOWN_AT: Final = (10_000, 1_000_000, 10_000_000)


def fleets(options: argparse.Namespace) -> list[Fleet]:
    """One fleet for each load and repeat; the last load has a raid besides."""
    rates = rates_named(options.rates)
    seconds = 60 * options.minutes
    made = list[Fleet]()
    for repeat in range(options.repeats):
        for place, a_minute in enumerate(options.loads):
            is_last = place == len(options.loads) - 1
            raids = (Raid(seconds / 3, options.raid),) if options.raid and is_last else ()
            load = Load(a_minute, seconds, options.communities, options.demand, options.seed + repeat, raids)
            fleet = Fleet(load, rates, options.bots, options.workers, options.slots, options.servers)
            made.append(replace(fleet, idle_seconds=options.idle))
    return made


def measured(planned: Sequence[Fleet], log: Log, side_by_side: int) -> list[Ran]:
    """Each fleet's run, so many at a time; those that the log holds are not run again."""
    found = [from_json(row["run"]) for row in log.of_kind(_RUN)]
    left = planned[len(found) :]
    note(f"{len(left)} runs, {side_by_side} at a time")
    with ProcessPoolExecutor(side_by_side, mp_context=multiprocessing.get_context("spawn")) as pool:
        for ran in pool.map(run, left):
            log.add({"kind": _RUN, "run": to_json(ran)})
            found.append(ran)
    return found


def results(options: argparse.Namespace, planned: Sequence[Fleet], found: Sequence[Ran]) -> dict[str, Any]:
    """All tables, from the runs."""
    cores, costs = psutil.cpu_count() or 1, costs_of(found[0])
    rows = [compared(fleet, ran, costs, cores) for fleet, ran in zip(planned, found, strict=True)]
    use = [{"flags a minute": fleet.load.a_minute, **spent(ran)} for fleet, ran in zip(planned, found, strict=True)]
    mean = {key: fmean(row[key] for row in use) for key in use[0]}
    tables = {
        "fleet": {"bots": options.bots, "workers": options.workers, "slots": options.slots, "servers": options.servers},
        "rates": options.rates,
        "asked": [{"profile": name, **means(demands_of(name))} for name in read()],
        "costs": asdict(costs),
        "compared": [{"calibrates": place == 0, **row} for place, row in enumerate(rows)],
        "used": use,
    }
    if options.quick:
        return tables
    assumed, unit = Assumed(), unit_of(mean, options.demand, costs)
    return tables | {
        "assumed": asdict(assumed),
        "unit": asdict(unit),
        "sizes": [size(posts, unit, assumed) for posts in SIZES],
        "bottlenecks": bottlenecks(unit, costs, assumed),
        "simulated": [
            at_full_size(posts, unit, costs, assumed, options.demand, options.simulated)
            for posts in (_SHOWN_AT if options.simulated else ())
        ],
    }


def shown(found: dict[str, Any]) -> None:
    """Print the tables."""
    show("What a post asks of the model (recorded)", found["asked"])
    show("Measured and simulated; the first row gave the costs", found["compared"])
    show("What a drafted post used", found["used"])
    for title, key in _FULL_SIZE.items():
        show(title, found.get(key, ()))


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--loads", type=_numbers, default=[4.0, 6.0, 8.0], help="flags a minute; the first calibrates")
    made.add_argument("--minutes", type=float, default=6.0, help="how long flags come in each run")
    made.add_argument("--repeats", type=int, default=1, help="how often, each time with other posts")
    made.add_argument("--raid", type=int, default=12, help="posts of a raid in the last load; 0 for none")
    made.add_argument("--bots", type=int, default=3)
    made.add_argument("--workers", type=int, default=4)
    made.add_argument("--slots", type=int, default=1, help="cases that a worker drafts at once")
    made.add_argument("--servers", type=int, default=4, help="model servers; worker 1 asks server 1, and so on")
    made.add_argument("--rates", choices=list(PROFILES), default="cpu", help="what a model server does in a second")
    made.add_argument("--demand", default="live", help="the recorded posts, by their name")
    made.add_argument("--communities", type=int, default=30)
    made.add_argument("--side-by-side", type=int, default=1, help="runs at the same time, each with its own database")
    made.add_argument("--idle", type=float, default=10.0, help="seconds before the first flag")
    made.add_argument("--simulated", type=float, default=_SIMULATED_SECONDS, help="seconds at full size; 0 for none")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--quick", action="store_true", help="one run of 12 s on the GPU's rates, and nothing compared")
    made.add_argument("--resume", type=Path, help="a log of runs that is continued")
    made.add_argument("--out", type=Path, help="write the JSON here instead of standard output")
    return made


def _numbers(given: str) -> list[float]:
    return [float(number) for number in given.split(",")]


def quick(options: argparse.Namespace) -> argparse.Namespace:
    """The options of a run that takes seconds."""
    small = {"loads": [40.0], "minutes": 0.2, "repeats": 1, "raid": 6, "rates": "gpu", "servers": 1, "slots": 4}
    return argparse.Namespace(**vars(options) | small | {"idle": 2.0, "simulated": 0.0})


def main() -> None:
    """Measure, compare and show; fails where the simulation is too far off."""
    options = parser().parse_args()
    options = quick(options) if options.quick else options
    about = {key: value for key, value in vars(options).items() if key not in _NOT_OF_RUNS}
    planned = fleets(options)
    found = results(options, planned, measured(planned, Log(options.resume, about), options.side_by_side))
    shown(found)
    save(options.out, found)
    off = [row for row in found["compared"] if not row["calibrates"] and not agrees(row)]
    if off and not options.quick:
        note(f"{len(off)} of {len(found['compared']) - 1} comparisons are off by more than a tenth.")
        sys.exit(1)


if __name__ == "__main__":
    main()
