"""Whether a model server is there, speaks the protocol and knows its model, asked before anybody waits for it.

The questions are sent without the client that drafts are asked with, which takes most of a second to load. No post is
sent, and a busy server is not taken for a wrong one.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from core.engine.servers.errors import ServerFaults

SECONDS: Final = 2.5
"""For the whole question. With the start of a command, what is wrong is told within five seconds."""
CONNECT_SECONDS: Final = 2.0
MODEL_SECONDS: Final = 5.0
_NO_ROUTE: Final = frozenset({404, 405, 501})
"""Statuses of a route that is not there, or not for this method."""
_KEY: Final = frozenset({401, 403})
_LIST, _CHAT = "/models", "/chat/completions"


async def check_there(faults: ServerFaults, api_key: str) -> None:
    """Ask a server for the list of its models.

    A server without that list passes if it has the route that drafts are asked of: it is sent a request without
    messages, which it refuses before its model is asked. A server that is busy (429, 503) or fails otherwise passes.

    Raises:
        ModelUnavailable: no connection is made, nothing is answered within ``SECONDS``, the key is refused, or what
            answers is something else.
    """
    if _is_behind_any_proxy(faults.address):
        return
    has_answered = False
    async with _Questions(faults, api_key) as questions:
        try:
            async with asyncio.timeout(SECONDS):
                if await questions.names() is None:
                    has_answered = True
                    await questions.check_route()
        except aiohttp.ClientSSLError:  # what the certificates are worth is for the client of the drafts to say
            return
        except (aiohttp.ClientError, OSError) as err:
            if isinstance(err, TimeoutError) and not isinstance(err, aiohttp.ClientError):
                if has_answered:  # the route is there, and works on it
                    return
                raise faults.silent(SECONDS) from err
            raise faults.unreached() from err


async def check_model(faults: ServerFaults, api_key: str) -> bool:
    """Look whether a server knows the model. Returns whether it answered.

    Some servers list other names than those that they take, so that one token is asked for where the name is missing.
    A server that is away, busy or fails otherwise is told of by the first call that needs it.

    Raises:
        ModelUnavailable: the server is there, and does not know the model, refuses the key or is something else.
    """
    if _is_behind_any_proxy(faults.address):
        return True
    async with _Questions(faults, api_key) as questions:
        try:
            async with asyncio.timeout(MODEL_SECONDS):
                names = await questions.names()
                if names is None:
                    await questions.check_route()
                elif faults.model not in names:
                    await questions.check_answer()
        except aiohttp.ClientSSLError:
            return True
        except (aiohttp.ClientError, OSError):
            return False
    return True


class _Questions:
    """What a server is asked. Each raises ``aiohttp.ClientError`` or ``OSError`` where no answer comes."""

    def __init__(self, faults: ServerFaults, api_key: str) -> None:
        self._faults = faults
        self._session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            trust_env=True,
        )

    async def __aenter__(self) -> _Questions:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def names(self) -> frozenset[str] | None:
        """The names of the models that the server lists; ``None`` where it has no list.

        Raises:
            ModelUnavailable: the key is refused, or the answer is no JSON.
        """
        status, body = await self._ask("GET", _LIST)
        if status in _NO_ROUTE:
            return None
        if status != 200:
            return frozenset({self._faults.model})  # busy: the first call says it better
        try:
            listed = json.loads(body)
        except ValueError as err:
            raise self._faults.not_openai() from err
        models = listed.get("data") if isinstance(listed, Mapping) else None
        rows = models if isinstance(models, list) else []
        return frozenset(row["id"] for row in rows if isinstance(row, Mapping) and isinstance(row.get("id"), str))

    async def check_route(self) -> None:
        """See whether the server has the route for drafts.

        Raises:
            ModelUnavailable: it has not, does not know the model, or refuses the key.
        """
        status, body = await self._ask("POST", _CHAT, {"model": self._faults.model})
        if status in _NO_ROUTE:
            raise self._faults.unknown_model() if _speaks_of(self._faults.model, body) else self._faults.not_openai()

    async def check_answer(self) -> None:
        """Ask for one token.

        Raises:
            ModelUnavailable: the server does not know the model, or refuses the key.
        """
        question = {"model": self._faults.model, "messages": [{"role": "user", "content": "?"}], "max_tokens": 1}
        status, _ = await self._ask("POST", _CHAT, question)
        if status == 404:
            raise self._faults.unknown_model()

    async def _ask(self, method: str, route: str, body: Mapping[str, Any] | None = None) -> tuple[int, bytes]:
        async with self._session.request(method, f"{self._faults.address.rstrip('/')}{route}", json=body) as answer:
            if answer.status in _KEY:
                raise self._faults.wrong_key()
            return answer.status, await answer.read()


def _is_behind_any_proxy(address: str) -> bool:
    """Whether a proxy for every protocol leads to it, which may be of a kind that only the client of drafts knows."""
    return "all" in getproxies() and not proxy_bypass(urlsplit(address).hostname or "")


def _speaks_of(model: str, body: bytes) -> bool:
    """Whether a refusal has the form of the protocol and names the model."""
    try:
        reply = json.loads(body)
    except ValueError:
        return False
    return isinstance(reply, Mapping) and bool(re.search(rf"(?<!\w){re.escape(model)}(?!\w)", str(reply.get("error"))))
