"""The Idempotency-Keys of the fake instance: for one hour a second post with a key is the first one."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

KEPT: Final = timedelta(hours=1)


class IdempotencyKeys:
    """What was posted with which key, by account and the server's clock."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._posted: dict[tuple[int, str], tuple[str, datetime]] = {}
        self._locks: defaultdict[tuple[int, str], asyncio.Lock] = defaultdict(asyncio.Lock)

    def lock(self, account: int, key: str) -> asyncio.Lock:
        """To be held while something is posted with a key."""
        return self._locks[account, key]

    def posted(self, account: int, key: str) -> str | None:
        """The post that was made with a key within the hour."""
        post, at = self._posted.get((account, key), (None, self._now()))
        return post if self._now() < at + KEPT else None

    def keep(self, account: int, key: str, post: str) -> None:
        self._posted[account, key] = (post, self._now())
