"""A desk and its database in the middle of a world that watches it and keeps an ``OutsideRecord``.

Owns what is built when a process starts, and how the invariants are asked. What people, workers and chores do is added
by ``tests.torture.world.people``, ``tests.torture.world.keepers`` and ``tests.torture.world``.
"""

import json
from collections.abc import Awaitable
from datetime import timedelta
from typing import Final, TypeVar

from sqlalchemy import Engine
from sqlalchemy.orm import Session as SyncSession

from bot.compose.desk import build_desk
from core.desk.communities.decisions import CommunityDesk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue, TakenCase
from core.desk.invariants.checks import violations
from core.desk.invariants.facts import (
    AuditLimits,
    Closure,
    Facts,
    OutsideRecord,
    Revocation,
    Violation,
    read_facts,
    read_tables,
)
from core.desk.rules.approval import CaseState
from core.desk.rules.platforms import RoleSource
from core.desk.rules.roles import Operator
from core.desk.sending.outbox import Outbox, SendLimits
from core.desk.store import campaigns
from core.desk.store.cases import Case, all_cases
from core.errors import BadInput, Conflict, NotAllowed, StoreUnavailable
from core.models import PostRef
from tests.fakes.desk.people import PLATFORM
from tests.fakes.ports.roles import FakeRoles
from tests.torture.world.figures import Figures, TickingClock
from tests.torture.world.platform import LoggedPlatform

T = TypeVar("T")

EXPECTED: Final = (BadInput, Conflict, NotAllowed, StoreUnavailable)
"""What the desk may answer to anything; whatever else it raises is a fault of its own."""
OPERATOR: Final = Operator("terminal")
UNDO_SECONDS: Final = 15.0
LEASE_SECONDS: Final = 60.0
WORKERS: Final = 2
CAPS: Final = SendLimits(per_hour=1000, per_day=1000)
OPEN: Final = frozenset(
    {CaseState.QUEUED, CaseState.DRAFTING, CaseState.APPROVED, CaseState.SENDING, CaseState.UNKNOWN}
)
"""The states in which the program, and not a person, has something to do."""


class Scene:
    """What is there, and what was seen of it.

    Args:
        database: with the people of ``tests.fakes.desk.people`` settled in it, by the same ``clock``.
        beside: another way to the same database, by which the invariants read it faster.
        native: says who is a moderator by the platform's own rights; without it nobody is.
    """

    def __init__(
        self,
        database: Database,
        clock: TickingClock,
        platform: LoggedPlatform,
        figures: Figures | None = None,
        beside: Engine | None = None,
        undo_seconds: float = UNDO_SECONDS,
        lease_seconds: float = LEASE_SECONDS,
        native: FakeRoles | None = None,
    ) -> None:
        self.beside, self.undo_seconds, self.lease_seconds = beside, undo_seconds, lease_seconds
        self.database, self.clock, self.platform = database, clock, platform
        self.figures = figures or Figures()
        self.native = native
        self.acknowledged: list[PostRef] = []
        self.authors: dict[PostRef, str] = {}
        self.texts: dict[PostRef, str] = {}
        self.erased: list[str] = []
        self.erasing: set[str] = set()
        self.gone: set[str] = set()
        self.past: set[str] = set()
        self.revoked: list[Revocation] = []
        self.closed: dict[str, list[Closure]] = {}
        self.ghosts: list[TakenCase] = []
        self.hands: dict[int, TakenCase] = {}
        self.start()

    def start(self) -> None:
        """Build what a process builds when it starts; nobody holds what an earlier one held."""
        self.ghosts = [*self.ghosts, *self.hands.values()][-4:]
        self.hands = {}
        self.communities = CommunityDesk(self.database)
        sources: dict[str, RoleSource] = {} if self.native is None else {PLATFORM: self.native}
        self.desk = build_desk(
            self.database, undo_seconds=self.undo_seconds, campaign_hours=24, limits=CAPS, role_sources=sources
        )
        self.queues = [self.queue_of(f"worker-{number}") for number in range(WORKERS)]
        self.outbox = Outbox(
            self.database,
            {PLATFORM: self.platform},
            role_sources=sources,
            limits=CAPS,
            timeout_seconds=5,
            retry_seconds=30,
            max_attempts=6,
        )

    def queue_of(self, worker: str) -> DraftQueue:
        return DraftQueue(self.database, worker, lease_seconds=self.lease_seconds)

    # What is seen from outside

    def record(self) -> OutsideRecord:
        """What was seen so far, except what is older than any case of the database."""
        return OutsideRecord(
            sent=tuple(one for one in self.platform.sent() if one.approval_id not in self.past),
            acknowledged=tuple(self.acknowledged),
            revoked=tuple(self.revoked),
            erased=tuple(self.erased),
            closed=tuple(one for times in self.closed.values() for one in times),
        )

    async def broken(self, *, is_quiet: bool = False, looks_at_schema: bool = False) -> dict[str, list[Violation]]:
        """The invariants that do not hold; ``is_quiet`` where nobody may still be at work."""
        lease, folded = (timedelta(seconds=self.lease_seconds), timedelta()) if is_quiet else (None, None)
        limits = AuditLimits(lease=lease, folded=folded)
        if self.beside is not None and not looks_at_schema:
            with SyncSession(self.beside) as session:
                return self._found(Facts(self.clock(), read_tables(session), None, self.record(), limits))
        record = self.record()
        facts = await self.database.run(
            "audit the database", lambda s: read_facts(s, record, limits, looks_at_schema=looks_at_schema)
        )
        return self._found(facts)

    def _found(self, facts: Facts) -> dict[str, list[Violation]]:
        found, left = violations(facts), self._left(facts)
        return found | {"erased words": left} if left else found

    def _left(self, facts: Facts) -> list[Violation]:
        """Where a word is left of somebody whose erasure was acknowledged, and who was not flagged since."""
        said = [(case.id, json.dumps([case.text, case.thread], ensure_ascii=False)) for case in facts.tables.cases]
        said += [(row.case_id, row.document) for row in facts.tables.suggestions]
        quoted = [json.dumps(text, ensure_ascii=False) for text in sorted(self.gone)]
        return [
            Violation(where, "It says what an erased person said.")
            for where, text in said
            for one in quoted
            if one in text
        ]

    async def attempt(self, call: Awaitable[T]) -> T | None:
        """Do something that may be refused; ``None`` if it was."""
        self.figures.steps += 1
        try:
            return await call
        except EXPECTED:
            self.figures.refusals += 1
            return None

    async def cases(self, *states: CaseState) -> list[Case]:
        return await self.database.run("list cases", lambda session: all_cases(session, *states))

    async def lead_of(self, case: Case) -> str:
        """The lead case of a campaign's case, now or earlier."""
        campaign = await self.database.run("look at a campaign", lambda s: campaigns.load(s, case.campaign_id or ""))
        return campaign.lead_case_id
