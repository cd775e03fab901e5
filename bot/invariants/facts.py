"""What the invariants look at: the rows of the database, read once in one transaction, and a record from outside.

Owns the reading. The rows stay in memory until the check is over; the audit log passes by (``bot.invariants.log``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final, TypeVar

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, select, text
from sqlalchemy.orm import Session as SyncSession

from bot.invariants.log import AuditLine, AuditStream, read_log
from bot.invariants.record import Record
from bot.store.cases.documents import suggestion_from_json
from bot.store.engine.database import Session
from bot.store.engine.migrate import newest, revision
from bot.store.schema import (
    ApprovalRow,
    Base,
    CampaignRow,
    CaseRow,
    Change,
    ClaimChoiceRow,
    CommunityRow,
    DigestRow,
    JobRow,
    LeadershipRow,
    MembershipRow,
    NoteRow,
    OutboxRow,
    PersonRow,
    PreviewRow,
    ProposalRow,
    SuggestionRow,
)
from core.errors import StoreUnavailable
from core.models import Suggestion
from core.moderation.approval import CaseState

_Row = TypeVar("_Row", bound=Base)

_TRIGGERS: Final = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'",
}


@dataclass(frozen=True, slots=True)
class AuditLimits:
    """What the settings bound.

    Args:
        max_attempts: how often the drafting of a case is begun.
        lease: the longest lease of a worker or a sender; ``None`` to leave out whether their owners are alive.
        folded: how long a case may stay folded after its lead case was closed; ``None`` for ever.
        max_queued: how many cases of one community may wait for a draft; ``None`` for no bound.
        max_characters: the longest draft.
    """

    max_attempts: int = 3
    lease: timedelta | None = timedelta(seconds=60)
    folded: timedelta | None = timedelta(days=2)
    max_queued: int | None = None
    max_characters: int = 5000


@dataclass(frozen=True)
class Tables:
    """The rows, in the order in which they were written where that can be told."""

    cases: Sequence[CaseRow] = ()
    suggestions: Sequence[SuggestionRow] = ()
    claim_choices: Sequence[ClaimChoiceRow] = ()
    previews: Sequence[PreviewRow] = ()
    proposals: Sequence[ProposalRow] = ()
    approvals: Sequence[ApprovalRow] = ()
    outbox: Sequence[OutboxRow] = ()
    jobs: Sequence[JobRow] = ()
    log: AuditStream = field(default_factory=AuditStream)
    notes: Sequence[NoteRow] = ()
    persons: Sequence[PersonRow] = ()
    communities: Sequence[CommunityRow] = ()
    memberships: Sequence[MembershipRow] = ()
    leaderships: Sequence[LeadershipRow] = ()
    digests: Sequence[DigestRow] = ()
    campaigns: Sequence[CampaignRow] = ()


@dataclass(frozen=True)
class Schema:
    """What the database is made of: its revision, the newest one, and how it differs from what that declares."""

    revision: str | None
    newest: str
    differences: tuple[str, ...] = ()
    triggers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Facts:
    """Everything an invariant may look at; ``moment`` is when it was read."""

    moment: datetime
    tables: Tables
    schema: Schema | None = None
    record: Record | None = None
    limits: AuditLimits = field(default_factory=AuditLimits)

    @cached_property
    def cases(self) -> dict[str, CaseRow]:
        """The cases by id."""
        return {case.id: case for case in self.tables.cases}

    @cached_property
    def approvals(self) -> dict[str, ApprovalRow]:
        """The approvals by id."""
        return {approval.id: approval for approval in self.tables.approvals}

    @cached_property
    def sends(self) -> dict[str, list[OutboxRow]]:
        """The rows of the outbox by the id of their approval; more than one row breaks I2."""
        return _grouped(self.tables.outbox, "approval_id")

    @property
    def chains(self) -> dict[str, list[AuditLine]]:
        """The audit lines by their stream, in the order of ``seq``; of a case that is gone the first and the last."""
        return self.tables.log.chains

    def is_deleted(self, stream: str) -> bool:
        """Whether a case was deleted because its time was over; only its audit lines are left then."""
        return self.chains[stream][-1].change is Change.DELETED

    def approvals_with_sends(self) -> Iterator[tuple[CaseRow, ApprovalRow, OutboxRow]]:
        """Every send with its approval and its case; one without them breaks I1, and is left out here."""
        for row in self.tables.outbox:
            approval = self.approvals.get(row.approval_id)
            case = self.cases.get(approval.case_id) if approval is not None else None
            if approval is not None and case is not None:
                yield case, approval, row

    @cached_property
    def suggestions(self) -> dict[str, Suggestion | None]:
        """The suggestions by the id of their row; ``None`` for one that cannot be read."""
        return {row.id: _read(row.document) for row in self.tables.suggestions}

    def moves(self, case_id: str, to: CaseState) -> list[AuditLine]:
        """The audit lines of a case's moves to a state."""
        return [line for line in self.chains.get(case_id, ()) if line.to_state is to]

    @cached_property
    def approval_lines(self) -> dict[str, AuditLine]:
        """The audit line of each approval, by its id: the first of a case's lines is its first approval's."""
        found = {}
        for case_id, approvals in self.approvals_by_case.items():
            lines = [line for line in self.moves(case_id, CaseState.APPROVED) if line.from_state is CaseState.IN_REVIEW]
            found.update({approval.id: line for approval, line in zip(approvals, lines, strict=False)})
        return found

    @cached_property
    def approvals_by_case(self) -> dict[str, list[ApprovalRow]]:
        """The approvals of each case, oldest first."""
        return _grouped(self.tables.approvals, "case_id")

    def intents(self, approval: ApprovalRow) -> list[AuditLine]:
        """The audit lines by which the intent to send this approval's reply was committed, oldest first."""
        mine = self.approval_lines.get(approval.id)
        if mine is None:
            return []
        others = (self.approval_lines.get(other.id) for other in self.approvals_by_case[approval.case_id])
        end = min((line.seq for line in others if line is not None and line.seq > mine.seq), default=None)
        sending = self.moves(approval.case_id, CaseState.SENDING)
        return [line for line in sending if line.seq > mine.seq and (end is None or line.seq < end)]


