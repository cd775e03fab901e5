"""What waits, over several communities, and what changed there since a line of the audit log."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, case, func, or_, select

from core.desk.database.connection import Session
from core.desk.rules.approval import CLOSED, CaseState
from core.desk.rules.case_cards import Holder, ReplyNow
from core.desk.rules.preferences import CALLS_FOR_VIOLENCE, NOTHING_HIDDEN, HiddenCategories
from core.desk.rules.roles import OnCase, OnCommunity, Person, Role, may_on_case, may_on_community
from core.desk.schema import (
    ApprovalRow,
    AuditRow,
    CaseRow,
    CommunityRow,
    JobRow,
    JobState,
    MembershipRow,
    OutboxRow,
    OutboxState,
    PreviewRow,
    SuggestionRow,
)
from core.desk.store import holds as store_holds
from core.desk.store import outbox
from core.desk.store.cases import DRAFT, Case
from core.desk.store.communities import EVERYWHERE, id_of
from core.desk.store.people import known_pseudonym, roles_of
from core.desk.store.suggestions import newest_documents, preview_from_json, preview_of, suggestion_from_json
from core.desk.upkeep.retention import RetentionPeriods
from core.desk.views.cards import replies_in
from core.engine.wording.slurs import slurs_in
from core.errors import StoreUnavailable
from core.models import Reading, TargetGroup

PAGE: Final = 20
_UNLISTED: Final = CLOSED | {CaseState.FOLDED}
_WAITING: Final = (CaseState.IN_REVIEW, CaseState.NEEDS_PERSON, CaseState.UNKNOWN, CaseState.FAILED)
"""States in which a person has something to decide."""
_HIDDEN: Final = -1
"""What stands for the severity of a case of a category that somebody leaves out."""
_MOST_CHANGES: Final = 500


@dataclass(frozen=True, slots=True)
class CommunityRef:
    """A community in which somebody may read cases."""

    platform: str
    community: str


@dataclass(frozen=True, slots=True)
class QueuedCase:
    """A case that is not closed, in one row.

    ``gist`` is "" where it is not a sentence of the project's cards. ``waits_until`` is when the schedule closes the
    case if nobody does anything; ``None`` where it does not. ``reply`` is the approved one that waits, if one does.
    """

    case_id: str
    place: CommunityRef
    state: CaseState
    opened_at: datetime
    holder: Holder | None
    severity: int | None
    group: TargetGroup | None
    gist: str
    drafts: int
    waits_until: datetime | None = None
    reply: ReplyNow | None = None


@dataclass(frozen=True, slots=True)
class Queue:
    """A page of what waits, what needs a decision first, then the gravest, then the oldest.

    ``total`` and ``oldest`` are of all pages; ``oldest`` of what needs a person, ``None`` where nothing does.
    ``places`` are all communities in which this visitor may read. ``hidden`` cases are left out, as they chose.
    ``number`` is that of ``CaseChanges`` to ask for what changes from now on.
    """

    cases: tuple[QueuedCase, ...]
    page: int
    pages: int
    total: int
    oldest: datetime | None
    places: tuple[CommunityRef, ...]
    number: int
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class CaseChanges:
    """The cases that changed since ``number`` was told last; ``number`` only grows, over restarts, too."""

    number: int
    cases: tuple[str, ...]


async def readable(session: Session, people: Collection[Person]) -> list[CommunityRow]:
    """The communities in which one of these people may read cases now, by their id."""
    communities_by_id: dict[str, CommunityRow] = {}
    for person in people:
        who = await known_pseudonym(session, person.platform, person.user)
        rows = await session.execute(
            select(CommunityRow, MembershipRow.role)
            .join(MembershipRow, MembershipRow.community_id == CommunityRow.id)
            .where(MembershipRow.person_id == who, CommunityRow.id != EVERYWHERE)
        )
        communities_by_id |= {row.id: row for row, role in rows if may_on_case([role], OnCase.READ)}
    return [communities_by_id[key] for key in sorted(communities_by_id)]


async def able(
    session: Session, people: Collection[Person], platform: str, community: str, wanted: Sequence[OnCase | OnCommunity]
) -> Person | None:
    """Who of these people may do the first thing of ``wanted`` that any of them may do in a community.

    By the roles that are stored; of two who may, the one of the community's own platform. ``None`` if nobody may.
    """
    identity = await id_of(session, platform, community)
    roles = dict[Person, frozenset[Role]]()
    for person in sorted(people, key=lambda person: person.platform != platform):
        who = await known_pseudonym(session, person.platform, person.user)
        roles[person] = frozenset() if who is None else await roles_of(session, identity, who)
    for action in wanted:
        for person, has in roles.items():
            if may_on_case(has, action) if isinstance(action, OnCase) else may_on_community(has, action):
                return person
    return None


def of_newest_suggestion(value: ColumnElement[Any]) -> ColumnElement[Any]:
    """A value of the ``SuggestionRow`` that was said last of a ``CaseRow`` of the query; NULL where there is none."""
    return (
        select(value)
        .where(SuggestionRow.case_id == CaseRow.id, SuggestionRow.is_outdated.is_(False))
        .order_by(SuggestionRow.created_at.desc())
        .limit(1)
        .correlate(CaseRow)
        .scalar_subquery()
    )


async def queue(
    session: Session,
    people: Collection[Person],
    keeping: RetentionPeriods,
    *,
    platform: str = "",
    community: str = "",
    page: int = 0,
    hides: HiddenCategories = NOTHING_HIDDEN,
) -> Queue:
    """A page of what waits: what needs a decision first, the gravest before others, the oldest first.

    What is hidden is counted, and waits for everybody else; the age of the oldest is that of all.
    """
    number = await newest_line(session)
    places = await readable(session, people)
    is_wanted = [row for row in places if platform in ("", row.platform) and community in ("", row.name)]
    is_listed: tuple[ColumnElement[bool], ...] = (
        CaseRow.community_id.in_([row.id for row in is_wanted]),
        CaseRow.state.not_in(_UNLISTED),
    )
    waits = case((CaseRow.state.in_(_WAITING), 0), else_=1).label("waits")
    severity = (await _severity(session, hides, is_listed)).label("severity")
    listed = select(CaseRow.id, CaseRow.created_at, waits, severity).where(*is_listed).cte("listed")
    is_hidden = listed.c.severity == _HIDDEN
    left_out = select(func.count()).select_from(listed).where(is_hidden).scalar_subquery()
    told = [] if hides == NOTHING_HIDDEN else [is_hidden, left_out]
    every = int(await session.scalar(select(func.count()).select_from(CaseRow).where(*is_listed)) or 0)
    page = min(max(page, 0), max(1, -(-every // PAGE)) - 1)
    paged = (
        select(listed.c.id, *told)
        .order_by(*told[:1], listed.c.waits, listed.c.severity.desc(), listed.c.created_at, listed.c.id)
        .offset(page * PAGE)
        .limit(PAGE)
    )
    found = list(await session.execute(paged))
    hidden = int(found[0][2]) if told and found else 0
    total = max(0, every - hidden)  # on PostgreSQL a case may come between the two
    pages = max(1, -(-total // PAGE))
    if page >= pages:
        return await queue(
            session, people, keeping, platform=platform, community=community, page=pages - 1, hides=hides
        )
    ids = [row[0] for row in found if not told or not row[1]]
    rows = {row.id: row for row in await session.scalars(select(CaseRow).where(CaseRow.id.in_(ids)))}
    said = await said_of(session, ids)
    cases = [await _row(session, rows[id_], said[id_], keeping) for id_ in ids]
    names = tuple(CommunityRef(row.platform, row.name) for row in places)
    return Queue(tuple(cases), page, pages, total, await _oldest(session, is_wanted), names, number, hidden)


async def _severity(
    session: Session, hides: HiddenCategories, is_listed: Collection[ColumnElement[bool]]
) -> ColumnElement[int]:
    """How grave a case is by what was said of it last, 0 where nothing was; ``_HIDDEN`` of a hidden category.

    What is drafted now counts by what was said of it so far.
    """
    severity = SuggestionRow.severity.expression
    if hides == NOTHING_HIDDEN:
        return func.coalesce(of_newest_suggestion(severity), 0)
    is_hidden: list[ColumnElement[bool]] = [SuggestionRow.target_group.in_(sorted(hides.groups))]
    if hides.threats:
        is_hidden.append(severity == CALLS_FOR_VIOLENCE)
    graded = func.coalesce(of_newest_suggestion(case((or_(*is_hidden), _HIDDEN), else_=severity)), 0)
    so_far = (
        select(PreviewRow.case_id)
        .join(CaseRow, CaseRow.id == PreviewRow.case_id)
        .where(*is_listed, CaseRow.state == CaseState.DRAFTING)
        .where(of_newest_suggestion(SuggestionRow.id.expression).is_(None))
    )
    drafted = []
    for case_id in list(await session.scalars(so_far)):
        with suppress(StoreUnavailable):  # of another version: its case is listed nevertheless
            preview = await preview_of(session, case_id)
            reading = None if preview is None else preview.reading
            if reading is not None and hides.has(reading.target_group, reading.severity):
                drafted.append(case_id)
    return case((CaseRow.id.in_(drafted), _HIDDEN), else_=graded) if drafted else graded


async def oldest(session: Session, people: Collection[Person]) -> datetime | None:
    """Since when the oldest case waits for a person, in all of these people's communities."""
    return await _oldest(session, await readable(session, people))


