"""Which messages have a case, as far as this process knows, so that not every edit asks the database.

The memory begins empty, is bounded and may forget; ``may_have_case`` says yes where it cannot know.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

from core.errors import AntiphonError
from core.models import PostRef

MOST_KEPT: Final = 20_000


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
