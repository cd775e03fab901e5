"""The clock of a world, and what a run of torture counts."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from core.desk.runtime import faults


class TickingClock:
    """Moves by a microsecond whenever it is asked, so that any two moments differ, and by ``advance``."""

    def __init__(self, now: datetime = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class Figures:
    """What a run did."""

    steps: int = 0
    crashes: int = 0
    flags: int = 0
    erasures: int = 0
    chores: int = 0
    folded: int = 0
    refusals: int = 0
    undone: int = 0
    points: set[str] = field(default_factory=set)


@contextmanager
def counting_points(figures: Figures) -> Iterator[None]:
    """Remember the names of the points that are reached."""

    async def remember(point: str) -> None:
        figures.points.add(point)

    with faults.installed(remember):
        yield
