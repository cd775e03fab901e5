"""How a notification becomes what listeners hear: its status is read then, since no word of it was kept.

Owns that order. Implements ``adapters.common.arrivals.Hearing``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any, Final

from adapters.common.arrivals import Delivery
from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.listeners import MENTION, Heard
from adapters.mastodon.connection.statuses import Statuses
from adapters.mastodon.connection.updates import is_late, kind_of, status_of
from core.desk.rules.platforms import WaitingUpdate
from core.errors import AntiphonError, PlatformBusy, StoreUnavailable

_PASSING: Final[tuple[type[AntiphonError], ...]] = (StoreUnavailable, PlatformBusy)


class MastodonHearing:
    """Reads what a notification is about, and hands it to the client's listeners; one that is gone is dealt with."""

    platform = "Mastodon"
    passing = _PASSING

    def __init__(self, client: MastodonClient) -> None:
        self._client, self._statuses = client, Statuses(client)

    def known_kinds(self) -> Collection[str]:
        """Mentions, and what else somebody listens to."""
        return self._client.heard_kinds() | {MENTION}

    def kind_of(self, payload: dict[str, Any]) -> str:
        """As the instance names it."""
        return kind_of(payload)

    def delivery(self, waiting: WaitingUpdate) -> Delivery:
        """A notification, ready to be heard; raises ``LookupError`` or ``ValueError`` for one in another form."""
        update, unfinished = waiting.update, list[asyncio.Future[None]]()
        kind, id_, late = kind_of(update.payload), status_of(update.payload), is_late(waiting)

        async def hear() -> None:
            status = await self._statuses.one(id_)
            if status is not None:
                await self._client.hear(Heard(update.number, kind, status, waiting.received_at, late, unfinished))

        return Delivery(hear, unfinished)
