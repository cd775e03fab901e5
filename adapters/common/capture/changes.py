"""Edits and deletions of flagged posts, before and after they were answered.

The desk is not asked about a post that nobody can have flagged: a large community edits and deletes thousands.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime
from functools import partial
from typing import Final

from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.lanes import Lanes
from adapters.common.desk_access import DeskAccess
from core.errors import Unavailable
from core.models import PostRef

_LOG = logging.getLogger(__name__)
_PAUSES_SECONDS: Final = (1.0, 5.0, 25.0)


class PostChanges:
    """Tells the desk when a flagged post changes or goes away.

    Changes of a post that this process flagged are always reported. A post that is older than this process may have a
    case, so the desk is asked, in separate lanes that drop what is too much. A newer post that was not flagged here has
    no case.
    """

    def __init__(self, desk: DeskAccess, known: KnownPosts) -> None:
        self._desk = desk
        self._known = known
        self.lanes = Lanes("changes of flagged posts", most_waiting=5000, most_in_lane=1000)
        self.old_lanes = Lanes("changes of old messages", most_waiting=1000, at_once=1)

    def edited(self, ref: PostRef, written_at: datetime, text: str, revision: str) -> None:
        """A post's author changed it; ``text`` is "" where the platform hides the words."""
        self._tell(ref, written_at, text, revision)

    async def told(self, ref: PostRef, written_at: datetime, text: str, revision: str) -> None:
        """As ``edited``, for a platform whose events wait until they are dealt with: the desk knows when it returns.

        Raises:
            Unavailable: the desk could not be told now.
        """
        if self._known.may_have_case(ref, written_at):
            await self._desk.casework.original_changed(ref, text, revision=revision)

    def deleted(self, ref: PostRef, written_at: datetime) -> None:
        self._tell(ref, written_at, None, "")

    def channel_deleted(self, community: str, channel: str) -> None:
        """A channel or thread is gone, with all posts in it."""
        for ref in self._known.in_channel(community, channel):
            self.lanes.submit(ref.channel, partial(self._until_told, ref, None, ""))

    def _tell(self, ref: PostRef, written_at: datetime, text: str | None, revision: str) -> None:
        if self._known.is_known(ref):
            self.lanes.submit(ref.channel, partial(self._until_told, ref, text, revision))
        elif self._known.may_have_case(ref, written_at):
            tell = partial(self._desk.casework.original_changed, ref, text, revision=revision)
            self.old_lanes.submit(ref.community, tell)

    async def _until_told(self, ref: PostRef, text: str | None, revision: str) -> None:
        """Tell the desk, and retry a few times if it cannot be reached; before a send the post is read again anyway."""
        for pause in _PAUSES_SECONDS:
            try:
                return await self._desk.casework.original_changed(ref, text, revision=revision)
            except Unavailable as err:
                _LOG.warning("A change of a flagged post could not be told yet: %s", err.message)
                await asyncio.sleep(pause)
        return await self._desk.casework.original_changed(ref, text, revision=revision)
