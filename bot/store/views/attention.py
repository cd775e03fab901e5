"""Which open cases a role is to be called to, and which approvers are to be told that their reply was not sent.

Owns the ``notices`` table: what was said about which case, so that nobody is called twice. Works inside the caller's
transaction and never commits.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, select, update

from bot.store.cases.cases import CARDLESS
from bot.store.engine.database import Session
from bot.store.engine.dialect import insert_new
from bot.store.people.people import member
from bot.store.schema import ApprovalRow, AuditRow, CaseRow, NoticeRow, ReviewCardRow
from core.i18n.sentences import sentence
from core.models import PostRef
from core.moderation.approval import CLOSED, CaseState

NOT_SENT: Final = "not sent"
"""The kind of the notices to approvers, beside those of ``core.moderation.community.notices.CallKind``."""
OUTCOME: Final = "outcome"
"""The kind of the notices to people who flagged."""
_FOR_PEOPLE: Final = frozenset({CaseState.IN_REVIEW, CaseState.NEEDS_PERSON, CaseState.UNKNOWN, CaseState.FAILED})
_ON_THE_WAY: Final = (CaseState.APPROVED, CaseState.SENDING, CaseState.UNKNOWN)
_NOT_SENT: Final = (
    CaseState.NEEDS_PERSON, CaseState.FAILED, CaseState.EXPIRED, CaseState.WITHDRAWN, CaseState.IN_REVIEW,
)  # fmt: skip
_BY_ANOTHER: Final = sentence("another moderator took the approval back")
_LATEST: Final = timedelta(days=1)
"""What is older is not said any more, as after an upgrade."""
_AT_ONCE: Final = 50


@dataclass(frozen=True, slots=True)
class Standing:
    """An open case whose card stands in a review channel; ``digest`` says what the card shows.

    ``waits_since`` is since when it waits for a person, ``None`` if it does not, or somebody holds it.
    """

    case_id: str
    community_id: str
    card: PostRef
    digest: str
    waits_since: datetime | None


@dataclass(frozen=True, slots=True)
class NotSent:
    """An approved reply that was not sent: who approved it, by the platform's id, and why it was not."""

    case_id: str
    community_id: str
    about: str
    user: str
    reason: str
    card: PostRef


async def standing(session: Session, community_ids: Collection[str]) -> list[Standing]:
    """The open cases of these communities that have a card, oldest first."""
    query = (
        select(CaseRow, ReviewCardRow)
        .join(ReviewCardRow, ReviewCardRow.case_id == CaseRow.id)
        .where(CaseRow.community_id.in_(sorted(community_ids)), CaseRow.state.not_in(CLOSED | CARDLESS))
        .order_by(CaseRow.created_at, CaseRow.id)
    )
    return [_standing(session, case, card) for case, card in await session.execute(query)]


def _standing(session: Session, case: CaseRow, card: ReviewCardRow) -> Standing:
    is_held = case.held_until is not None and case.held_until > session.moment
    waits_since = case.updated_at if case.state in _FOR_PEOPLE and not is_held else None
    return Standing(case.id, case.community_id, _place(case, card), card.digest, waits_since)


def _place(case: CaseRow, card: ReviewCardRow) -> PostRef:
    return PostRef(case.platform, case.community, card.channel, card.message)


async def not_sent(session: Session, platform: str) -> list[NotSent]:
    """Whom to tell that a reply which they approved was not sent; who took it back themselves knows."""
    query = (
        select(AuditRow, CaseRow, ReviewCardRow)
        .join(CaseRow, CaseRow.id == AuditRow.stream)
        .join(ReviewCardRow, ReviewCardRow.case_id == CaseRow.id)
        .where(AuditRow.from_state.in_(_ON_THE_WAY), AuditRow.to_state.in_(_NOT_SENT))
        .where(AuditRow.at > session.moment - _LATEST, CaseRow.platform == platform)
        .order_by(AuditRow.at, AuditRow.id)
    )
    found = list[NotSent]()
    rows = list(await session.execute(query))
    said = await _said(session, {case.id for _, case, _ in rows})
    for line, case, card in rows:
        for who in await _approvers(session, case.id, line.at):
            about = f"{line.seq}:{who}"
            if who == line.actor or (case.id, NOT_SENT, about) in said or len(found) >= _AT_ONCE:
                continue
            person = await member(session, case.community_id, platform, who)
            if person is not None:
                place = _place(case, card)
                reason = line.reason if line.to_state is not CaseState.IN_REVIEW else _BY_ANOTHER
                found.append(NotSent(case.id, case.community_id, about, person.user, reason, place))
    return found


async def _approvers(session: Session, case_id: str, at: datetime) -> Sequence[str]:
    query = (
        select(ApprovalRow)
        .where(ApprovalRow.case_id == case_id, ApprovalRow.approved_at <= at)
        .order_by(ApprovalRow.approved_at.desc(), ApprovalRow.id)
        .limit(1)
    )
    row = await session.scalar(query)
    return [] if row is None else [who for who in (row.moderator, row.seconded_by) if who]


async def _said(session: Session, case_ids: Collection[str]) -> set[tuple[str, str, str]]:
    query = select(NoticeRow.case_id, NoticeRow.kind, NoticeRow.about).where(
        NoticeRow.case_id.in_(sorted(case_ids)), NoticeRow.said_at.is_not(None)
    )
    return {(case_id, kind, about) for case_id, kind, about in await session.execute(query)}


async def calls_said(session: Session, case_ids: Collection[str]) -> set[tuple[str, str]]:
    """To which of these cases a role was called, and why."""
    return {(case_id, kind) for case_id, kind, _ in await _said(session, case_ids)}


async def is_said(session: Session, case_id: str, kind: str, about: str) -> bool:
    """Whether a notice was given, or given up."""
    return (case_id, kind, about) in await _said(session, [case_id])


async def claim(session: Session, case_id: str, kind: str, about: str, again_within: timedelta) -> bool:
    """Say that a notice is about to be given; ``False`` if it was, or may have been too long ago to be tried again."""
    key = {"case_id": case_id, "kind": kind, "about": about}
    if await insert_new(session, NoticeRow, {**key, "begun_at": session.moment, "said_at": None}, *key):
        return True
    row = await session.get_one(NoticeRow, (case_id, kind, about), populate_existing=True)
    if row.said_at is None and row.begun_at > session.moment - again_within:
        return True
    row.said_at = row.said_at or row.begun_at  # given up: it may have been said
    await session.flush()
    return False


async def was_said(session: Session, case_id: str, kind: str, about: str) -> None:
    """Store that a notice was given."""
    done = update(NoticeRow).filter_by(case_id=case_id, kind=kind, about=about).values(said_at=session.moment)
    await session.execute(done, execution_options={"synchronize_session": False})


async def was_not_said(session: Session, case_id: str, kind: str, about: str) -> None:
    """Store that a notice was certainly not given, so that it can be given later."""
    await session.execute(delete(NoticeRow).filter_by(case_id=case_id, kind=kind, about=about))
