"""The outcome of a community's cases in numbers: how many, how soon, which replies were taken, and what drafts cost.

Too few cases give no rate and no median. Either the database counts, or rows are read page by page, so that neither
memory nor a transaction grows with the number of cases. Erased cases count; what is told of drafts counts as far as
these are kept.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import fmean
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, Subquery, Text, and_, case, cast, exists, func, or_, select

from core.desk.database.connection import Session, json_text, seconds_between
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Statistics
from core.desk.rules.closures import CloseReason
from core.desk.rules.numbers import AFTER_HOURS, LEAST, FollowUpCounts, Numbers, Rates, Share, Spent
from core.desk.schema import ApprovalRow, AuditRow, CaseRow, OutcomeRow, SuggestionRow
from core.desk.views.status import count_by_state
from core.models import Intent, Kind, TargetGroup

OWN_WORDS: Final = "own words"
"""In ``Statistics.by_intent``: replies that are not based on a draft."""
_NO_REPLIES: Final = (Kind.SUPPORT.value, Kind.NOTICE.value)
_UNANSWERED: Final = (CaseState.DECLINED, CaseState.NO_REPLY)
_DECIDED: Final = (CaseState.APPROVED, *_UNANSWERED)
_CLOSINGS: Final = (*_UNANSWERED, CaseState.WITHDRAWN)


@dataclass(frozen=True, slots=True)
class _CountedCases:
    community_id: str
    since: datetime

    def are(self) -> ColumnElement[bool]:
        """The condition on their rows."""
        return and_(CaseRow.community_id == self.community_id, CaseRow.created_at >= self.since)


async def statistics(session: Session, community_id: str, since: datetime) -> Statistics:
    """The numbers of the cases that were flagged in a community since a moment, whenever they were decided."""
    counted = _CountedCases(community_id, since)
    by_state = await count_by_state(session, counted.are())
    approved, edited, first = await _approvals(session, counted)
    return Statistics(
        since=since,
        flagged=sum(by_state.values()),
        by_state=by_state,
        by_group=await _by_group(session, counted),
        by_intent=await _by_intent(session, counted),
        by_close_reason=await _by_close_reason(session, counted),
        median_seconds_to_draft=await _median(session, _seconds_to_draft(session, counted)),
        median_seconds_to_decision=await _median(session, _seconds_to_decision(session, counted)),
        share_edited=edited / approved if approved >= LEAST else None,
        share_first_rank=first / approved if approved >= LEAST else None,
    )


async def _by_group(session: Session, counted: _CountedCases) -> dict[TargetGroup, int]:
    """How many cases attack each group, by their newest suggestion."""
    newest = _newest(SuggestionRow.case_id, SuggestionRow.created_at, counted)
    is_newest = and_(SuggestionRow.case_id == newest.c.case_id, SuggestionRow.created_at == newest.c.at)
    group = json_text(session, SuggestionRow.document.expression, "reading", "target_group").label("name")
    names = select(group).join(newest, is_newest).subquery()
    counts = await _tally(session, names)
    return {key: counts[key] for key in TargetGroup if key in counts}


async def _by_intent(session: Session, counted: _CountedCases) -> dict[str, int]:
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


async def _by_close_reason(session: Session, counted: _CountedCases) -> dict[str, int]:
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


def _newest(case_id: ColumnElement[str] | Any, at: ColumnElement[datetime] | Any, counted: _CountedCases) -> Subquery:
    """The cases that count, each with the last moment of what belongs to it.

    What belongs to that same moment counts together; ``_newest_of_case`` gives one of it.
    """
    query = select(case_id.label("case_id"), func.max(at).label("at")).join(CaseRow, CaseRow.id == case_id)
    return query.where(counted.are()).group_by(case_id).subquery()


async def _approvals(session: Session, counted: _CountedCases) -> tuple[int, int, int]:
    """How many cases were approved, how many of them with an edited text, and how many with the first draft's rank."""
    newest = _newest(ApprovalRow.case_id, ApprovalRow.approved_at, counted)
    query = select(
        func.count(),
        func.count(case((ApprovalRow.edited.is_(True), 1))),
        func.count(case((ApprovalRow.draft_rank == 1, 1))),
    ).join(newest, and_(ApprovalRow.case_id == newest.c.case_id, ApprovalRow.approved_at == newest.c.at))
    approved, edited, first = (await session.execute(query.select_from(ApprovalRow))).one()
    return int(approved), int(edited), int(first)


