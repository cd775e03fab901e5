"""What communities want, remembered for half a minute, since every message of a server asks for it.

Owns that memory. Rights are never remembered here: they are asked anew each time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final

from adapters.discord.client import NAME
from core.casework import Governance
from core.community_policy import CommunityPolicy
from core.errors import AntiphonError

_LOG = logging.getLogger(__name__)
KEPT_SECONDS: Final = 30.0
_MOST_KEPT: Final = 5000


class Policies:
    """The policies of communities by their server's id; one question at a time for each.

    Args:
        governance: gives the governance once there is one.
        seconds_now: seconds that only grow.
    """

    def __init__(
        self, governance: Callable[[], Governance], *, seconds_now: Callable[[], float] = time.monotonic
    ) -> None:
        self._governance = governance
        self._seconds_now = seconds_now
        self._kept: dict[int, tuple[float, CommunityPolicy]] = {}
        self._asking: dict[int, asyncio.Lock] = {}

    async def of(self, guild_id: int) -> CommunityPolicy:
        """The policy of a server; the last one known, or the defaults, where the database does not answer."""
        kept = self._fresh(guild_id)
        if kept is not None:
            return kept
        async with self._asking.setdefault(guild_id, asyncio.Lock()):
            kept = self._fresh(guild_id)
            return kept if kept is not None else await self._ask(guild_id)

    def forget(self, guild_id: int) -> None:
        """Ask again at the next message: a manager changed something."""
        self._kept.pop(guild_id, None)

    def _fresh(self, guild_id: int) -> CommunityPolicy | None:
        until, policy = self._kept.get(guild_id, (0.0, None))
        return policy if self._seconds_now() < until else None

    async def _ask(self, guild_id: int) -> CommunityPolicy:
        try:
            policy = await self._governance().policy(NAME, str(guild_id))
        except AntiphonError as err:
            _, policy = self._kept.get(guild_id, (0.0, CommunityPolicy()))
            _LOG.warning("The policy of a community could not be read: %s", err.message)
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
            self._asking.clear()
        self._kept[guild_id] = (self._seconds_now() + KEPT_SECONDS, policy)
        return policy
