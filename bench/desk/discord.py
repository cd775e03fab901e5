"""Discord as far as cards need it, on a free port of loopback: messages are written and edited, or refused.

Owns how a channel answers: well, with a limit to everything, or as one that is closed to us; each after a pause, as a
network has. Keeps when each message was edited first, which is when a card can be read.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import count
from typing import Any, Final

from aiohttp import web
from discord.http import Route

_BOT: Final = {"id": "1001", "username": "antiphon", "discriminator": "0", "avatar": None, "bot": True}
_RETRY_SECONDS: Final = 1.0


class FakeChannels:
    """The channels of many servers.

    Args:
        busy: channels that answer 429 to everything.
        closed: channels that answer 403 to everything.
        answer_seconds: how long each answer takes.
    """

    def __init__(self, busy: set[str], closed: set[str], answer_seconds: float) -> None:
        self._busy, self._closed, self._answer_seconds = busy, closed, answer_seconds
        self._numbers = count(5000)
        self.requests: Counter[int] = Counter()
        """How many were answered, by status."""
        self.readable: dict[str, dict[str, float]] = {}
        """When each card could be read, by channel and message."""
        self.changed = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve while the block runs; discord.py is led here meanwhile."""
        app = web.Application()
        app.router.add_get("/users/@me", self._me)
        app.router.add_get("/oauth2/applications/@me", self._application)
        app.router.add_post("/channels/{channel}/messages", self._write)
        app.router.add_patch("/channels/{channel}/messages/{message}", self._edit)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        real, Route.BASE = Route.BASE, f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield
        finally:
            Route.BASE = real
            await runner.cleanup()

    async def _me(self, _: web.Request) -> web.Response:
        return _json(_BOT)

    async def _application(self, _: web.Request) -> web.Response:
        named = {"id": _BOT["id"], "name": "antiphon", "description": "", "icon": None, "flags": 0, "team": None}
        own = {"bot_public": False, "bot_require_code_grant": False, "verify_key": "0" * 64, "owner": _BOT}
        return _json(named | own)

    async def _write(self, request: web.Request) -> web.Response:
        return await self._answer(request, f"{next(self._numbers)}")

    async def _edit(self, request: web.Request) -> web.Response:
        answer = await self._answer(request, request.match_info["message"])
        if answer.status == 200:
            cards = self.readable.setdefault(request.match_info["channel"], {})
            cards.setdefault(request.match_info["message"], time.perf_counter())
            self.changed.set()
        return answer

    async def _answer(self, request: web.Request, message: str) -> web.Response:
        await asyncio.sleep(self._answer_seconds)
        channel = request.match_info["channel"]
        status, body, headers = 200, _message(channel, message), dict[str, str]()
        if channel in self._busy:
            said = {"message": "You are being rate limited.", "retry_after": _RETRY_SECONDS, "global": False}
            status, body, headers = 429, said, {"Retry-After": f"{_RETRY_SECONDS:g}", "Via": "1.1 loopback"}
        elif channel in self._closed:
            status, body = 403, {"message": "Missing Access", "code": 50001}
        self.requests[status] += 1
        return _json(body, status, headers)


def _json(body: dict[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """An answer as Discord gives it: its content type names no character set."""
    return web.Response(
        body=json.dumps(body).encode(), status=status, headers={"Content-Type": "application/json", **(headers or {})}
    )


def _message(channel: str, message: str) -> dict[str, Any]:
    lists = ("mentions", "mention_roles", "attachments", "embeds", "components")
    flags = {"tts": False, "mention_everyone": False, "pinned": False, "flags": 1 << 15, "type": 0}
    times = {"timestamp": datetime.now(UTC).isoformat(), "edited_timestamp": None}
    own = {"id": message, "channel_id": channel, "author": _BOT, "content": ""}
    return own | times | flags | {name: [] for name in lists}
