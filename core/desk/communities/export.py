"""Exports of one community: its cases as CSV or JSON lines, and the lessons for a writer.

People are pseudonyms. Rows are read page by page, so that the memory does not grow with the
number of cases. Erased people are not in an export: their cases are left out whole. There are no lessons without the
community's consent (``CommunityPolicy.learns``).
"""

import csv
import json
import os
import re
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Final, TextIO

from sqlalchemy import func, or_, select

from core.desk.database.connection import Database, Session
from core.desk.rules.roles import OnCommunity, Person
from core.desk.schema import ApprovalRow, CaseRow, OutboxRow, PersonRow, SuggestionRow
from core.desk.store.audit import write
from core.desk.store.communities import load, policy_of
from core.desk.store.people import require_on_community
from core.desk.store.suggestions import suggestion_from_json
from core.errors import BadInput, StoreUnavailable
from core.models import Draft, Kind, Suggestion

EXPORTS: Final = "exports"
"""The stream of the audit log that records who was given an export."""
_PAGE: Final = 200
_FORMULA: Final = re.compile(r"\A'*[=+\-@\t\r]")

Row = dict[str, Any]
_PageEnd = tuple[datetime, str]
"""When the last case of a page is from, and its id."""


class Format(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"


COLUMNS: Final = (
    "case", "community", "state", "version", "priority", "flagged_how", "is_late", "created_at", "updated_at",
    "erased_at", "author", "flagged_by", "post", "language", "target_group", "severity", "recommended_action", "claim",
    "drafts", "seconds", "approved_by", "seconded_by", "approved_at", "draft_rank", "draft_kind", "draft_origin",
    "is_edited", "reply", "sent", "posted_at",
)  # fmt: skip


async def export(database: Database, community_id: str, *, by: Person | None = None) -> AsyncIterator[Row]:
    """The cases of a community, oldest first, one row each; ``None`` in a column without a value.

    Args:
        by: the person who asks, whose right is read again for every page; ``None`` for the person who runs Antiphon.

    Raises:
        BadInput: there is no such community.
        NotAllowed: ``by`` may not export it.
    """

    async def begin(session: Session) -> None:
        await load(session, community_id)
        actor = "terminal" if by is None else await require_on_community(session, community_id, by, OnCommunity.EXPORT)
        await write(session, EXPORTS, actor=actor, reason=f"exported {community_id}, pseudonymised")

    async def page(session: Session, after: _PageEnd | None) -> tuple[list[Row], _PageEnd | None]:
        if by is not None:
            await require_on_community(session, community_id, by, OnCommunity.EXPORT)
        return await _page(session, community_id, after)

    await database.run("begin an export", begin)
    after: _PageEnd | None = None
    while True:
        rows, after = await database.run("read a page of an export", partial(page, after=after))
        for row in rows:
            yield row
        if after is None:
            return


async def _page(session: Session, community_id: str, after: _PageEnd | None) -> tuple[list[Row], _PageEnd | None]:
    query = (
        select(CaseRow)
        .join(PersonRow, PersonRow.id == CaseRow.author)
        .where(CaseRow.community_id == community_id)
        .order_by(CaseRow.created_at, CaseRow.id)
        .limit(_PAGE)
    )
    if after is not None:
        at, last = after
        query = query.where(or_(CaseRow.created_at > at, (CaseRow.created_at == at) & (CaseRow.id > last)))
    cases = list(await session.scalars(query))
    rows = [await _row(session, case) for case in cases]
    return rows, (cases[-1].created_at, cases[-1].id) if len(cases) == _PAGE else None


async def _row(session: Session, case: CaseRow) -> Row:
    newest = select(SuggestionRow.document).filter_by(case_id=case.id).order_by(SuggestionRow.created_at.desc())
    suggestion = _suggestion(await session.scalar(newest.limit(1)))
    approvals = select(ApprovalRow, OutboxRow).join(OutboxRow, OutboxRow.approval_id == ApprovalRow.id)
    pair = (
        await session.execute(
            approvals.where(ApprovalRow.case_id == case.id).order_by(ApprovalRow.approved_at.desc()).limit(1)
        )
    ).first()
    approval, send = (pair[0], pair[1]) if pair is not None else (None, None)
    draft = None if approval is None else await _approved_draft(session, approval)
    return {
        "case": case.id,
        "community": case.community_id,
        "state": case.state.value,
        "version": case.version,
        "priority": case.priority,
        "flagged_how": case.flagged_how,
        "is_late": case.is_late,
        "created_at": _time(case.created_at),
        "updated_at": _time(case.updated_at),
        "erased_at": _time(case.erased_at),
        "author": case.author,
        "flagged_by": await _pseudonym(session, case.flagged_by),
        "post": None if case.erased_at else case.text,
        "language": suggestion and suggestion.reading.language,
        "target_group": suggestion and suggestion.reading.target_group and suggestion.reading.target_group.value,
        "severity": suggestion and suggestion.reading.severity,
        "recommended_action": suggestion and suggestion.reading.recommended_action.value,
        "claim": suggestion and suggestion.claim,
        "drafts": suggestion and len(suggestion.drafts),
        "seconds": suggestion and suggestion.cost.seconds,
        "approved_by": approval and await _pseudonym(session, approval.moderator),
        "seconded_by": approval and await _pseudonym(session, approval.seconded_by),
        "approved_at": approval and _time(approval.approved_at),
        "draft_rank": approval and approval.draft_rank,
        "draft_kind": draft and draft.kind.value,
        "draft_origin": draft and "+".join(dict.fromkeys(origin.value for origin in draft.origins)),
        "is_edited": approval and approval.edited,
        "reply": approval.text if approval and approval.text else None,
        "sent": send and send.state.value,
        "posted_at": send and _time(send.posted_at),
    }


async def _approved_draft(session: Session, approval: ApprovalRow) -> Draft | None:
    """The approved draft, before any edit."""
    document = select(SuggestionRow.document).filter_by(id=approval.suggestion_id)
    suggestion = _suggestion(await session.scalar(document))
    return (
        next((draft for draft in suggestion.drafts if draft.rank == approval.draft_rank), None) if suggestion else None
    )


async def _pseudonym(session: Session, person: str | None) -> str | None:
    """A pseudonym, unless its person was erased."""
    return await session.scalar(select(PersonRow.id).filter_by(id=person))


def _suggestion(document: str | None) -> Suggestion | None:
    try:
        return suggestion_from_json(document) if document else None
    except StoreUnavailable:
        return None  # from an older version: the rest of the row can still be read


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="seconds")


