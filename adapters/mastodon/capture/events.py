"""How the parts of capture are put together on one client; with the edits, the deletions and the feeds it asks for.

The instance tells nobody of edits and deletions, so it is asked about the posts that have an open case. In a watched
feed, what is new is looked at once, and how far the feed was read is kept.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from mastodon.return_types import Status

from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.watch import ChannelWatch
from adapters.common.desk import DeskAccess
from adapters.common.words.errors import log_failure
from adapters.mastodon.capture.mentions import Mentions
from adapters.mastodon.capture.sightings import SeenStatus, original_of
from adapters.mastodon.connection.client import MENTION, MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, RateLimit, of_question
from adapters.mastodon.connection.feeds import PAGE, is_feed, last_of, page_of, why_closed
from adapters.mastodon.connection.refs import NAME, revision_of
from adapters.mastodon.connection.statuses import AT_ONCE, Statuses
from adapters.mastodon.connection.updates import FIRST, newest
from adapters.mastodon.speech.plain_text import words_of
from core.desk.rules.platforms import UpdateInbox
from core.desk.rules.policy import CommunityPolicy
from core.engine.ports import HateDetector
from core.errors import AntiphonError, Unavailable
from core.models import PostRef

_LOG = logging.getLogger(__name__)
LOOK_SECONDS: Final = 60.0
MOST_FOLLOWED: Final = 1000
_MOST_QUESTIONS: Final = 10
"""In one look."""
_GONE: Final = "gone"


class Originals:
    """Follows the posts of open cases.

    Args:
        look_seconds: how long after one look the next begins.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        client: MastodonClient,
        statuses: Statuses,
        *,
        look_seconds: float = LOOK_SECONDS,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._client, self._statuses = client, statuses
        self._look_seconds, self._sleep = look_seconds, sleep
        self._revisions: dict[PostRef, str] = {}
        """What the desk knows, by the revision of each post."""
        self._next = 0
        self._questions = 0

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            try:
                await self.look()
            except Unavailable as err:
                _LOG.warning("Edits and deletions on Mastodon could not be looked for: %s", err.message)
            except Exception as err:
                log_failure("looking for edits and deletions on Mastodon", err)
            await self._sleep(self._look_seconds)

    async def look(self) -> None:
        """Look at as many posts as one look takes, and go on behind them the next time.

        Raises:
            Unavailable: the instance or the database does not answer.
        """
        refs = await self._followed_posts()
        self._revisions = {ref: revision for ref, revision in self._revisions.items() if ref in refs}
        self._questions = 0
        left = refs[self._next % max(1, len(refs)) :] + refs[: self._next % max(1, len(refs))]
        while left and self._questions < _MOST_QUESTIONS:
            now, left = left[:AT_ONCE], left[AT_ONCE:]
            self._next += await self._compare(now)

    async def _followed_posts(self) -> list[PostRef]:
        posts = await self._client.desk.casework.posts(NAME, MOST_FOLLOWED)
        return [ref for ref in posts if ref.community == self._client.home and ref.message.isalnum()]

    async def _compare(self, refs: Sequence[PostRef]) -> int:
        """Tell the desk what some posts say now; returns for how many of them that is known."""
        self._questions += 1
        statuses = await self._statuses.many([ref.message for ref in refs])
        for count, ref in enumerate(refs):
            status = None if statuses is None else statuses.get(ref.message)
            if status is None:  # a status that is left out of many may still be there
                if self._questions >= _MOST_QUESTIONS:
                    return count
                self._questions += 1
                status = await self._statuses.one(ref.message)
            await self._tell(self._client.desk, ref, status)
        return len(refs)

    async def _tell(self, desk: DeskAccess, ref: PostRef, status: Status | None) -> None:
        revision = _GONE if status is None else revision_of(status)
        if self._revisions.get(ref) == revision:
            return
        if status is None:
            await desk.casework.original_changed(ref, None)
        else:
            await desk.casework.original_changed(ref, words_of(status).compared, revision=revision)
        self._revisions[ref] = revision


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
        watching: ChannelWatch,
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
            except RateLimit as err:
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
        except RateLimit:
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


_FLAGGING_SECONDS: Final = 5.0
"""How long found posts may still be flagged when the work ends; that needs no connection."""


class Capture:
    """All that takes posts in from one client; ``run`` looks again and again, ``close`` ends its work."""

    def __init__(self, client: MastodonClient, detector: HateDetector | None, bookmarks: Bookmarks) -> None:
        self._client = client
        known_posts, statuses = KnownPosts(_now()), Statuses(client)
        self.watching = ChannelWatch(client.desk, known_posts, lambda: client.own_id, detector)
        self.originals = Originals(client, statuses)
        self.feeds = WatchedFeeds(client, statuses, self.watching, bookmarks)
        client.listen(MENTION, Mentions(client, known_posts, statuses).hear)

    @property
    def left_out(self) -> int:
        """How many posts were not looked at, because too much came at once."""
        return self.watching.lanes.left_out + self.watching.finds.left_out

    async def notes(self) -> tuple[str, ...]:
        """Why a watched feed cannot be read, or not whole, for the person who runs Antiphon."""
        policy = await self._client.desk.policies.of(self._client.home)
        return tuple(filter(None, (why_closed(self._client.instance, name) for name in policy.watched_channels)))

    async def run(self) -> None:
        """Look at watched feeds, and for edits and deletions, until cancelled; raises nothing."""
        await asyncio.gather(self.originals.run(), self.feeds.run())

    async def close(self) -> None:
        """Stop looking; what was found is flagged, and what was counted is kept."""
        await self.watching.lanes.close()
        await self.watching.finds.close(_FLAGGING_SECONDS)
        await self.watching.looked_at.close()


def install(client: MastodonClient, bookmarks: Bookmarks, *, detector: HateDetector | None = None) -> Capture:
    """Add the listeners to a client that is open.

    Args:
        bookmarks: keeps how far each watched feed was read.
        detector: how likely a text is hateful; ``None`` leaves watched feeds with their keywords.
    """
    return Capture(client, detector, bookmarks)


def _now() -> datetime:
    return datetime.now(UTC)
