"""The parts of the application that an adapter can reach: the desk, the governance, and what communities want.

What many messages and presses ask of a community, its policy and the labels of its finds, is remembered for half a
minute. Rights are never remembered here: they are asked for again each time.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

from core.desk.communities.governance import Governance
from core.desk.intake import Intake
from core.desk.review.casework import Casework
from core.desk.rules.careful_watch import FindLabel
from core.desk.rules.policy import CommunityPolicy
from core.errors import AntiphonError, BadSettings, StoreUnavailable

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")
KEPT_SECONDS: Final = 30.0
HURRY_SECONDS: Final = 0.5
"""How long an answer waits to learn its language; the strictest platform gives the answer three seconds."""
_MOST_KEPT: Final = 5000


class CommunityMemory(Generic[_T]):
    """One thing that is known of each community; one question at a time for each.

    Args:
        what: what it is, for the log.
        ask: asks the application for it, by the community.
        unknown: what counts where nothing was ever known.
        seconds_now: seconds that only grow.
    """

    def __init__(
        self,
        what: str,
        ask: Callable[[str], Awaitable[_T]],
        unknown: _T,
        *,
        seconds_now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what = what
        self._ask_for = ask
        self._unknown = unknown
        self._seconds_now = seconds_now
        self._kept: dict[str, tuple[float, _T]] = {}
        self._asking: dict[str, asyncio.Lock] = {}
        self._untold: set[str] = set()
        """The communities of which only the default is known: the application could not be asked."""

    async def of(self, community: str) -> _T:
        """What is known of a community; the last that was known, or the default, if the database does not answer."""
        kept = self._fresh(community)
        if kept is not None:
            return kept
        async with self._asking.setdefault(community, asyncio.Lock()):
            kept = self._fresh(community)
            return kept if kept is not None else await self._ask(community)

    async def surely_of(self, community: str) -> _T:
        """As ``of``, where an event can wait until something is known.

        Raises:
            StoreUnavailable: nothing was ever known of the community, and the database does not answer.
        """
        value = await self.of(community)
        if community in self._untold:
            self.forget(community)
            raise StoreUnavailable(
                f"The {self._what} of a community could not be read.", remedy="It is asked for again by itself."
            )
        return value

    def forget(self, community: str) -> None:
        """Ask again at the next use: somebody changed something."""
        self._kept.pop(community, None)

    def _fresh(self, community: str) -> _T | None:
        until, value = self._kept.get(community, (0.0, None))
        return value if self._seconds_now() < until else None

    def _last(self, community: str) -> _T:
        """The last one known, however old, or the default."""
        return self._kept.get(community, (0.0, self._unknown))[1]

    async def _ask(self, community: str) -> _T:
        try:
            value = await self._ask_for(community)
            self._untold.discard(community)
        except AntiphonError as err:
            value = self._last(community)
            if community not in self._kept:
                self._untold.add(community)
            _LOG.warning("The %s of a community could not be read: %s", self._what, err.message)
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
            self._asking.clear()
            self._untold.intersection_update({community})
        self._kept[community] = (self._seconds_now() + KEPT_SECONDS, value)
        return value


class PolicyMemory(CommunityMemory[CommunityPolicy]):
    """The policies of one platform's communities.

    Args:
        platform: ``PostRef.platform`` of the communities.
        governance: gives the governance once there is one.
        seconds_now: seconds that only grow.
    """

    def __init__(
        self, platform: str, governance: Callable[[], Governance], *, seconds_now: Callable[[], float] = time.monotonic
    ) -> None:
        async def ask(community: str) -> CommunityPolicy:
            return await governance().policy(platform, community)

        super().__init__("policy", ask, CommunityPolicy(), seconds_now=seconds_now)

    async def soon(self, community: str) -> CommunityPolicy:
        """The policy of a community, where somebody must be answered at once.

        If the database takes longer than ``HURRY_SECONDS``, the last policy known counts.
        """
        try:
            async with asyncio.timeout(HURRY_SECONDS):
                return await self.of(community)
        except TimeoutError:
            return self._last(community)

    async def language_of(self, community: str) -> str | None:
        """The language that a community chose, or ``None``; as ``soon``."""
        return (await self.soon(community)).language


class DeskAccess:
    """The application, as one platform sees it.

    Args:
        platform: ``PostRef.platform`` of its posts.
        casework: what people can do with cases; without it, and ``governance``, nobody there can decide anything.
        governance: what people can do with communities.
    """

    def __init__(self, platform: str, casework: Casework | None = None, governance: Governance | None = None) -> None:
        self.platform = platform
        self.policies = PolicyMemory(platform, lambda: self.governance)
        self.labels = CommunityMemory[tuple[FindLabel, ...]]("moderators' word on finds", self._find_labels, ())
        self._casework, self._governance = casework, governance

    @property
    def casework(self) -> Casework:
        """What people can do with cases.

        Raises:
            BadSettings: it was made without a desk.
        """
        if self._casework is None:
            raise self._missing()
        return self._casework

    @property
    def intake(self) -> Intake:
        """Where flags enter; raises as ``casework``."""
        return self.casework.intake

    @property
    def governance(self) -> Governance:
        """What people can do with communities; raises as ``casework``."""
        if self._governance is None:
            raise self._missing()
        return self._governance

    async def _find_labels(self, community: str) -> tuple[FindLabel, ...]:
        return await self.governance.find_labels(self.platform, community)

    def _missing(self) -> BadSettings:
        return BadSettings(f"The adapter of {self.platform} has no desk.", remedy="Make it with one.")
