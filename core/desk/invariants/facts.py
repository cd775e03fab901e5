"""What the invariants look at: the rows of the database, read once in one transaction, and a record from outside.

The record is the platform's log and what people did. The rows stay in memory until the check is over. Only the audit
log passes by, one chain after another: each chain is checked as it is read, and what other checks need of it is kept.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, TypeVar

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, select, text
from sqlalchemy.orm import Session as SyncSession

from core.desk.database.connection import Session
from core.desk.database.revisions import newest, revision
from core.desk.rules.approval import TRANSITIONS, CaseState
from core.desk.schema import (
    ApprovalRow,
    AuditRow,
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
from core.desk.store.audit import heads_hash, line_hash
from core.desk.store.suggestions import suggestion_from_json
from core.errors import StoreUnavailable
from core.i18n.sentences import sentence
from core.models import PostRef, Suggestion


@dataclass(frozen=True, slots=True)
class ArrivedReply:
    """A reply of Antiphon that reached the platform, whether or not it is still there.

    ``target_sha256`` is the hash of the post that it answers as Antiphon last read it, ``None`` where nobody looked.
    """

    approval_id: str
    ref: PostRef
    in_reply_to: PostRef
    sha256: str
    target_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Revocation:
    """A person, by pseudonym, had no right to approve in a community from ``since`` until before ``until``."""

    person_id: str
    community_id: str
    since: datetime
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Closure:
    """Nothing could be posted in ``scope``, a community or "*", from ``since`` until before ``until``."""

    scope: str
    since: datetime
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class OutsideRecord:
    """Everything that was seen from outside.

    Args:
        sent: every reply that reached a platform, oldest first; ``None`` if nobody looked.
        acknowledged: the posts whose capture was acknowledged to the people who flagged them.
        revoked: when people could not approve.
        closed: when nothing could be posted.
        erased: the pseudonyms of those whose erasure was acknowledged.
        passages: the knowledge base: the SHA-256 of each passage by its id; ``None`` if it was not looked at.
    """

    sent: tuple[ArrivedReply, ...] | None = None
    acknowledged: tuple[PostRef, ...] = ()
    revoked: tuple[Revocation, ...] = ()
    closed: tuple[Closure, ...] = ()
    erased: tuple[str, ...] = ()
    passages: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong: ``where`` is the id of a case, a community, an approval or a job, ``what`` a sentence.

    The sentence holds ids, hashes, states and counts, and nothing that a person wrote.
    """

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


_AT_ONCE: Final = 1000
"""How many lines are fetched at once."""


@dataclass(frozen=True, slots=True)
class AuditLine:
    """What is kept of a line of the audit log (``AuditRow``)."""

    seq: int
    from_state: CaseState | None
    to_state: CaseState | None
    change: Change | None
    actor: str
    note_sha256: str | None
    at: datetime


@dataclass(frozen=True)
class AuditStream:
    """The audit log.

    Args:
        chains: the lines that are kept, by stream, in the order of ``seq``.
        faults: what is wrong with chains: lines that are missing, were changed, or make a move that is not declared.
        doubled: versions that several lines have.
        streams: how many chains there were at the newest digest.
        sha256: what that digest had to be.
    """

    chains: dict[str, list[AuditLine]] = field(default_factory=dict)
    faults: tuple[Violation, ...] = ()
    doubled: tuple[Violation, ...] = ()
    streams: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class _Head:
    stream: str
    seq: int
    sha256: str


def read_log(session: SyncSession, present: Collection[str], digested: int) -> AuditStream:
    """Read and check the whole log.

    Args:
        present: the cases and communities that are there.
        digested: the id of the last line that the newest digest covers, 0 where there is none.
    """
    chains, faults, doubled, heads = dict[str, list[AuditLine]](), list[Violation](), list[Violation](), list[Any]()
    query = select(AuditRow.__table__).order_by(AuditRow.stream, AuditRow.seq, AuditRow.id)
    rows = session.execute(query.execution_options(yield_per=_AT_ONCE))
    for stream, group in groupby(rows, key=attrgetter("stream")):
        lines = list(group)
        is_deleted = lines[-1].change is Change.DELETED and stream not in present
        faults += faults_of(stream, lines, is_deleted=is_deleted)
        doubled += doubled_in(stream, lines)
        chains[stream] = [_audit_line(line) for line in (lines if stream in present else lines[:1] + lines[1:][-1:])]
        before = [line for line in lines if line.id <= digested]
        if before:
            head = max(before, key=attrgetter("id"))
            heads.append(_Head(stream, head.seq, head.sha256))
    return AuditStream(chains, tuple(faults), tuple(doubled), len(heads), heads_hash(heads))


