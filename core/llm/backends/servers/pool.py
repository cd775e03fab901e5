"""A chat model behind several servers that all have it: which one is asked, and what happens when one fails.

Owns the choice for each call and its only retry: a call whose server failed goes to another one, within its own time.
Only the calls of this process are known; another process has a pool of its own.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence

from core.llm.backends.servers.breaker import State
from core.llm.backends.servers.calls import OnCall, tell_nobody
from core.llm.backends.servers.chat import ATTEMPTS, ChatModel
from core.llm.backends.servers.choosing import beginning_of, chosen, slack_of
from core.llm.backends.servers.faults import ServerAway, ServerFault, Trouble
from core.llm.backends.servers.pooled import PATIENCE, Common, Patience, PooledServer
from core.llm.backends.servers.protocol import ChatProtocol, Reply, Request
from core.llm.backends.servers.reaching import check_model

logger = logging.getLogger(__name__)


class ChatPool(ChatProtocol):
    """``core.ports.LanguageModel`` from several servers; all calls come from one event loop.

    Args:
        models: the servers, each for ``parallel`` calls and one more, which the pool asks itself, with one attempt.
        parallel: calls that each server gets at once; the others wait, within their time.
        patience: how long is waited for what.
        on_call: hears of each call that was given up on a silent server; of all others, and of the pool's own
            questions, the models tell.
    """

    def __init__(
        self,
        models: Sequence[ChatModel],
        *,
        parallel: int,
        patience: Patience = PATIENCE,
        on_call: OnCall = tell_nobody,
    ) -> None:
        common = Common(patience, self._wake, on_call)
        self._servers = [PooledServer(model, common) for model in models]
        self._parallel, self._slack = parallel, slack_of(parallel)
        self._longest_seconds = max(model.longest_seconds for model in models)
        self._changed = asyncio.Event()

    @property
    def states(self) -> dict[str, State]:
        """The state of each server, by address."""
        return {server.address: server.state for server in self._servers}

    async def check_model(self) -> None:
        """Look whether each server knows the model. One that is away is left out, unless all are away.

        Raises:
            ModelUnavailable: a server is there, and does not know the model, refuses the key or is something else.
        """
        models = [server.model for server in self._servers]
        are_there = await asyncio.gather(*(check_model(model.faults, model.api_key) for model in models))
        for server, is_there in zip(self._servers, are_there, strict=True):
            if not any(are_there):
                logger.warning("The language model at %s does not answer yet.", server.address)
            elif not is_there:
                server.leave(server.model.faults.unreached())

    async def close(self) -> None:
        """Close the connections; requests in flight fail."""
        await asyncio.gather(*(server.close() for server in self._servers))

    async def complete(self, request: Request, timeout_seconds: float) -> Reply:
        """As ``ChatProtocol.complete``, by the servers in turn until one answers.

        A server that failed is not asked a second time. A busy one may be, once it has had its rest. An error of the
        server (5xx) counts against it where another one answers; where none does, the request may be at fault.

        Raises:
            ServerFault: the last server's fault, or why all are left out; a request that one refuses goes to no other.
        """
        now = asyncio.get_running_loop().time
        seconds = min(timeout_seconds, self._longest_seconds)
        beginning, end = beginning_of(request.body["messages"]), now() + seconds
        failed, last = dict[PooledServer, ServerFault](), None
        while True:
            try:
                server = await self._free(beginning, failed, end)
            except TimeoutError as err:
                raise last or self._servers[0].model.faults.late(seconds) from err
            if server is None:
                raise last or self._all_left()
            try:
                reply = await server.ask(request, end - now())
            except ServerFault as err:
                if err.trouble in {Trouble.REQUEST, Trouble.LATE}:
                    raise
                last = err
                if err.trouble is not Trouble.BUSY:
                    failed[server] = err
                continue
            for one, fault in failed.items():
                if fault.trouble is Trouble.BROKEN:
                    one.blame(fault)
            return reply

    async def _free(self, beginning: str, failed: Collection[PooledServer], end: float) -> PooledServer | None:
        """A server with room for a call, as soon as there is one; ``None`` if there will be none in time.

        Raises:
            TimeoutError: the call's time ended while all servers had enough to do.
        """
        now = asyncio.get_running_loop().time
        while True:
            for server in self._servers:
                server.probe_if_due()
            moment = now()
            left = [server for server in self._servers if server not in failed]
            asked = {server.address: server for server in left if server.state is State.CLOSED}
            rests = [server.rests_until for server in asked.values() if server.rests_until > moment]
            loads = {
                address: server.load
                for address, server in asked.items()
                if server.rests_until <= moment and server.load < self._parallel
            }
            if loads:
                return asked[chosen(beginning, loads, self._slack)]
            is_any_full = len(rests) < len(asked)
            is_any_probed = any(server.state is State.HALF_OPEN for server in left)
            if not (is_any_full or is_any_probed) and min(rests, default=end) >= end:
                return None
            changed = self._changed
            try:
                async with asyncio.timeout_at(min([end, *rests])):
                    await changed.wait()
            except TimeoutError:
                if now() >= end:
                    raise

    def _all_left(self) -> ServerFault:
        """Why nobody can be asked, which is no fault of the call."""
        why = next(server.why for server in self._servers if server.why is not None)
        return ServerAway(why.message, remedy=why.remedy, trouble=why.trouble)

    def _wake(self) -> None:
        """Let all calls that wait for a server look again, in their order."""
        self._changed.set()
        self._changed = asyncio.Event()


def open_chat(
    addresses: Sequence[str],
    api_key: str,
    model: str,
    *,
    parallel: int,
    timeout_seconds: float = 120,
    section: str = "llm",
    patience: Patience = PATIENCE,
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
    pool = ChatPool(models, parallel=parallel, patience=patience, on_call=on_call)
    return pool
