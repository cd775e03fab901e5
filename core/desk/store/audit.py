"""The audit log: a chain for each case and each community, in which each line is hashed with the one before it."""

import hashlib
import json
import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import func, insert, select, text

from core.desk.database.connection import Session
from core.desk.rules.approval import CaseState
from core.desk.schema import AuditRow, Change, NoteRow


async def write(session: Session, stream: str, *, actor: str, reason: str) -> None:
    """Add a line to a stream that belongs to no case and no community; others that do the same wait."""
    if session.get_bind().dialect.name == "postgresql":
        await session.execute(text("SELECT pg_advisory_xact_lock(hashtext(:stream))"), {"stream": stream})
    newest = await session.scalar(select(func.max(AuditRow.seq)).filter_by(stream=stream)) or 0
    await record(session, stream, newest + 1, actor=actor, reason=reason)


_COLUMNS: Final = "stream seq from_state to_state change actor reason note_sha256 at previous".split()


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line: a case's move, from ``None`` when it was captured, or a change of a community, without states.

    ``actor`` is a pseudonym, or the part of Antiphon that acted; ``note`` is what a person typed, "" once erased.
    """

    version: int
    from_state: CaseState | None
    to_state: CaseState | None
    actor: str
    reason: str
    at: datetime
    note: str = ""
    change: Change | None = None


async def record(
    session: Session,
    stream: str,
    seq: int,
    *,
    actor: str,
    reason: str,
    note: str = "",
    change: Change | None = None,
) -> None:
    """Add the line ``seq`` to a stream; ``note`` is kept apart, so that it can be erased."""
    await record_all(session, [AuditEntry(seq, None, None, actor, reason, session.moment, note, change)], [stream])


async def record_all(session: Session, new: Sequence[AuditEntry], streams: Sequence[str]) -> None:
    """Add one line to each of several streams."""
    newest = (
        select(AuditRow.stream, func.max(AuditRow.seq).label("seq"))
        .where(AuditRow.stream.in_(sorted(set(streams))))
        .group_by(AuditRow.stream)
        .subquery()
    )
    is_head = (AuditRow.stream == newest.c.stream) & (AuditRow.seq == newest.c.seq)
    heads = await session.execute(select(AuditRow.stream, AuditRow.sha256).join(newest, is_head))
    previous = {str(stream): str(digest) for stream, digest in heads}
    lines, notes = list[dict[str, object]](), list[dict[str, object]]()
    for entry, stream in zip(new, streams, strict=True):
        note_sha256 = None
        if entry.note:
            salt = secrets.token_hex(16)
            notes.append({"stream": stream, "seq": entry.version, "text": entry.note, "salt": salt})
            note_sha256 = note_hash(entry.note, salt)
        line = AuditRow(
            stream=stream,
            seq=entry.version,
            from_state=entry.from_state,
            to_state=entry.to_state,
            change=entry.change,
            actor=entry.actor,
            reason=entry.reason,
            note_sha256=note_sha256,
            at=entry.at,
            previous=previous.get(stream, ""),
            sha256="",
        )
        previous[stream] = line_hash(line)
        lines.append({name: getattr(line, name) for name in _COLUMNS} | {"sha256": previous[stream]})
    await session.execute(insert(AuditRow), lines)
    if notes:
        await session.execute(insert(NoteRow), notes)


def note_hash(note: str, salt: str) -> str:
    return hashlib.sha256(f"{salt}{note}".encode()).hexdigest()


def line_hash(line: AuditRow) -> str:
    """The SHA-256 of all that this line says, which the next line stores as ``previous``."""
    at = line.at.astimezone(UTC).isoformat(timespec="microseconds")
    moved = [line.stream, line.seq, line.from_state, line.to_state, line.change]
    fields = [*moved, line.actor, line.reason, line.note_sha256, at, line.previous]
    return hashlib.sha256(json.dumps(fields, ensure_ascii=False).encode()).hexdigest()


def heads_hash(heads: Iterable[AuditRow]) -> str:
    """The SHA-256 over the last lines of all chains, independent of their order."""
    sha256 = hashlib.sha256()
    for head in sorted([line.stream, line.seq, line.sha256] for line in heads):
        sha256.update(json.dumps(head, ensure_ascii=False).encode() + b"\n")
    return sha256.hexdigest()


async def entries(session: Session, stream: str) -> list[AuditEntry]:
    """Every line of a stream, oldest first."""
    query = (
        select(AuditRow, NoteRow.text)
        .outerjoin(NoteRow, (NoteRow.stream == AuditRow.stream) & (NoteRow.seq == AuditRow.seq))
        .where(AuditRow.stream == stream)
        .order_by(AuditRow.seq)
    )
    rows: Sequence[tuple[AuditRow, str | None]] = [(line, note) for line, note in await session.execute(query)]
    return [_entry(line, note or "") for line, note in rows]


def _entry(line: AuditRow, note: str = "") -> AuditEntry:
    return AuditEntry(
        line.seq, line.from_state, line.to_state, line.actor, line.reason, line.at, note=note, change=line.change
    )


async def newest_move(session: Session, case_id: str, to: Collection[CaseState] = tuple(CaseState)) -> AuditEntry:
    """How a case came last into one of these states, or into its present one, without what a person typed about it.

    It must have been in one of them.
    """
    moves = select(AuditRow).filter_by(stream=case_id).where(AuditRow.to_state.in_(sorted(to)))
    return _entry((await session.scalars(moves.order_by(AuditRow.seq.desc()).limit(1))).one())


async def newest_actor(session: Session, stream: str) -> str:
    query = select(AuditRow.actor).filter_by(stream=stream).order_by(AuditRow.seq.desc()).limit(1)
    return await session.scalar(query) or "nobody"
