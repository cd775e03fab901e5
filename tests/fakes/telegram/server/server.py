"""The fake Bot API server on a free port of loopback.

Owns the network side: every request is checked against the description, struck by faults, carried out; updates are held
for who polls.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from aiohttp import web

from tests.fakes.machine.loopback import LoopbackServer
from tests.fakes.telegram.server.asking import ASKING
from tests.fakes.telegram.server.ephemeral import EPHEMERAL
from tests.fakes.telegram.server.faults import BotApiFault, BotApiFaults
from tests.fakes.telegram.server.refusals import Refused, refused
from tests.fakes.telegram.server.sending import SENDING, Method
from tests.fakes.telegram.server.spec import published
from tests.fakes.telegram.server.state import BOT_ID, JSON, TelegramState
from tests.fakes.telegram.town import TelegramTown

TOKEN: Final = f"{BOT_ID}:a-token-for-loopback"
_METHODS: Final[dict[str, Method]] = {**SENDING, **EPHEMERAL, **ASKING}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request on the wire.

    Attributes:
        method: as the description writes it.
        params: what came with it.
        at: when it came, by the server's time.
    """

    method: str
    params: JSON
    at: datetime


class TelegramServer(LoopbackServer):
    """Telegram for one test.

    Attributes:
        town: what people do there.
        requests: every request on the wire, in order, also those that a fault struck.
        errors: what was wrong with a request, an update or an answer by the description; must stay empty.
    """

    def __init__(self, clock: Callable[[], datetime] | None = None) -> None:
        super().__init__()
        self.state = TelegramState(clock)
        self.town = TelegramTown(self.state)
        self.token = TOKEN
        self.requests: list[Asked] = []
        self.errors: list[str] = []
        self.faults = BotApiFaults()
        self.webhook: JSON = {}
        self._poller = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[TelegramServer]:
        """Serve while the block runs."""
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/bot{token}/{method}", self._handle)
        try:
            async with self.listening(app):
                yield self
        finally:
            self._check_updates()

    def fault(self, method: str, kind: str, count: int = 1, **more: Any) -> None:
        """Let a method go wrong, or ``*`` for any; ``refuse connection`` lasts until ``accept`` and strikes all.

        Args:
            method: such as ``sendMessage``.
            kind: ``refuse connection``, or one of ``faults.KINDS``.
            count: how often.
            more: see ``BotApiFault``.
        """
        if kind == "refuse connection":
            self.refuse()
        else:
            self.faults.add(BotApiFault(method, kind, count, **more))

    def asked(self, method: str) -> list[JSON]:
        """The parameters of the requests of one method, in order."""
        return [request.params for request in self.requests if request.method == method]

    async def until_heard(self) -> None:
        """Wait until every update is confirmed."""
        await self.until(lambda: not self.state.updates.waiting())

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.remember(request)
        method = published().name_of(request.match_info["method"]) or request.match_info["method"]
        asked = await published().read(method, request)
        self.requests.append(Asked(method, asked, self.state.now()))
        fault = self.faults.take(method, asked)
        try:
            if fault is not None and not fault.arrives:
                return await self._strike(request, fault)
            result = await self._carry_out(request.match_info["token"], method, asked)
            if fault is not None:
                return await self._strike(request, fault)
        except Refused as err:
            return web.json_response(err.body, status=err.code)
        return web.json_response({"ok": True, "result": result})

    async def _carry_out(self, token: str, method: str, asked: JSON) -> Any:
        if token != self.token:
            raise refused(401)
        if method in EPHEMERAL and not self.state.offers_ephemeral:
            raise refused(404)
        faults = published().faults_of_request(method, asked)
        if faults:
            self.errors += faults
            raise refused(404 if "no such method" in faults[0] else 400, faults[0])
        if method == "getUpdates":
            return await self._updates(asked)
        if method in ("setWebhook", "deleteWebhook", "getWebhookInfo"):
            result = self._about_webhook(method, asked)
        else:
            result = _METHODS[method](self.state, asked)
        self.errors += published().faults_of_result(method, result)
        return result

    async def _strike(self, request: web.Request, fault: BotApiFault) -> web.StreamResponse:
        refusal = fault.refusal()
        if refusal is not None:
            raise refusal
        if fault.kind == "not JSON":
            return web.Response(text="<html>502 Bad Gateway</html>", content_type="text/html")
        if fault.kind == "timeout":
            await self.ended.wait()
        assert request.transport is not None
        request.transport.close()
        return web.Response()

    async def _updates(self, asked: JSON) -> list[JSON]:
        """Hold the question until there is something to tell; a newer question ends an older one."""
        self._poller += 1
        mine = self._poller
        self.state.updates.tell()
        if "allowed_updates" in asked:
            self.state.updates.allowed = asked["allowed_updates"]
        self.state.updates.confirm(asked.get("offset") or 0)
        loop = asyncio.get_running_loop()
        end = loop.time() + asked.get("timeout", 0)
        while True:
            if self.webhook:
                words = (
                    "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
                )
                raise refused(409, words)
            if mine != self._poller:
                words = "terminated by other getUpdates request; make sure that only one bot instance is running"
                raise refused(409, words)
            found = self.state.updates.waiting(asked.get("limit") or 100)
            if found or loop.time() >= end or self.ended.is_set():
                return found
            await self._something(end - loop.time())

    async def _something(self, seconds: float) -> None:
        """Wait until something changes, the server ends, or the time is over."""
        waits = [asyncio.create_task(event.wait()) for event in (self.state.updates.changed, self.ended)]
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    def _about_webhook(self, method: str, asked: JSON) -> Any:
        if method == "getWebhookInfo":
            waiting = len(self.state.updates.waiting())
            info = {"url": self.webhook.get("url", ""), "has_custom_certificate": False}
            return info | {"pending_update_count": waiting}
        if asked.get("drop_pending_updates"):
            self.state.updates.drop_all()
        url = asked.get("url", "")
        if url and not url.startswith(("https://", "http://127.0.0.1")):
            raise refused(400, "bad webhook: An HTTPS URL must be provided for webhook")
        if "allowed_updates" in asked:
            self.state.updates.allowed = asked["allowed_updates"]
        self.webhook = dict(asked) if url else {}
        self.state.updates.tell()
        return True

    def _check_updates(self) -> None:
        for update in self.state.updates.made:
            if update["update_id"] not in self.state.updates.odd:
                self.errors += published().faults_of_answer("Update", update)