def _audit_line(line: Any) -> AuditLine:
    return AuditLine(
        seq=line.seq,
        from_state=line.from_state,
        to_state=line.to_state,
        change=line.change,
        actor=sys.intern(line.actor),
        note_sha256=line.note_sha256,
        at=line.at,
    )


def doubled_in(stream: str, lines: Sequence[Any]) -> Iterator[Violation]:
    for seq, count in Counter(line.seq for line in lines).items():
        if count > 1:
            yield Violation(stream, sentence("{count} decisions share version {version}.", count=count, version=seq))


def faults_of(stream: str, lines: Sequence[Any], *, is_deleted: bool) -> Iterator[Violation]:
    """Lines of a chain that are missing, were changed, or make a move that is not declared."""
    previous, state = "", None
    for expected, line in enumerate(lines, start=1):
        if line.seq != expected:
            yield Violation(stream, sentence("Version {version} has no line in the audit log.", version=expected))
            return
        if line.previous != previous or line.sha256 != line_hash(line):
            what = sentence("The line of version {version} was changed, or one before it.", version=expected)
            yield Violation(stream, what)
            return
        if is_deleted and line is lines[-1]:
            return
        if line.from_state is not state:
            what = sentence(
                "Version {version} leaves {before}; the case was {state}.",
                version=expected,
                before=line.from_state,
                state=state,
            )
            yield Violation(stream, what)
        if line.from_state is not None and line.to_state not in TRANSITIONS[line.from_state]:
            what = sentence(
                "Version {version} goes from {before} to {after}.",
                version=expected,
                before=line.from_state,
                after=line.to_state,
            )
            yield Violation(stream, what)
        if line.from_state is None and line.to_state not in (None, CaseState.CAPTURED):
            what = sentence("Version {version} begins as {after}.", version=expected, after=line.to_state)
            yield Violation(stream, what)
        previous, state = line.sha256, line.to_state


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
    record: OutsideRecord | None = None
    limits: AuditLimits = field(default_factory=AuditLimits)

    @cached_property
    def cases(self) -> dict[str, CaseRow]:
        return {case.id: case for case in self.tables.cases}

    @cached_property
    def approvals(self) -> dict[str, ApprovalRow]:
        return {approval.id: approval for approval in self.tables.approvals}

    @cached_property
    def sends(self) -> dict[str, list[OutboxRow]]:
        """The rows of the outbox by the id of their approval; more than one row breaks I2."""
        return _by_key(self.tables.outbox, "approval_id")

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
        return [line for line in self.chains.get(case_id, ()) if line.to_state is to]

    @cached_property
    def approval_lines(self) -> dict[str, AuditLine]:
        """The audit line of each approval, by its id: the first of a case's lines is its first approval's."""
        line_of = {}
        for case_id, approvals in self.approvals_by_case.items():
            lines = [line for line in self.moves(case_id, CaseState.APPROVED) if line.from_state is CaseState.IN_REVIEW]
            line_of.update({approval.id: line for approval, line in zip(approvals, lines, strict=False)})
        return line_of

    @cached_property
    def approvals_by_case(self) -> dict[str, list[ApprovalRow]]:
        """The approvals of each case, oldest first."""
        return _by_key(self.tables.approvals, "case_id")

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


def _by_key(rows: Sequence[Any], name: str) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        groups[getattr(row, name)].append(row)
    return groups


async def read_facts(
    session: Session,
    record: OutsideRecord | None = None,
    limits: AuditLimits | None = None,
    *,
    looks_at_schema: bool = True,
) -> Facts:
    """Read everything, in the caller's transaction; the schema takes longest."""
    tables = await session.run_sync(read_tables)
    schema = await _read_schema(session) if looks_at_schema else None
    return Facts(session.moment, tables, schema, record, limits or AuditLimits())


def read_tables(session: SyncSession) -> Tables:

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
        log=read_log(session, {case.id for case in cases} | {community.id for community in communities}, digested),
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
    current, differences = await connection.run_sync(_schema_differences)
    triggers = await session.scalars(text(_TRIGGERS[connection.dialect.name]))
    return Schema(current, newest(), differences, frozenset(triggers))


def _schema_differences(connection: Connection) -> tuple[str | None, tuple[str, ...]]:
    context = MigrationContext.configure(connection)
    return revision(connection), tuple(_words(change) for change in compare_metadata(context, Base.metadata))


def _words(change: Any) -> str:
    """A difference of the schema in a few words: what is missing or too much, and where."""
    if isinstance(change, list):
        return ", ".join(_words(part) for part in change)
    verb, *subjects = change
    names = [str(getattr(part, "name", None) or part) for part in subjects if part is not None]
    tables = {part.table.name for part in subjects if getattr(part, "table", None) is not None}
    return " ".join([str(verb), *names, *(f"on {table}" for table in sorted(tables))])
