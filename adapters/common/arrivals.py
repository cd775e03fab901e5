"""The updates of an account, from the inbox to its listeners, until each is dealt with.

The updates of one chat are handed out one after the other, several chats at once, and urgent updates in lanes of their
own. An update that could not be handled is kept, and none is handed out twice while it is in hand. Where a listener
leaves work for later, the update holds up no other, and counts as dealt with once that work has ended. No log line
holds what somebody wrote.
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

from adapters.common.words.errors import log_failure
from core.desk.rules.platforms import UpdateInbox, WaitingUpdate
from core.desk.runtime.lease import pause
from core.errors import AntiphonError, StoreUnavailable


@dataclass(frozen=True, slots=True)
class Arrival:
    """One update on its way to the listeners.

    Attributes:
        hear: hands it to them, again where it raised an error that passes.
        unfinished: what they leave to be done beside the updates that come next; known once they heard it.
    """

    hear: Callable[[], Awaitable[object]]
    unfinished: Sequence[asyncio.Future[None]] = ()


class Dispatcher(Protocol):
    @property
    def platform(self) -> str: ...

    @property
    def passing(self) -> tuple[type[AntiphonError], ...]:
        """The errors after which an update is handed to the listeners again: the database's, and maybe others."""
        ...

    def known_kinds(self) -> Collection[str]:
        """The kinds of update that this version knows."""
        ...

    def kind_of(self, payload: dict[str, Any]) -> str: ...

    def arrival(self, waiting: WaitingUpdate) -> Arrival:
        """An update, ready to be heard; whatever it raises, the update cannot be read."""
        ...


_LOG = logging.getLogger(__name__)
LOOK_SECONDS: Final = 3.0
"""How often the inbox is read where nothing woke the reader."""
_CLOSING_SECONDS: Final = 5.0
_CHATS_AT_ONCE: Final = 8
"""How many chats are served at the same time; what is urgent has as many places of its own."""
_LONGEST_PAUSE_SECONDS: Final = 30.0
_Record: TypeAlias = Callable[[], Awaitable[None]]


class UpdateHandler:
    """Hands out the updates of one account.

    Args:
        sleep: waits so many seconds, where the database does not answer.
    """

    def __init__(
        self,
        hearing: Dispatcher,
        inbox: UpdateInbox,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._hearing, self._inbox = hearing, inbox
        self._sleep = sleep
        self._turns = {is_urgent: asyncio.Semaphore(_CHATS_AT_ONCE) for is_urgent in (True, False)}
        self._lanes: dict[str, deque[WaitingUpdate]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._in_hand: set[int] = set()
        self._unfinished: set[int] = set()
        """Updates that were heard, and whose work goes on beside the others."""
        self._finished: set[int] = set()
        self._waiting_count = 0
        self._woken = asyncio.Event()
        self.unknown = Counter[str]()
        """How many updates came of kinds that this version does not know, by kind."""

    def wake(self) -> None:
        """Say that there is something new in the inbox."""
        self._woken.set()

    async def run(self) -> None:
        """Hand out what waits, until cancelled."""
        while True:
            self._woken.clear()
            await self._look()
            await pause(self._woken, LOOK_SECONDS)

    async def close(self) -> None:
        """End what is in hand; what is not finished in some seconds waits in the inbox for the next start."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CLOSING_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._inbox.release()

    async def _look(self) -> None:
        self._finished.clear()
        try:
            waiting = await self._inbox.waiting()
        except StoreUnavailable as err:
            _LOG.warning("The updates of %s that wait cannot be read: %s", self._hearing.platform, err.message)
            return
        waiting = [each for each in waiting if each.update.number not in self._unfinished]
        self._waiting_count = len(waiting)
        for each in waiting:
            if each.update.number not in self._in_hand | self._finished:  # it may have ended during the look
                self._put(each)

    def _put(self, each: WaitingUpdate) -> None:
        self._in_hand.add(each.update.number)
        lane = self._lanes.get(each.update.lane)
        if lane is not None:
            lane.append(each)
            return
        self._lanes[each.update.lane] = deque([each])
        self._start(self._work(each.update.lane, each.update.is_urgent))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, name: str, is_urgent: bool) -> None:
        lane = self._lanes[name]
        while lane:
            async with self._turns[is_urgent]:
                each = lane.popleft()
                await self._finish(each)
        del self._lanes[name]
        if len(self._in_hand) < self._waiting_count // 2:
            self._waiting_count = 0
            self.wake()  # more may wait than were handed out at once

    async def _finish(self, each: WaitingUpdate) -> None:
        number, kind = each.update.number, self._hearing.kind_of(each.update.payload)
        unfinished: Sequence[asyncio.Future[None]] = ()
        if kind not in self._hearing.known_kinds():
            self._count(kind)
            record: _Record = partial(self._inbox.put_aside, number, is_known=False)
        else:
            record, unfinished = await self._hear(each, kind)
        if unfinished:
            self._unfinished.add(number)
            self._in_hand.discard(number)
            self._start(self._record_after(number, unfinished, record))
        elif await self._recorded(record):
            self._in_hand.discard(number)
            self._finished.add(number)

    async def _hear(self, each: WaitingUpdate, kind: str) -> tuple[_Record, Sequence[asyncio.Future[None]]]:
        """Hand out one update, again while the database is away; how to record its end, and the work to wait for."""
        unfinished: Sequence[asyncio.Future[None]] = ()
        try:
            arrival = self._hearing.arrival(each)
            unfinished = arrival.unfinished
            await self._surely(arrival.hear, self._hearing.passing)
        except Exception as err:
            log_failure(f"an update of the kind {kind}", err)
            return partial(self._inbox.put_aside, each.update.number, is_known=True), unfinished
        return partial(self._inbox.done, each.update.number), unfinished

    async def _record_after(self, number: int, unfinished: Sequence[asyncio.Future[None]], record: _Record) -> None:
        """Record how an update ended once all its work has; where some is cancelled, it waits for the next start."""
        try:
            for work in unfinished:
                await work
        except Exception as err:
            log_failure("what an update left to be done", err)
            record = partial(self._inbox.put_aside, number, is_known=True)
        if await self._recorded(record):
            self._unfinished.discard(number)
            self._finished.add(number)

    async def _recorded(self, record: _Record) -> bool:
        """Record how an update ended; one whose record fails stays in hand, and waits for the next start."""
        try:
            await self._surely(record)
        except Exception as err:
            log_failure("an update's record", err)
            return False
        return True

    async def _surely(
        self, act: Callable[[], Awaitable[object]], passing: tuple[type[AntiphonError], ...] = (StoreUnavailable,)
    ) -> None:
        """Do it, again and again while one of the ``passing`` errors is raised."""
        pause = 1.0
        while True:
            try:
                await act()
            except passing as err:
                _LOG.warning("An update of %s waits: %s", self._hearing.platform, err.message)
            else:
                return
            await self._sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _count(self, kind: str) -> None:
        """Log the first, second, fourth and so on: a flood must not flood the log."""
        self.unknown[kind] += 1
        if self.unknown[kind] & (self.unknown[kind] - 1) == 0:
            _LOG.warning(
                "%s sent %d updates of the kind %r, which this version does not know; they are kept for some days.",
                self._hearing.platform,
                self.unknown[kind],
                kind,
            )
