"""Real processes that do all that Antiphon does, killed with SIGKILL at random moments and started again.

    python -m tests.torture kills --cycles 10000

Two processes share one database and one platform, whose log is a file. At the end everything comes to rest, and every
invariant must hold.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.process import BaseProcess
from typing import Final

from bot.invariants import Violation
from tests.torture.ends.child import Place, main
from tests.torture.world.figures import TickingClock
from tests.torture.world.platform import FileLog, Outcome
from tests.torture.world.posts import author_of, numbered_post, said_in_thread
from tests.torture.world.scene import OPEN
from tests.torture.world.world import World

_PROCESSES: Final = 2
_PAUSES: Final = 0.1
"""The share of processes that are stopped for longer than a lease, and go on."""
_LONGEST_BEGINNING: Final = 60.0
_CHILDREN: Final = multiprocessing.get_context("forkserver")


@dataclass(frozen=True, slots=True)
class Killed:
    """What a run of kills left behind."""

    cycles: int
    kills: int
    stops: int
    flags: int
    erasures: int
    cases: int
    sends: int
    ambiguous: int
    posts: int
    duplicates: int
    lost: int
    restless: int
    broken: dict[str, list[Violation]]


def prepare() -> None:
    """Let the processes begin with everything imported."""
    _CHILDREN.set_forkserver_preload(["tests.torture.ends.child"])


def run(place: Place, cycles: int, *, seed: int = 0, longest: float = 1.0, stops: bool = False) -> tuple[int, int]:
    """Start, kill and start again; how many processes were killed, and how many stopped for a while."""
    chance, kills, stopped = random.Random(seed), 0, 0
    alive = list[BaseProcess]()
    try:
        for cycle in range(cycles):
            while len(alive) < _PROCESSES:
                child: BaseProcess = _CHILDREN.Process(
                    target=main, args=(place, chance.randrange(2**32), cycle % 3 > 0), daemon=True
                )
                child.start()
                alive.append(child)
            _until_more(place, len(place.said("acknowledged")))
            time.sleep(chance.uniform(0, longest))
            victim = alive.pop(chance.randrange(len(alive)))
            if stops and chance.random() < _PAUSES and victim.pid is not None:
                os.kill(victim.pid, signal.SIGSTOP)
                time.sleep(2)
                os.kill(victim.pid, signal.SIGCONT)
                alive.append(victim)
                stopped += 1
                continue
            _end(victim)
            kills += 1
    finally:
        for child in alive:
            _end(child)
    return kills, stopped


def _until_more(place: Place, flags: int) -> None:
    """Wait until something more was acknowledged: on a busy machine a process takes its time to begin."""
    until = time.monotonic() + _LONGEST_BEGINNING
    while len(place.said("acknowledged")) <= flags:
        if time.monotonic() > until:
            raise RuntimeError(f"Nothing was acknowledged for {_LONGEST_BEGINNING:.0f} s.")
        time.sleep(0.01)


def _end(child: BaseProcess) -> None:
    child.kill()
    child.join()
    if child.exitcode not in (-signal.SIGKILL, None):
        raise RuntimeError(f"A process ended by itself with {child.exitcode}.")


async def look(place: Place, cycles: int, kills: int, stops: int) -> Killed:
    """Bring everything to rest, and count what is there."""
    clock = TickingClock(datetime.now(UTC))
    database = place.database(clock)
    try:
        world = World(database, clock, place.platform(lambda: Outcome.WELL, clock=clock))
        flags = place.said("acknowledged")
        world.acknowledged = [numbered_post(*map(int, line.split())).ref for line in flags]
        erased = dict(line.split() for line in place.said("erased"))
        world.erased = list(erased.values())
        for number in map(int, erased):
            world.gone |= {numbered_post(number).text, said_in_thread(author_of(number))}
        await world.settle_down()
        broken = await world.broken(is_quiet=True, looks_at_schema=True)
        cases = await world.cases()
    finally:
        await database.close()
    lines = FileLog(place.folder / "platform.jsonl").lines()
    outcomes, known = Counter(place.said("calls")), {case.post.ref for case in cases}
    certain = {Outcome.WELL.name, Outcome.BUSY.name, Outcome.REFUSED.name}
    posts = Counter(line.sent.approval_id for line in lines)
    return Killed(
        cycles=cycles,
        kills=kills,
        stops=stops,
        flags=len(flags),
        erasures=len(erased),
        cases=len(cases),
        sends=sum(outcomes.values()),
        ambiguous=sum(count for name, count in outcomes.items() if name not in certain),
        posts=len(lines),
        duplicates=sum(count - 1 for count in posts.values()),
        lost=sum(ref not in known for ref in world.acknowledged),
        restless=sum(case.state in OPEN for case in cases),
        broken=broken,
    )
