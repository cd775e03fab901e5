"""Calls to the fake instance without any client library, as the bot or as anybody."""

from typing import Any

import aiohttp

from tests.fakes.mastodon.server.server import MastodonServer


async def call(
    server: MastodonServer,
    method: str,
    path: str,
    *,
    token: str | None = None,
    key: str | None = None,
    **form: Any,
) -> tuple[int, Any]:
    """The status and the body of an answer.

    Args:
        token: of the caller; the bot's if none is given, nobody's if it is empty.
        key: the Idempotency-Key.
        form: what is sent in the body.
    """
    used = server.bot.token if token is None else token
    headers = ({"Authorization": f"Bearer {used}"} if used else {}) | ({"Idempotency-Key": key} if key else {})
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.request(method, f"{server.url}{path}", data=form or None) as answer,
    ):
        return answer.status, await answer.json()
