"""A model server that stands in for a real one: it answers as OpenAI's do, after the time that a real one would take.

Owns one server over HTTP. It counts four characters of a prompt as a token, and always writes as many tokens as the
request allows; how long that takes, ``bench.fleet.service`` says. What it writes has no meaning.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final

from aiohttp import web

from bench.fleet.service import Batch, Rates

CHARACTERS: Final = 4
"""Of a token."""
_HOST: Final = "127.0.0.1"


@dataclass
class StandIn:
    """One server; ``times`` are seconds from a request's arrival to its answer."""

    rates: Rates

    def __post_init__(self) -> None:
        self.batch = Batch(self.rates, time.monotonic())
        self.calls = self.read = self.written = 0
        self.seconds = 0.0
        self._changed = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None

    def app(self) -> web.Application:
        """The application of the web server."""
        made = web.Application(client_max_size=2**24)
        made.router.add_post("/v1/chat/completions", self._complete)
        made.cleanup_ctx.append(self._run)
        return made

    def measured(self) -> dict[str, Any]:
        """What it did so far."""
        return {
            "calls": self.calls,
            "read": self.read,
            "written": self.written,
            "seconds": self.seconds,
            "busy": self.batch.busy,
            "read_seconds": self.batch.read_seconds,
            "held": self.batch.held,
        }

    async def _run(self, _: web.Application) -> Any:
        self._serving = asyncio.create_task(self._serve())
        yield
        self._serving.cancel()

    async def _complete(self, request: web.Request) -> web.Response:
        arrived = time.monotonic()
        asked = await request.json()
        new = max(1, sum(len(turn["content"]) for turn in asked["messages"]) // CHARACTERS)
        n, each = asked.get("n") or 1, asked["max_tokens"]
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._settle()
        self.batch.arrive(answer, new, each * n, n)
        self._changed.set()
        await answer
        self.calls, self.read, self.written = self.calls + 1, self.read + new, self.written + each * n
        self.seconds += time.monotonic() - arrived
        text = "word" * each
        choices = [
            {"index": at, "finish_reason": "length", "message": {"role": "assistant", "content": text}}
            for at in range(n)
        ]
        usage = {"prompt_tokens": new, "completion_tokens": each * n, "total_tokens": new + each * n}
        head = {"id": f"{self.calls}", "object": "chat.completion", "created": 0, "model": self.rates.name}
        return web.json_response(head | {"choices": choices, "usage": usage})

    def _settle(self) -> None:
        for answer in self.batch.advance(time.monotonic()):
            if isinstance(answer, asyncio.Future) and not answer.done():
                answer.set_result(None)

    async def _serve(self) -> None:
        while True:
            self._changed.clear()
            self._settle()
            due = self.batch.next_at()
            try:
                left = None if due is None else max(0.0, due - time.monotonic())
                await asyncio.wait_for(self._changed.wait(), left)
            except TimeoutError:
                continue


def serve(rates: Rates, line: Connection) -> None:
    """In a process: say the address, and the figures whenever they are asked for, until another word comes."""
    asyncio.run(_serving(rates, line))


async def _serving(rates: Rates, line: Connection) -> None:
    server = StandIn(rates)
    runner = web.AppRunner(server.app(), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, _HOST, 0)
    await site.start()
    line.send(f"http://{_HOST}:{runner.addresses[0][1]}/v1")
    while await asyncio.to_thread(line.recv) == "so far":
        line.send(server.measured())
    await runner.cleanup()
