"""How often replies are approved, edited and taken first, what became of cases, and what their drafts cost.

Rows are read page by page, so that neither memory nor a transaction grows with the number of cases. Erased cases count
as far as their drafts are kept.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, case, exists, func, or_, select

from core.desk.database.connection import Session
from core.desk.rules.approval import CaseState
from core.desk.rules.numbers import AFTER_HOURS, FollowUpCounts, Numbers, Rates, Share, Spent
from core.desk.schema import ApprovalRow, AuditRow, CaseRow, OutcomeRow, SuggestionRow
from core.desk.views.statistics import CountedCases, seconds_to_decision, seconds_to_draft
from core.models import Kind

_PAGE: Final = 200
_ANSWERED: Final = (
    CaseState.APPROVED, CaseState.SENDING, CaseState.POSTED, CaseState.SHADOWED, CaseState.RETRACTED, CaseState.UNKNOWN,
    CaseState.FAILED,
)  # fmt: skip
_UNANSWERED: Final = (CaseState.DECLINED, CaseState.NO_REPLY)
_DRAFT_EDGES: Final = (10.0, 30.0, 60.0, 300.0, 1800.0)
_DECISION_EDGES: Final = (300.0, 1800.0, 7200.0, 28800.0, 86400.0)


@dataclass(frozen=True, slots=True)
class PageEnd:
    """The last row of a page."""

    at: datetime
    id: str


@dataclass(slots=True)
class _Tally:
    decided: int = 0
    approved: int = 0
    edited: int = 0
    compared: int = 0
    first: int = 0
    by_lot: float = 0.0

    def told(self, name: str) -> Rates:
        return Rates(
            name=name,
            approved=Share(self.approved, self.decided),
            edited=Share(self.edited, self.approved),
            first=Share(self.first, self.compared),
            by_chance=self.by_lot / self.compared if self.compared else 0.0,
        )


@dataclass
class Tallies:
    """The sums over the pages that were read."""

    overall: _Tally = field(default_factory=_Tally)
    by_group: defaultdict[str, _Tally] = field(default_factory=lambda: defaultdict(_Tally))
    by_language: defaultdict[str, _Tally] = field(default_factory=lambda: defaultdict(_Tally))
    by_intent: defaultdict[str, _Tally] = field(default_factory=lambda: defaultdict(_Tally))
    by_writer: defaultdict[str, _Tally] = field(default_factory=lambda: defaultdict(_Tally))
    closed: dict[int, list[int]] = field(default_factory=lambda: {hours: [0, 0] for hours in AFTER_HOURS})
    times: int = 0
    cost: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))


async def add_drafts(
    session: Session, community_id: str, since: datetime, into: Tallies, after: PageEnd | None
) -> PageEnd | None:
    """Count a page of what was drafted; gives where the next page begins, ``None`` after the last one."""
    approval = _newest_of_case(ApprovalRow.id, ApprovalRow.approved_at, ApprovalRow.case_id)
    newest = _newest_of_case(SuggestionRow.id, SuggestionRow.created_at, SuggestionRow.case_id)
    suggestion_id = func.coalesce(ApprovalRow.suggestion_id, newest)
    query = (
        select(
            SuggestionRow.id,
            SuggestionRow.created_at,
            SuggestionRow.document,
            CaseRow.state,
            ApprovalRow.draft_rank,
            ApprovalRow.edited,
            (suggestion_id == SuggestionRow.id).label("is_shown"),
            _is_decided().label("is_decided"),
        )
        .join(CaseRow, CaseRow.id == SuggestionRow.case_id)
        .join(ApprovalRow, ApprovalRow.id == approval, isouter=True)
        .where(CountedCases(community_id, since).are())
        .order_by(SuggestionRow.created_at, SuggestionRow.id)
        .limit(_PAGE)
    )
    rows = (await session.execute(_from(query, SuggestionRow.created_at, SuggestionRow.id, after))).all()
    for row in rows:
        document = _read(row.document)
        _add_cost(into, document.get("cost") or {})
        if row.is_shown and row.is_decided and row.state in (*_ANSWERED, *_UNANSWERED):
            is_approved = row.state in _ANSWERED
            _add(into, document, row.draft_rank if is_approved else None, is_approved, is_approved and bool(row.edited))
    return PageEnd(rows[-1].created_at, rows[-1].id) if len(rows) == _PAGE else None


def _newest_of_case(what: Any, at: Any, of: Any) -> Any:
    newest = select(what).where(of == CaseRow.id).order_by(at.desc(), what).limit(1)
    return newest.correlate(CaseRow).scalar_subquery()


def _is_decided() -> ColumnElement[bool]:
    """Whether a person decided; a folded post ends with the case of another."""
    return exists().where(
        AuditRow.stream == CaseRow.id,
        AuditRow.to_state.in_((CaseState.APPROVED, *_UNANSWERED)),
        AuditRow.actor.startswith("p-"),
    )


def _from(query: Any, at: Any, key: Any, after: PageEnd | None) -> Any:
    return query if after is None else query.where(or_(at > after.at, and_(at == after.at, key > after.id)))


def _read(document: str) -> dict[str, Any]:
    """A stored suggestion as it is; nothing where its words were erased whole."""
    value = json.loads(document) if document else {}
    return value if isinstance(value, dict) else {}


def _add_cost(into: Tallies, cost: dict[str, Any]) -> None:
    if cost:
        into.times += 1
        for name in ("seconds", "model_calls", "prompt_tokens", "completion_tokens"):
            into.cost[name] += cost.get(name) or 0


def _add(into: Tallies, document: dict[str, Any], rank: int | None, is_approved: bool, is_edited: bool) -> None:
    reading = document.get("reading") or {}
    replies = [draft for draft in document.get("drafts") or () if (draft.get("kind") or Kind.REPLY) == Kind.REPLY]
    chosen = next((draft for draft in replies if draft["rank"] == rank), None)
    whole = [into.overall, into.by_group[reading.get("target_group") or ""]]
    whole.append(into.by_language[reading.get("language") or ""])
    for tally in whole:
        _count(tally, is_approved=is_approved, is_edited=is_edited)
    for tallies, what in ((into.by_intent, "intent"), (into.by_writer, "writer")):
        for name in dict.fromkeys(draft.get(what) or "" for draft in replies):
            is_taken = chosen is not None and (chosen.get(what) or "") == name
            _count(tallies[name], is_approved=is_taken, is_edited=is_taken and is_edited)
            if is_taken:
                whole.append(tallies[name])
    if chosen is not None and len(replies) > 1:
        for tally in whole:
            tally.compared += 1
            tally.first += chosen["rank"] == min(draft["rank"] for draft in replies)
            tally.by_lot += 1 / len(replies)


def _count(tally: _Tally, *, is_approved: bool, is_edited: bool) -> None:
    tally.decided += 1
    tally.approved += is_approved
    tally.edited += is_edited


async def add_closed(
    session: Session, community_id: str, since: datetime, into: Tallies, after: PageEnd | None
) -> PageEnd | None:
    """Count a page of cases that somebody closed without a reply, and whose authors were flagged again later."""
    closed_at = (
        select(func.max(AuditRow.at))
        .where(AuditRow.stream == CaseRow.id, AuditRow.to_state.in_(_UNANSWERED), AuditRow.actor.startswith("p-"))
        .correlate(CaseRow)
        .scalar_subquery()
    )
    query = (
        select(CaseRow.id, CaseRow.created_at, CaseRow.author, closed_at.label("closed_at"))
        .where(CountedCases(community_id, since).are(), CaseRow.state.in_(_UNANSWERED), _is_decided())
        .order_by(CaseRow.created_at, CaseRow.id)
        .limit(_PAGE)
    )
    rows = (await session.execute(_from(query, CaseRow.created_at, CaseRow.id, after))).all()
    flagged: defaultdict[str, list[datetime]] = defaultdict(list)
    theirs = select(CaseRow.author, CaseRow.created_at).where(
        CaseRow.author.in_({row.author for row in rows}), CaseRow.community_id == community_id
    )
    for author, at in await session.execute(theirs):
        flagged[author].append(at)
    for row in rows:
        for hours, count in into.closed.items():
            until = row.closed_at + timedelta(hours=hours)
            if until <= session.moment:
                count[0] += any(row.closed_at < at <= until for at in flagged[row.author])
                count[1] += 1
    return PageEnd(rows[-1].created_at, rows[-1].id) if len(rows) == _PAGE else None


async def numbers(session: Session, community_id: str, since: datetime, read: Tallies) -> Numbers:
    """All numbers, with what was read page by page."""
    counted = CountedCases(community_id, since)
    return Numbers(
        to_draft=await _spread(session, seconds_to_draft(session, counted), _DRAFT_EDGES),
        to_decision=await _spread(session, seconds_to_decision(session, counted), _DECISION_EDGES),
        overall=read.overall.told(""),
        by_group=_sorted(read.by_group),
        by_language=_sorted(read.by_language),
        by_intent=_sorted(read.by_intent),
        by_writer=_sorted(read.by_writer),
        answered=await _follow_ups(session, counted),
        unanswered=tuple(
            FollowUpCounts(hours, Share(0, 0), Share(0, 0), Share(again, of))
            for hours, (again, of) in read.closed.items()
        ),
        spent=Spent(
            read.times,
            read.cost["seconds"],
            int(read.cost["model_calls"]),
            int(read.cost["prompt_tokens"]),
            int(read.cost["completion_tokens"]),
        ),
    )


def _sorted(tallies: dict[str, _Tally]) -> tuple[Rates, ...]:
    """The largest first."""
    rates = [tally.told(name) for name, tally in tallies.items()]
    return tuple(sorted(rates, key=lambda rate: (-rate.approved.of, rate.name)))


async def _spread(session: Session, of: Any, edges: Sequence[float]) -> tuple[tuple[float | None, int], ...]:
    spans = of.subquery()
    below = [func.count(case((spans.c.seconds < edge, 1))) for edge in edges]
    counts = [int(count) for count in (await session.execute(select(*below, func.count()).select_from(spans))).one()]
    return tuple(_steps(edges, counts))


def _steps(edges: Sequence[float], below: Sequence[int]) -> Iterator[tuple[float | None, int]]:
    before = 0
    for edge, count in zip((*edges, None), below, strict=True):
        yield edge, count - before
        before = count


async def _follow_ups(session: Session, counted: CountedCases) -> tuple[FollowUpCounts, ...]:

    def how_many(what: ColumnElement[bool]) -> ColumnElement[int]:
        return func.count(case((what, 1)))

    query = (
        select(
            OutcomeRow.after_hours,
            func.count(),
            how_many(OutcomeRow.reply_stands.is_(False)),
            how_many(OutcomeRow.reply_stands.is_not(None)),
            how_many(OutcomeRow.original_stands.is_(False)),
            how_many(OutcomeRow.original_stands.is_not(None)),
            how_many(OutcomeRow.author_flagged_again > 0),
        )
        .join(CaseRow, CaseRow.id == OutcomeRow.case_id)
        .where(counted.are())
        .group_by(OutcomeRow.after_hours)
    )
    counts = {row[0]: [int(count) for count in row[1:]] for row in await session.execute(query)}
    rows = []
    for hours in AFTER_HOURS:
        every, reply, replies, post, posts, again = counts.get(hours, [0] * 6)
        rows.append(FollowUpCounts(hours, Share(reply, replies), Share(post, posts), Share(again, every)))
    return tuple(rows)
