"""Messages that somebody deleted in a review channel: the card of an open case comes back.

Owns which of a platform's deletions the desk is told, and how often at most: where another bot deletes every card, they
must not come back for ever.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from adapters.common.desk import DeskAccess
from core.errors import AntiphonError
from core.models import PostRef

_LOG = logging.getLogger(__name__)
_AT_MOST: Final = 60
_WITHIN_SECONDS: Final = 3600.0


class DeletedCards:
    """Tells the desk which messages are gone from the review channels of one platform.

    Args:
        seconds_now: seconds that only grow.
    """

    def __init__(self, desk: DeskAccess, *, seconds_now: Callable[[], float] = time.monotonic) -> None:
        self._desk = desk
        self._seconds_now = seconds_now
        self._told: dict[str, deque[float]] = {}

    async def gone(self, refs: Iterable[PostRef]) -> None:
        """Tell the desk of those of the deleted messages that were in a review channel."""
        for ref in refs:
            policy = await self._desk.policies.of(ref.community)
            if policy.review_channel == ref.channel and self._has_room(ref.community):
                await self._tell(ref)

    async def _tell(self, ref: PostRef) -> None:
        try:
            await self._desk.casework.card_gone(ref)
        except AntiphonError as err:
            _LOG.warning("The desk could not be told that a card is gone: %s", err.message)

    def _has_room(self, community: str) -> bool:
        told, now = self._told.setdefault(community, deque()), self._seconds_now()
        while told and told[0] <= now - _WITHIN_SECONDS:
            told.popleft()
        if len(told) >= _AT_MOST:
            _LOG.warning("So many messages were deleted in the review channel of %s that cards stay gone.", community)
            return False
        told.append(now)
        return True
