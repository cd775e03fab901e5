"""The HTTP requests of this process to Discord, counted and kept within Discord's limits.

They pass through a hook into discord.py's HTTP session (``aiohttp.TraceConfig``), which never sees a request's body.
"""

import contextlib
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

import aiohttp
import discord

WINDOW_SECONDS: Final = 600.0
"""The time over which Discord counts answers of 401, 403 and 429; from 10,000 on it bans the address."""
MOST_INVALID: Final = 5000
FORBIDDEN_IN_A_ROW: Final = 3
CLOSED_SECONDS: Final = 300.0
"""How long a channel that refused us ``FORBIDDEN_IN_A_ROW`` times is left alone."""

OLD_MESSAGE: Final = 30046
"""Discord's code for too many edits of messages that are older than an hour; its status is 429."""

_CHANNEL: Final = re.compile(r"/channels/(\d+)")
_NOT_BY_TOKEN: Final = re.compile(r"/(?:webhooks|interactions)/")


class ChannelClosed(discord.RateLimited):
    """Nothing was asked: the channel refused us several times in a row, and is left alone for a while."""


class OldMessage(discord.RateLimited):
    """Nothing was changed: Discord lets messages that are older than an hour be edited a few times only."""


class RequestFailed(discord.DiscordException):
    """Discord answered a request with a server error, which was not repeated; ``status`` is what it answered."""

    def __init__(self, status: int) -> None:
        super().__init__(f"Discord answered {status}.")
        self.status = status


class RequestRepeated(discord.DiscordException):
    """Nothing was asked once more: the library wanted to repeat a request that went out already."""


@dataclass(slots=True)
class Call:
    most: int
    begun: int = 0


_CALL: ContextVar[Call | None] = ContextVar("call", default=None)


class Requests:
    """The requests of one client.

    Args:
        on_bad_token: called when Discord does not know the token, or no longer does.
        ticks: seconds that only grow.
    """

    def __init__(self, on_bad_token: Callable[[], None], ticks: Callable[[], float] = time.monotonic) -> None:
        self._on_bad_token = on_bad_token
        self._ticks = ticks
        self._invalid: deque[float] = deque(maxlen=MOST_INVALID)
        self._refusals: dict[tuple[str, str], tuple[int, float]] = {}
        self.seen = 0

    def trace(self) -> aiohttp.TraceConfig:
        """The hook to give to the client as ``http_trace``."""
        trace = aiohttp.TraceConfig()
        trace.on_request_start.append(self._start)
        trace.on_request_end.append(self._end)
        return trace

    @contextlib.contextmanager
    def alone(self, most: int = 1) -> Iterator[Call]:
        """In this block at most so many requests go out, and none is repeated by the library.

        A rate limit raises ``discord.RateLimited`` at once instead of waiting it out, and a server error
        ``RequestFailed``.
        """
        call = Call(most)
        token = _CALL.set(call)
        try:
            yield call
        finally:
            _CALL.reset(token)

    async def _start(
        self, _session: aiohttp.ClientSession, _context: SimpleNamespace, params: aiohttp.TraceRequestStartParams
    ) -> None:
        self._check_budget()
        self._check_channel(params.method, params.url.path)
        self.seen += 1
        call = _CALL.get()
        if call is not None:
            if call.begun >= call.most:
                raise RequestRepeated("A request was to be repeated.")
            call.begun += 1

    async def _end(
        self, _session: aiohttp.ClientSession, _context: SimpleNamespace, params: aiohttp.TraceRequestEndParams
    ) -> None:
        status, path = params.response.status, params.url.path
        self._count(params.method, path, params.response)
        if status == 401 and "Authorization" in params.headers and not _NOT_BY_TOKEN.search(path):
            self._on_bad_token()
        if _CALL.get() is None:
            return
        if status == 429:
            raise await _rate_limit(params.response)
        if status >= 500:
            await params.response.read()
            raise RequestFailed(status)

    def _count(self, method: str, path: str, response: aiohttp.ClientResponse) -> None:
        status, now = response.status, self._ticks()
        if status in (401, 403, 429) and response.headers.get("X-RateLimit-Scope") != "shared":
            self._invalid.append(now)
        channel = _CHANNEL.search(path)
        if channel is None:
            return
        key = (method, channel.group(1))
        if status == 403:
            self._refusals[key] = (self._refusals.get(key, (0, 0.0))[0] + 1, now)
        elif status < 400:
            self._refusals.pop(key, None)

    def _check_budget(self) -> None:
        """Refuse every request while half of the refusals that Discord tolerates are used up."""
        now = self._ticks()
        if len(self._invalid) == MOST_INVALID and now - self._invalid[0] < WINDOW_SECONDS:
            raise discord.RateLimited(WINDOW_SECONDS - (now - self._invalid[0]))

    def _check_channel(self, method: str, path: str) -> None:
        channel = _CHANNEL.search(path)
        if channel is None:
            return
        key, now = (method, channel.group(1)), self._ticks()
        count, at = self._refusals.get(key, (0, now))
        if count >= FORBIDDEN_IN_A_ROW:
            if now - at < CLOSED_SECONDS:
                raise ChannelClosed(CLOSED_SECONDS - (now - at))
            del self._refusals[key]


async def _rate_limit(response: aiohttp.ClientResponse) -> discord.RateLimited:
    """What was limited, and how long Discord asks to be left alone."""
    body: Any = None
    with contextlib.suppress(ValueError, aiohttp.ClientError):
        body = await response.json(content_type=None)
    answer = body if isinstance(body, dict) else {}
    kind = OldMessage if answer.get("code") == OLD_MESSAGE else discord.RateLimited
    return kind(_retry_after(answer.get("retry_after"), response))


def _retry_after(value: object, response: aiohttp.ClientResponse) -> float:
    """The seconds that an answer names; 0 where it names none."""
    seconds = value if isinstance(value, int | float) else response.headers.get("Retry-After", "0")
    try:
        return max(float(seconds), 0.0)
    except ValueError:
        return 0.0
