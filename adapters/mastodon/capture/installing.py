"""How the parts of capture are put together on one client.

Posts nothing and decides nothing.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Final

from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.watching import Watching
from adapters.mastodon.capture.mentions import Mentions
from adapters.mastodon.capture.originals import Originals
from adapters.mastodon.capture.watched_feeds import Bookmarks, WatchedFeeds
from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.feeds import why_closed
from adapters.mastodon.connection.listening import MENTION
from adapters.mastodon.connection.statuses import Statuses
from core.ports import HateDetector

_FLAGGING_SECONDS: Final = 5.0
"""How long found posts may still be flagged when the work ends; that needs no connection."""


class Capture:
    """All that takes posts in from one client; ``run`` looks again and again, ``close`` ends its work."""

    def __init__(self, client: MastodonClient, detector: HateDetector | None, bookmarks: Bookmarks) -> None:
        self._client = client
        known, statuses = KnownPosts(_now()), Statuses(client)
        self.watching = Watching(client.desk, known, lambda: client.own_id, detector)
        self.originals = Originals(client, statuses)
        self.feeds = WatchedFeeds(client, statuses, self.watching, bookmarks)
        client.listen(MENTION, Mentions(client, known, statuses).hear)

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
