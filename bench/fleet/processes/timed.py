"""How long each kind of transaction of one process takes."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Final, TypeVar

from sqlalchemy import URL

from bot.store.engine.database import Database, Work

_T = TypeVar("_T")
SECRET: Final = b"only for benchmarks, thirty-two."
Times = dict[str, tuple[int, float]]
"""By the name of a transaction, how many there were and the seconds of all of them."""


class Watch:
    """Notes the time of each transaction of one database; one that failed counts, too."""

    def __init__(self) -> None:
        self._took: defaultdict[str, list[float]] = defaultdict(list)

    @property
    def times(self) -> Times:
        """What was noted so far."""
        return {name: (len(took), sum(took)) for name, took in self._took.items()}

    async def open(self, place: URL) -> Database:
        """The database at a place, watched."""
        database = await Database.open(place, secret=SECRET, creates=False)
        run = database.run

        async def timed(name: str, work: Work[_T]) -> _T:
            started = time.perf_counter()
            try:
                return await run(name, work)
            finally:
                self._took[name].append(time.perf_counter() - started)

        database.run = timed  # type: ignore[method-assign]
        return database