def _read(document: str) -> Suggestion | None:
    try:
        return suggestion_from_json(document)
    except StoreUnavailable:
        return None


def _grouped(rows: Sequence[Any], name: str) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        groups[getattr(row, name)].append(row)
    return groups


async def read_facts(
    session: Session,
    record: Record | None = None,
    limits: AuditLimits | None = None,
    *,
    looks_at_schema: bool = True,
) -> Facts:
    """Read everything, in the caller's transaction; the schema takes longest."""
    tables = await session.run_sync(read_tables)
    schema = await _read_schema(session) if looks_at_schema else None
    return Facts(session.moment, tables, schema, record, limits or AuditLimits())


def read_tables(session: SyncSession) -> Tables:
    """Read the rows."""

    def rows(table: type[_Row], *order: str) -> Sequence[_Row]:
        query = select(table).order_by(*(getattr(table, name) for name in order))
        return list(session.scalars(query.execution_options(populate_existing=True)))

    cases, communities = rows(CaseRow, "created_at", "id"), rows(CommunityRow, "id")
    digests = rows(DigestRow, "at", "slot")
    digested = max((digest.last_line for digest in digests), default=0)
    return Tables(
        cases=cases,
        suggestions=rows(SuggestionRow, "created_at", "id"),
        claim_choices=rows(ClaimChoiceRow, "case_id", "version"),
        previews=rows(PreviewRow, "case_id"),
        proposals=rows(ProposalRow, "created_at", "id"),
        approvals=rows(ApprovalRow, "approved_at", "id"),
        outbox=rows(OutboxRow, "updated_at", "id"),
        jobs=rows(JobRow, "created_at", "id"),
        log=read_log(session, {case.id for case in cases} | {one.id for one in communities}, digested),
        notes=rows(NoteRow, "stream", "seq"),
        persons=rows(PersonRow, "created_at", "id"),
        communities=communities,
        memberships=rows(MembershipRow, "community_id", "person_id", "role"),
        leaderships=rows(LeadershipRow, "office"),
        digests=digests,
        campaigns=rows(CampaignRow, "created_at", "id"),
    )


async def _read_schema(session: Session) -> Schema:
    connection = await session.connection()
    found, differences = await connection.run_sync(_compared)
    triggers = await session.scalars(text(_TRIGGERS[connection.dialect.name]))
    return Schema(found, newest(), differences, frozenset(triggers))


def _compared(connection: Connection) -> tuple[str | None, tuple[str, ...]]:
    context = MigrationContext.configure(connection)
    return revision(connection), tuple(_named(change) for change in compare_metadata(context, Base.metadata))


def _named(change: Any) -> str:
    """A difference of the schema in a few words: what is missing or too much, and where."""
    if isinstance(change, list):
        return ", ".join(_named(one) for one in change)
    verb, *subjects = change
    names = [str(getattr(one, "name", None) or one) for one in subjects if one is not None]
    tables = {one.table.name for one in subjects if getattr(one, "table", None) is not None}
    return " ".join([str(verb), *names, *(f"on {table}" for table in sorted(tables))])