async def _oldest(session: Session, places: Collection[CommunityRow]) -> datetime | None:
    is_there = (CaseRow.community_id.in_([row.id for row in places]), CaseRow.state.in_(_WAITING))
    return await session.scalar(select(func.min(CaseRow.created_at)).where(*is_there))


async def _row(
    session: Session, row: CaseRow, said: tuple[Reading | None, int], keeping: RetentionPeriods
) -> QueuedCase:
    reading, drafts = said
    sent = await outbox.newest(session, row.id) if row.state is CaseState.APPROVED else None
    return QueuedCase(
        case_id=row.id,
        place=CommunityRef(row.platform, row.community),
        state=row.state,
        opened_at=row.created_at,
        holder=await store_holds.holder(session, row),
        severity=None if reading is None else reading.severity,
        group=None if reading is None else reading.target_group,
        gist=gist_of(reading),
        drafts=drafts,
        waits_until=await waits_until(session, row, keeping),
        reply=None if sent is None else (await replies_in(session, row.community_id))(sent, row.ref),
    )


async def waits_until(session: Session, case: CaseRow | Case, keeping: RetentionPeriods) -> datetime | None:
    """When the schedule closes a case, unless something happens to it; ``None`` where it does not.

    The rules are those of ``core.desk.upkeep.retention``.
    """
    undecided, until = timedelta(hours=keeping.draft_hours), None
    if case.state in (CaseState.CAPTURED, CaseState.IN_REVIEW):
        until = case.updated_at + undecided
    elif case.state is CaseState.QUEUED:
        own_work = (JobRow.case_id == case.id, JobRow.kind == DRAFT, JobRow.state == JobState.READY)
        begun = await session.scalar(select(func.min(JobRow.created_at)).where(*own_work))
        until = min(case.updated_at, begun or case.updated_at) + undecided
    elif case.state in (CaseState.NEEDS_PERSON, CaseState.FAILED):
        until = case.updated_at + timedelta(days=keeping.retention_days)
    elif case.state is CaseState.APPROVED:
        until = await session.scalar(
            select(func.min(ApprovalRow.expires_at))
            .join(OutboxRow, OutboxRow.approval_id == ApprovalRow.id)
            .where(ApprovalRow.case_id == case.id, OutboxRow.state == OutboxState.QUEUED)
        )
    return until if until is None or case.held_until is None else max(until, case.held_until)


