"""The audit log, read one chain after another: each is checked as it is read, and what other checks need is kept.

Owns what stays in memory of the log: the lines of the cases and communities that are there, without hashes and words.
Of a case that was deleted, as most are in the end, the first and the last line stay.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session as SyncSession

from bot.invariants.violation import Violation
from bot.store.people.audit import heads_hash, line_hash
from bot.store.schema import AuditRow, Change
from core.i18n.sentences import sentence
from core.moderation.approval import TRANSITIONS, CaseState

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
    for stream, found in groupby(rows, key=attrgetter("stream")):
        lines = list(found)
        is_deleted = lines[-1].change is Change.DELETED and stream not in present
        faults += faults_of(stream, lines, is_deleted=is_deleted)
        doubled += doubled_in(stream, lines)
        chains[stream] = [_kept(line) for line in (lines if stream in present else lines[:1] + lines[1:][-1:])]
        before = [line for line in lines if line.id <= digested]
        if before:
            head = max(before, key=attrgetter("id"))
            heads.append(_Head(stream, head.seq, head.sha256))
    return AuditStream(chains, tuple(faults), tuple(doubled), len(heads), heads_hash(heads))


def _kept(line: Any) -> AuditLine:
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
    """Versions of a chain that several lines have."""
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
            said = sentence("The line of version {version} was changed, or one before it.", version=expected)
            yield Violation(stream, said)
            return
        if is_deleted and line is lines[-1]:
            return
        if line.from_state is not state:
            said = sentence(
                "Version {version} leaves {before}; the case was {state}.",
                version=expected,
                before=line.from_state,
                state=state,
            )
            yield Violation(stream, said)
        if line.from_state is not None and line.to_state not in TRANSITIONS[line.from_state]:
            said = sentence(
                "Version {version} goes from {before} to {after}.",
                version=expected,
                before=line.from_state,
                after=line.to_state,
            )
            yield Violation(stream, said)
        if line.from_state is None and line.to_state not in (None, CaseState.CAPTURED):
            said = sentence("Version {version} begins as {after}.", version=expected, after=line.to_state)
            yield Violation(stream, said)
        previous, state = line.sha256, line.to_state
