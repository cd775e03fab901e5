"""What is kept of a notification until it is handled, and how it then becomes what listeners hear.

Which it is, who caused it when, and which status it is about are kept, but no word of anybody: the status is read when
the notification is handled.

An inbox counts by numbers, and a notification's id is a text. An id of digits counts as it is, as Mastodon's do. A
ULID, as GoToSocial's are, begins with its time; of that, and of when the notification was made for an id that tells no
time since 2020, this is made: the milliseconds since 2020, at most 41 bits until 2089, and 22 bits of a hash of the id.
So a number never grows beyond 63 bits, later ids have greater numbers, and two ids of one millisecond share a number
once in four million times.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from mastodon.return_types import Notification

from adapters.common.arrivals import Arrival
from adapters.mastodon.connection.client import MENTION, MastodonClient, NotificationEvent
from adapters.mastodon.connection.statuses import Statuses
from core.desk.rules.platforms import ArrivedUpdate, WaitingUpdate
from core.errors import AntiphonError, PlatformBusy, StoreUnavailable

LATE: Final = timedelta(minutes=10)
FIRST: Final = "0" * 26
"""Comes before every id: a number and a ULID, both nothing."""
_EPOCH: Final = datetime(2020, 1, 1, tzinfo=UTC)
_HASH_BITS: Final = 22
_ULID: Final = 26
_ULID_TIME: Final = 10
_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_DIRECT: Final = "direct"
_PASSING: Final[tuple[type[AntiphonError], ...]] = (StoreUnavailable, PlatformBusy)


def number_of(id_: str, created_at: datetime) -> int:
    """The number of a notification; ``created_at`` counts where its id says no time of its own."""
    if id_.isascii() and id_.isdecimal() and len(id_) < _ULID:
        return int(id_)
    since = _milliseconds_of(id_.upper())
    if since <= 0:
        since = max(0, int((created_at - _EPOCH).total_seconds() * 1000))
    digest = int.from_bytes(hashlib.sha256(id_.encode()).digest()[:4])
    return since << _HASH_BITS | digest >> (32 - _HASH_BITS)


def newest(ids: Iterable[str]) -> str:
    """The last of some ids of one instance: the greatest number, or the last ULID."""
    return max(ids, key=lambda id_: (len(id_.lstrip("0")), id_.lstrip("0")))


def inbox_update(notification: Notification) -> ArrivedUpdate | None:
    """A notification for the inbox; ``None`` for one that is about no status, or by nobody.

    What one account writes is handled in its order. What it writes to us alone is urgent: somebody waits for an answer.
    """
    status, account = notification.get("status"), notification.get("account")
    if not status or not account:
        return None
    payload = {
        "kind": str(notification.type),
        "status": str(status.id),
        "account": {"id": str(account.id)},
        "at": (status.get("edited_at") or status.created_at).isoformat(),
    }
    is_urgent = str(status.visibility) == _DIRECT
    lane = f"{account.id}{'!' if is_urgent else ''}"
    return ArrivedUpdate(number_of(str(notification.id), notification.created_at), payload, lane, is_urgent)


def kind_of(payload: dict[str, Any]) -> str:
    """What kind of notification it is; "" where that was not kept."""
    return str(payload.get("kind", ""))


def status_of(payload: dict[str, Any]) -> str:
    """The id of the status that a notification is about; raises ``KeyError`` where that was not kept."""
    return str(payload["status"])


def is_late(waiting: WaitingUpdate) -> bool:
    """Whether it was written long before it was handed out; raises ``KeyError`` where it was not kept when."""
    return waiting.handed_out_at - datetime.fromisoformat(waiting.update.payload["at"]) > LATE


def _milliseconds_of(id_: str) -> int:
    """The time that a ULID begins with, since 2020; nothing above 0 for a time before, or another id."""
    if len(id_) != _ULID or not set(id_) <= set(_CROCKFORD):
        return 0
    number = 0
    for character in id_[:_ULID_TIME]:
        number = number << 5 | _CROCKFORD.index(character)
    return number - int(_EPOCH.timestamp() * 1000)


class MastodonDispatcher:
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

    def arrival(self, waiting: WaitingUpdate) -> Arrival:
        """A notification, ready to be heard; raises ``LookupError`` or ``ValueError`` for one in another form."""
        update, unfinished = waiting.update, list[asyncio.Future[None]]()
        kind, id_, late = kind_of(update.payload), status_of(update.payload), is_late(waiting)

        async def hear() -> None:
            status = await self._statuses.one(id_)
            if status is not None:
                await self._client.hear(
                    NotificationEvent(update.number, kind, status, waiting.received_at, late, unfinished)
                )

        return Arrival(hear, unfinished)
