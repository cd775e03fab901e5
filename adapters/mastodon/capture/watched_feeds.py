"""The feeds that a community watches: what is new in them is looked at once, and how far they were read is kept.

Owns how often the instance is asked, and that a status is looked at before where to go on is kept. A feed is read from
the moment on at which it is first watched. One that is closed is told of, not silently empty. Reads only what everybody
may read.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from mastodon.return_types import Status

from adapters.common.capture.watching import Watching
from adapters.common.words.errors import log_failure
from adapters.mastodon.capture.posts import original_of
from adapters.mastodon.capture.sightings import SeenStatus
from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, Halted, of_question
from adapters.mastodon.connection.feeds import PAGE, is_feed, last_of, page_of, why_closed
from adapters.mastodon.connection.statuses import Statuses
from adapters.mastodon.intake.updates import FIRST, newest
from core.errors import AntiphonError
from core.moderation.community.policy import CommunityPolicy
from core.moderation.platforms import UpdateInbox

_LOG = logging.getLogger(__name__)
LOOK_SECONDS: Final = 60.0
_MOST_PAGES: Final = 8
"""In one look: with the questions for notifications no more than an instance answers (``notifications``)."""
_MOST_SEEN: Final = 10_000
_HALT_SECONDS: Final = 60.0

Bookmarks = Callable[[str], UpdateInbox]
"""Keeps how far a feed was read, by its name."""


class WatchedFeeds:
    """Reads the feeds that the policy names.

    Args:
        bookmarks: only their cursors are used.
        look_seconds: how long after one look the next begins.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        client: MastodonClient,
        statuses: Statuses,
        watching: Watching,
        bookmarks: Bookmarks,
        *,
        look_seconds: float = LOOK_SECONDS,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._client, self._statuses, self._watching, self._bookmarks = client, statuses, watching, bookmarks
        self._look_seconds, self._sleep = look_seconds, sleep
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._explained: dict[tuple[str, str], str] = {}
        """What the log was told last of a feed, by its name and by who says so."""
        self._turn = 0

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            pause = self._look_seconds
            try:
                await self.look()
            except Halted as err:
                pause = max(pause, err.seconds or _HALT_SECONDS)
            except AntiphonError as err:
                _LOG.warning("The watched feeds of Mastodon could not be looked at: %s", err.message)
            except Exception as err:
                log_failure("looking at the watched feeds of Mastodon", err)
            await self._sleep(pause)

    async def look(self) -> None:
        """Look at what is new in as many feeds as one look takes, the others in the next.

        Raises:
            StoreUnavailable: the database does not answer.
            Halted: the instance asks to wait.
        """
        policy = await self._client.desk.policies.surely_of(self._client.home)
        feeds = self.explain(policy)
        pages = 0
        for _ in range(len(feeds)):
            if pages >= _MOST_PAGES:
                return
            name = feeds[self._turn % len(feeds)]
            pages += await self._read(name, policy, _MOST_PAGES - pages)
            self._turn += 1

    def explain(self, policy: CommunityPolicy) -> list[str]:
        """The feeds that are watched; of one that cannot be read, or not whole, the log says why, once."""
        for name in policy.watched_channels:
            self._explain(name, "instance", why_closed(self._client.instance, name))
        return [name for name in policy.watched_channels if is_feed(name)]

    async def _read(self, name: str, policy: CommunityPolicy, most: int) -> int:
        """Read on in a feed; returns how many pages were asked for."""
        bookmark = self._bookmarks(name)
        cursor = await bookmark.cursor()
        try:
            if cursor is None:
                await bookmark.keep([], await last_of(self._client, name) or FIRST)
                return 1
            for count in range(1, most + 1):
                page = await page_of(self._client, name, cursor)
                self._explain(name, "answer", "")
                if page:
                    await self._look_at(page, policy, name)
                    cursor = newest(str(status.id) for status in page)
                    await bookmark.keep([], cursor)
                if len(page) < PAGE:
                    return count
        except Halted:
            raise
        except FAULTS as err:
            why = of_question(err).message
            self._explain(name, "answer", f"{name} is watched, but could not be read: {why}")
            return 1
        return most

    async def _look_at(self, page: Sequence[Status], policy: CommunityPolicy, name: str) -> None:
        """Have each status of a page looked at, oldest first, and wait until what is found is flagged."""
        looks = [self.take(status, policy, name) for status in map(original_of, reversed(page))]
        await asyncio.gather(*filter(None, looks))

    def take(self, status: Status, policy: CommunityPolicy, name: str) -> asyncio.Future[None] | None:
        """Have a status of a feed looked at, unless this process did so before, wherever it came from.

        Returns:
            What ends once it was looked at and, where it is a find, flagged; ``None`` if it is not looked at.
        """
        if not self._is_new(str(status.id)):
            return None
        seen = SeenStatus(self._client, self._statuses, status, may_lack_thread=True)
        return self._watching.take_written(seen, policy, name)

    def _is_new(self, id_: str) -> bool:
        """Whether a status was not looked at by this process yet."""
        if id_ in self._seen:
            return False
        self._seen[id_] = None
        if len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)
        return True

    def _explain(self, name: str, by: str, why: str) -> None:
        if why and self._explained.get((name, by)) != why:
            _LOG.warning("Mastodon: %s", why)
        self._explained[name, by] = why
