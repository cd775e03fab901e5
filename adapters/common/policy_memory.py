"""What communities want, remembered for half a minute, since every message and every press in a server asks for it.

Owns that memory. Rights are never remembered here: they are asked anew each time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final

from adapters.discord.connection.refs import NAME
from core.errors import AntiphonError
from core.moderation.community_policy import CommunityPolicy
from core.moderation.desk_ports import Governance

_LOG = logging.getLogger(__name__)
KEPT_SECONDS: Final = 30.0
HURRY_SECONDS: Final = 0.5
"""How long an answer waits for the language it is to be in; Discord waits three seconds for the answer."""
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

    async def language_of(self, guild_id: int) -> str | None:
        """The language that a server chose, ``None`` for none, for who must be answered at once.

        A database that takes longer than ``HURRY_SECONDS`` is not waited for: the last one known counts.
        """
        try:
            async with asyncio.timeout(HURRY_SECONDS):
                return (await self.of(guild_id)).language
        except TimeoutError:
            return self._last(guild_id).language

    def forget(self, guild_id: int) -> None:
        """Ask again at the next use: a manager changed something."""
        self._kept.pop(guild_id, None)

    def _fresh(self, guild_id: int) -> CommunityPolicy | None:
        until, policy = self._kept.get(guild_id, (0.0, None))
        return policy if self._seconds_now() < until else None

    def _last(self, guild_id: int) -> CommunityPolicy:
        """The last one known, however old, or the defaults."""
        return self._kept.get(guild_id, (0.0, CommunityPolicy()))[1]

    async def _ask(self, guild_id: int) -> CommunityPolicy:
        try:
            policy = await self._governance().policy(NAME, str(guild_id))
        except AntiphonError as err:
            policy = self._last(guild_id)
            _LOG.warning("The policy of a community could not be read: %s", err.message)
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
            self._asking.clear()
        self._kept[guild_id] = (self._seconds_now() + KEPT_SECONDS, policy)
        return policy
