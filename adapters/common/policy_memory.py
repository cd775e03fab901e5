"""Remembers what communities want for half a minute, since every message and every press in a community asks for it.

Owns that memory. Rights are never remembered here: they are asked again each time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final

from core.errors import AntiphonError
from core.moderation.community_policy import CommunityPolicy
from core.moderation.desk_ports import Governance

_LOG = logging.getLogger(__name__)
KEPT_SECONDS: Final = 30.0
HURRY_SECONDS: Final = 0.5
"""How long an answer waits to learn its language; the strictest platform gives the answer three seconds."""
_MOST_KEPT: Final = 5000


class PolicyMemory:
    """The policies of one platform's communities; one question at a time for each.

    Args:
        platform: ``PostRef.platform`` of the communities.
        governance: gives the governance once there is one.
        seconds_now: seconds that only grow.
    """

    def __init__(
        self, platform: str, governance: Callable[[], Governance], *, seconds_now: Callable[[], float] = time.monotonic
    ) -> None:
        self._platform = platform
        self._governance = governance
        self._seconds_now = seconds_now
        self._kept: dict[str, tuple[float, CommunityPolicy]] = {}
        self._asking: dict[str, asyncio.Lock] = {}

    async def of(self, community: str) -> CommunityPolicy:
        """The policy of a community; the last one known, or the defaults, if the database does not answer."""
        kept = self._fresh(community)
        if kept is not None:
            return kept
        async with self._asking.setdefault(community, asyncio.Lock()):
            kept = self._fresh(community)
            return kept if kept is not None else await self._ask(community)

    async def language_of(self, community: str) -> str | None:
        """The language that a community chose, or ``None``; for people who must be answered at once.

        If the database takes longer than ``HURRY_SECONDS``, the last language known counts.
        """
        try:
            async with asyncio.timeout(HURRY_SECONDS):
                return (await self.of(community)).language
        except TimeoutError:
            return self._last(community).language

    def forget(self, community: str) -> None:
        """Ask again at the next use: a manager changed something."""
        self._kept.pop(community, None)

    def _fresh(self, community: str) -> CommunityPolicy | None:
        until, policy = self._kept.get(community, (0.0, None))
        return policy if self._seconds_now() < until else None

    def _last(self, community: str) -> CommunityPolicy:
        """The last one known, however old, or the defaults."""
        return self._kept.get(community, (0.0, CommunityPolicy()))[1]

    async def _ask(self, community: str) -> CommunityPolicy:
        try:
            policy = await self._governance().policy(self._platform, community)
        except AntiphonError as err:
            policy = self._last(community)
            _LOG.warning("The policy of a community could not be read: %s", err.message)
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
            self._asking.clear()
        self._kept[community] = (self._seconds_now() + KEPT_SECONDS, policy)
        return policy
