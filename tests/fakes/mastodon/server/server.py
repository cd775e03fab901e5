"""The fake instance on a free port of loopback: a proxy in front of mastodon-mock.

Owns the network side: every request is recorded, struck by faults, carried out.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from aiohttp import ClientSession, web

from tests.fakes.mastodon.server.asked import Asked, read
from tests.fakes.mastodon.server.faults import WORDS, Fault, Faults
from tests.fakes.mastodon.server.home import Home
from tests.fakes.mastodon.server.refusals import Refused
from tests.fakes.mastodon.town import TOWN_HEADER, MastodonTown, Person

BOT_NAME: Final = "antiphon"
BOT_SCOPES: Final = (
    "read:accounts", "read:statuses", "read:notifications", "read:search", "write:statuses", "write:conversations",
)  # fmt: skip
_PASSED_ON: Final = ("authorization", "content-type", "accept")
_PASSED_BACK: Final = ("content-type", "link", "location")


class MastodonServer:
    """An instance for one test.

    Attributes:
        url: of the instance, without a slash at its end.
        domain: that it says it has.
        bot: the bot's account, with a token of the least scopes.
        town: what people do there.
        requests: every request on the wire, in order, also those that a fault struck; none of the town's.
        errors: what was wrong with a request or an answer by the description; must stay empty.
    """

    def __init__(self, clock: Callable[[], datetime] | None = None, *, domain: str = "home.example") -> None:
        self._clock = clock or (lambda: datetime.now(UTC))
        self._ahead = timedelta()
        self.home = Home(domain, self.now)
        self.domain = domain
        self.url = ""
        self.bot: Person
        self.town: MastodonTown
        self.requests: list[Asked] = []
        self.errors: list[str] = []
        self.faults = Faults()
        self._ended = asyncio.Event()
        self._connections: set[asyncio.BaseTransport] = set()
        self._runner: web.AppRunner | None = None
        self._site: web.TCPSite | None = None
        self._session: ClientSession

    @asynccontextmanager
    async def running(self) -> AsyncIterator[MastodonServer]:
        """Serve while the block runs."""
        await asyncio.to_thread(self.home.start)
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await self._listen(0)
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        try:
            async with ClientSession() as self._session, MastodonTown(self.home, self.url).running() as self.town:
                self.bot = self.town.add_account(BOT_NAME, bot=True, scopes=BOT_SCOPES)
                yield self
        finally:
            self._ended.set()
            await self._runner.cleanup()
            await asyncio.to_thread(self.home.stop)

    def now(self) -> datetime:
        """The server's time."""
        return self._clock() + self._ahead

    def pass_seconds(self, seconds: float) -> None:
        """Let time pass at the server without waiting for it."""
        self._ahead += timedelta(seconds=seconds)

    def fault(self, path: str, kind: str, *, method: str = "*", count: int | None = 1, seconds: float = 60.0) -> Fault:
        """Let requests go wrong; see ``Fault``. ``faults.end`` ends one that has no count."""
        made = Fault(path, kind, method, count, seconds)
        self.faults.add(made)
        return made

    def refuse(self) -> None:
        """Refuse connections from now on, and end those that stand, until ``accept``."""
        assert self._site is not None and self._site._server is not None
        self._site._server.close()
        for connection in list(self._connections):
            own = connection.get_extra_info("socket")
            with contextlib.suppress(OSError):  # it ended already
                own.shutdown(socket.SHUT_RDWR)  # at once, before anybody can write into it
            connection.close()
        self._connections.clear()

    async def accept(self) -> None:
        """Take connections again, at the same address."""
        assert self._site is not None
        await self._site.stop()
        await self._listen(int(self.url.rpartition(":")[2]))

    def asked(self, method: str, path: str) -> list[Asked]:
        """The requests of one method whose path matches, written as for a fault, in order."""
        pattern = Fault(path, "drop", method)
        return [request for request in self.requests if pattern.strikes(request)]

    async def until(self, is_so: Callable[[], Any]) -> Any:
        """What ``is_so`` finds, once it finds something."""
        async with asyncio.timeout(20):
            while not (found := is_so()):  # noqa: ASYNC110 - whatever it is, it tells nobody
                await asyncio.sleep(0.005)
        return found

    async def _listen(self, port: int) -> None:
        assert self._runner is not None
        self._site = web.TCPSite(self._runner, "127.0.0.1", port, reuse_address=True)
        await self._site.start()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        self._connections.add(request.transport)
        asked = await read(request, self.now())
        fault = None
        if TOWN_HEADER not in request.headers:
            self.requests.append(asked)
            fault = self.faults.take(asked)
        try:
            if fault is not None and not fault.arrives:
                return await self._strike(request, fault)
            if fault is not None and fault.kind == "slow":
                await asyncio.sleep(fault.seconds)
            answer = await self._carry_out(request, asked)
        except Refused as err:
            return web.json_response(err.body, status=err.code, headers=err.headers)
        return answer if fault is None or fault.kind == "slow" else await self._strike(request, fault)

    async def _carry_out(self, request: web.Request, asked: Asked) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower() in _PASSED_ON}
        headers["Host"] = request.host
        url = f"{self.home.url}{request.rel_url}"
        async with self._session.request(
            asked.method, url, data=await request.read(), headers=headers, allow_redirects=False
        ) as answer:
            body = await answer.read()
            back = {name: value for name, value in answer.headers.items() if name.lower() in _PASSED_BACK}
            return web.Response(status=answer.status, body=body, headers=back)

    async def _strike(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        if fault.code is not None:
            return web.json_response({"error": WORDS[fault.code]}, status=fault.code)
        if fault.kind == "not JSON":
            return web.Response(text="<html>502 Bad Gateway</html>", status=502, content_type="text/html")
        if fault.kind == "timeout":
            await self._ended.wait()
        assert request.transport is not None
        request.transport.close()
        return web.Response()
