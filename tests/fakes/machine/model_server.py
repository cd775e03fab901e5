"""A model server on loopback that stands in for a real one: it takes as long as it is told, or is in trouble.

Owns one server over HTTP, with as many places as it has, and what it was asked. What it writes has no meaning.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from aiohttp import web

from tests.fakes.machine.loopback import in_the_loop

MODEL: Final = "stand-in"
_ABORTING: Final = struct.pack("ii", 1, 0)
"""SO_LINGER of a socket that is closed with a reset."""


class Silence(Enum):
    """How a server says nothing: ``ALL`` takes every connection and never answers; ``ENGINE`` lists its models only."""

    ALL = "all"
    ENGINE = "engine"


class Reset(Enum):
    """Every connection is reset when a request has come."""

    EACH = "each"


@dataclass
class StandIn:
    """One server.

    Attributes:
        seconds: how long each call is worked on.
        places: how many calls are worked on at once; the others wait.
        trouble: a status to refuse with (401 and 403 also refuse the list), a silence or a reset; ``None`` answers.
        headers: those of a refusal.
        models: what it lists.
        word: what it answers.
        calls: the bodies of all requests for a completion.
        looks: how often its list was asked for.
        here: the calls that are here now.
        most: the most that were here at once.
    """

    seconds: Callable[[], float] = lambda: 0.0
    places: int = 1000
    trouble: int | Silence | Reset | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    models: tuple[str, ...] = (MODEL,)
    word: str = "A"
    calls: list[dict[str, Any]] = field(default_factory=list)
    looks: int = 0
    here: int = 0
    most: int = 0
    url: str = ""

    @asynccontextmanager
    async def running(self, port: int = 0) -> AsyncIterator[StandIn]:
        """Serve while the block runs, on this port or a free one."""
        self._free, self._end = asyncio.Semaphore(self.places), asyncio.Event()
        self._came = asyncio.Event()
        app = web.Application()
        app.router.add_get("/v1/models", self._list)
        app.router.add_post("/v1/chat/completions", self._complete)
        async with in_the_loop(app, port) as url:
            self.url = f"{url}/v1"
            try:
                yield self
            finally:
                self._end.set()

    @property
    def begun(self) -> Counter[str]:
        """How many calls there were of each first message."""
        return Counter(call["messages"][0]["content"] for call in self.calls)

    async def is_here(self, calls: int) -> None:
        """Wait until so many calls are here at once."""
        while self.here < calls:
            self._came.clear()
            await self._came.wait()

    async def _list(self, request: web.Request) -> web.StreamResponse:
        self.looks += 1
        if self.trouble is Silence.ALL:
            await self._end.wait()
        if self.trouble is Reset.EACH:
            return _reset(request)
        if self.trouble in {401, 403}:
            return self._refusal(self.trouble)
        return web.json_response({"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.calls.append(body)
        self.here += 1
        self.most = max(self.most, self.here)
        self._came.set()
        try:
            if isinstance(self.trouble, Silence):
                await self._end.wait()
            if self.trouble is Reset.EACH:
                return _reset(request)
            if isinstance(self.trouble, int):
                return self._refusal(self.trouble)
            async with self._free:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._end.wait(), self.seconds())
        finally:
            self.here -= 1
        return web.json_response(_completion(body, self.word))

    def _refusal(self, status: int) -> web.Response:
        error = {"message": "refused", "type": "stand_in", "code": status}
        return web.json_response({"error": error}, status=status, headers=self.headers)


def _reset(request: web.Request) -> web.Response:
    """Close the connection with a reset, as a process that is killed does."""
    transport = request.transport
    if transport is not None:
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORTING)
        transport.abort()
    return web.Response()


def _completion(body: Mapping[str, Any], word: str) -> dict[str, Any]:
    """An answer of one word, with its probability where that is asked for."""
    token = {"token": word, "logprob": -0.01, "bytes": None}  # nosec B105 # a word of an answer, no password
    logprobs = {"content": [token | {"top_logprobs": [token]}], "refusal": None} if body.get("logprobs") else None
    message = {"role": "assistant", "content": word}
    choices = [
        {"index": index, "finish_reason": "stop", "message": message, "logprobs": logprobs}
        for index in range(body.get("n", 1))
    ]
    usage = {"prompt_tokens": 7, "completion_tokens": len(choices), "total_tokens": 7 + len(choices)}
    about = {"id": "1", "object": "chat.completion", "created": 1, "model": MODEL}
    return about | {"choices": choices, "usage": usage}
