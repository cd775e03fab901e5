"""A proxy before a model server that refuses or delays what it passes on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

from tests.fakes.machine.loopback import in_the_loop


class Proxy:
    """``status`` refuses everything; ``delay_seconds`` holds each answer back."""

    def __init__(self, behind: str) -> None:
        self.root = ""
        self.status: int | None = None
        self.delay_seconds = 0.0
        self._behind = behind

    async def handle(self, request: web.Request) -> web.Response:
        if self.status is not None:
            return web.json_response({"error": {"message": "busy"}}, status=self.status)
        await asyncio.sleep(self.delay_seconds)
        headers = {"Authorization": request.headers.get("Authorization", ""), "Content-Type": "application/json"}
        async with (
            aiohttp.ClientSession() as client,
            client.request(
                request.method, f"{self._behind}{request.path_qs}", data=await request.read(), headers=headers
            ) as answer,
        ):
            return web.Response(status=answer.status, body=await answer.read(), content_type="application/json")


@asynccontextmanager
async def before(behind: str) -> AsyncIterator[Proxy]:
    """A proxy on a free port of the loopback interface."""
    proxy, app = Proxy(behind), web.Application()
    app.router.add_route("*", "/{path:.*}", proxy.handle)
    async with in_the_loop(app) as proxy.root:
        yield proxy
