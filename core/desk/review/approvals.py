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
from core.desk.review.queries import rendered_in, said_of, why_two_of
from core.desk.rules.approval import ApprovedReply, CaseState, approve, check_answerable
from core.desk.rules.input_checks import check_text
from core.desk.rules.policy import PublicText
from core.desk.rules.roles import OnCase, Person
from core.desk.runtime import metrics
from core.desk.schema import SuggestionRow
from core.desk.store import accounts, approvals, communities, finds, holds, suggestions
from core.desk.store import cases as store
from core.desk.store.approvals import ApprovalOrigin, First
from core.desk.store.cases import Case
from core.desk.store.communities import Community
from core.desk.store.outbox import require_settled
from core.desk.store.people import member
from core.desk.store.proposals import Proposal, keep_proposal, proposal_with
from core.desk.store.suggestion_documents import suggestion_from_json
from core.desk.store.suggestions import StoredSuggestion
from core.engine.scoring.edits import CheckedEdit, check_edit
from core.errors import BadInput, Conflict, NotAllowed
from core.i18n.sentences import sentence
from core.models import FlaggedPost, Suggestion


@dataclass(frozen=True, slots=True)
class _Exact:
    """One exact text that a person approves for one version of a case, and the draft that it comes from, if any.

    ``kept`` is the proposal by which the person was shown it, on a platform.
    """

    case_id: str
    version: int
    text: str
    shown_sha256: str
    suggestion_id: str | None
    draft_rank: int | None
    kept: Proposal | None = None


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

    ``quote`` stands above the text, as the person was shown it; ``people`` are those who already approved a text of
    this version.
    """

    exact: _Exact
    community: Community
    footer: str
    quote: str
    stored: StoredSuggestion | None
    people: tuple[Person, ...]
    post: FlaggedPost

    @property
    def rendered(self) -> PublicText:
        """What would be posted."""
        return PublicText(self.exact.text, self.footer, self.exact.shown_sha256, self.quote)


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

    async def approve_shown(self, proposal_id: str, by: Person) -> CompleteApproval | AwaitsSecond:
        """Approve what ``Proposals.propose`` kept and this person was shown, byte for byte; raises as ``approve`` does.

        Raises:
            Conflict: it is no longer kept, the case has changed since, or its community adds another sentence, or
                another quote, now.
            NotAllowed: somebody else was shown it.
        """

        async def read(session: Session) -> _Basis:
            proposal = await kept_proposal(session, proposal_id)
            case = await store.load(session, proposal.case_id)
            stored = await suggestions.latest_suggestion(session, case.id)
            text = (await rendered_in(session, case, proposal.text, stored)).text
            origin = proposal.suggestion_id, proposal.draft_rank
            return await _basis(session, _Exact(case.id, proposal.version, text, proposal.sha256, *origin, proposal))

        return await self._decide(await self._database.run("read what was proposed", read), by)

    async def approve(
        self,
        case_id: str,
        version: int,
        text: str,
        shown_sha256: str,
        by: Person,
        *,
        suggestion_id: str | None = None,
        draft_rank: int | None = None,
    ) -> CompleteApproval | AwaitsSecond:
        """Approve one exact text; it will be sent after ``undo_seconds``, unless undone.

        Where the rules ask for two persons (``CaseQueries.checked`` says so beforehand), the first approval is kept and
        the case stays in review; it is approved when another person approves the same bytes at the same version.

        Args:
            case_id: the case, which must be in review.
            version: the case's version that the moderator saw.
            text: the bytes that will be posted, whole (``PublicText.text``).
            shown_sha256: the hash of the text that the moderator saw (``PublicText.sha256``).
            by: who approves; recorded with the reply. The platform is asked for their role at this moment.
            suggestion_id: with ``draft_rank``, the draft that the text comes from; give neither for a text of one's
                own.
            draft_rank: the draft's rank, from 1.

        Raises:
            BadInput: the text may not be posted: it holds hidden characters, or links to no source of the case.
            TextRefused: its platform never takes it.
            PlaceClosed: nothing can be posted where its post stands.
            NotAllowed: a reply would certainly not be sent (``core.desk.sending.checks``), the person may not approve
            here,
                the text lacks what discloses Antiphon or is not the one that was shown, or nobody knows yet whether an
                earlier reply was posted.
            PlatformUnavailable: the platform cannot say whether the person is a moderator.
        """
        check_text(text)
        exact = _Exact(case_id, version, text, shown_sha256, suggestion_id, draft_rank)
        basis = await self._database.run("read what is approved", lambda session: _basis(session, exact))
        return await self._decide(basis, by)

    async def _decide(self, basis: _Basis, by: Person) -> CompleteApproval | AwaitsSecond:
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
        case, who = await _approver(session, basis, by)
        exact, footer = basis.exact, basis.footer
        await self._checks.check_text(session, case, basis.rendered, basis.stored)
        waits = await self._checks.waits(session, case)
        suggestion, edit = checked
        is_known = basis.stored is not None
        reasons = why_two_of(suggestion, edit, is_known=is_known, wrote_post=await wrote_post(session, case, by))
        draft = await _draft_text(session, case.id, exact.suggestion_id, exact.draft_rank)
        community = await communities.load(session, case.community_id)
        if community.rules_version != basis.community.rules_version:
            raise Conflict(
                sentence("The rules of the community were changed after you were shown this text."),
                remedy=store.LOOK_AGAIN,
            )
        first = await _first(session, case, exact, by) if reasons else None
        reply = approve(
            approval_id=uuid4().hex,
            in_reply_to=case.post.ref,
            text=exact.text,
            shown_sha256=exact.shown_sha256,
            moderator=who if first is None else first.moderator,
            at=session.moment,
            quote=basis.quote,
        )
        if reasons and first is None:
            until = reply.approved_at + self._holds_for
            own = First(who, reply.sha256, community.rules_version, reply.approved_at, until)
            await _keep_text(session, case, own, basis)
            return await self._wait(session, case, own, reasons)
        reason = sentence("approved")
        if first is not None:
            reason = sentence("approved, as the second person after {name}", name=first.moderator)
        await store.transition(session, case.id, case.version, CaseState.APPROVED, actor=who, reason=reason)
        await holds.end(session, case)
        await finds.label(session, case, True)
        is_edited = draft is None or exact.text != draft + footer
        await approvals.keep(
            session,
            case,
            community,
            reply,
            footer,
            ApprovalOrigin(exact.suggestion_id, exact.draft_rank, is_edited),
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


async def _approver(session: Session, basis: _Basis, by: Person) -> tuple[Case, str]:
    """The case, locked, and the approver's pseudonym; raises whatever speaks against approving exactly this text."""
    exact = basis.exact
    if exact.kept is not None:
        await require_shown(session, await kept_proposal(session, exact.kept.id), by)
    case, who = await decider(session, exact.case_id, exact.version, by, OnCase.APPROVE, CaseState.IN_REVIEW)
    check_answerable(case.post)
    await require_settled(session, case.id)
    footer = (await rendered_in(session, case, "", basis.stored)).footer
    if footer != basis.footer or not exact.text.endswith(footer):
        raise NotAllowed(
            sentence("The text lacks the sentence that discloses Antiphon."), remedy=sentence("Render it again.")
        )
    if not exact.text.removesuffix(footer).strip():
        raise NotAllowed(
            sentence("An empty reply cannot be approved."), remedy=sentence("Write a reply, or close the case.")
        )
    return case, who


