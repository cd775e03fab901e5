"""What the fake instance's administrator sends to a receiver of webhooks."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.webhooks import AdminWebhooks

_SECRET = "a secret of both"


@asynccontextmanager
async def _receiver() -> AsyncIterator[tuple[str, list[tuple[str, bytes]]]]:
    came: list[tuple[str, bytes]] = []

    async def hook(request: web.Request) -> web.Response:
        came.append((request.headers["X-Hub-Signature"], await request.read()))
        return web.Response(status=202)

    app = web.Application()
    app.router.add_post("/hook", hook)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/hook", came
    await runner.cleanup()


def _signed(raw: bytes) -> str:
    return f"sha256={hmac.new(_SECRET.encode(), raw, hashlib.sha256).hexdigest()}"


def _told(came: list[tuple[str, bytes]]) -> dict[str, Any]:
    signature, raw = came.pop()
    assert signature == _signed(raw)
    told: dict[str, Any] = json.loads(raw)
    assert told.keys() == {"event", "created_at", "object"}
    return told


async def test_a_report_is_told_with_all_that_an_administrator_may_see(server: MastodonServer) -> None:
    ada, ben = map(server.town.add_account, ("ada", "ben"))
    post = await server.town.post(ada, "hello", visibility="private")
    report = await server.town.report(ben, post, "look at this")
    async with _receiver() as (url, came):
        hooks = AdminWebhooks(server.town, url, _SECRET)
        assert await hooks.report_created(report) == 202
        told = _told(came)
    assert told["event"] == "report.created"
    body = told["object"]
    assert (body["id"], body["comment"], body["category"]) == (report["id"], "look at this", "other")
    assert [each["id"] for each in body["statuses"]] == [post["id"]]
    assert (body["account"]["email"], body["target_account"]["email"]) == ("ben@example.org", "ada@example.org")
    assert body["target_account"]["ip"] == body["target_account"]["ips"][0]["ip"] != body["account"]["ip"]
    assert server.requests == []


async def test_posts_are_told(server: MastodonServer) -> None:
    ada = server.town.add_account("ada")
    async with _receiver() as (url, came):
        hooks = AdminWebhooks(server.town, url, _SECRET)
        post = await server.town.post(ada, "hello")
        await hooks.status_created(post)
        assert _told(came) == {"event": "status.created", "created_at": _any, "object": post}
        edited = await server.town.edit(ada, post, "hello all")
        await hooks.status_updated(edited)
        assert _told(came) == {"event": "status.updated", "created_at": _any, "object": edited}


async def test_another_signature_may_be_sent(server: MastodonServer) -> None:
    async with _receiver() as (url, came):
        hooks = AdminWebhooks(server.town, url, _SECRET)
        await hooks.send("report.created", {}, signature="sha256=0")
        assert came[0][0] == "sha256=0"


class _Any:
    """Equal to anything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


_any = _Any()
