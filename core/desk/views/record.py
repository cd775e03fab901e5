"""The audit log of a community: by pages, the newest decisions of people, and what is kept about one person."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import ColumnElement, func, or_, select

from core.desk.database.connection import Session
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import RecentDecision, ReplyNow
from core.desk.rules.roles import Role
from core.desk.schema import (
    ApprovalRow,
    AuditRow,
    CaseRow,
    CommunityRow,
    FirstApprovalRow,
    MembershipRow,
    NoteRow,
    OutboxRow,
)
from core.desk.store.communities import EVERYWHERE
from core.desk.store.people import known_name, name_of, names_of
from core.desk.views.cards import replies_in
from core.desk.views.queue import CommunityRef, gist_of, said_of
from core.i18n.sentences import Sentence, sentence
from core.models import Reading

PAGE: Final = 50
EXPORTED: Final = ("pseudonymised", "with names and places")
"""How the log says of what kind an export was."""


class LogLines(StrEnum):
    """Which lines of the audit log are wanted: all of a community, those of its cases, or those about itself."""

    ALL = "all"
    CASES = "cases"
    COMMUNITY = "community"


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of the audit log.

    Attributes:
        number: its place in the log; it only grows.
        case_id: its case, "" for a line about the community itself.
        actor: who acted, as the log names them: a pseudonym (``p-``), ``terminal:`` and an operator, or a part of
            Antiphon; ``by`` is the name that the community knows, "" for none.
        note: what the person typed, "" for nothing or where it was erased.
    """

    number: int
    case_id: str
    version: int
    state: CaseState | None
    actor: str
    by: str
    reason: str
    note: str
    at: datetime


@dataclass(frozen=True, slots=True)
class LogPage:
    """Lines of the log, the newest first; ``more`` is the number before which the next page begins, if there is one."""

    lines: tuple[LogLine, ...]
    more: int | None


@dataclass(frozen=True, slots=True)
class OwnPost:
    """A post of somebody that was flagged; ``text`` is "" once its words were erased."""

    case_id: str
    place: CommunityRef
    state: CaseState
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class OwnRole:
    """A role of somebody in a community, and the name under which they are known there."""

    place: CommunityRef
    role: Role
    name: str
    since: datetime


@dataclass(frozen=True, slots=True)
class PersonalData:
    """What is kept about a person on one platform; no other person is named in it.

    Attributes:
        posts: posts of theirs that were flagged, the newest first.
        flagged: how many posts they flagged.
        said_around: in the threads of how many other posts words of theirs are kept.
        decisions: how many lines of the audit log name them as who acted; these stay, under a pseudonym.
        notes: how many notes of theirs are kept.
    """

    platform: str
    roles: tuple[OwnRole, ...] = ()
    posts: tuple[OwnPost, ...] = ()
    flagged: int = 0
    said_around: int = 0
    decisions: int = 0
    notes: int = 0


async def log(session: Session, community_id: str, which: LogLines, before: int | None) -> LogPage:
    """A page of the log of a community, its cases and its exports, the newest line first."""
    query = (
        select(AuditRow, NoteRow.text)
        .outerjoin(NoteRow, (NoteRow.stream == AuditRow.stream) & (NoteRow.seq == AuditRow.seq))
        .where(_of(community_id, which))
        .order_by(AuditRow.id.desc())
        .limit(PAGE + 1)
    )
    if before is not None:
        query = query.where(AuditRow.id < before)
    rows = [(line, note) for line, note in await session.execute(query)]
    names = await names_of(session, community_id, {line.actor for line, _ in rows})
    cases = set(await session.scalars(select(CaseRow.id).where(CaseRow.id.in_({line.stream for line, _ in rows}))))
    lines = [
        LogLine(
            number=line.id,
            case_id=line.stream if line.stream in cases else "",
            version=line.seq,
            state=line.to_state,
            actor=line.actor,
            by=names.get(line.actor, ""),
            reason=await with_names(session, community_id, line.reason),
            note=note or "",
            at=line.at,
        )
        for line, note in rows[:PAGE]
    ]
    return LogPage(tuple(lines), lines[-1].number if len(rows) > PAGE else None)


def _of(community_id: str, which: LogLines) -> ColumnElement[bool]:
    cases = AuditRow.stream.in_(select(CaseRow.id).where(CaseRow.community_id == community_id))
    exports = AuditRow.reason.in_([f"exported {community_id}, {kind}" for kind in EXPORTED])
    own = or_(AuditRow.stream == community_id, exports)
    return {LogLines.ALL: or_(cases, own), LogLines.CASES: cases, LogLines.COMMUNITY: own}[which]


async def chains(session: Session, community_id: str, after: str, most: int) -> tuple[list[str], Sequence[Any]]:
    """The next cases of a community by their ids, at most so many, and all lines of their chains in order.

    Args:
        after: the last case before; "" begins with the community's own chain.
    """
    cases = select(CaseRow.id).where(CaseRow.community_id == community_id, CaseRow.id > after)
    case_ids = list(await session.scalars(cases.order_by(CaseRow.id).limit(most)))
    streams = case_ids if after else [community_id, *case_ids]
    lines = select(AuditRow.__table__).where(AuditRow.stream.in_(streams))
    rows = await session.execute(lines.order_by(AuditRow.stream, AuditRow.seq, AuditRow.id))
    return streams, rows.all()


