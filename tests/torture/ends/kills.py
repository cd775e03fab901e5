"""Real processes that do all that Antiphon does, killed with SIGKILL at random moments and started again.

Each does a fixed number of things. Its parent kills it after a number of steps, not of seconds, so that a busy machine
has no more to do than a quiet one. Two processes share one database and one platform, whose log is a file. At the end
everything comes to rest, and every invariant must hold.
"""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Final

from core.desk.invariants.facts import Violation
from tests.torture.ends.child import FLAGGED, POINT, Place, main
from tests.torture.world.figures import TickingClock
from tests.torture.world.platform import FileLog, Outcome
from tests.torture.world.posts import author_of, numbered_post, said_in_thread
from tests.torture.world.processes import CHILDREN
from tests.torture.world.scene import OPEN
from tests.torture.world.world import World

_PROCESSES: Final = 2
_PAUSES: Final = 0.1
"""The share of processes that are stopped for longer than a lease, and go on."""
_MOST_FLAGS: Final = 6
_MOST_POINTS: Final = 200
"""A process is killed when it flagged up to so many posts more, and then reached up to so many points."""
_SILENT_SECONDS: Final = 120.0
"""Only bounds a hang: so long a process may say nothing."""


@dataclass(slots=True)
class _Child:
    """A process that works, what it says, and after how many more posts and then points it is killed."""

    process: BaseProcess
    steps: Connection
    flags: int
    points: int

    def hear(self) -> bool:
        """Take in one step that it said; whether it is to be killed now."""
        try:
            said = self.steps.recv_bytes()
        except EOFError:  # it did all that it does
            return True
        if self.flags:
            self.flags -= said == FLAGGED
        else:
            self.points -= said == POINT
        return self.flags == 0 and self.points <= 0

    def end(self) -> None:
        """Kill it; ``RuntimeError`` if it ended by itself before."""
        self.process.kill()
        self.process.join()
        self.steps.close()
        if self.process.exitcode != -signal.SIGKILL:
            raise RuntimeError(f"A process of the torture ended by itself with {self.process.exitcode}.")

    def stop_for_longer_than_its_lease(self) -> None:
        """Stop it, as a machine does that sleeps, and let it go on."""
        assert self.process.pid is not None
        os.kill(self.process.pid, signal.SIGSTOP)
        time.sleep(2)
        os.kill(self.process.pid, signal.SIGCONT)


@dataclass(frozen=True, slots=True)
class Killed:
    """What a run of kills left behind."""

    cycles: int
    kills: int
    stops: int
    flags: int
    posts: int
    duplicates: int
    lost: int
    restless: int
    broken: dict[str, list[Violation]]


def run(place: Place, cycles: int, *, seed: int = 0, stops: bool = False) -> tuple[int, int]:
    """Start, kill and start again; how many processes were killed, and how many stopped for a while."""
    chance, kills, stopped = random.Random(seed), 0, 0
    alive = list[_Child]()
    try:
        while kills + stopped < cycles:
            while len(alive) < _PROCESSES:
                alive.append(_started(place, chance, has_keys=(kills + stopped) % 3 > 0))
            victim = _next_to_kill(alive)
            if stops and chance.random() < _PAUSES:
                victim.stop_for_longer_than_its_lease()
                victim.flags = 1
                stopped += 1
                continue
            alive.remove(victim)
            victim.end()
            kills += 1
    finally:
        for child in alive:
            child.end()
    return kills, stopped


def _started(place: Place, chance: random.Random, *, has_keys: bool) -> _Child:
    steps, said = CHILDREN.Pipe(duplex=False)
    process: BaseProcess = CHILDREN.Process(
        target=main, args=(place, chance.randrange(2**32), has_keys, said), daemon=True
    )
    process.start()
    said.close()  # the other end is the child's alone, so that this one shows when it is closed
    return _Child(process, steps, chance.randint(1, _MOST_FLAGS), chance.randint(0, _MOST_POINTS))


def _next_to_kill(alive: Sequence[_Child]) -> _Child:
    """Listen until the steps of one are done; ``RuntimeError`` if nobody says anything for too long."""
    while heard := wait([child.steps for child in alive], _SILENT_SECONDS):
        for child in alive:
            if child.steps in heard and child.hear():
                return child
    raise RuntimeError(f"The processes of the torture did nothing for {_SILENT_SECONDS:.0f} s.")


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
    known = {case.post.ref for case in cases}
    posts = Counter(line.sent.approval_id for line in lines)
    return Killed(
        cycles=cycles,
        kills=kills,
        stops=stops,
        flags=len(flags),
        posts=len(lines),
        duplicates=sum(count - 1 for count in posts.values()),
        lost=sum(ref not in known for ref in world.acknowledged),
        restless=sum(case.state in OPEN for case in cases),
        broken=broken,
    )
