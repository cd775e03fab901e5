"""How the parts of capture are put together on one client.

Posts nothing and decides nothing.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

import discord

from adapters.common.capture.asking import Asking
from adapters.common.capture.changes import PostChanges
from adapters.common.capture.following import Following
from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.watching import Watching
from adapters.discord.capture.change_events import ChangeEvents, remember_posts
from adapters.discord.capture.commands import CaptureCommands, add_commands
from adapters.discord.capture.sightings import now
from adapters.discord.capture.watched_events import WatchedEvents
from adapters.discord.connection.client import AntiphonClient
from adapters.discord.connection.events import listen
from adapters.discord.speech.private_answers import answer_command_errors
from core.ports import HateDetector

_FLAGGING_SECONDS: Final = 5.0
"""How long found posts may still be flagged when the work ends; that needs no connection."""


class Capture:
    """All that takes posts in from one client; ``close`` ends its work."""

    def __init__(self, client: AntiphonClient, detector: HateDetector | None) -> None:
        known = KnownPosts(now())
        self.following = Following(client.desk, discord.utils.utcnow)
        self.watching = Watching(client.desk, known, client.own_id, detector)
        self.changes = PostChanges(client.desk, known)
        add_commands(client.tree, CaptureCommands(client, Asking(client.desk, known, self.following)))
        answer_command_errors(client.tree)
        WatchedEvents(client, self.watching, known).listen()
        ChangeEvents(self.changes).listen(client)
        listen(client, "ready", partial(remember_posts, client.desk, known))

    @property
    def left_out(self) -> int:
        """How many posts and changes were not looked at, because too much came at once."""
        lanes = (self.watching.lanes, self.watching.finds, self.changes.lanes, self.changes.old_lanes)
        return sum(lane.left_out for lane in lanes)

    async def close(self) -> None:
        """Stop waiting and looking; what was found is flagged, and what was counted is kept."""
        others = (self.following, self.watching.lanes, self.changes.lanes, self.changes.old_lanes)
        await asyncio.gather(*(part.close() for part in others))
        await self.watching.finds.close(_FLAGGING_SECONDS)
        await self.watching.looked_at.close()


def install(client: AntiphonClient, *, detector: HateDetector | None = None) -> Capture:
    """Add the commands and listeners to a client that is about to connect; called in its running loop.

    Args:
        detector: how likely a text is hateful; ``None`` leaves watched channels with their keywords.
    """
    return Capture(client, detector)
