"""The approval of a text: by one person, or by two.

Where the rules ask for two, the second person approves the same bytes. Nothing is posted here: an approval only puts a
reply into the outbox.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database, Session
from core.desk.review.decisions import decider, wrote_post
from core.desk.review.proposals import ReplyChecks, kept_proposal, require_shown
from core.desk.review.queries import said_of, why_two_of
from core.desk.rules.approval import ApprovedReply, CaseState, approve, check_answerable
from core.desk.rules.roles import OnCase, Person
from core.desk.runtime import metrics
from core.desk.schema import ProposalRow
from core.desk.store import accounts, approvals, communities, finds, holds, suggestions
from core.desk.store import cases as store
from core.desk.store.approvals import ApprovalOrigin, First
from core.desk.store.cases import Case
from core.desk.store.communities import Community
from core.desk.store.outbox import require_settled
from core.desk.store.people import member
from core.desk.store.suggestions import StoredSuggestion
from core.engine.scoring.check import CheckedEdit, check_edit
from core.i18n.sentences import sentence
from core.models import FlaggedPost, Suggestion


@dataclass(frozen=True, slots=True)
class CompleteApproval:
    """An approval that holds: ``reply`` is sent once the undo window is over. ``flagged_at``: when the case began."""

    case_id: str
    reply: ApprovedReply
    flagged_at: datetime


@dataclass(frozen=True, slots=True)
class AwaitsSecond:
    """A first approval was kept. Nothing is posted unless another person approves the same bytes, at this version.

    ``because`` says why, in sentences; after ``until`` the first approval no longer counts.
    """

    case_id: str
    sha256: str
    because: tuple[str, ...]
    until: datetime


@dataclass(frozen=True, slots=True)
class _Basis:
    """What an approval is checked against, read before its transaction: it cannot change within one version of a case.

    ``people`` are those who already approved a text of this version.
    """

    proposal: ProposalRow
    community: Community
    stored: StoredSuggestion | None
    people: tuple[Person, ...]
    post: FlaggedPost


_Checked = tuple[Suggestion, CheckedEdit]
"""What was said of the post, and the reply held against it."""


class Approvals:
    """Approvals over one database.

    Each takes three transactions. The first reads what is approved, the second stores the roles that everybody who
    approves it has on the platform at this moment, and the third makes the approval. Nobody learns anything about a
    case before the third, which first checks that the person may approve.

    Args:
        checks: what desk and platform say against a reply.
        undo_seconds: how long an approved reply waits before it is sent.
        hearing_seconds: by platform, how long it may take until what a person wrote there is heard: an undo counts from
            when it was written.
        approval_hours: how long an approval, or the first of two, holds.
    """

    def __init__(
        self,
        database: Database,
        live_roles: LiveRoles,
        checks: ReplyChecks,
        *,
        undo_seconds: float,
        approval_hours: float,
        hearing_seconds: Mapping[str, float] | None = None,
    ) -> None:
        self._database = database
        self._live_roles = live_roles
        self._checks = checks
        self._hearing = {name: timedelta(seconds=seconds) for name, seconds in (hearing_seconds or {}).items()}
        self._undo_for = timedelta(seconds=undo_seconds)
        self._holds_for = timedelta(hours=approval_hours)

    async def approve(self, proposal_id: str, by: Person) -> CompleteApproval | AwaitsSecond:
        """Approve what ``Proposals.propose`` kept and this person was shown, byte for byte.

        It is sent after ``undo_seconds``, unless undone. Where the rules ask for two persons, the first approval is
        kept and the case stays in review; it is approved when another person approves the same bytes at the same
        version.

        Raises:
            Conflict: the text is no longer kept, the case has changed since, or its community adds another sentence,
                or another quote, now.
            BadInput: the text may not be posted: it links to no source of the case, or breaks a rule of the community.
            TextRefused: its platform never takes it.
            PlaceClosed: nothing can be posted where its post stands.
            NotAllowed: somebody else was shown it, the person may not approve here, a reply would certainly not be
                sent (``core.desk.sending.checks``), or nobody knows yet whether an earlier reply was posted.
            PlatformUnavailable: the platform cannot say whether the person is a moderator.
        """
        basis = await self._database.run("read what was proposed", lambda session: _basis(session, proposal_id))
        await self._live_roles.refresh(basis.community, (by, *basis.people))
        checked = await asyncio.to_thread(_checked, basis)
        outcome = await self._database.run("approve", lambda session: self._keep(session, basis, by, checked))
        if isinstance(outcome, CompleteApproval):
            waited = outcome.reply.approved_at - outcome.flagged_at
            metrics.FLAG_TO_DECISION.labels("approved").observe(waited.total_seconds())
        return outcome

    async def _keep(
        self, session: Session, basis: _Basis, by: Person, checked: _Checked
    ) -> CompleteApproval | AwaitsSecond:
        proposal = await kept_proposal(session, basis.proposal.id)
        case, who = await decider(session, proposal.case_id, proposal.version, by, OnCase.APPROVE, CaseState.IN_REVIEW)
        rendered = await require_shown(session, case, proposal, who)
        check_answerable(case.post)
        await require_settled(session, case.id)
        await self._checks.check_text(session, case, rendered, basis.stored)
        waits = await self._checks.waits(session, case)
        suggestion, edit = checked
        is_known = basis.stored is not None
        reasons = why_two_of(suggestion, edit, is_known=is_known, wrote_post=await wrote_post(session, case, by))
        community = await communities.load(session, case.community_id)
        first = await _first(session, case, proposal, by) if reasons else None
        reply = approve(
            approval_id=uuid4().hex,
            in_reply_to=case.post.ref,
            text=rendered.text,
            shown_sha256=proposal.sha256,
            moderator=who if first is None else first.moderator,
            at=session.moment,
            quote=rendered.quote,
        )
        if reasons and first is None:
            until = reply.approved_at + self._holds_for
            own = First(who, reply.sha256, community.rules_version, reply.approved_at, until)
            return await self._wait(session, case, own, reasons)
        reason = sentence("approved")
        if first is not None:
            reason = sentence("approved, as the second person after {name}", name=first.moderator)
        await store.transition(session, case.id, case.version, CaseState.APPROVED, actor=who, reason=reason)
        await holds.end(session, case)
        await finds.label(session, case, True)
        await approvals.keep(
            session,
            case,
            community,
            reply,
            rendered.footer,
            ApprovalOrigin(proposal.suggestion_id, proposal.draft_rank, _is_edited(basis)),
            seconded_by=None if first is None else who,
            holds_for=self._holds_for,
            undo_for=self._undo_for + self._hearing.get(case.post.ref.platform, timedelta()),
            waits_because="" if waits is None else waits.reason,
            waits_until=None if waits is None else waits.until,
        )
        return CompleteApproval(case.id, reply, case.created_at)

    async def _wait(self, session: Session, case: Case, first: First, reasons: tuple[str, ...]) -> AwaitsSecond:
        """Keep a first approval, and leave the case open to somebody else."""
        await approvals.keep_first(session, case, first)
        await holds.end(session, case)
        return AwaitsSecond(case.id, first.sha256, reasons, first.until)


async def _first(session: Session, case: Case, proposal: ProposalRow, by: Person) -> First | None:
    """Another person's approval of the same bytes, which still counts."""
    firsts, own = await approvals.counting(session, case), await accounts.selves(session, by)
    return next((first for first in firsts if first.sha256 == proposal.sha256 and first.moderator not in own), None)


async def _basis(session: Session, proposal_id: str) -> _Basis:
    proposal = await kept_proposal(session, proposal_id)
    case = await store.load(session, proposal.case_id)
    community = await communities.load(session, case.community_id)
    firsts = await approvals.firsts(session, case)
    members = [await member(session, community.id, community.platform, first.moderator) for first in firsts]
    people = tuple(person for person in members if person is not None)
    return _Basis(proposal, community, await suggestions.latest_suggestion(session, case.id), people, case.post)


def _checked(basis: _Basis) -> _Checked:
    """What would be posted, held against the evidence, leaving out the sentence that discloses Antiphon."""
    suggestion = said_of(basis.stored, basis.post)
    return suggestion, CheckedEdit(check_edit(basis.proposal.text.strip(), suggestion))


def _is_edited(basis: _Basis) -> bool:
    """Whether the text is another one than the draft that it began as; so it is where it began as none."""
    drafts = () if basis.stored is None else basis.stored.suggestion.drafts
    began = next((draft.text for draft in drafts if draft.rank == basis.proposal.draft_rank), None)
    return basis.proposal.text.strip() != began
