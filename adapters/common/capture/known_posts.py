"""Which messages have a case, as far as this process knows, and how the desk hears of their edits and deletions.

The memory begins empty, is bounded and may forget; ``may_have_case`` says yes where it cannot know. The desk is not
asked about a post that nobody can have flagged: a large community edits and deletes thousands.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Final

from adapters.common.capture.lanes import Lanes
from adapters.common.desk_access import DeskAccess
from core.errors import AntiphonError, Unavailable
from core.models import PostRef

MOST_KEPT: Final = 20_000
_LOG = logging.getLogger(__name__)
_PAUSES_SECONDS: Final = (1.0, 5.0, 25.0)


class KnownPosts:
    """The latest flagged posts.

    Args:
        since: when this process began to listen, as exact as the platform says when posts were written. Others may have
            flagged older posts.
        most: how many are remembered. When one is forgotten, all that were written before it count as old.
    """

    def __init__(self, since: datetime, *, most: int = MOST_KEPT) -> None:
        self._since = since
        self._last_forgotten = datetime.min.replace(tzinfo=UTC)
        self._most = most
        self._posts: OrderedDict[PostRef, datetime] = OrderedDict()

    def add(self, ref: PostRef, written_at: datetime) -> None:
        """Remember that a post has a case, or is about to."""
        self._posts[ref] = written_at
        self._posts.move_to_end(ref)
        if len(self._posts) > self._most:
            _, forgotten = self._posts.popitem(last=False)
            self._last_forgotten = max(self._last_forgotten, forgotten)

    @contextmanager
    def about_to_have(self, ref: PostRef, written_at: datetime) -> Iterator[None]:
        """Remember a post while its flag is taken in; one whose flag is refused is no better known than before."""
        was_known = self.is_known(ref)
        self.add(ref, written_at)
        try:
            yield
        except AntiphonError:
            if not was_known:
                self._posts.pop(ref, None)
            raise

    def is_known(self, ref: PostRef) -> bool:
        return ref in self._posts

    def may_have_case(self, ref: PostRef, written_at: datetime) -> bool:
        """Whether the post has a case, or is so old that it may have one that was opened before we looked."""
        return ref in self._posts or written_at < self._since or written_at <= self._last_forgotten

    def in_channel(self, community: str, channel: str) -> list[PostRef]:
        return [ref for ref in self._posts if (ref.community, ref.channel) == (community, channel)]


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
