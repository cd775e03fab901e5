"""A chat model behind several servers that all have it: which one is asked, and what happens when one fails.

Owns the calls in flight of each server, the only retry of a call, and the watch for servers that take calls and never
answer. A call whose server failed goes to another one, within its own time. Must never log a prompt or an answer.

Only the calls of this process are known: another process has a pool of its own.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Collection, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from core.llm.backends.servers.breaker import Breaker, State
from core.llm.backends.servers.calls import Call, OnCall, tell_nobody
from core.llm.backends.servers.chat import ATTEMPTS, ChatModel
from core.llm.backends.servers.choosing import beginning_of, chosen, slack_of
from core.llm.backends.servers.faults import ServerAway, ServerFault, Trouble
from core.llm.backends.servers.protocol import ChatProtocol, Reply, Request
from core.llm.backends.servers.reaching import check_model, check_there

LOOKS: Final = 2
"""How often in a row a server must not even list its models: a busy one, or this process, may be late once."""
SLOWER: Final = 3
"""How much longer than the longest answer of late a server may say nothing before it is asked whether it works."""
REMEMBERED: Final = 64
_QUESTION: Final = Request({"messages": [{"role": "user", "content": "?"}], "max_tokens": 1, "temperature": 0})

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a pool waits for what, in seconds.

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


@dataclass(eq=False)
class _Member:
    """One server of the pool."""

    model: ChatModel
    breaker: Breaker
    load: int = 0
    heard: float = 0.0
    """When it last gave any answer to a call, or began to work after it had nothing to do."""
    rests_until: float = 0.0
    cuts: set[asyncio.Timeout] = field(default_factory=set)
    """What ends each call in flight, so that it can go elsewhere."""
    watch: asyncio.Task[None] | None = None
    why: ServerFault | None = None
    """Why it was left out last."""

    @property
    def address(self) -> str:
        return self.model.faults.address


class ChatPool(ChatProtocol):
    """``core.ports.LanguageModel`` from several servers; all calls come from one event loop.

    Args:
        models: the servers, each for ``parallel`` calls and one more, which the pool asks itself, with one attempt.
        parallel: calls that each server gets at once; the others wait, within their time.
        patience: how long is waited for what.
        on_call: hears of each call that was given up on a silent server; of all others the models tell.
    """

    def __init__(
        self,
        models: Sequence[ChatModel],
        *,
        parallel: int,
        patience: Patience = Patience(),
        on_call: OnCall = tell_nobody,
    ) -> None:
        self._members = [_Member(model, Breaker(patience.first_pause, patience.longest_pause)) for model in models]
        self._parallel, self._slack = parallel, slack_of(parallel)
        self._patience, self._on_call = patience, on_call
        self._changed = asyncio.Event()
        self._tasks = set[asyncio.Task[None]]()
        self._took = deque[float](maxlen=REMEMBERED)

    @property
    def states(self) -> dict[str, State]:
        """The state of each server, by address."""
        return {member.address: member.breaker.state for member in self._members}

    async def check_model(self) -> None:
        """Look whether each server knows the model. One that is away is left out, unless all are away.

        Raises:
            ModelUnavailable: a server is there, and does not know the model, refuses the key or is something else.
        """
        models = [member.model for member in self._members]
        are_there = await asyncio.gather(*(check_model(model.faults, model.api_key) for model in models))
        for member, is_there in zip(self._members, are_there, strict=True):
            if not any(are_there):
                logger.warning("The language model at %s does not answer yet.", member.address)
            elif not is_there:
                self._leave(member, member.model.faults.unreached())

    async def close(self) -> None:
        """Close the connections; requests in flight fail."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(member.model.close() for member in self._members))

    async def complete(self, request: Request, timeout_seconds: float) -> Reply:
        """As ``ChatProtocol.complete``, by the servers in turn until one answers.

        A server that failed is not asked a second time. A busy one may be, once it has had its rest. An error of the
        server (5xx) counts against it where another one answers; where none does, the request may be at fault.

        Raises:
            ServerFault: the last server's fault, or why all are left out; a request that one refuses goes to no other.
        """
        now = asyncio.get_running_loop().time
        seconds = min(timeout_seconds, max(member.model.longest_seconds for member in self._members))
        beginning, end = beginning_of(request.body["messages"]), now() + seconds
        failed, last = dict[_Member, ServerFault](), None
        while True:
            try:
                member = await self._free(beginning, failed, end)
            except TimeoutError as err:
                raise last or self._members[0].model.faults.late(seconds) from err
            if member is None:
                raise last or self._all_left()
            try:
                reply = await self._ask(member, request, end - now())
            except ServerFault as err:
                if err.trouble in {Trouble.REQUEST, Trouble.LATE}:
                    raise
                last = err
                if err.trouble is not Trouble.BUSY:
                    failed[member] = err
                continue
            for one, fault in failed.items():
                if fault.trouble is Trouble.BROKEN:
                    self._blame(one, fault)
            return reply

    async def _free(self, beginning: str, failed: Collection[_Member], end: float) -> _Member | None:
        """A server with room for this call, as soon as there is one; ``None`` if there will be none in time.

        Raises:
            TimeoutError: the call's time ended while all servers had enough to do.
        """
        now = asyncio.get_running_loop().time
        while True:
            self._probe_those_due()
            moment = now()
            left = [member for member in self._members if member not in failed]
            closed = [member for member in left if member.breaker.state is State.CLOSED]
            loads = {
                member.address: member.load
                for member in closed
                if member.rests_until <= moment and member.load < self._parallel
            }
            if loads:
                address = chosen(beginning, loads, self._slack)
                return next(member for member in closed if member.address == address)
            rests = [member.rests_until for member in closed if member.rests_until > moment]
            is_promised = len(rests) < len(closed) or any(m.breaker.state is State.HALF_OPEN for m in left)
            if not is_promised and min(rests, default=end) >= end:
                return None
            changed = self._changed
            try:
                async with asyncio.timeout_at(min([end, *rests])):
                    await changed.wait()
            except TimeoutError:
                if now() >= end:
                    raise

    async def _ask(self, member: _Member, request: Request, seconds: float) -> Reply:
        """Ask one server, and note what came of it."""
        now = asyncio.get_running_loop().time
        sent = now()
        if not member.load:
            member.heard = sent
        member.load += 1
        if member.watch is None or member.watch.done():
            member.watch = self._run(self._watch(member))
        cut = asyncio.timeout(None)
        try:
            async with cut:
                member.cuts.add(cut)
                reply = await member.model.complete(request, seconds)
        except TimeoutError as err:
            self._on_call(Call(member.address, now() - sent, failed=Trouble.ABSENT))
            raise (member.why or member.model.faults.unreached()) from err
        except ServerFault as err:
            self._note(member, err, sent)
            raise
        else:
            member.heard = now()
            self._took.append(member.heard - sent)
            member.breaker.worked()
            return reply
        finally:
            member.cuts.discard(cut)
            member.load -= 1
            self._wake()

    def _note(self, member: _Member, err: ServerFault, sent: float) -> None:
        """What a failure says about its server."""
        moment = asyncio.get_running_loop().time()
        if err.trouble is Trouble.LATE:
            is_its_fault = member.heard <= sent and moment - sent >= self._patience.look
            if not is_its_fault:  # it answered others meanwhile, or had hardly any time
                return
        elif err.trouble is not Trouble.ABSENT:
            member.heard = moment
        match err.trouble:
            case Trouble.REQUEST:
                member.breaker.worked()
            case Trouble.BUSY:
                self._rest(member, err)
            case Trouble.REFUSED:
                self._leave(member, err)
            case Trouble.ABSENT | Trouble.LATE | Trouble.FOREIGN:
                self._blame(member, err)

    def _blame(self, member: _Member, err: ServerFault) -> None:
        member.breaker.failed()
        if member.breaker.state is State.OPEN:
            self._leave(member, err)

    def _rest(self, member: _Member, err: ServerFault) -> None:
        wait = self._patience.rest if err.wait_seconds is None else err.wait_seconds
        member.rests_until = max(member.rests_until, asyncio.get_running_loop().time() + wait)

    def _leave(self, member: _Member, err: ServerFault) -> None:
        """Leave a server out."""
        member.breaker.trip()
        if member.why is None:
            logger.warning("The language model at %s is left out until it answers: %s", member.address, err.message)
        member.why = err
        self._wake()

    def _all_left(self) -> ServerFault:
        """Why nobody can be asked: it is no fault of this call."""
        why = next(member.why for member in self._members if member.why is not None)
        return ServerAway(why.message, remedy=why.remedy, trouble=why.trouble)

    async def _watch(self, member: _Member) -> None:
        """Look after a server while it has calls; where it is as if dead, leave it out and send its calls elsewhere."""
        now = asyncio.get_running_loop().time
        looked = doubted = member.heard
        while member.load:
            wait = max(member.heard, looked) + self._patience.look - now()
            if wait > 0:
                await asyncio.sleep(wait)
                continue
            looked = now()
            try:
                await _look(member.model)
                doubt = max(self._patience.doubt, SLOWER * max(self._took, default=float("inf")))
                if looked - max(member.heard, doubted) >= doubt:
                    doubted = looked
                    await member.model.complete(_QUESTION, self._patience.probe)
            except ServerFault as err:
                if err.trouble in {Trouble.BUSY, Trouble.REQUEST} or member.heard > looked:
                    continue
                silence = member.model.faults.silent(self._patience.probe)
                self._leave(member, silence if err.trouble is Trouble.LATE else err)
                for cut in member.cuts:
                    cut.reschedule(now())
                member.cuts.clear()
                return

    def _probe_those_due(self) -> None:
        for member in self._members:
            if member.breaker.is_due:
                member.breaker.probe()
                self._run(self._probe(member))

    async def _probe(self, member: _Member) -> None:
        """Ask a server that was left out for one token; nobody's call waits for it."""
        try:
            await member.model.complete(_QUESTION, self._patience.probe)
        except ServerFault as err:
            if err.trouble not in {Trouble.BUSY, Trouble.REQUEST}:
                self._leave(member, err)
                return
            if err.trouble is Trouble.BUSY:
                self._rest(member, err)
        except asyncio.CancelledError:
            member.breaker.trip()
            raise
        member.breaker.close()
        member.why = None
        logger.info("The language model at %s answers again.", member.address)
        self._wake()

    def _wake(self) -> None:
        """Let all calls that wait for a server look again, in their order."""
        self._changed.set()
        self._changed = asyncio.Event()

    def _run(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def _look(model: ChatModel) -> None:
    """See whether a server gives any sign of life.

    Raises:
        ServerFault: it gives none, twice, or refuses the key.
    """
    for look in range(1, LOOKS + 1):
        try:
            return await check_there(model.faults, model.api_key)
        except ServerFault as err:
            if err.trouble is not Trouble.ABSENT or look == LOOKS:
                raise


def open_chat(
    addresses: Sequence[str],
    api_key: str,
    model: str,
    *,
    parallel: int,
    timeout_seconds: float = 120,
    section: str = "llm",
    patience: Patience = Patience(),
    on_call: OnCall = tell_nobody,
) -> ChatModel | ChatPool:
    """The model behind one server or several; with one there is no pool between.

    Args:
        addresses: at least one, each once.
        parallel: calls that each server gets at once.
    """

    def at(address: str, concurrency: int, attempts: int) -> ChatModel:
        return ChatModel(
            address,
            api_key,
            model,
            timeout_seconds=timeout_seconds,
            concurrency=concurrency,
            section=section,
            attempts=attempts,
            on_call=on_call,
        )

    if len(addresses) == 1:
        return at(addresses[0], parallel, ATTEMPTS)
    models = [at(address, parallel + 1, 1) for address in addresses]
    return ChatPool(models, parallel=parallel, patience=patience, on_call=on_call)
