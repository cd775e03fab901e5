"""What a fleet showed in figures, the unit costs that the simulation takes from it, and how well both agree.

Owns the rule that costs come from one run only, the first; all other runs are foretold and then compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, Final

import numpy as np

from bench.fleet.arrivals import Arrival, arrivals_of
from bench.fleet.driving.run import Fleet, Ran
from bench.fleet.simulation.system import Costs, Shape, Simulated, simulate

ALLOWED: Final = 0.10
"""How far the simulation may be from the fleet, as a share of the fleet's figure."""
_SEEDS: Final = 5
_DECIDING: Final = (
    "read whose case it is", "keep native roles", "show a card", "propose", "read what was proposed",
    "read what is approved", "keep one person's roles", "approve", "close a case",
)  # fmt: skip
_SENDING: Final = (
    "look at a reply", "look up who approved", "read what was heard", "commit the intent", "record a posted reply",
)  # fmt: skip
_LOOKS: Final = (
    "put lost cases back", "take a case", "look for outdated cards", "look for due replies",
    "look for interrupted sends", "take a retraction", "look who waits",
)  # fmt: skip
"""Transactions in which processes look whether there is something to do."""
_BY_NUMBER: Final = ("due", "taken", "drafted", "posted")


def costs_of(ran: Ran) -> Costs:
    """The unit costs of a run: mean seconds, waiting for the machine's other work included."""
    bots, workers = ran.times["bots"], ran.times["workers"]
    decided = sum(ran.done.get(what, 0) for what in ("approved", "closed"))
    server = ran.server["seconds"] / max(1.0, ran.server["calls"])
    return Costs(
        flag=_mean(bots, "flag"),
        look=_mean(workers, "put lost cases back") + _mean(workers, "take a case"),
        read=_mean(workers, "read what a draft needs"),
        store=_mean(workers, "store a suggestion"),
        call=max(0.0, ran.call_seconds / max(1, ran.calls) - server),
        card=_mean(bots, "read a card") + _mean(bots, "keep where a card stands"),
        decide=_sum(bots, _DECIDING) / max(1, decided),
        send=_sum(bots, _SENDING) / max(1, len(ran.posted)),
        core=ran.cpu["database"] / max(1, ran.transactions),
    )


def _mean(times: Mapping[str, tuple[int, float]], name: str) -> float:
    count, seconds = times.get(name, (0, 0.0))
    return seconds / max(1, count)


def _sum(times: Mapping[str, tuple[int, float]], names: Sequence[str]) -> float:
    return sum(times.get(name, (0, 0.0))[1] for name in names)


@dataclass(frozen=True, slots=True)
class Passed:
    """How posts passed: drafted posts a minute, and seconds from the flag to the drafts."""

    drafted: float
    a_minute: float
    p50: float
    p95: float
    posted: float
    posted_p50: float


def passed(run: Ran | Simulated) -> Passed:
    """The figures of a run, of a fleet or a simulation."""
    if not run.drafted:
        raise ValueError("No post was drafted.")
    waits = [at - run.due[number] for number, at in run.drafted.items()]
    sends = [at - run.due[number] for number, at in run.posted.items()]
    seconds = max(run.drafted.values()) - min(run.due.values())
    return Passed(
        drafted=len(waits),
        a_minute=60 * len(waits) / seconds,
        p50=float(np.percentile(waits, 50)),
        p95=float(np.percentile(waits, 95)),
        posted=len(sends),
        posted_p50=float(np.percentile(sends, 50)) if sends else 0.0,
    )


def shape_of(fleet: Fleet, database_cores: int) -> Shape:
    """The simulated twin of a fleet."""
    return Shape(
        fleet.rates,
        bots=fleet.bots,
        workers=fleet.workers,
        slots=fleet.slots,
        servers=fleet.servers,
        database_cores=database_cores,
        people=fleet.people,
        undo_seconds=fleet.undo_seconds,
    )


def foretold(arrivals: Sequence[Arrival], shape: Shape, costs: Costs) -> Passed:
    """The mean of a few simulations, which differ in the moments at which everything looks for work."""
    found = [passed(simulate(arrivals, shape, costs, seed)) for seed in range(_SEEDS)]
    return Passed(*(fmean(values) for values in zip(*(asdict(each).values() for each in found), strict=True)))


def compared(fleet: Fleet, ran: Ran, costs: Costs, database_cores: int) -> dict[str, Any]:
    """A run beside its simulation; the last figures are the differences, as shares of the run's."""
    real = passed(ran)
    twin = foretold(arrivals_of(fleet.load), shape_of(fleet, database_cores), costs)
    off = {
        what: getattr(twin, what) / getattr(real, what) - 1 if getattr(real, what) else 0.0
        for what in ("a_minute", "p50", "p95")
    }
    return {
        "flags a minute": fleet.load.a_minute,
        "raids": len(fleet.load.raids),
        "drafted": real.drafted,
        **{f"{what}{who}": getattr(run, what) for what in off for who, run in (("", real), (", simulated", twin))},
        **{f"{what} off": value for what, value in off.items()},
        "sent": real.posted,
        "sent, simulated": twin.posted,
        "load": ran.load_average,
    }


def agrees(row: Mapping[str, Any]) -> bool:
    """Whether all figures of a comparison are as near as they should be."""
    return all(abs(row[f"{what} off"]) <= ALLOWED for what in ("a_minute", "p50", "p95"))


def spent(ran: Ran) -> dict[str, Any]:
    """What a run used for each drafted post.

    Looks for work that found none are not counted as its transactions, but their part of the processor's seconds is in
    these, so that they are the most that a post takes; the busier the fleet, the nearer.
    """
    posts = max(1, len(ran.drafted))
    cpu = {kind: used / posts for kind, used in ran.cpu.items()}
    done = [each.items() for each in ran.times.values()]
    net = (len(ran.taken) + sum(count for names in done for name, (count, _) in names if name not in _LOOKS)) / posts
    waiting = [count for _, count, _ in ran.queue]
    return {
        "transactions": net,
        "idle transactions a second": ran.idle,
        "rows": ran.rows / posts,
        "KiB stored": ran.bytes_stored / posts / 1024,
        "KiB of log": ran.wal_bytes / posts / 1024,
        **{f"core s, {kind}": used for kind, used in cpu.items()},
        "cards": ran.cards / posts,
        "model calls": ran.calls / posts,
        "queue, mean": fmean(waiting) if waiting else 0.0,
        "queue, most": max(waiting, default=0),
    }


def to_json(ran: Ran) -> dict[str, Any]:
    """A run as JSON."""
    return asdict(ran)


def from_json(row: Mapping[str, Any]) -> Ran:
    """A run from its JSON."""
    numbered = {key: {int(number): at for number, at in row[key].items()} for key in _BY_NUMBER}
    return Ran(**{**row, **numbered})
