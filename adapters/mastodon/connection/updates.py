"""Asking the instance for notifications, what is kept of one until it is handled, and how listeners then hear of it.

How far notifications were asked for moves only once they are committed. Of a mention
it is kept which it is, who caused it when, and which status it is about, but no word of anybody: the status is read
when the notification is handled. Mastodon limits how often pages are asked for, to 300 in 15 minutes
(config/initializers/rack_attack.rb), so that there is a pause even behind a full page.

An inbox counts by numbers, and a notification's id is a text. An id of digits counts as it is, as Mastodon's do. A
ULID, as GoToSocial's are, begins with its time; of that, and of when the notification was made for an id that tells no
time since 2020, this is made: the milliseconds since 2020, at most 41 bits until 2089, and 22 bits of a hash of the id.
So a number never grows beyond 63 bits, later ids have greater numbers, and two ids of one millisecond share a number
once in four million times.
"""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from mastodon import Mastodon
from mastodon.return_types import Notification

from adapters.common.arrivals import Arrival
from adapters.mastodon.connection import error_meanings
from adapters.mastodon.connection.client import MENTION, MastodonClient, NotificationEvent
from adapters.mastodon.connection.error_meanings import FAULTS, RateLimit, of_connection
from adapters.mastodon.connection.statuses import Statuses
from core.desk.rules.platforms import ArrivedUpdate, UpdateInbox, WaitingUpdate
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
_LOG = logging.getLogger(__name__)
POLL_SECONDS: Final = 15.0
GAP_SECONDS: Final = 5.0
"""At most 180 pages in 15 minutes, so that watched hashtags have the others."""
PAGE: Final = 40
"""As many as an instance gives at once."""
_MANY: Final = 15
"""After a page of so many there may be another: the least that any instance gives as a full one."""
MOST_FAULTS: Final = 4
"""So many questions in a row may fail before the connection counts as lost."""
_FINAL: Final = (401, 403)
"""What asking again would not change."""
_LONGEST_PAUSE_SECONDS: Final = 60.0
_HALT_SECONDS: Final = 60.0
"""How long is waited where the instance asks to wait, and does not say how long."""
Wake = Callable[[], None]
"""Says that new notifications were kept."""


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
    """A mention for the inbox; ``None`` for what is none, which some software sends unasked, or is by nobody.

    What one account writes is handled in its order. What it writes to us alone is urgent: somebody waits for an answer.
    """
    status, account = notification.get("status"), notification.get("account")
    if str(notification.type) != MENTION or not status or not account:
        return None
    payload = {
        "kind": MENTION,
        "status": str(status.id),
        "account": {"id": str(account.id)},
        "at": (status.get("edited_at") or status.created_at).isoformat(),
    }
    is_urgent = str(status.visibility) == _DIRECT
    lane = f"{account.id}{'!' if is_urgent else ''}"
    return ArrivedUpdate(number_of(str(notification.id), notification.created_at), payload, lane, is_urgent)


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
    """Reads what somebody wrote to us, and hands it to the client's listeners; what is gone is dealt with."""

    platform = "Mastodon"
    passing = _PASSING

    def __init__(self, client: MastodonClient) -> None:
        self._client, self._statuses = client, Statuses(client)

    def known_kinds(self) -> Collection[str]:
        return (MENTION,)

    def kind_of(self, payload: dict[str, Any]) -> str:
        return str(payload.get("kind", ""))

    def arrival(self, waiting: WaitingUpdate) -> Arrival:
        """A mention, ready to be heard; raises ``LookupError`` or ``ValueError`` for one in another form."""
        update, late = waiting.update, is_late(waiting)
        id_ = str(update.payload["status"])

        async def hear() -> None:
            status = await self._statuses.one(id_)
            if status is not None:
                await self._client.hear(NotificationEvent(update.number, status, late))

        return Arrival(hear)


class NotificationPoll:
    """The notifications of one account.

    Args:
        wake: is called after new notifications were kept.
        poll_seconds: how often is asked, in seconds.
        gap_seconds: how soon is asked again where there may be more, in seconds.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        client: MastodonClient,
        inbox: UpdateInbox,
        wake: Wake,
        *,
        poll_seconds: float = POLL_SECONDS,
        gap_seconds: float = GAP_SECONDS,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._client, self._inbox, self._wake, self._sleep = client, inbox, wake, sleep
        self._poll_seconds, self._gap_seconds = poll_seconds, gap_seconds

    async def run(self) -> None:
        """Ask, keep, and ask for the next, until cancelled.

        Raises:
            BadSettings: the instance does not accept the token any more, or the token lacks a scope.
            PlatformUnavailable: the instance does not answer.
        """
        faults = 0
        while True:
            try:
                count = await self._step()
                faults = 0
            except RateLimit as err:
                await self._sleep(err.seconds or _HALT_SECONDS)
            except StoreUnavailable as err:
                _LOG.warning("Notifications of Mastodon wait there, since they cannot be kept: %s", err.message)
                faults = min(faults + 1, MOST_FAULTS)
                await self._sleep(_pause(faults))
            except FAULTS as err:
                faults += 1
                if error_meanings.status_of(err) in _FINAL or faults > MOST_FAULTS:
                    raise of_connection(err) from err
                await self._sleep(_pause(faults))
            else:
                await self._sleep(self._gap_seconds if count >= _MANY else self._poll_seconds)

    async def _step(self) -> int:
        """Ask once: what comes is committed, and where to go on with it; returns how many came."""
        cursor = await self._inbox.cursor()
        if cursor is None:
            await self._begin()
            return 0
        page = await self._client.call(partial(_page, after=cursor))
        if page:
            updates = [inbox_update(each) for each in reversed(page)]
            await self._inbox.keep(
                [each for each in updates if each is not None], newest(str(each.id) for each in page)
            )
            self._wake()
        return len(page)

    async def _begin(self) -> None:
        """Begin behind the newest notification that there is: those before were for nobody, or for another bot."""
        last = await self._client.call(lambda api: api.notifications(limit=1))
        await self._inbox.keep([], str(last[0].id) if last else FIRST)
        _LOG.info("Mastodon: this is the first start with this account. Earlier notifications are not handled.")


def _page(api: Mastodon, after: str) -> Sequence[Notification]:
    """The notifications behind one, newest first; also those that the account's policy keeps apart.

    Unless it was told otherwise, Mastodon keeps apart what people whom we do not follow write to us alone.
    """
    with _including_filtered(api):
        page: Sequence[Notification] = api.notifications(types=[MENTION], min_id=after, limit=PAGE)
        return page


@contextmanager
def _including_filtered(api: Mastodon) -> Iterator[None]:
    """Ask with a parameter that the library does not know; a session is used by one thread at a time."""
    api.session.params = {"include_filtered": "true"}
    try:
        yield
    finally:
        api.session.params = {}


def _pause(faults: int) -> float:
    return min(2.0**faults, _LONGEST_PAUSE_SECONDS)
