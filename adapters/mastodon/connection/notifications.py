"""Asking the instance for notifications: how far they were asked for moves only once they are committed.

Mastodon limits how often pages are asked for, to 300 in 15 minutes (config/initializers/rack_attack.rb), so that there
is a pause even behind a full page. A notification that no listener wants is not kept, only counted.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

from mastodon import Mastodon
from mastodon.return_types import Notification

from adapters.mastodon.connection.client import MENTION, MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, RateLimit, of_connection, status_of
from adapters.mastodon.connection.updates import FIRST, inbox_update, newest
from core.desk.rules.platforms import ArrivedUpdate, UpdateInbox
from core.errors import StoreUnavailable

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
        self.ignored = Counter[str]()
        """How many notifications came that nobody listens to, by kind."""

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
                if status_of(err) in _FINAL or faults > MOST_FAULTS:
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
        page = await self._client.call(partial(_page, kinds=self._kinds(), after=cursor))
        if page:
            await self._inbox.keep(self._wanted(page), newest(str(each.id) for each in page))
            self._wake()
        return len(page)

    async def _begin(self) -> None:
        """Begin behind the newest notification that there is: those before were for nobody, or for another bot."""
        last = await self._client.call(lambda api: api.notifications(limit=1))
        await self._inbox.keep([], str(last[0].id) if last else FIRST)
        _LOG.info("Mastodon: this is the first start with this account. Earlier notifications are not handled.")

    def _kinds(self) -> list[str]:
        return sorted({MENTION, *self._client.heard_kinds()})

    def _wanted(self, page: Sequence[Notification]) -> list[ArrivedUpdate]:
        """Of a page, newest first, what somebody listens to, oldest first."""
        kinds, updates = self._kinds(), list[ArrivedUpdate]()
        for notification in reversed(page):
            update = inbox_update(notification) if notification.type in kinds else None
            if update is None:
                self._count(str(notification.type))
            else:
                updates.append(update)
        return updates

    def _count(self, kind: str) -> None:
        """Log the first, second, fourth and so on: a flood must not flood the log."""
        self.ignored[kind] += 1
        if self.ignored[kind] & (self.ignored[kind] - 1) == 0:
            _LOG.info("Mastodon sent %d notifications of the kind %r, which are ignored.", self.ignored[kind], kind)


def _page(api: Mastodon, kinds: list[str], after: str) -> Sequence[Notification]:
    """The notifications behind one, newest first; also those that the account's policy keeps apart.

    Unless it was told otherwise, Mastodon keeps apart what people whom we do not follow write to us alone.
    """
    with _including_filtered(api):
        page: Sequence[Notification] = api.notifications(types=kinds, min_id=after, limit=PAGE)
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
