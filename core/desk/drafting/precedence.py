"""Whose draft comes first: what people wait for, before what a filter found.

While a draft that somebody asked for waits or is made, in whatever process, no background case of this one begins a
call; the calls that were begun end. A model server cannot do this: it puts requests that wait into another order, and
those that it answers already take its time all the same. Nor can a call be taken back, so that a background case makes
one at a time: so many are under way at once as workers have such cases.

What this process drafts is known at once; what others have in the queue or in hand is looked up while a background case
is in hand here. Nobody is held for ever: a case before which people came for ``patience_seconds`` in all goes on, one
call of this process at a time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Final

from core.desk.runtime.lease import pause
from core.desk.store.jobs import PeoplesWork
from core.errors import StoreUnavailable
from core.models import Priority

_LOG = logging.getLogger(__name__)
_LOOK_SECONDS: Final = 1.0
_PATIENCE_SECONDS: Final = 120.0


class Precedence:
    """Knows of the drafts that people wait for, and holds the background cases of one process meanwhile.

    Args:
        look: asks the database which drafts people wait for.
        look_seconds: how often that is asked while a background case is in hand.
        patience_seconds: for how long people may come before one background case, all in all.
        clock: gives seconds; only differences matter.
    """

    def __init__(
        self,
        look: Callable[[], Awaitable[PeoplesWork]],
        *,
        look_seconds: float = _LOOK_SECONDS,
        patience_seconds: float = _PATIENCE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look = look
        self._look_seconds = look_seconds
        self._patience_seconds = patience_seconds
        self._clock = clock
        self._people_here = 0
        self._seen = PeoplesWork()
        self._has_looked = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._in_hand = set[BackgroundCase]()
        self._changed = asyncio.Event()
        self._closed_since: float | None = None
        self._closed_seconds = 0.0
        self._one_at_a_time = asyncio.Lock()

    @property
    def least(self) -> Priority:
        """The lowest priority that a worker should take: no second background case while people come first."""
        return Priority.FLAGGED if self._in_hand and self._closed_since is not None else Priority.DETECTED

    @contextmanager
    def person(self) -> Iterator[None]:
        """A draft that somebody waits for is made here meanwhile."""
        self._people_here += 1
        self._tell()
        try:
            yield
        finally:
            self._people_here -= 1
            self._tell()

    @asynccontextmanager
    async def background(self, job_id: str) -> AsyncIterator[BackgroundCase]:
        """A case that nobody waits for is drafted here meanwhile; give its ``turn`` to the engine."""
        case = BackgroundCase(self, job_id)
        self._in_hand.add(case)
        if self._looking is None:
            self._has_looked.clear()
            self._looking = asyncio.create_task(self._keep_looking())
        try:
            yield case
        finally:
            case.end()
            self._in_hand.discard(case)
            if not self._in_hand and self._looking is not None:
                looking, self._looking = self._looking, None
                looking.cancel()
                await asyncio.wait({looking})

    async def _keep_looking(self) -> None:
        while True:
            try:
                self._seen = await self._look()
            except StoreUnavailable as err:  # what was seen last still counts
                _LOG.warning("who waits for a draft is not known: %s", err)
            self._has_looked.set()
            self._tell()
            await asyncio.sleep(self._look_seconds)

    def _tell(self) -> None:
        """Count how long people come first, and wake up everybody who waits for a change."""
        is_closed = bool(self._people_here or self._seen.is_waiting or self._seen.in_hand)
        if is_closed and self._closed_since is None:
            self._closed_since = self._clock()
        elif not is_closed and self._closed_since is not None:
            self._closed_seconds += self._clock() - self._closed_since
            self._closed_since = None
        self._changed.set()
        self._changed = asyncio.Event()

    def _seconds_closed(self) -> float:
        return self._closed_seconds + (0.0 if self._closed_since is None else self._clock() - self._closed_since)


class BackgroundCase:
    """A case in hand that nobody waits for; unless somebody asks for it meanwhile, which makes it theirs.

    ``over`` is set when it is drafted, or given back.
    """

    def __init__(self, precedence: Precedence, job_id: str) -> None:
        self._of = precedence
        self._job_id = job_id
        self._before = precedence._seconds_closed()
        self._calling = asyncio.Lock()
        self.over = asyncio.Event()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """One call of the model, after the last one of this case, and as soon as no person comes before it.

        After enough patience it waits only for those of this process that waited as long.
        """
        async with AsyncExitStack() as stack:
            if not self._is_for_people:
                await stack.enter_async_context(self._calling)
            if not await self._is_free():
                await stack.enter_async_context(self._of._one_at_a_time)
            yield

    @property
    def _is_for_people(self) -> bool:
        return self._job_id in self._of._seen.in_hand

    async def _is_free(self) -> bool:
        """Wait until nobody comes before this case; ``False`` if it was held for long enough."""
        of = self._of
        await of._has_looked.wait()
        while of._closed_since is not None and not self._is_for_people:
            seconds = of._patience_seconds - (of._seconds_closed() - self._before)
            if seconds <= 0:
                return False
            await pause(of._changed, seconds)
        return True

    async def somebody_waits(self) -> bool:
        """Return when a draft that somebody waits for could be taken, or ``False`` when this case is over."""
        while not self.over.is_set() and not self._of._seen.is_waiting:
            await self._of._changed.wait()
        return not self.over.is_set()

    def end(self) -> None:
        self.over.set()
        self._of._tell()
