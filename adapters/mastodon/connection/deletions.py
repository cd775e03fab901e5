"""How many of our statuses may be deleted now.

Owns our own count, which is kept below the limit of Mastodon. What the instance itself says counts besides.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final

from core.errors import PlatformBusy
from core.i18n.sentences import sentence

MOST_DELETIONS: Final = 30
WINDOW_SECONDS: Final = 30 * 60.0
"""Thirty deletions within thirty minutes for each account (docs.joinmastodon.org/api/rate-limits)."""


class Deletions:
    """The deletions of one account in the last half hour.

    Args:
        ticks: seconds that only grow.
    """

    def __init__(self, ticks: Callable[[], float] = time.monotonic) -> None:
        self._ticks = ticks
        self._made = deque[float]()

    def check(self) -> None:
        """Refuse one more while there were too many.

        Raises:
            PlatformBusy: not now; ``retry_after_seconds`` says when.
        """
        now = self._ticks()
        while self._made and now - self._made[0] >= WINDOW_SECONDS:
            self._made.popleft()
        if len(self._made) >= MOST_DELETIONS:
            raise PlatformBusy(
                sentence("An instance lets one account delete {count} posts in half an hour.", count=MOST_DELETIONS),
                remedy=sentence("It is tried again later by itself."),
                retry_after_seconds=self._made[0] + WINDOW_SECONDS - now,
            )

    def begin(self) -> None:
        """Count one that begins now; refuses as ``check`` does."""
        self.check()
        self._made.append(self._ticks())
