"""Which messages have a case, as far as this process knows: so that not every edit in a server asks the database.

Owns that bounded memory. It may forget and it begins empty; ``may_have_case`` says yes where it cannot know.
"""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime
from typing import Final

import discord

from core.models import PostRef

MOST_KEPT: Final = 20_000


class KnownPosts:
    """Flagged messages by their id, the latest ``most`` of them.

    Args:
        since: when this process began to listen. Of older messages others may have flagged some.
        most: how many are remembered. When one is forgotten, all up to it count as old.
    """

    def __init__(self, since: datetime, *, most: int = MOST_KEPT) -> None:
        self._blind_up_to = discord.utils.time_snowflake(since)
        self._most = most
        self._posts: OrderedDict[int, PostRef] = OrderedDict()

    def add(self, ref: PostRef) -> None:
        """Remember that a message has a case, or is about to."""
        message = int(ref.message)
        self._posts[message] = ref
        self._posts.move_to_end(message)
        if len(self._posts) > self._most:
            forgotten, _ = self._posts.popitem(last=False)
            self._blind_up_to = max(self._blind_up_to, forgotten)

    def is_known(self, message_id: int) -> bool:
        """Whether the message is known to have a case."""
        return message_id in self._posts

    def may_have_case(self, message_id: int) -> bool:
        """Whether the message has a case, or is so old that it may have one that was opened before we looked."""
        return message_id in self._posts or message_id <= self._blind_up_to

    def in_channel(self, channel_id: int) -> list[PostRef]:
        """The known posts of a channel or thread."""
        return [ref for ref in self._posts.values() if ref.channel == str(channel_id)]
