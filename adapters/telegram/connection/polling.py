"""Asking Telegram for updates: it is told that they arrived only after they are committed.

Owns that order, and how long a fault of Telegram is borne. The library's own updater confirms updates before they are
handled, and a crash would lose them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from datetime import timedelta
from functools import partial
from typing import Any, Final

from telegram.error import Conflict, Forbidden, InvalidToken, RetryAfter

from adapters.common.arrivals.handling import Delivery
from adapters.telegram.connection.client import TelegramClient, kind_of
from adapters.telegram.connection.error_meanings import FAULTS, of_connection
from adapters.telegram.connection.limiter import seconds_of
from adapters.telegram.connection.updates import Wake, all_arrived, heard, wanted_kinds
from core.errors import AntiphonError, StoreUnavailable
from core.moderation.platforms import UpdateInbox, WaitingUpdate

_PASSING: Final[tuple[type[AntiphonError], ...]] = (StoreUnavailable,)


class TelegramHearing:
    """Hands updates to the client's listeners."""

    platform = "Telegram"
    passing = _PASSING

    def __init__(self, client: TelegramClient) -> None:
        self._client = client

    def known_kinds(self) -> Collection[str]:
        """Those that Telegram is asked for."""
        return wanted_kinds(self._client)

    def kind_of(self, payload: dict[str, Any]) -> str:
        """As Telegram names it."""
        return kind_of(payload)

    def delivery(self, waiting: WaitingUpdate) -> Delivery:
        """An update, ready to be heard; raises whatever the library does where it cannot read one."""
        said = heard(waiting, self._client)
        return Delivery(partial(self._client.hear, said), said.unfinished)


_LOG = logging.getLogger(__name__)
_FINAL: Final = (Conflict, InvalidToken, Forbidden)
"""What asking again would not change."""
MOST_FAULTS: Final = 4
"""So many questions in a row may fail before the connection counts as lost."""
_LONGEST_PAUSE_SECONDS: Final = 8.0
_NUMBERED: Final = timedelta(days=6)
"""How long a number counts: Telegram may number anew after a week without any update
(core.telegram.org/bots/api, "Update", ``update_id``)."""


class Polling:
    """The updates of one bot.

    Args:
        wake: is called after new updates were kept.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        client: TelegramClient,
        inbox: UpdateInbox,
        wake: Wake,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._client, self._inbox, self._wake, self._sleep = client, inbox, wake, sleep

    async def open(self) -> None:
        """Take away a webhook, with which Telegram answers no questions; what waits for it there is kept."""
        try:
            await self._client.bot.delete_webhook(drop_pending_updates=False)
        except FAULTS as err:
            raise of_connection(err) from err

    async def run(self) -> None:
        """Ask, keep, and ask for the next, until cancelled.

        Raises:
            BadSettings: Telegram does not accept the token any more.
            PlatformUnavailable: another program asks for the same updates, or Telegram does not answer.
        """
        faults = 0
        while True:
            try:
                await self._step()
                faults = 0
            except RetryAfter as err:
                await self._sleep(seconds_of(err))
            except StoreUnavailable as err:
                _LOG.warning("Updates of Telegram wait there, since they cannot be kept: %s", err.message)
                faults = min(faults + 1, MOST_FAULTS)
                await self._sleep(_pause(faults))
            except FAULTS as err:
                faults += 1
                if isinstance(err, _FINAL) or faults > MOST_FAULTS:
                    raise of_connection(err) from err
                await self._sleep(_pause(faults))

    async def _step(self) -> None:
        """Ask once: what comes is committed, and confirmed by the next question."""
        cursor = await self._inbox.cursor(within=_NUMBERED)
        raws = await self._client.raw_updates(None if cursor is None else int(cursor), wanted_kinds(self._client))
        if raws:
            updates, after = all_arrived(raws)
            await self._inbox.keep(updates, str(after))
            self._wake()


def _pause(faults: int) -> float:
    return min(2.0 ** (faults - 1), _LONGEST_PAUSE_SECONDS)