def gist_of(reading: Reading | None) -> str:
    """What a post says, where that is a sentence of the project's cards without a slur; otherwise ""."""
    gist = reading.implied_meaning if reading is not None and reading.stereotypes else None
    return gist if gist is not None and not slurs_in(gist) else ""


async def said_of(session: Session, case_ids: Collection[str]) -> dict[str, tuple[Reading | None, int]]:
    """What is known of each case's post, and how many drafts there are.

    A case of which another version of Antiphon wrote is listed nevertheless, as one of which nothing is known.
    """
    said: dict[str, tuple[Reading | None, int]] = dict.fromkeys(case_ids, (None, 0))
    suggested = await newest_documents(session, case_ids)
    for case_id, document in suggested.items():
        with suppress(StoreUnavailable):
            suggestion = suggestion_from_json(document)
            said[case_id] = suggestion.reading, len(suggestion.drafts)
    previews = select(PreviewRow).where(PreviewRow.case_id.in_([one for one in case_ids if one not in suggested]))
    for row in await session.scalars(previews):
        with suppress(StoreUnavailable):
            preview = preview_from_json(row.document)
            said[row.case_id] = preview.reading, int(preview.draft is not None)
    return said


async def newest_line(session: Session) -> int:
    """The number of the log's newest line, 0 before the first."""
    return int(await session.scalar(select(func.max(AuditRow.id))) or 0)


async def changes(session: Session, people: Collection[Person], since: int | None) -> CaseChanges:
    """The cases of these people's communities that moved after a line of the log, and the newest line's number."""
    newest = await newest_line(session)
    if since is None or since >= newest:
        return CaseChanges(newest, ())
    places = [row.id for row in await readable(session, people)]
    moved = await session.execute(
        select(CaseRow.id)
        .join(AuditRow, AuditRow.stream == CaseRow.id)
        .where(AuditRow.id > since, AuditRow.id <= newest, CaseRow.community_id.in_(places))
        .order_by(AuditRow.id.desc())
        .limit(_MOST_CHANGES)
    )
    return CaseChanges(newest, tuple(dict.fromkeys(moved.scalars())))


async def holds(session: Session, people: Collection[Person]) -> dict[str, str]:
    """Who holds which case in these people's communities, by pseudonym: the log does not tell it."""
    places = [row.id for row in await readable(session, people)]
    is_held = (CaseRow.community_id.in_(places), CaseRow.held_until > session.moment)
    rows = await session.execute(select(CaseRow.id, CaseRow.held_by).where(*is_held))
    return {case_id: str(who) for case_id, who in rows}
