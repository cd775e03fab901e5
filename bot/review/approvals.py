"""The approval of a text: by one person, or by two.

Owns what an approval must satisfy, and that a second person approves the same bytes where the rules ask for two. Must
never post anything: an approval only puts a reply into the outbox.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from bot.communities.native_roles import LiveRoles
from bot.review.guard import decider
from bot.review.queries import rendered_in
from bot.store.cases import approvals, holds, suggestions
from bot.store.cases import cases as store
from bot.store.cases.approvals import First, Origin
from bot.store.cases.cases import Case
from bot.store.cases.documents import suggestion_from_json
from bot.store.cases.proposals import keep_proposal, proposal_with
from bot.store.cases.sending import require_settled
from bot.store.cases.suggestions import StoredSuggestion
from bot.store.engine.database import Database, Session
from bot.store.people import communities
from bot.store.people.communities import Community
from bot.store.people.people import member
from bot.store.schema import SuggestionRow
from core.errors import BadInput, NotAllowed
from core.i18n.sentences import sentence
from core.moderation.approval import ApprovedReply, CaseState, approve, check_answerable
from core.moderation.roles import OnCase, Person
from core.moderation.two_person_rule import why_two
from core.scoring.edits import check_edit
from core.wording.final_text import check_sendable


@dataclass(frozen=True, slots=True)
class Proposal:
    """One exact text that a person approves for one version of a case, and the draft that it comes from, if any."""

    case_id: str
    version: int
    text: str
    shown_sha256: str
    suggestion_id: str | None
    draft_rank: int | None


@dataclass(frozen=True, slots=True)
class AwaitsSecond:
    """A first approval was kept. Nothing is posted unless another person approves the same bytes, at this version.

    ``because`` says why, in sentences; after ``until`` it holds no more.
    """

    case_id: str
    sha256: str
    because: tuple[str, ...]
    until: datetime


@dataclass(frozen=True, slots=True)
class _Seen:
    """What an approval is held against, read before its transaction: at one version of a case it cannot change."""

    community: Community
    footer: str
    stored: StoredSuggestion | None
    draft: str | None
    first_persons: tuple[Person, ...]


class Approving:
    """Approvals over one database.

    Args:
        undo_seconds: how long an approved reply waits before it is sent.
        approval_hours: how long an approval, or the first of two, holds.
    """

    def __init__(
        self, database: Database, live_roles: LiveRoles, *, undo_seconds: float, approval_hours: float
    ) -> None:
        self._database = database
        self._live_roles = live_roles
        self._undo_for = timedelta(seconds=undo_seconds)
        self._holds_for = timedelta(hours=approval_hours)

    async def approve(self, proposal: Proposal, by: Person) -> ApprovedReply | AwaitsSecond:
        """Approve a text; ``bot.review.decisions.Desk.approve`` says what is raised."""
        seen = await self._database.run("read what is approved", lambda session: _seen(session, proposal))
        check_sendable(proposal.text, () if seen.stored is None else seen.stored.suggestion.evidence)
        for person in (by, *seen.first_persons):
            await self._live_roles.refresh(seen.community, person)
        reasons = await asyncio.to_thread(_why_two, proposal.text, seen)
        return await self._database.run("approve", lambda session: self._keep(session, proposal, by, seen, reasons))

    async def _keep(
        self, session: Session, proposal: Proposal, by: Person, seen: _Seen, reasons: tuple[str, ...]
    ) -> ApprovedReply | AwaitsSecond:
        case, who = await decider(session, proposal.case_id, proposal.version, by, OnCase.APPROVE, CaseState.IN_REVIEW)
        check_answerable(case.post)
        await require_settled(session, case.id)
        community = await communities.load(session, case.community_id)
        footer = (await rendered_in(session, case, "", seen.stored)).footer
        if footer != seen.footer or not proposal.text.endswith(footer):
            raise NotAllowed(
                sentence("The text lacks the sentence that discloses Antiphon."), remedy=sentence("Render it again.")
            )
        if not proposal.text.removesuffix(footer).strip():
            raise NotAllowed(
                sentence("An empty reply cannot be approved."), remedy=sentence("Write a text, or decline.")
            )
        first = await _first(session, case, proposal, who) if reasons else None
        reply = approve(
            approval_id=uuid4().hex,
            in_reply_to=case.post.ref,
            text=proposal.text,
            shown_sha256=proposal.shown_sha256,
            moderator=who if first is None else first.moderator,
            at=session.moment,
        )
        if reasons and first is None:
            until = reply.approved_at + self._holds_for
            own = First(who, reply.sha256, community.rules_version, reply.approved_at, until)
            await _keep_text(session, case, own, proposal, footer)
            return await self._wait(session, case, own, reasons)
        reason = "approved" if first is None else f"approved, as the second person after {first.moderator}"
        await store.transition(session, case.id, case.version, CaseState.APPROVED, actor=who, reason=reason)
        await holds.end(session, case)
        is_edited = seen.draft is None or proposal.text != seen.draft + footer
        await approvals.keep(
            session,
            case,
            community,
            reply,
            footer,
            Origin(proposal.suggestion_id, proposal.draft_rank, is_edited),
            seconded_by=None if first is None else who,
            holds_for=self._holds_for,
            undo_for=self._undo_for,
        )
        return reply

    async def _wait(self, session: Session, case: Case, first: First, reasons: tuple[str, ...]) -> AwaitsSecond:
        """Keep a first approval, and let somebody else take the case."""
        await approvals.keep_first(session, case, first)
        await holds.end(session, case)
        return AwaitsSecond(case.id, first.sha256, reasons, first.until)


async def _first(session: Session, case: Case, proposal: Proposal, who: str) -> First | None:
    """Another person's approval of the same bytes, which still counts."""
    found = await approvals.counting(session, case)
    return next((one for one in found if one.sha256 == proposal.shown_sha256 and one.moderator != who), None)


