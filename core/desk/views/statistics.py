"""The outcome of the cases of one community that were flagged since a moment, in numbers.

Too few cases give no rate and no median. The database counts, so that memory does not grow with the number of cases.
Erased cases count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, Subquery, Text, and_, case, cast, func, select

from core.desk.database.connection import Session, json_text, seconds_between
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Statistics
from core.desk.rules.closures import CloseReason
from core.desk.rules.numbers import LEAST
from core.desk.schema import ApprovalRow, AuditRow, CaseRow, SuggestionRow
from core.models import Intent, Kind, TargetGroup

OWN_WORDS: Final = "own words"
"""In ``Statistics.by_intent``: replies that are not based on a draft."""
_NO_REPLIES: Final = (Kind.SUPPORT.value, Kind.NOTICE.value)
_DECIDED: Final = (CaseState.APPROVED, CaseState.DECLINED, CaseState.NO_REPLY)
_CLOSINGS: Final = (CaseState.DECLINED, CaseState.NO_REPLY, CaseState.WITHDRAWN)


@dataclass(frozen=True, slots=True)
class CountedCases:
    community_id: str
    since: datetime

    def are(self) -> ColumnElement[bool]:
        """The condition on their rows."""
        return and_(CaseRow.community_id == self.community_id, CaseRow.created_at >= self.since)


async def statistics(session: Session, community_id: str, since: datetime) -> Statistics:
    """The numbers of the cases that were flagged in a community since a moment, whenever they were decided."""
    counted = CountedCases(community_id, since)
    by_state = await _by_state(session, counted)
    approved, edited, first = await _approvals(session, counted)
    return Statistics(
        since=since,
        flagged=sum(by_state.values()),
        by_state=by_state,
        by_group=await _by_group(session, counted),
        by_intent=await _by_intent(session, counted),
        by_close_reason=await _by_close_reason(session, counted),
        median_seconds_to_draft=await _median(session, seconds_to_draft(session, counted)),
        median_seconds_to_decision=await _median(session, seconds_to_decision(session, counted)),
        share_edited=edited / approved if approved >= LEAST else None,
        share_first_rank=first / approved if approved >= LEAST else None,
    )


async def _by_state(session: Session, counted: CountedCases) -> dict[CaseState, int]:
    query = select(CaseRow.state, func.count()).where(counted.are()).group_by(CaseRow.state)
    counts = {state: int(count) for state, count in await session.execute(query)}
    return {state: counts[state] for state in CaseState if state in counts}


async def _by_group(session: Session, counted: CountedCases) -> dict[TargetGroup, int]:
    """How many cases attack each group, by their newest suggestion."""
    newest = _newest(SuggestionRow.case_id, SuggestionRow.created_at, counted)
    is_newest = and_(SuggestionRow.case_id == newest.c.case_id, SuggestionRow.created_at == newest.c.at)
    group = json_text(session, SuggestionRow.document.expression, "reading", "target_group").label("name")
    names = select(group).join(newest, is_newest).subquery()
    counts = await _tally(session, names)
    return {key: counts[key] for key in TargetGroup if key in counts}


async def _by_intent(session: Session, counted: CountedCases) -> dict[str, int]:
    """How many replies were approved of each intent, the last approval of each case; drafts are stored by rank.

    What is no reply counts by its kind.
    """
    place = cast(ApprovalRow.draft_rank - 1, Text)
    named, kind = (
        json_text(session, SuggestionRow.document.expression, "drafts", place, field) for field in ("intent", "kind")
    )
    intent = case((ApprovalRow.draft_rank.is_(None), OWN_WORDS), (kind.in_(_NO_REPLIES), kind), else_=named).label(
        "name"
    )
    newest = _newest(ApprovalRow.case_id, ApprovalRow.approved_at, counted)
    names = (
        select(intent)
        .join(newest, and_(ApprovalRow.case_id == newest.c.case_id, ApprovalRow.approved_at == newest.c.at))
        .outerjoin(SuggestionRow, SuggestionRow.id == ApprovalRow.suggestion_id)
        .subquery()
    )
    counts = await _tally(session, names)
    return {name: counts[name] for name in (*Intent, *_NO_REPLIES, OWN_WORDS) if name in counts}


async def _by_close_reason(session: Session, counted: CountedCases) -> dict[str, int]:
    """Why people closed cases; what was undone does not count."""
    is_last = and_(AuditRow.stream == CaseRow.id, AuditRow.seq == CaseRow.version)
    query = select(AuditRow.reason.label("name")).join(CaseRow, is_last)
    counts = await _tally(session, query.where(counted.are(), AuditRow.to_state.in_(_CLOSINGS)).subquery())
    by_reason = Counter[str]()
    for words, count in counts.items():
        by_reason[words.partition(": ")[2]] += count
    return {reason: by_reason[reason] for reason in CloseReason if reason in by_reason}


async def _tally(session: Session, names: Subquery) -> dict[str, int]:
    """How often each name occurs in a subquery's column ``name``."""
    query = select(names.c.name, func.count()).where(names.c.name.is_not(None)).group_by(names.c.name)
    return {str(name): int(count) for name, count in await session.execute(query)}


def _newest(case_id: ColumnElement[str] | Any, at: ColumnElement[datetime] | Any, counted: CountedCases) -> Subquery:
    """The cases that count, each with the last moment of what belongs to it."""
    query = select(case_id.label("case_id"), func.max(at).label("at")).join(CaseRow, CaseRow.id == case_id)
    return query.where(counted.are()).group_by(case_id).subquery()


async def _approvals(session: Session, counted: CountedCases) -> tuple[int, int, int]:
    """How many cases were approved, how many of them with an edited text, and how many with the first draft's rank."""
    newest = _newest(ApprovalRow.case_id, ApprovalRow.approved_at, counted)
    query = select(
        func.count(),
        func.count(case((ApprovalRow.edited.is_(True), 1))),
        func.count(case((ApprovalRow.draft_rank == 1, 1))),
    ).join(newest, and_(ApprovalRow.case_id == newest.c.case_id, ApprovalRow.approved_at == newest.c.at))
    approved, edited, first = (await session.execute(query.select_from(ApprovalRow))).one()
    return int(approved), int(edited), int(first)


def seconds_to_draft(session: Session, counted: CountedCases) -> Select[float]:
    """The seconds from each flag to its first suggestion."""
    first = func.min(SuggestionRow.created_at)
    query = select(seconds_between(session, CaseRow.created_at.expression, first).label("seconds"))
    return query.join(SuggestionRow, SuggestionRow.case_id == CaseRow.id).where(counted.are()).group_by(CaseRow.id)


def seconds_to_decision(session: Session, counted: CountedCases) -> Select[float]:
    """The seconds from each flag to the first decision of a person whether to reply."""
    first = func.min(AuditRow.at)
    query = select(seconds_between(session, CaseRow.created_at.expression, first).label("seconds"))
    is_decision = and_(AuditRow.stream == CaseRow.id, AuditRow.to_state.in_(_DECIDED), AuditRow.actor.startswith("p-"))
    return query.join(AuditRow, is_decision).where(counted.are()).group_by(CaseRow.id)


async def _median(session: Session, of: Select[float]) -> float | None:
    spans = of.subquery()
    count = int(await session.scalar(select(func.count()).select_from(spans)) or 0)
    if count < LEAST:
        return None
    middle = select(spans.c.seconds).order_by(spans.c.seconds).offset((count - 1) // 2).limit(2 - count % 2)
    return _mean(float(seconds) for seconds in await session.scalars(middle))


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers)
