"""The parts of the application that an adapter can reach: the desk, the governance, and what communities want."""

from __future__ import annotations

from adapters.common.policy_memory import CommunityMemory, PolicyMemory
from core.desk.rules.careful_watch import FindLabel
from core.desk.rules.desk_ports import Casework, Governance
from core.errors import BadSettings


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
    def governance(self) -> Governance:
        """What people can do with communities; raises as ``casework``."""
        if self._governance is None:
            raise self._missing()
        return self._governance

    async def _find_labels(self, community: str) -> tuple[FindLabel, ...]:
        return await self.governance.find_labels(self.platform, community)

    def _missing(self) -> BadSettings:
        return BadSettings(f"The adapter of {self.platform} has no desk.", remedy="Make it with one.")
