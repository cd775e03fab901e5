"""One of several servers: its calls in flight, whether it is asked, and the watch for one that never answers.

Owns what each outcome of a call says about its server. Must never log a prompt or an answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

from core.llm.backends.servers.breaker import Breaker, State
from core.llm.backends.servers.calls import Call, OnCall
from core.llm.backends.servers.chat import ChatModel
from core.llm.backends.servers.faults import ServerFault, Trouble
from core.llm.backends.servers.protocol import Reply, Request
from core.llm.backends.servers.reaching import check_there

LOOKS: Final = 2
"""How often in a row a server must not even list its models: a busy one, or this process, may be late once."""
SLOWER: Final = 3
"""How much longer than the longest answer of late a server may say nothing before it is asked whether it works."""
_REMEMBERED: Final = 64
_QUESTION: Final = Request({"messages": [{"role": "user", "content": "?"}], "max_tokens": 1, "temperature": 0})
_IS_THERE: Final = frozenset({Trouble.BUSY, Trouble.REQUEST})
"""Refusals that only a server gives that works."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited for what, in seconds.

    Attributes:
        look: a server with calls that says nothing for so long is asked for its models.
        doubt: one that lists them, but answers no call for so long, is asked for one token.
        probe: for that token.
        first_pause: before a server that was left out is probed.
        longest_pause: after many probes.
        rest: a busy server is left alone for so long where it does not say for how long.
    """

    look: float = 2.0
    doubt: float = 20.0
    probe: float = 10.0
    first_pause: float = 1.0
    longest_pause: float = 60.0
    rest: float = 1.0


PATIENCE: Final = Patience()


@dataclass
class Common:
    """What the servers of one pool share.

    Attributes:
        took: the seconds of the last answers.
        on_change: called when a call may find another choice than before.
        on_call: hears of calls that were given up on a silent server; of all others the models tell.
    """

    patience: Patience
    on_change: Callable[[], None]
    on_call: OnCall
    took: deque[float] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))


class PooledServer:
    """One server of a pool.

    Attributes:
        load: its calls in flight.
        rests_until: when it may be asked again after it was busy, by the clock of the event loop.
        why: why it was left out or left alone last.
    """

    def __init__(self, model: ChatModel, common: Common) -> None:
        self.model, self._common, self._patience = model, common, common.patience
        self._breaker = Breaker(self._patience.first_pause, self._patience.longest_pause)
        self.load = 0
        self.rests_until = 0.0
        self.why: ServerFault | None = None
        self._is_told = False
        self._heard = 0.0  # when it last answered a call in any way, or got one after it had nothing to do
        self._cuts = set[asyncio.Timeout]()  # what ends each call in flight, so that it can go elsewhere
        self._tasks = set[asyncio.Task[None]]()
        self._watching: asyncio.Task[None] | None = None

    @property
    def address(self) -> str:
        """Its ``base_url``."""
        return self.model.faults.address

    @property
    def state(self) -> State:
        """Whether it is asked."""
        return self._breaker.state

    async def close(self) -> None:
        """Close the connections; requests in flight fail."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.model.close()

    async def ask(self, request: Request, seconds: float) -> Reply:
        """Send a request, and note what came of it.

        Raises:
            ServerFault: there is no usable answer within the time, or the server was found to be silent.
        """
        sent = _now()
        if not self.load:
            self._heard = sent
        self.load += 1
        if self._watching is None or self._watching.done():
            self._watching = self._run(self._watch())
        cut = asyncio.timeout(None)
        try:
            async with cut:
                self._cuts.add(cut)
                reply = await self.model.complete(request, seconds)
        except TimeoutError as err:
            self._common.on_call(Call(self.address, _now() - sent, failed=Trouble.ABSENT))
            raise (self.why or self.model.faults.unreached()) from err
        except ServerFault as err:
            self._note(err, sent)
            raise
        else:
            self._heard = _now()
            self._common.took.append(self._heard - sent)
            self._breaker.worked()
            return reply
        finally:
            self._cuts.discard(cut)
            self.load -= 1
            self._common.on_change()

    def blame(self, err: ServerFault) -> None:
        """Count a failure against the server."""
        self._breaker.failed()
        if self.state is State.OPEN:
            self.leave(err)

    def leave(self, err: ServerFault) -> None:
        """Leave the server out until a probe finds that it answers."""
        self._breaker.trip()
        if not self._is_told:
            logger.warning("The language model at %s is left out until it answers: %s", self.address, err.message)
        self._is_told, self.why = True, err
        self._common.on_change()

    def probe_if_due(self) -> None:
        """Ask a server that was left out long enough for one token; nobody's call depends on it."""
        if self._breaker.is_due:
            self._breaker.probe()
            self._run(self._probe())

    def _note(self, err: ServerFault, sent: float) -> None:
        """What a failure says about the server. Of its own errors the pool tells which ones count (``blame``)."""
        moment = _now()
        match err.trouble:
            case Trouble.LATE:
                if self._heard <= sent and moment - sent >= self._patience.look:  # it had time, and answered nobody
                    self.blame(err)
                return
            case Trouble.ABSENT:
                self.blame(err)
                return
            case Trouble.REQUEST:
                self._breaker.worked()
            case Trouble.BUSY:
                self._rest(err)
            case Trouble.REFUSED:
                self.leave(err)
            case Trouble.FOREIGN:
                self.blame(err)
            case Trouble.BROKEN:
                pass
        self._heard = moment

    def _rest(self, err: ServerFault) -> None:
        wait = self._patience.rest if err.wait_seconds is None else err.wait_seconds
        self.rests_until, self.why = max(self.rests_until, _now() + wait), err

    async def _watch(self) -> None:
        """Look after the server while it has calls; if it is as if dead, leave it out and send its calls elsewhere."""
        looked = doubted = self._heard
        while self.load:
            wait = max(self._heard, looked) + self._patience.look - _now()
            if wait > 0:
                await asyncio.sleep(wait)
                continue
            looked = _now()
            doubt = max(self._patience.doubt, SLOWER * max(self._common.took, default=float("inf")))
            try:
                await self._look()
                if looked - max(self._heard, doubted) >= doubt:
                    doubted = looked
                    await self.model.complete(_QUESTION, self._patience.probe)
            except ServerFault as err:
                if err.trouble in _IS_THERE or self._heard > looked:
                    continue
                is_late = err.trouble is Trouble.LATE
                self.leave(self.model.faults.silent(self._patience.probe) if is_late else err)
                for cut in self._cuts:
                    cut.reschedule(_now())
                self._cuts.clear()
                return

    async def _look(self) -> None:
        """See whether the server gives any sign of life.

        Raises:
            ServerFault: it gives none, twice, or refuses the key.
        """
        for look in range(1, LOOKS + 1):
            try:
                return await check_there(self.model.faults, self.model.api_key)
            except ServerFault as err:
                if err.trouble is not Trouble.ABSENT or look == LOOKS:
                    raise

    async def _probe(self) -> None:
        try:
            await self.model.complete(_QUESTION, self._patience.probe)
        except ServerFault as err:
            if err.trouble not in _IS_THERE:
                self.leave(err)
                return
            if err.trouble is Trouble.BUSY:
                self._rest(err)
        self._breaker.close()
        self._is_told = False
        logger.info("The language model at %s answers again.", self.address)
        self._common.on_change()

    def _run(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _now() -> float:
    return asyncio.get_running_loop().time()
