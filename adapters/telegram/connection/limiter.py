"""How fast we may ask Telegram: in all, in each chat, and not at all where it asked for a pause.

Messages that can be shown later leave room for those that a person waits for. A request is made once: where Telegram
refuses it because there were too many, the caller is told and decides when it is tried again. One chat's pause holds up
no other chat.
"""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from telegram.error import RetryAfter
from telegram.ext import BaseRateLimiter

IN_ALL_PER_SECOND: Final = 30
IN_A_GROUP_PER_MINUTE: Final = 20
"""Telegram's own figures for a bot (core.telegram.org/bots/faq), which it does not promise to keep."""
KEPT_FOR_PEOPLE: Final = 5
"""How many of a group's messages in a minute are kept for what a person waits for: ``PATIENT`` requests never use
them."""
KEPT_FROM_PROGRESS: Final = 14
"""The same for ``PROGRESS`` requests."""
PATIENT: Final = 1
"""The ``rate_limit_args`` of what is shown later by itself where there is no room now, such as a card."""
PROGRESS: Final = 2
"""The same for what only tells how far something is: refused at once where little room is left, without a wait."""

_KEPT: Final = {None: 0, PATIENT: KEPT_FOR_PEOPLE, PROGRESS: KEPT_FROM_PROGRESS}
_WRITES: Final = ("send", "edit", "copy", "forward")
_FIRST: Final = frozenset({"answerCallbackQuery", "deleteMessage"})
"""What a person waits for, or what must not stay in sight: these wait for nothing but a pause that was asked for."""
_CHATS: Final = 5000


@dataclass(slots=True)
class _Chat:
    """When the last messages went to a chat, and until when it must be left alone, in seconds of the clock."""

    sent: deque[float] = field(default_factory=deque)
    paused_until: float = 0.0


class TelegramLimiter(BaseRateLimiter[int]):
    """Implements ``telegram.ext.BaseRateLimiter`` without a retry.

    Args:
        longest_wait_seconds: how long a request may wait for its turn; one that would have to wait longer is refused
            at once with ``RetryAfter``, unsent.
        seconds_now: seconds that only grow.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        *,
        longest_wait_seconds: float = 5.0,
        seconds_now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._longest_wait_seconds = longest_wait_seconds
        self._seconds_now = seconds_now
        self._sleep = sleep
        self._all: deque[float] = deque()
        self._chats: OrderedDict[str, _Chat] = OrderedDict()

    async def initialize(self) -> None:
        """Do nothing: there is nothing to open."""

    async def shutdown(self) -> None:
        """Do nothing: there is nothing to close."""

    async def process_request(
        self,
        callback: Callable[..., Coroutine[Any, Any, bool | dict[str, Any] | list[dict[str, Any]]]],
        args: Any,
        kwargs: dict[str, Any],
        endpoint: str,
        data: dict[str, Any],
        rate_limit_args: int | None,
    ) -> bool | dict[str, Any] | list[dict[str, Any]]:
        """Make one request when its turn comes.

        Raises:
            RetryAfter: Telegram asked for a pause, or the turn is too far away; nothing was done.
        """
        chat = self._chat(data.get("chat_id"))
        is_group = self._is_group(data.get("chat_id"))
        most = IN_A_GROUP_PER_MINUTE - _KEPT[rate_limit_args] if is_group else None
        longest = 0.0 if rate_limit_args == PROGRESS else self._longest_wait_seconds
        await self._wait_for_turn(chat, endpoint, most, longest)
        try:
            return await callback(*args, **kwargs)
        except RetryAfter as err:
            if chat is not None:
                chat.paused_until = max(chat.paused_until, self._seconds_now() + seconds_of(err))
            raise

    async def _wait_for_turn(self, chat: _Chat | None, endpoint: str, most: int | None, longest: float) -> None:
        """Take a turn now, or sleep until there is one; between finding a turn and taking it nobody else runs.

        Args:
            most: how many messages of a minute leave room for this one in its chat; ``None`` for any number.
            longest: how many seconds it may sleep.
        """
        until = self._seconds_now() + longest
        while (pause := self._pause(chat, endpoint, most)) > 0:
            if self._seconds_now() + pause > until:
                raise RetryAfter(timedelta(seconds=pause))
            await self._sleep(pause)
        now = self._seconds_now()
        self._all.append(now)
        if chat is not None and endpoint.startswith(_WRITES):
            chat.sent.append(now)

    def _pause(self, chat: _Chat | None, endpoint: str, most: int | None) -> float:
        """How many seconds a request has to wait from now on, as far as can be told."""
        now = self._seconds_now()
        pauses = [0.0] if chat is None else [chat.paused_until - now]
        if endpoint not in _FIRST:
            pauses.append(_until_free(self._all, now, 1.0, IN_ALL_PER_SECOND))
            if chat is not None and most is not None and endpoint.startswith(_WRITES):
                pauses.append(_until_free(chat.sent, now, 60.0, most))
        return max(pauses)

    def _chat(self, chat_id: object) -> _Chat | None:
        if chat_id is None:
            return None
        chat = self._chats.setdefault(str(chat_id), _Chat())
        self._chats.move_to_end(str(chat_id))
        if len(self._chats) > _CHATS:
            self._chats.popitem(last=False)
        return chat

    @staticmethod
    def _is_group(chat_id: object) -> bool:
        """Groups and channels have negative numbers."""
        return str(chat_id).startswith("-")


def _until_free(sent: deque[float], now: float, window: float, most: int) -> float:
    """Forget what was sent before the window, and tell in how many seconds there is room for one more."""
    while sent and sent[0] <= now - window:
        sent.popleft()
    return 0.0 if len(sent) < most else sent[-most] + window - now


def seconds_of(error: RetryAfter) -> float:
    """How long Telegram asks to wait."""
    wait = error.retry_after
    return wait.total_seconds() if isinstance(wait, timedelta) else float(wait)
