"""Requests to the fake Bot API server without any client library for Telegram."""

from typing import Any

import aiohttp

from tests.fakes.telegram.server.server import TelegramServer

JSON = dict[str, Any]


async def asked(server: TelegramServer, method: str, **params: Any) -> JSON:
    """The body of the answer to a request."""
    url = f"{server.url}/bot{server.token}/{method}"
    async with aiohttp.ClientSession() as session, session.post(url, json=params) as answer:
        body: JSON = await answer.json()
        assert body["ok"] is (answer.status == 200)
        assert body.get("error_code", 200) == answer.status
        return body


async def done(server: TelegramServer, method: str, **params: Any) -> Any:
    """The result of a request that succeeds."""
    body = await asked(server, method, **params)
    assert body["ok"], body
    return body["result"]