def _seconds_to_draft(session: Session, counted: _CountedCases) -> Select[float]:
    """The seconds from each flag to its first suggestion."""
    first = func.min(SuggestionRow.created_at)
    query = select(seconds_between(session, CaseRow.created_at.expression, first).label("seconds"))
    return query.join(SuggestionRow, SuggestionRow.case_id == CaseRow.id).where(counted.are()).group_by(CaseRow.id)


def _seconds_to_decision(session: Session, counted: _CountedCases) -> Select[float]:
    """The seconds from each flag to the first decision of a person whether to reply."""
    first = func.min(AuditRow.at)
    query = select(seconds_between(session, CaseRow.created_at.expression, first).label("seconds"))
    return query.join(AuditRow, _is_decision(_DECIDED)).where(counted.are()).group_by(CaseRow.id)


async def _median(session: Session, of: Select[float]) -> float | None:
    spans = of.subquery()
    count = int(await session.scalar(select(func.count()).select_from(spans)) or 0)
    if count < LEAST:
        return None
    middle = select(spans.c.seconds).order_by(spans.c.seconds).offset((count - 1) // 2).limit(2 - count % 2)
    return fmean(await session.scalars(middle))


PageEnd = tuple[datetime, str]
"""When the last row of a page is from, and its id."""
_PAGE: Final = 200
_ANSWERED: Final = (
    CaseState.APPROVED, CaseState.SENDING, CaseState.POSTED, CaseState.SHADOWED, CaseState.RETRACTED, CaseState.UNKNOWN,
    CaseState.FAILED,
)  # fmt: skip
_DRAFT_EDGES: Final = (10.0, 30.0, 60.0, 300.0, 1800.0)
_DECISION_EDGES: Final = (300.0, 1800.0, 7200.0, 28800.0, 86400.0)


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
        .where(_CountedCases(community_id, since).are())
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
    return (rows[-1].created_at, rows[-1].id) if len(rows) == _PAGE else None


def _newest_of_case(what: Any, at: Any, of: Any) -> Any:
    """One id of each case; of two at the same moment the smaller."""
    newest = select(what).where(of == CaseRow.id).order_by(at.desc(), what).limit(1)
    return newest.correlate(CaseRow).scalar_subquery()


def _is_decided() -> ColumnElement[bool]:
    """Whether a person decided; a folded post ends with the case of another."""
    return exists().where(_is_decision(_DECIDED))


def _is_decision(states: Sequence[CaseState]) -> ColumnElement[bool]:
    """The condition on lines of the audit that say that a person brought the case to one of these states."""
    return and_(AuditRow.stream == CaseRow.id, AuditRow.to_state.in_(states), AuditRow.actor.startswith("p-"))


def _from(query: Any, at: Any, key: Any, after: PageEnd | None) -> Any:
    return query if after is None else query.where(or_(at > after[0], and_(at == after[0], key > after[1])))


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
    closed_at = select(func.max(AuditRow.at)).where(_is_decision(_UNANSWERED)).correlate(CaseRow).scalar_subquery()
    query = (
        select(CaseRow.id, CaseRow.created_at, CaseRow.author, closed_at.label("closed_at"))
        .where(_CountedCases(community_id, since).are(), CaseRow.state.in_(_UNANSWERED), _is_decided())
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
    return (rows[-1].created_at, rows[-1].id) if len(rows) == _PAGE else None


async def numbers(session: Session, community_id: str, since: datetime, read: Tallies) -> Numbers:
    """All numbers, with what was read page by page."""
    counted = _CountedCases(community_id, since)
    return Numbers(
        to_draft=await _spread(session, _seconds_to_draft(session, counted), _DRAFT_EDGES),
        to_decision=await _spread(session, _seconds_to_decision(session, counted), _DECISION_EDGES),
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


async def _follow_ups(session: Session, counted: _CountedCases) -> tuple[FollowUpCounts, ...]:

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
