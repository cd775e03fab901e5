"""What a chore is, and how a long one is cut into short transactions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from core.desk.database.connection import Database, Session
from core.desk.store.jobs import Job
from core.engine.wording.text import counted

BATCH: Final = 50
"""How many cases one transaction changes; on SQLite everybody else waits for it."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a chore did, in a sentence with numbers and nothing of a case; ``again`` if more is left to do."""

    what: str
    again: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Chore:
    """Something to do in each slot of ``every``, or only when it is enqueued (``None``).

    A chore that fails three times is given up until the next slot; if it ``must_end``, it is enqueued again instead.
    """

    name: str
    do: Callable[[Job], Awaitable[Done]]
    every: timedelta | None = None
    must_end: bool = False


def counting(work: Callable[[], Awaitable[int]], noun: str, what: str) -> Callable[[Job], Awaitable[Done]]:
    """A chore that does ``work``, and reports how many of ``noun`` it found, and ``what`` happened to them."""

    async def do(_: Job) -> Done:
        return Done(f"{counted(await work(), noun)} {what}")

    return do


def slot_of(moment: datetime, every: timedelta) -> datetime:
    """The beginning of the slot that ``moment`` is in, in UTC: slots follow each other without a gap from 1970 on.

    Time zones and daylight saving time do not matter, so that no slot occurs twice and none is left out.
    """
    epoch = datetime.fromtimestamp(0, UTC)
    return moment - (moment - epoch) % every


def slot_key(name: str, moment: datetime, every: timedelta) -> str:
    """The key under which the work of a slot is enqueued once (reliability, I17)."""
    return f"{name}:{slot_of(moment.astimezone(UTC), every):%Y-%m-%dT%H:%M:%SZ}"


async def in_batches(database: Database, name: str, work: Callable[[Session], Awaitable[int]]) -> int:
    """Repeat ``work``, each time in its own transaction, until it finds less than ``BATCH``; returns the sum."""
    total = 0
    while True:
        count = await database.run(name, work)
        total += count
        if count < BATCH:
            return total