async def kept(session: Session, platform: str, person: str) -> PersonalData:
    """What is kept about a person, by pseudonym, without what the words of others hold of theirs."""
    roles = (
        select(MembershipRow, CommunityRow.platform, CommunityRow.name)
        .join(CommunityRow, CommunityRow.id == MembershipRow.community_id)
        .where(MembershipRow.person_id == person)
        .order_by(MembershipRow.community_id, MembershipRow.role)
    )
    posts = select(CaseRow).where(CaseRow.author == person).order_by(CaseRow.created_at.desc(), CaseRow.id)
    notes = (
        select(func.count())
        .select_from(NoteRow)
        .join(AuditRow, (AuditRow.stream == NoteRow.stream) & (AuditRow.seq == NoteRow.seq))
    )
    return PersonalData(
        platform=platform,
        roles=tuple(
            OwnRole(CommunityRef(platform if where == EVERYWHERE else where, name), row.role, row.name, row.granted_at)
            for row, where, name in await session.execute(roles)
        ),
        posts=tuple(
            OwnPost(row.id, CommunityRef(row.platform, row.community), row.state, row.created_at, row.text)
            for row in await session.scalars(posts)
        ),
        flagged=await _count(session, select(func.count()).select_from(CaseRow).where(CaseRow.flagged_by == person)),
        decisions=await _count(session, select(func.count()).select_from(AuditRow).where(AuditRow.actor == person)),
        notes=await _count(session, notes.where(AuditRow.actor == person)),
    )


async def _count(session: Session, query: Any) -> int:
    return int(await session.scalar(query) or 0)


MOST: Final = 20
_FIRST: Final = sentence("approved first; another person must approve the same text")
_PSEUDONYM: Final = re.compile(r"\bp-[0-9a-f]{20}\b")


async def lately(session: Session, community_id: str) -> tuple[RecentDecision, ...]:
    """The newest decisions of people about cases of a community, undone ones included, newest first."""
    query = (
        select(AuditRow, CaseRow)
        .join(CaseRow, CaseRow.id == AuditRow.stream)
        .where(CaseRow.community_id == community_id, AuditRow.from_state.is_not(None), AuditRow.actor.startswith("p-"))
        .order_by(AuditRow.at.desc(), AuditRow.id.desc())
        .limit(MOST)
    )
    decisions: list[RecentDecision] = []
    rows = (await session.execute(query)).all()
    replies = await _replies(session, community_id, {case.id: case for _, case in rows})
    for line, case in rows:
        name, why = (
            await name_of(session, community_id, line.actor),
            await with_names(session, community_id, line.reason),
        )
        decisions.append(
            RecentDecision(
                case_id=case.id,
                post=case.ref,
                state=line.to_state or case.state,
                now=case.state,
                reason=why,
                by=name,
                at=line.at,
                reply=replies.get((case.id, line.at)) if line.to_state is CaseState.APPROVED else None,
            )
        )
    firsts = (
        select(FirstApprovalRow, CaseRow)
        .join(CaseRow, CaseRow.id == FirstApprovalRow.case_id)
        .where(CaseRow.community_id == community_id)
        .order_by(FirstApprovalRow.at.desc(), FirstApprovalRow.sha256)
        .limit(MOST)
    )
    for first, case in (await session.execute(firsts)).all():
        name = await name_of(session, community_id, first.moderator)
        decisions.append(RecentDecision(case.id, case.ref, CaseState.IN_REVIEW, case.state, _FIRST, name, first.at))
    newest = sorted(decisions, key=lambda decision: decision.at, reverse=True)[:MOST]
    said = await said_of(session, {one.case_id for one in newest})
    return tuple(_with_reading(one, said[one.case_id][0]) for one in newest)


async def _replies(
    session: Session, community_id: str, cases: Mapping[str, CaseRow]
) -> dict[tuple[str, datetime], ReplyNow]:
    """What became of the replies to some cases of a community, by the case and the moment of the approval."""
    became = await replies_in(session, community_id)
    query = (
        select(ApprovalRow, OutboxRow)
        .join(OutboxRow, OutboxRow.approval_id == ApprovalRow.id)
        .where(ApprovalRow.case_id.in_(sorted(cases)))
    )
    return {
        (approval.case_id, approval.approved_at): became(row, cases[approval.case_id].ref)
        for approval, row in await session.execute(query)
    }


def _with_reading(decision: RecentDecision, reading: Reading | None) -> RecentDecision:
    if reading is None:
        return decision
    return replace(decision, gist=gist_of(reading), group=reading.target_group, severity=reading.severity)


async def with_names(session: Session, community_id: str, reason: str) -> str:
    """A reason of the log, which holds no names, with the names of the people in it."""
    values = {who: await known_name(session, community_id, who) for who in set(_PSEUDONYM.findall(reason))}
    if not any(values.values()):
        return reason
    if isinstance(reason, Sentence):
        values_by_key = {key: values.get(str(value)) or value for key, value in reason.values.items()}
        return Sentence(reason.template, values_by_key)
    return _PSEUDONYM.sub(lambda match: values[match[0]] or match[0], reason)
