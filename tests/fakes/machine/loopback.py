"""HTTP servers on loopback: one in a thread, and one in the loop that can refuse connections and take them again."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from aiohttp import web

from tests.fakes.machine.patience import GUARD_SECONDS

JSON: Final = "application/json"
NONE: Final[Mapping[str, str]] = {}


class QuietHandler(BaseHTTPRequestHandler):
    """Prints nothing."""

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"] or 0))

    def give(self, body: bytes, status: int = 200, content: str = JSON, headers: Mapping[str, str] = NONE) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": content, "Content-Length": str(len(body))} | dict(headers)).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def in_a_thread(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server, without a slash at its end, while the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@asynccontextmanager
async def in_the_loop(application: web.Application, port: int = 0) -> AsyncIterator[str]:
    """The address of an application, without a slash at its end, while the block runs."""
    async with LoopbackServer().listening(application, port) as server:
        yield server.url


class LoopbackServer:
    """One application; whoever handles its requests passes each to ``remember``.

    Attributes:
        url: without a slash at its end.
        ended: set when the block ends, so that a request that is held can end, too.
    """

    def __init__(self) -> None:
        self.url = ""
        self.ended = asyncio.Event()
        self._connections: set[asyncio.BaseTransport] = set()
        self._runner: web.AppRunner
        self._site: web.TCPSite

    @asynccontextmanager
    async def listening(self, application: web.Application, port: int = 0) -> AsyncIterator[LoopbackServer]:
        """Serve while the block runs, on this port or a free one."""
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await self._listen(port)
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        try:
            yield self
        finally:
            self.ended.set()
            await self._runner.cleanup()

    def remember(self, request: web.Request) -> None:
        assert request.transport is not None
        self._connections.add(request.transport)

    def refuse(self) -> None:
        """Refuse connections from now on, and end those that stand, until ``accept``."""
        assert self._site._server is not None
        self._site._server.close()
        for connection in list(self._connections):
            own = connection.get_extra_info("socket")
            with contextlib.suppress(OSError):  # it ended already
                own.shutdown(socket.SHUT_RDWR)  # at once, before anybody can write into it
            connection.close()
        self._connections.clear()

    async def accept(self) -> None:
        """Take connections again, at the same address."""
        await self._site.stop()
        await self._listen(int(self.url.rpartition(":")[2]))

    async def stop(self) -> None:
        """Nobody can connect from now on, and all connections end."""
        await self._site.stop()
        for connection in list(self._connections):
            connection.close()

    async def until(self, is_so: Callable[[], Any]) -> Any:
        """What ``is_so`` finds, once it finds something."""
        async with asyncio.timeout(GUARD_SECONDS):
            while not (found := is_so()):  # noqa: ASYNC110 - whatever it is, it tells nobody
                await asyncio.sleep(0.005)
        return found

    async def _listen(self, port: int) -> None:
        self._site = web.TCPSite(self._runner, "127.0.0.1", port, reuse_address=True)
        await self._site.start()
