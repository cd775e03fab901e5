"""Calls people to cases that need them, and tells approvers what was not sent, and flaggers what became of a post.

A role is called once for each case and kind, and not in a community's quiet hours. The notifier is called outside of
any transaction. One process does it for each platform.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, select, update

from core.desk.database.connection import Database, Session, insert_new
from core.desk.rules.approval import CLOSED, CaseState
from core.desk.rules.case_cards import Card
from core.desk.rules.platforms import Notice, Notifier
from core.desk.rules.policy import CallKind, CommunityPolicy, is_quiet
from core.desk.runtime.lease import pause
from core.desk.runtime.logs import about
from core.desk.schema import ApprovalRow, AuditRow, CaseRow, NoticeRow, ReviewCardRow
from core.desk.store import communities, flaggers
from core.desk.store.audit import newest_actor
from core.desk.store.cases import CARDLESS
from core.desk.store.leadership import Office
from core.desk.store.people import member
from core.desk.views.cards import build
from core.errors import Conflict, PlatformUnavailable, StoreUnavailable
from core.i18n.sentences import sentence
from core.models import Action, PostRef

NOT_SENT: Final = "not sent"
"""The kind of the notices to approvers, beside those of ``core.desk.rules.policy.CallKind``."""
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


def _place(case: CaseRow, card: ReviewCardRow) -> PostRef:
    return PostRef(case.platform, case.community, card.channel, card.message)


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
    """What was said of these cases: the case, the kind of the notice, and what it was about."""
    query = select(NoticeRow.case_id, NoticeRow.kind, NoticeRow.about).where(
        NoticeRow.case_id.in_(sorted(case_ids)), NoticeRow.said_at.is_not(None)
    )
    return {(case_id, kind, about) for case_id, kind, about in await session.execute(query)}


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
    key = {"case_id": case_id, "kind": kind, "about": about}
    await session.execute(update(NoticeRow).filter_by(**key).values(said_at=session.moment))


async def was_not_said(session: Session, case_id: str, kind: str, about: str) -> None:
    """Store that a notice was certainly not given, so that it can be given later."""
    await session.execute(delete(NoticeRow).filter_by(case_id=case_id, kind=kind, about=about))


_LOG = logging.getLogger(__name__)
_MOST_READ: Final = 20
"""How many cards one look builds; on SQLite everybody else waits for it."""
_REST: Final = timedelta(minutes=5)
_KEY_HOLDS: Final = timedelta(seconds=60)
"""How long a notice of unknown fate is tried again under its key; well below what platforms remember."""


@dataclass(frozen=True, slots=True)
class _Due:
    """A notice to give, and what the database calls it; ``give`` makes one call of the notifier."""

    notice: Notice
    community_id: str
    kind: str
    about: str
    give: Callable[[], Awaitable[None]]


_LEASE: Final = timedelta(seconds=60)
_CALL_SECONDS: Final = 20.0
"""How long one call of the notifier may take; well below the lease."""


class Notices:
    """Calls and tells the people of one platform's communities.

    Args:
        platform: the ``PostRef.platform`` whose cases are looked at.
        owner: names this process among all.
    """

    def __init__(
        self,
        database: Database,
        notifier: Notifier,
        platform: str,
        owner: str,
        *,
        poll_seconds: float = 5.0,
    ) -> None:
        self._database = database
        self._notifier = notifier
        self._platform = platform
        self._office = Office(database, f"attention: {platform}", owner, _LEASE)
        self._poll_seconds = poll_seconds
        self._read: dict[str, tuple[str, frozenset[CallKind]]] = {}
        self._rests: dict[str, datetime] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """Look again and again until ``stop`` is set; then give the office back."""
        try:
            while not stop.is_set():
                try:
                    await self.step()
                except (StoreUnavailable, Conflict) as err:
                    _LOG.warning("calls wait for the database: %s", err)
                await pause(stop, self._poll_seconds)
        finally:
            await self._office.resign()

    async def step(self) -> int:
        """Give every notice that is due; returns how many were given.

        Raises:
            StoreUnavailable: the database does not answer; a later step catches up.
        """
        due = await self._database.run("look who is to be called", self._look)
        count = 0
        for item in due:
            with about(case=item.notice.case_id):
                count += await self._give(item)
        return count

    async def _look(self, session: Session) -> list[_Due]:
        if not await self._office.is_held(session):
            self._read.clear()
            return []
        self._rests = {own: until for own, until in self._rests.items() if until > session.moment}
        rows = await communities.all_communities(session)
        all_policies = {
            own.id: _policy(own) for own in rows if own.platform == self._platform and own.id not in self._rests
        }
        policies = {own: policy for own, policy in all_policies.items() if policy is not None and policy.review_channel}
        return [
            *await self._calls(session, policies),
            *await self._not_sent(session, policies),
            *await self._outcomes(session, all_policies),
        ]

    async def _calls(self, session: Session, policies: dict[str, CommunityPolicy]) -> list[_Due]:
        """The calls to open cases with a card that are due, oldest first; in quiet hours they wait until those end."""
        communities_that_call = sorted(own for own, policy in policies.items() if policy.calls)
        query = (
            select(CaseRow, ReviewCardRow)
            .join(ReviewCardRow, ReviewCardRow.case_id == CaseRow.id)
            .where(CaseRow.community_id.in_(communities_that_call), CaseRow.state.not_in(CLOSED | CARDLESS))
            .order_by(CaseRow.created_at, CaseRow.id)
        )
        cases = [(case, card) for case, card in await session.execute(query)]
        said = await _said(session, [case.id for case, _ in cases])
        await self._read_anew(session, {case.id: card.digest for case, card in cases})
        due = list[_Due]()
        for case, card in cases:
            policy = policies[case.community_id]
            for kind, role in policy.calls.items():
                if (case.id, kind, "") not in said and self._needs(case, kind, policy, session.moment):
                    due.append(self._call(case, _place(case, card), kind, role, policy.language))
        return due

    def _call(self, case: CaseRow, card: PostRef, kind: CallKind, role: str, language: str | None) -> _Due:
        notice = Notice(f"{case.id}:{kind}", case.id, case.community, card, kind, language=language)
        return _Due(notice, case.community_id, kind, "", lambda: self._notifier.call(notice, role))

    def _needs(self, case: CaseRow, kind: CallKind, policy: CommunityPolicy, moment: datetime) -> bool:
        is_let_through = kind is CallKind.THREAT and policy.threats_in_quiet_hours
        if not is_let_through and is_quiet(policy.quiet_hours, policy.time_zone, moment):
            return False
        if kind is CallKind.WAITING:
            is_held = case.held_until is not None and case.held_until > moment
            patience = timedelta(minutes=policy.waiting_minutes)
            return case.state in _FOR_PEOPLE and not is_held and case.updated_at <= moment - patience
        return kind in self._read.get(case.id, ("", frozenset[CallKind]()))[1]

    async def _read_anew(self, session: Session, digests: Mapping[str, str]) -> None:
        """Read the cards that show something else than at the last look, the oldest first, and forget closed cases."""
        self._read = {case_id: card for case_id, card in self._read.items() if case_id in digests}
        changed = [own for own, digest in digests.items() if self._read.get(own, ("?", None))[0] != digest]
        for case_id in changed[:_MOST_READ]:
            self._read[case_id] = digests[case_id], _kinds(await build(session, case_id))

    async def _not_sent(self, session: Session, policies: dict[str, CommunityPolicy]) -> list[_Due]:
        """Whom to tell that a reply which they approved was not sent; a person who took it back themselves knows."""
        query = (
            select(AuditRow, CaseRow, ReviewCardRow)
            .join(CaseRow, CaseRow.id == AuditRow.stream)
            .join(ReviewCardRow, ReviewCardRow.case_id == CaseRow.id)
            .where(AuditRow.from_state.in_(_ON_THE_WAY), AuditRow.to_state.in_(_NOT_SENT))
            .where(AuditRow.at > session.moment - _LATEST, CaseRow.community_id.in_(sorted(policies)))
            .order_by(AuditRow.at, AuditRow.id)
        )
        rows = list(await session.execute(query))
        said = await _said(session, {case.id for _, case, _ in rows})
        due = list[_Due]()
        for line, case, card in rows:
            for who in await _approvers(session, case.id, line.at):
                about = f"{line.seq}:{who}"
                if who == line.actor or (case.id, NOT_SENT, about) in said or len(due) >= _AT_ONCE:
                    continue
                person = await member(session, case.community_id, self._platform, who)
                if person is not None:
                    reason = line.reason if line.to_state is not CaseState.IN_REVIEW else _BY_ANOTHER
                    key, language = f"{case.id}:{about}", policies[case.community_id].language
                    place = _place(case, card)
                    notice = Notice(key, case.id, case.community, place, reason=reason, language=language)
                    due.append(self._tell(notice, case.community_id, NOT_SENT, about, person.user))
        return due

    def _tell(self, notice: Notice, community_id: str, kind: str, about: str, user: str) -> _Due:
        return _Due(notice, community_id, kind, about, lambda: self._notifier.tell(notice, user))

    async def _outcomes(self, session: Session, policies: Mapping[str, CommunityPolicy | None]) -> list[_Due]:
        """What people who flagged posts are told; one who decided the case, or was told, is not told again."""
        due = list[_Due]()
        for flagger in await flaggers.to_tell(session, self._platform):
            policy, about = policies.get(flagger.community_id), flagger.person_id
            if policy is None:
                continue
            is_over = (flagger.case_id, OUTCOME, about) in await _said(session, [flagger.case_id])
            if is_over or not policy.tells_flaggers or await newest_actor(session, flagger.case_id) == about:
                await flaggers.forget(session, flagger.case_id, about)
                continue
            key, place = f"{flagger.case_id}:{about}", flagger.post
            notice = Notice(
                key, flagger.case_id, place.community, place, outcome=flagger.state, language=policy.language
            )
            due.append(self._tell(notice, flagger.community_id, OUTCOME, about, flagger.user))
        return due

    async def _give(self, due: _Due) -> bool:
        """Give one notice, and store that it was given. A notice that certainly failed is tried again after a rest."""
        case_id, kind, about = due.notice.case_id, due.kind, due.about
        if due.community_id in self._rests:
            return False
        begun = await self._database.run("begin a notice", lambda s: claim(s, case_id, kind, about, _KEY_HOLDS))
        if not begun:
            return False
        try:
            async with asyncio.timeout(_CALL_SECONDS):
                await due.give()
        except PlatformUnavailable as err:
            _LOG.warning("nobody could be called on %s: %s", self._platform, err.message)
            await self._database.run("take a notice back", lambda s: was_not_said(s, case_id, kind, about))
            await self._leave(due.community_id)
            return False
        except Exception as err:  # it may have been said: tried again under its key, and then given up
            _LOG.warning("nobody knows whether people were called on %s: %s", self._platform, type(err).__name__)
            return False
        await self._database.run("keep a notice", lambda s: was_said(s, case_id, kind, about))
        return True

    async def _leave(self, community: str) -> None:
        async def moment(session: Session) -> datetime:
            return session.moment

        self._rests[community] = await self._database.run("read the clock", moment) + _REST


def _policy(community: communities.Community) -> CommunityPolicy | None:
    """The policy of a community; ``None`` if another version of Antiphon set it."""
    try:
        return communities.policy_of(community)
    except StoreUnavailable:
        return None


def _kinds(card: Card) -> frozenset[CallKind]:
    """What a card says of the help that its case needs."""
    kinds = set[CallKind]()
    if card.advice is Action.REPORT:
        kinds.add(CallKind.THREAT)
    if card.first_approvals:
        kinds.add(CallKind.SECOND)
    return frozenset(kinds)