# Writing


async def write_export(rows: AsyncIterator[Row], file: Path, how: Format) -> int:
    """Write an export, whole or not at all, readable only by its owner; returns the number of rows.

    Raises:
        BadInput: the file cannot be written.
    """
    with replacing(file) as out:
        return await _write(rows, out, how)


@contextmanager
def replacing(file: Path) -> Iterator[TextIO]:
    """A new file that replaces ``file`` at the end, and leaves no trace after an error."""
    try:
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
                yield out
            Path(name).replace(file)
        finally:
            with suppress(FileNotFoundError):
                Path(name).unlink()
    except OSError as err:
        raise BadInput(f"{file} cannot be written: {err.strerror}.", remedy="Name another file with --out.") from err


async def _write(rows: AsyncIterator[Row], out: TextIO, how: Format) -> int:
    count = 0
    table = csv.DictWriter(out, COLUMNS)
    if how is Format.CSV:
        table.writeheader()
    async for row in rows:
        count += 1
        if how is Format.CSV:
            table.writerow(cells(row))
        else:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    return count


def cells(row: Mapping[str, Any]) -> dict[str, str]:
    """A row as cells that no spreadsheet takes for a formula (ASVS 1.2.10): ' is put before such a text.

    It is also put before a text that begins with ' and would be a formula without it, so that ``text_of`` is exact.
    """
    return {name: _cell(value) for name, value in row.items()}


def _cell(value: object) -> str:
    if isinstance(value, str):
        return f"'{value}" if _FORMULA.match(value) else value
    return "" if value is None else json.dumps(value)


def text_of(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


LESSONS: Final = "lessons"
"""The stream of the audit log that records who was given them."""


async def lessons(database: Database, community_id: str) -> AsyncIterator[dict[str, Any]]:
    """What a community's writer may learn from: its approvals, oldest first.

    Each row has the post, the drafts as they were shown, and the reply that was approved.

    Raises:
        BadInput: there is no such community, or it does not allow this.
    """

    async def begin(session: Session) -> None:
        community = await load(session, community_id)
        if not policy_of(community).learns:
            raise BadInput(
                f"{community_id} does not allow that a writer learns from its decisions.",
                remedy=f"Ask its managers; then: antiphon community learning {community_id} --on",
            )
        await write(session, LESSONS, actor="terminal", reason=f"wrote the lessons of {community_id}")

    newest = (
        select(SuggestionRow.id)
        .where(SuggestionRow.case_id == ApprovalRow.case_id, SuggestionRow.created_at <= ApprovalRow.approved_at)
        .order_by(SuggestionRow.created_at.desc())
        .limit(1)
        .correlate(ApprovalRow)
        .scalar_subquery()
    )
    suggestion_id = func.coalesce(ApprovalRow.suggestion_id, newest)  # own words name no draft

    async def page(session: Session) -> list[tuple[ApprovalRow, CaseRow, str | None]]:
        query = (
            select(ApprovalRow, CaseRow, SuggestionRow.document)
            .join(CaseRow, CaseRow.id == ApprovalRow.case_id)
            .join(PersonRow, PersonRow.id == CaseRow.author)
            .join(SuggestionRow, SuggestionRow.id == suggestion_id, isouter=True)
            .where(CaseRow.community_id == community_id, CaseRow.erased_at.is_(None), ApprovalRow.id > after)
            .order_by(ApprovalRow.id)
            .limit(_PAGE)
        )
        return [(row[0], row[1], row[2]) for row in await session.execute(query)]

    await database.run("begin the lessons of a community", begin)
    after = ""
    while True:
        rows = await database.run("read a page of lessons", page)
        for approval, case, document in rows:
            yield {"community": community_id, **_lesson(approval, case, document)}
        if len(rows) < _PAGE:
            return
        after = rows[-1][0].id


def _lesson(approval: ApprovalRow, case: CaseRow, document: str | None) -> dict[str, Any]:
    suggestion = _suggestion(document)
    drafts = suggestion.drafts if suggestion else ()
    return {
        "moderator": approval.moderator,
        "seconded_by": approval.seconded_by,
        "post": case.text,
        "language": suggestion.reading.language if suggestion else None,
        "drafts": [
            {"rank": draft.rank, "text": draft.text, "intent": draft.intent.value}
            for draft in drafts
            if draft.kind is Kind.REPLY
        ],
        "draft_rank": approval.draft_rank,
        "is_edited": approval.edited,
        "reply": approval.text.removesuffix(approval.footer).strip(),
    }