async def _keep_text(session: Session, case: Case, first: First, proposal: Proposal, footer: str) -> None:
    """Let the second person read what the first one approved, where it was approved without being proposed."""
    if await proposal_with(session, case, first.sha256) is None:
        await keep_proposal(
            session,
            case,
            first.moderator,
            proposal.text.removesuffix(footer),
            first.sha256,
            suggestion_id=proposal.suggestion_id,
            draft_rank=proposal.draft_rank,
        )


async def _seen(session: Session, proposal: Proposal) -> _Seen:
    case = await store.load(session, proposal.case_id)
    community = await communities.load(session, case.community_id)
    stored = await suggestions.latest_suggestion(session, case.id)
    draft = await _draft_text(session, case.id, proposal.suggestion_id, proposal.draft_rank)
    footer = (await rendered_in(session, case, "", stored)).footer
    found = await approvals.firsts(session, case)
    members = [await member(session, community.id, community.platform, first.moderator) for first in found]
    return _Seen(community, footer, stored, draft, tuple(person for person in members if person is not None))


def _why_two(text: str, seen: _Seen) -> tuple[str, ...]:
    """Why one person is not enough: of what would be posted, all but the sentence that discloses Antiphon."""
    if seen.stored is None:
        return ("Nothing is known of this post.",)
    reply, suggestion = text.removesuffix(seen.footer), seen.stored.suggestion
    return why_two(suggestion, check_edit(reply, suggestion))


async def _draft_text(session: Session, case_id: str, suggestion_id: str | None, rank: int | None) -> str | None:
    """The text of the draft that an approval names, or ``None`` if it names none."""
    if suggestion_id is None and rank is None:
        return None
    row = None if suggestion_id is None else await session.get(SuggestionRow, suggestion_id)
    if row is not None and row.case_id == case_id:
        for draft in suggestion_from_json(row.document).drafts:
            if draft.rank == rank:
                return draft.text
    raise BadInput(
        f"The case has no draft of rank {rank} in that suggestion.",
        remedy="Give the suggestion's id and the draft's rank together, or neither for a text of your own.",
    )
