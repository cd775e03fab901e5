"""The fake instance on a free port of loopback: a proxy in front of mastodon-mock.

Owns the network side: every request is recorded, struck by faults, carried out.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from aiohttp import web
from yarl import URL

from tests.fakes.machine.loopback import LoopbackServer
from tests.fakes.mastodon.server.asked import Asked, read, written
from tests.fakes.mastodon.server.faults import WORDS, Fault, Faults
from tests.fakes.mastodon.server.kinds import KINDS, MASTODON
from tests.fakes.mastodon.server.mock.asgi import Answer
from tests.fakes.mastodon.server.mock.home import Home, Viewer
from tests.fakes.mastodon.server.mock.shown import Shown
from tests.fakes.mastodon.server.refusing.keys import IdempotencyKeys
from tests.fakes.mastodon.server.refusing.limits import LIMITS, Limits, limited
from tests.fakes.mastodon.server.refusing.oauth import Codes
from tests.fakes.mastodon.server.refusing.refusals import Refused
from tests.fakes.mastodon.server.refusing.rules import Rules
from tests.fakes.mastodon.server.refusing.spec import published
from tests.fakes.mastodon.server.settings import Settings
from tests.fakes.mastodon.town import TOWN_HEADER, MastodonTown, Person

BOT_NAME: Final = "antiphon"
BOT_SCOPES: Final = (
    "read:accounts", "read:statuses", "read:notifications", "read:search", "write:statuses", "write:conversations",
)  # fmt: skip
_PASSED_ON: Final = ("authorization", "content-type", "accept")
_PASSED_BACK: Final = ("content-type", "link", "location")
_PAGE: Final = re.compile(r"((?:max|min|since)_id)=(\d+)")


class MastodonServer(LoopbackServer):
    """An instance for one test.

    Args:
        kind: ``mastodon`` or ``gotosocial``.

    Attributes:
        domain: that it says it has.
        bot: the bot's account, with a token of the least scopes.
        town: what people do there.
        requests: every request on the wire, in order, also those that a fault struck; none of the town's.
        errors: what was wrong with a request or an answer by the description; must stay empty.
        settings: what its operator decided.
        limits: how often it lets itself be asked.
        codes: which applications people let in.
    """

    def __init__(
        self, clock: Callable[[], datetime] | None = None, *, kind: str = "mastodon", domain: str = "home.example"
    ) -> None:
        super().__init__()
        self._clock = clock or (lambda: datetime.now(UTC))
        self._ahead = timedelta()
        self.domain, self.kind = domain, KINDS[kind]
        self.settings = Settings()
        self.bot: Person
        self.town: MastodonTown
        self.requests: list[Asked] = []
        self.errors: list[str] = []
        self.faults, self.limits, self._keys = Faults(), Limits(self.now), IdempotencyKeys(self.now)
        self.home = Home(domain, self.now)
        self.rules = Rules(self.home, self.kind, self.settings)
        self._shown = Shown(self.home, self.kind, self.settings, self.rules.may_reply)
        self.codes = Codes(self.home)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[MastodonServer]:
        """Serve while the block runs."""
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/{path:.*}", self._handle)
        try:
            async with (
                self.listening(app),
                MastodonTown(self.home, self.kind, self.rules, self.codes, self.url).running() as self.town,
            ):
                self.bot = self.town.add_account(BOT_NAME, bot=True, scopes=BOT_SCOPES)
                yield self
        finally:
            self.home.close()

    def now(self) -> datetime:
        return self._clock() + self._ahead

    def pass_seconds(self, seconds: float) -> None:
        """Let time pass at the server without waiting for it."""
        self._ahead += timedelta(seconds=seconds)

    def fault(self, path: str, kind: str, *, method: str = "*", count: int | None = 1, seconds: float = 60.0) -> Fault:
        """Let requests go wrong; see ``Fault``. ``faults.end`` ends one that has no count."""
        made = Fault(path, kind, method, count, seconds)
        self.faults.add(made)
        return made

    def asked(self, method: str, path: str) -> list[Asked]:
        """The requests of one method whose path matches, written as for a fault, in order."""
        pattern = Fault(path, "drop", method)
        return [request for request in self.requests if pattern.strikes(request)]

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.remember(request)
        asked = await read(request, self.now())
        is_watched = TOWN_HEADER not in request.headers
        fault = None
        if is_watched:
            self.requests.append(asked)
            self._check_request(asked)
            fault = self.faults.take(asked)
        if fault is not None and not fault.arrives:
            return await self._strike(request, fault)
        if fault is not None and fault.kind == "slow":
            await asyncio.sleep(fault.seconds)
        answer = await self._carry_out(request, asked, is_watched)
        return answer if fault is None or fault.kind == "slow" else await self._strike(request, fault)

    async def _carry_out(self, request: web.Request, asked: Asked, is_watched: bool) -> web.StreamResponse:
        headers: dict[str, str] = {}
        try:
            headers = self.limits.count(asked)
            kept = asked.kept(self.kind.kept)
            viewer = self.rules.admit(kept)
            if asked.path == "/oauth/token" and asked.form.get("grant_type") == "authorization_code":
                return web.json_response(self.codes.exchange(asked))
            answer = await self._once(request, kept, viewer)
            body = self._back(asked, viewer, answer, is_watched)
        except Refused as err:
            return web.json_response(err.body, status=err.code, headers=headers | err.headers)
        back = {name: value for name, value in answer.headers.items() if name in _PASSED_BACK}
        if "link" in back:
            back["link"] = _PAGE.sub(lambda found: f"{found[1]}={self.kind.shown(found[2])}", back["link"])
        return web.Response(status=answer.status, body=body, headers=headers | back)

    async def _once(self, request: web.Request, kept: Asked, viewer: Viewer) -> Answer:
        """Ask mastodon-mock, unless the same was posted within the hour."""
        key = kept.headers.get("Idempotency-Key")
        is_post = (kept.method, kept.path) == ("POST", "/api/v1/statuses")
        if not is_post or not key or not self.kind.keeps_keys or kept.form.get("scheduled_at"):
            return await self._ask(request, kept)
        assert viewer.account is not None
        async with self._keys.lock(viewer.account, key):
            earlier = self._keys.posted(viewer.account, key)
            if earlier is not None:
                again = replace(kept, method="GET", path=f"/api/v1/statuses/{earlier}", form={})
                return await self._ask(request, again)
            answer = await self._ask(request, kept)
            if answer.status == 200:
                self._keys.keep(viewer.account, key, json.loads(answer.body)["id"])
            return answer

    async def _ask(self, request: web.Request, kept: Asked) -> Answer:
        headers = {name: value for name, value in request.headers.items() if name.lower() in _PASSED_ON}
        url = URL(f"{self.url}{kept.path}").with_query(written(kept.query))
        body = b"" if kept.method == "GET" else await request.read()
        if self.kind.has_ulids and kept.form:
            headers["Content-Type"], body = "application/json", json.dumps(dict(kept.form)).encode()
        return await self.home.ask(kept.method, url, headers, body)

    def _back(self, asked: Asked, viewer: Viewer, answer: Answer, is_watched: bool) -> bytes:
        if answer.status != 200 or not answer.headers.get("content-type", "").startswith("application/json"):
            return answer.body
        body = self._shown.answer(asked, viewer, json.loads(answer.body))
        spec = published()
        if is_watched and spec is not None and self.kind is MASTODON:
            self.errors += spec.faults_of_answer(asked.method, asked.path, body)
        return json.dumps(body).encode()

    def _check_request(self, asked: Asked) -> None:
        spec = published()
        if spec is not None:
            self.errors += spec.faults_of_request(asked.method, asked.path, asked.query, asked.form)

    async def _strike(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        if fault.code is not None:
            reset = self.now() + timedelta(seconds=fault.seconds)
            headers = limited(LIMITS["all"][0], 0, reset) if fault.code == 429 else {}
            return web.json_response({"error": WORDS[fault.code]}, status=fault.code, headers=headers)
        if fault.kind == "not JSON":
            return web.Response(text="<html>502 Bad Gateway</html>", status=502, content_type="text/html")
        if fault.kind == "timeout":
            await self.ended.wait()
        if request.transport is not None:  # who asked may have gone
            request.transport.close()
        return web.Response()
