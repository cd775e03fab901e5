"""The fake Discord on a free port of loopback, and a client that is led there.

Owns the network side: every request is checked against Discord's description, limited, struck by faults, carried out.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta
from typing import Any, Final

import yarl
from aiohttp import web
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord.connection.client import AntiphonClient
from tests.fakes.discord.server.faults import Fault, Faults
from tests.fakes.discord.server.gateway import Gateway
from tests.fakes.discord.server.rest import carry_out
from tests.fakes.discord.server.spec import published
from tests.fakes.discord.server.state import JSON, DiscordState, Refused
from tests.fakes.machine.loopback import LoopbackServer

TOKEN: Final = "a.loopback.token"
_ANSWERS_CHECKED: Final = 100  # of each method: they are all made alike, and a check takes a millisecond
_BASE: Final = "/api/v10"
_BY_INTERACTION: Final = re.compile(r"/(?:interactions|webhooks)/")
_CHANGES: Final = ("POST", "DELETE", "PATCH")


class LoopbackClient(AntiphonClient):
    """The client without its polite pauses: five seconds between two identifications, two for servers to come."""

    def __init__(self, *parts: Any, reads_messages: bool = False) -> None:
        super().__init__(*parts, reads_messages=reads_messages)
        self._connection.guild_ready_timeout = 0.02

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Do not wait."""


class DiscordServer(LoopbackServer):
    """Discord for one test.

    Attributes:
        requests: what was asked: method, path, and body.
        complaints: what was wrong with a request or an answer by Discord's description; must stay empty.
    """

    def __init__(self, state: DiscordState) -> None:
        super().__init__()
        self.state = state
        self.faults = Faults()
        self.gateway = Gateway(state, TOKEN)
        self.requests: list[tuple[str, str, Any]] = []
        self.complaints: list[str] = []
        self.token = TOKEN
        self._checked = Counter[str]()
        self._busy_until: datetime | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[DiscordServer]:
        """Serve while the block runs; discord.py is led here meanwhile."""
        app = web.Application()
        app.router.add_get("/gateway", self.gateway.handle)
        app.router.add_get("/gateway/", self.gateway.handle)
        app.router.add_route("*", f"{_BASE}/{{path:.*}}", self._handle)
        async with self.listening(app):
            self.gateway.url = f"{self.url.replace('http', 'ws')}/gateway"
            with _led_to(f"{self.url}{_BASE}", self.gateway.url):
                yield self

    def be_busy(self, seconds: float) -> None:
        """Refuse every change for a while, and say how long."""
        self._busy_until = self.state.clock() + timedelta(seconds=seconds)

    def asked(self, method: str, ending: str) -> list[Any]:
        return [body for asked, path, body in self.requests if asked == method and path.endswith(ending)]

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        path, query = request.path.removeprefix(_BASE), dict(request.query)
        self.remember(request)
        raw = await request.read()
        body = json.loads(raw) if raw else None
        self.requests.append((request.method, path, body))
        if path == "/gateway/bot":
            return _answer(200, self._gateway_bot())
        self.complaints += published().faults_of_request(request.method, path, query, body)
        fault = self.faults.take(request.method, path)
        if fault is not None and not fault.arrives:
            return await self._strike(request, fault)
        status, answer, headers = self._carry_out(request, path, query, body)
        return _answer(status, answer, headers) if fault is None else await self._strike(request, fault)

    def _carry_out(
        self, request: web.Request, path: str, query: dict[str, str], body: Any
    ) -> tuple[int, Any, dict[str, str]]:
        if not _BY_INTERACTION.match(path) and request.headers.get("Authorization") != f"Bot {self.token}":
            return 401, {"message": "401: Unauthorized", "code": 0}, {}
        left = self._seconds_left()
        if left > 0 and request.method in _CHANGES:
            headers = {"Retry-After": str(int(left) + 1), "Via": "1.1 loopback", "X-RateLimit-Scope": "user"}
            return 429, {"message": "You are being rate limited.", "retry_after": left, "global": False}, headers
        try:
            status, answer = carry_out(self.state, request.method, path, query, body)
        except Refused as err:
            return err.status, err.body, {}
        self._checked[request.method] += status == 200
        if status == 200 and self._checked[request.method] <= _ANSWERS_CHECKED:
            self.complaints += published().faults_of_answer(request.method, path, answer)
        return status, answer, {}

    async def _strike(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        assert request.transport is not None
        if fault.status == Fault.RESET:
            # To wait no time for what is unsent makes the system send a reset at the end.
            own = request.transport.get_extra_info("socket")
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request.transport.abort()
            return web.Response()
        if fault.status is None:
            request.transport.close()
            return web.Response()
        if fault.status == Fault.SILENCE:
            await self.ended.wait()
        return _answer(fault.status, fault.body, fault.headers)

    def _seconds_left(self) -> float:
        return 0.0 if self._busy_until is None else (self._busy_until - self.state.clock()).total_seconds()

    def _gateway_bot(self) -> JSON:
        limit = {"total": 1000, "remaining": 999, "reset_after": 14400000, "max_concurrency": 1}
        return {"url": self.gateway.url, "shards": 1, "session_start_limit": limit}


@asynccontextmanager
async def connected(client: AntiphonClient) -> AsyncIterator[asyncio.Task[None]]:
    """Let a client be connected to the running server while the block runs."""
    stop = asyncio.Event()
    task = asyncio.create_task(client.run_until(stop, TOKEN))
    ready = asyncio.create_task(_ready(client))
    try:
        await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
        yield task
    finally:
        ready.cancel()
        stop.set()
        await asyncio.wait({task})


async def _ready(client: AntiphonClient) -> None:
    # Its servers may come after the moment that it waits for them. Before it logs in there is no event to wait for.
    while not client.is_ready() or any(guild.unavailable for guild in client.guilds):  # noqa: ASYNC110
        await asyncio.sleep(0.005)


def _answer(status: int, body: Any, headers: dict[str, str] | None = None) -> web.Response:
    """An answer as Discord gives it: its content type names no character set."""
    if body is None:
        return web.Response(status=status, headers=headers)
    content = {"Content-Type": "application/json"}
    return web.Response(status=status, body=json.dumps(body).encode(), headers=content | (headers or {}))


@contextmanager
def _led_to(api: str, gateway: str) -> Iterator[None]:
    """Lead discord.py, which knows its addresses as constants, to another place."""
    real_api, real_gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = api, yarl.URL(gateway)
    try:
        yield
    finally:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = real_api, real_gateway
