"""A governance in memory: policies, roles and switches, with the rights that ``core.desk.rules.roles`` gives."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from core.desk.communities.governance import Governance, PolicyChanges
from core.desk.rules.approval import CaseState
from core.desk.rules.careful_watch import FindLabel, WatchRecord
from core.desk.rules.case_cards import DeskStatus, RecentDecision, Statistics
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import OnCase, OnCommunity, Person, Role, may_on_case, may_on_community, refused
from core.errors import BadInput, StoreUnavailable
from core.models import Intent, TargetGroup

STATUS = DeskStatus(
    by_state={CaseState.QUEUED: 2, CaseState.IN_REVIEW: 3},
    expected_seconds=45.0,
    model_trouble="",
    is_posting=False,
    discloses=True,
    is_paused_here=False,
    is_paused_everywhere=False,
    oldest_in_review=datetime(2026, 3, 2, 14, 0, tzinfo=UTC),
)


class FakeGovernance(Governance):
    """A governance without a database.

    A test gives roles by user id (``grant``), looks at ``policies``, ``done`` and ``counted``, and sets ``is_down`` and
    ``watched``.
    Reading a policy takes ``slow_seconds``.
    """

    def __init__(self) -> None:
        self.policies: dict[str, CommunityPolicy] = {}
        self.standing = STATUS
        self.decided: tuple[RecentDecision, ...] = ()
        self.watched = WatchRecord()
        self.counted = Counter[str]()
        self.done: list[tuple[object, ...]] = []
        self.asked = 0
        self.is_down = False
        self.slow_seconds = 0.0
        self._roles: dict[str, frozenset[Role]] = {}

    def grant(self, user: object, *roles: Role) -> None:
        """Let somebody have exactly these roles in every community."""
        self._roles[str(user)] = frozenset(roles)

    async def policy(self, platform: str, community: str) -> CommunityPolicy:
        """What was configured, or the defaults."""
        self._reach()
        self.asked += 1
        if self.slow_seconds:
            await asyncio.sleep(self.slow_seconds)
        return self.policies.get(community, CommunityPolicy())

    async def communities(self, platform: str) -> tuple[str, ...]:
        self._reach()
        return tuple(self.policies)

    async def find_labels(self, platform: str, community: str) -> tuple[FindLabel, ...]:
        self._reach()
        return self.watched.labels

    async def watch_record(self, platform: str, community: str) -> WatchRecord:
        self._reach()
        return self.watched

    async def looked_at(self, platform: str, counts: Mapping[str, int]) -> None:
        self._reach()
        self.counted.update(counts)

    async def moved(self, platform: str, old: str, new: str) -> frozenset[str]:
        """Keep that it was said; the policy of the old id is the new one's."""
        self._reach()
        self.done.append(("moved", platform, old, new))
        if old in self.policies:
            self.policies[new] = self.policies.pop(old)
        return frozenset({new})

    async def roles_of(self, platform: str, community: str, by: Person) -> frozenset[Role]:
        self._reach()
        return self._roles.get(by.user, frozenset())

    async def require(self, platform: str, community: str, by: Person, action: OnCase | OnCommunity) -> None:
        """``NotAllowed`` where the roles do not hold the right."""
        roles = await self.roles_of(platform, community, by)
        may = may_on_case(roles, action) if isinstance(action, OnCase) else may_on_community(roles, action)
        if not may:
            raise refused(action)

    async def configure(
        self, platform: str, community: str, changes: PolicyChanges, by: Person, *, is_owner: bool = False
    ) -> CommunityPolicy:
        if not is_owner:
            await self.require(platform, community, by, OnCommunity.CONFIGURE)
        now = await self.policy(platform, community)
        fields: dict[str, Any] = dict(changes if isinstance(changes, Mapping) else changes(now))
        self.policies[community] = replace(now, **fields)
        self.done.append(("configure", by.user, fields))
        return self.policies[community]

    async def set_posting(self, platform: str, community: str, is_posting: bool, by: Person, note: str = "") -> None:
        """Leave or enter shadow mode."""
        await self.require(platform, community, by, OnCommunity.CONFIGURE)
        self.standing = replace(self.standing, is_posting=is_posting)
        self.done.append(("posting", is_posting, note))

    async def set_disclosure(self, platform: str, community: str, discloses: bool, by: Person, note: str = "") -> None:
        """Say who drafts, or not with a reason."""
        await self.require(platform, community, by, OnCommunity.CONFIGURE)
        if not discloses and not note:
            raise BadInput("A reason is needed.", remedy="Say why.")
        self.standing = replace(self.standing, discloses=discloses)
        self.done.append(("disclosure", discloses, note))

    async def pause(self, platform: str, community: str, by: Person, note: str = "") -> bool:
        """Stop posting."""
        await self.require(platform, community, by, OnCommunity.PAUSE)
        return self._pause(True, note)

    async def resume(self, platform: str, community: str, by: Person, note: str = "") -> bool:
        await self.require(platform, community, by, OnCommunity.RESUME)
        return self._pause(False, note)

    async def status(self, platform: str, community: str, by: Person) -> DeskStatus:
        await self.require(platform, community, by, OnCommunity.READ_STATISTICS)
        return self.standing

    async def statistics(self, platform: str, community: str, by: Person, since: timedelta) -> Statistics:
        """Numbers that depend on the time asked for."""
        await self.require(platform, community, by, OnCommunity.READ_STATISTICS)
        return Statistics(
            since=datetime(2026, 3, 2, tzinfo=UTC) - since,
            flagged=since.days * 2,
            by_state={CaseState.POSTED: 4, CaseState.DECLINED: 1},
            by_group={TargetGroup.MIGRANTS: 5, TargetGroup.WOMEN: 2},
            by_intent={Intent.INFORMATIVE.value: 3},
            by_close_reason={"preachy": 1},
            median_seconds_to_draft=40.0,
            median_seconds_to_decision=None,
            share_edited=0.5,
            share_first_rank=None,
        )

    async def lately(self, platform: str, community: str, by: Person) -> tuple[RecentDecision, ...]:
        await self.require(platform, community, by, OnCase.READ)
        return self.decided

    async def export(self, platform: str, community: str, by: Person, to: Path) -> int:
        """Write two rows."""
        await self.require(platform, community, by, OnCommunity.EXPORT)
        rows = [{"case": "a1", "state": "posted"}, {"case": "b2", "state": "declined"}]
        if to.suffix == ".csv":
            lines = ["case,state", *(",".join(row.values()) for row in rows)]
        else:
            lines = [json.dumps(row) for row in rows]
        await asyncio.to_thread(to.write_text, "\n".join(lines) + "\n")
        return len(rows)

    def _pause(self, is_paused: bool, note: str) -> bool:
        is_new = self.standing.is_paused_here is not is_paused
        self.standing = replace(self.standing, is_paused_here=is_paused)
        self.done.append(("pause" if is_paused else "resume", note))
        return is_new

    def _reach(self) -> None:
        if self.is_down:
            raise StoreUnavailable("The database does not answer.", remedy="Try again in a minute.")