async def _first(session: Session, case: Case, exact: _Exact, by: Person) -> First | None:
    """Another person's approval of the same bytes, which still counts."""
    firsts, own = await approvals.counting(session, case), await accounts.selves(session, by)
    return next((first for first in firsts if first.sha256 == exact.shown_sha256 and first.moderator not in own), None)


async def _keep_text(session: Session, case: Case, first: First, basis: _Basis) -> None:
    """Keep what the first person approved, for the second to read; needed where it was approved without a proposal."""
    exact = basis.exact
    if await proposal_with(session, case, first.sha256) is None:
        await keep_proposal(
            session,
            case,
            await communities.load(session, case.community_id),
            first.moderator,
            exact.text.removesuffix(basis.footer),
            first.sha256,
            suggestion_id=exact.suggestion_id,
            draft_rank=exact.draft_rank,
            quote=basis.quote,
        )


async def _basis(session: Session, exact: _Exact) -> _Basis:
    case = await store.load(session, exact.case_id)
    community = await communities.load(session, case.community_id)
    stored = await suggestions.latest_suggestion(session, case.id)
    added = await rendered_in(session, case, "", stored)
    quote = added.quote if exact.kept is None else exact.kept.quote
    firsts = await approvals.firsts(session, case)
    members = [await member(session, community.id, community.platform, first.moderator) for first in firsts]
    people = tuple(person for person in members if person is not None)
    return _Basis(exact, community, added.footer, quote, stored, people, case.post)


def _checked(basis: _Basis) -> _Checked:
    """What would be posted, held against the evidence, leaving out the sentence that discloses Antiphon."""
    suggestion = said_of(basis.stored, basis.post)
    return suggestion, CheckedEdit(check_edit(basis.exact.text.removesuffix(basis.footer), suggestion))


async def _draft_text(session: Session, case_id: str, suggestion_id: str | None, rank: int | None) -> str | None:
    """The text of the draft that an approval names; ``None`` if it names none."""
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
