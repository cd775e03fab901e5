"""How an update becomes what listeners hear.

Implements ``adapters.common.arrivals.hearing.Hearing``.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any, Final

from adapters.common.arrivals.hearing import Delivery
from adapters.telegram.connection.client import TelegramClient, kind_of
from adapters.telegram.connection.updates import heard, wanted_kinds
from core.errors import AntiphonError, StoreUnavailable
from core.moderation.platforms import WaitingUpdate

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
