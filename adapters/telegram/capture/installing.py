"""How the parts of capture are put together on one client.

Posts nothing and decides nothing.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final

from adapters.common.capture.asking import Asking
from adapters.common.capture.changes import PostChanges
from adapters.common.capture.following import Following
from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.watching import Watching
from adapters.telegram.capture.commands import CounterCommand
from adapters.telegram.capture.flaggers import Flaggers
from adapters.telegram.capture.forwards import PrivatePosts
from adapters.telegram.capture.groups import KnownGroups
from adapters.telegram.capture.recent_messages import RecentMessages
from adapters.telegram.capture.watched_events import WatchedEvents
from adapters.telegram.connection.client import TelegramClient
from core.ports import HateDetector

_FLAGGING_SECONDS: Final = 5.0
"""How long found posts may still be flagged when the work ends; that needs no connection."""
_CLOCKS_DIFFER: Final = timedelta(minutes=1)
"""How far Telegram's clock may be ahead of this machine's; it says to the second only when something was written."""
_MOST_WAITING: Final = 150
"""How many messages may wait to be looked at: so many fewer than are handed out at once that commands come through."""


class Capture:
    """All that takes posts in from one client; ``close`` ends its work."""

    def __init__(self, client: TelegramClient, detector: HateDetector | None) -> None:
        known, recent = KnownPosts(_soon()), RecentMessages()
        self.following = Following(client.desk, lambda: datetime.now(UTC))
        self.watching = Watching(client.desk, known, client.own_id, detector, most_waiting=_MOST_WAITING)
        self.changes = PostChanges(client.desk, known)
        flaggers = Flaggers(client, Asking(client.desk, known, self.following), recent)
        posts = PrivatePosts(client, flaggers, KnownGroups(client, flaggers), recent)
        client.listen("message", CounterCommand(client, flaggers).hear)
        client.listen("message", posts.hear)
        client.listen("callback_query", posts.choose)
        WatchedEvents(client, self.watching, self.changes, known, recent).listen()

    @property
    def left_out(self) -> int:
        """How many posts were not looked at, because too much came at once."""
        return self.watching.lanes.left_out + self.watching.finds.left_out

    async def close(self) -> None:
        """Stop waiting and looking; what was found is flagged, and what was counted is kept."""
        await asyncio.gather(self.following.close(), self.watching.lanes.close())
        await self.watching.finds.close(_FLAGGING_SECONDS)
        await self.watching.looked_at.close()


def install(client: TelegramClient, *, detector: HateDetector | None = None) -> Capture:
    """Add the listeners to a client; called in its running loop.

    Args:
        detector: how likely a text is hateful; ``None`` leaves watched groups with their keywords.
    """
    return Capture(client, detector)


def _soon() -> datetime:
    """A time by which all that was written before this process began counts as old, though two clocks differ a bit."""
    return datetime.now(UTC) + _CLOCKS_DIFFER
