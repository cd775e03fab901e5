"""The approval of a text, by one person or by two: first it is shown, so that its reader can approve these bytes.

A text that can never be posted is refused before it is shown. The person who approves must have been shown exactly
these bytes, at this version of the case. Where the rules ask for two, the second person approves the same bytes.
Nothing is posted here: an approval only puts a reply into the outbox.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database, Session
from core.desk.review.decisions import decider, wrote_post
from core.desk.rules.approval import ApprovedReply, CaseState, approve, check_answerable, why_two
from core.desk.rules.case_cards import InPublic, ProposedReply, RefusedReply
from core.desk.rules.input_checks import check_text
from core.desk.rules.platforms import ChatPlatform
from core.desk.rules.policy import PublicText, render
from core.desk.rules.roles import OnCase, Person
from core.desk.runtime import metrics
from core.desk.schema import ProposalRow
from core.desk.sending.checks import Obstacle, SendLimits, case_obstacle, original_obstacle, refuse
from core.desk.store import accounts, approvals, communities, finds, holds, suggestions
from core.desk.store import cases as store
from core.desk.store.outbox import require_settled
from core.desk.store.people import known_pseudonym, member, require_on_case
from core.desk.store.renewals import take_on
from core.engine.reading.posts import nothing_known
from core.engine.scoring.check import CheckedEdit, CheckedSentence, EditReader, check_edit, checked_edit
from core.engine.scoring.quotation import quote_of
from core.engine.wording.community_rules import TextRules, broken_rule, check_rules
from core.engine.wording.final_text import check_sendable
from core.errors import AntiphonError, BadInput, Conflict, NotAllowed, PlatformUnavailable, TextRefused, Unsendable
from core.i18n.sentences import sentence
from core.models import Draft, FlaggedPost, PostRef, Suggestion

_LOOK_AGAIN: Final = sentence("Look at the case's new card, and decide again.")


class ReplyChecks:
    """What desk and platform say together against a reply: made when it is proposed, and when it is approved.

    The outbox makes them again before the send (``core.desk.sending.outbox``).

    Args:
        platforms: the platforms of this process, by name; others are asked before the send only.
        limits: how many replies one community may get.
    """

    def __init__(self, platforms: Mapping[str, ChatPlatform], limits: SendLimits) -> None:
        self._platforms = platforms
        self._limits = limits

    async def check_text(
        self, session: Session, case: store.Case, rendered: PublicText, stored: suggestions.StoredSuggestion | None
    ) -> None:
        """Refuse a text that would certainly not be posted.

        Raises:
            BadInput: it shows something else than it holds, links to no source of the case, or breaks a rule of the
                community.
            TextRefused: its platform never takes it.
            PlaceClosed: nothing can be posted where its post stands.
        """
        platform = self._platforms.get(case.post.ref.platform)
        policy = communities.policy_of(await communities.load(session, case.community_id))
        check_rules(rendered.text.removesuffix(rendered.footer), policy.text_rules)
        if platform is not None:
            platform.check(case.post.ref, rendered.text, rendered.quote, policy)
        check_sendable(rendered.text, () if stored is None else stored.suggestion.evidence)

    async def in_public(self, ref: PostRef, text: str) -> InPublic | None:
        """All that everybody would see of a text under a post; ``None`` for the text alone.

        Raises:
            TextRefused: it is too long with what the platform puts around it.
            PlatformUnavailable: the platform cannot say what it puts around it now.
        """
        platform = self._platforms.get(ref.platform)
        if platform is not None:
            return await platform.in_public(ref, text)
        if ref.platform in self._limits.asked_first:  # what stands around a reply is up to each place
            raise PlatformUnavailable(
                sentence("{platform} is not connected.", platform=ref.platform), remedy=sentence("Wait until it is.")
            )
        return None

    async def waits(self, session: Session, case: store.Case) -> Obstacle | None:
        """What only delays a reply to this post; ``None`` for nothing, as where the community only practises.

        Raises:
            NotAllowed: a reply would certainly not be sent.
        """
        community = await communities.load(session, case.community_id)
        if not community.is_posting:
            refuse(await original_obstacle(session, case))
            return None
        objection = await case_obstacle(session, case, community, self._limits)
        refuse(objection)
        return objection


@dataclass(frozen=True, slots=True)
class _Proposed:
    """A proposal, with what it is checked against."""

    proposal: ProposalRow
    rendered: PublicText
    stored: suggestions.StoredSuggestion | None
    warnings: tuple[str, ...]
    is_shadow: bool
    is_second: bool
    wrote_post: bool
    waits: Obstacle | None
    post: FlaggedPost
    rules: TextRules


@dataclass(frozen=True, slots=True)
class TextCheck:
    """What the evidence of a case says about a text that somebody writes; warnings and reasons in sentences."""

    sentences: tuple[CheckedSentence, ...]
    warnings: tuple[str, ...]
    why_two: tuple[str, ...]


class Proposals:
    """Texts on their way to an approval, over one database.

    Args:
        platforms: the platforms of this process, by name: what a text must satisfy there.
        limits: how many replies one community may get.
        edit_reader: reads what a person wrote or changed, for warnings, once the text is kept.
    """

    def __init__(
        self,
        database: Database,
        *,
        platforms: Mapping[str, ChatPlatform] | None = None,
        limits: SendLimits | None = None,
        edit_reader: EditReader | None = None,
    ) -> None:
        self._database = database
        self._edit_reader = edit_reader
        self.checks = ReplyChecks({} if platforms is None else platforms, limits or SendLimits())

    async def propose(
        self, case_id: str, version: int, by: Person, *, rank: int | None = None, text: str | None = None
    ) -> ProposedReply:
        """Keep one exact text and say what would be posted; ``Casework.propose`` says what is raised.

        A text of one's own also for a case that needs a person, or whose send failed: it is in review from then on.
        """
        check_text(text or "")

        async def work(session: Session) -> _Proposed | Unsendable:
            is_own = text is not None and rank is None
            state = None if is_own else CaseState.IN_REVIEW
            case, who = await decider(session, case_id, version, by, OnCase.APPROVE, state)
            check_answerable(case.post)
            await require_settled(session, case_id)
            case = await take_on(session, case, who) if is_own else case
            stored = await suggestions.latest_suggestion(session, case_id)
            reply, draft = _chosen(() if stored is None else stored.suggestion.drafts, rank, text)
            rendered = await _rendered_in(session, case, reply, stored)
            try:
                await self.checks.check_text(session, case, rendered, stored)
            except (BadInput, TextRefused) as err:
                return await _keep_refused(session, case, who, reply, rank, err)
            waits = await self.checks.waits(session, case)
            return await _keep_proposed(session, case, who, by, reply, draft, rendered, stored, waits)

        proposed = await self._database.run("propose", work)
        if isinstance(proposed, Unsendable):
            raise proposed
        try:
            public = await self.checks.in_public(proposed.post.ref, proposed.rendered.text)
        except TextRefused as err:  # with what stands around it; its writer still has it before them
            raise Unsendable(err.message, remedy=err.remedy) from err
        return replace(await asyncio.to_thread(_reply_to_show, proposed, self._edit_reader), public=public)

    async def check(self, case_id: str, by: Person, text: str) -> TextCheck:
        """A text held against the evidence of its case, and read by the reader of drafts; nothing is kept.

        Raises:
            NotAllowed: the person may not approve here.
        """
        check_text(text)

        async def read(session: Session) -> tuple[suggestions.StoredSuggestion | None, FlaggedPost, TextRules]:
            case = await store.load(session, case_id)
            await require_on_case(session, case.community_id, by, OnCase.APPROVE)
            policy = communities.policy_of(await communities.load(session, case.community_id))
            return await suggestions.latest_suggestion(session, case.id), case.post, policy.text_rules

        stored, post, rules = await self._database.run("read what a text is checked against", read)

        def check() -> TextCheck:
            suggestion = _said_of(stored, post)
            edit = checked_edit(text, suggestion, rules, self._edit_reader)
            why = _why_two_of(suggestion, edit, is_known=stored is not None, wrote_post=False)
            return TextCheck(edit.sentences, edit.warnings, why)

        return await asyncio.to_thread(check)

    async def refused(self, text_id: str, by: Person) -> RefusedReply:
        """A text that ``propose`` refused, for the person who wrote it.

        Raises:
            Conflict: it is no longer kept.
            NotAllowed: somebody else wrote it.
        """

        async def work(session: Session) -> RefusedReply:
            proposal = await _kept_proposal(session, text_id)
            if await known_pseudonym(session, by.platform, by.user) != proposal.person_id:
                raise NotAllowed(
                    sentence("Somebody else wrote this text."), remedy=sentence("Edit a draft yourself, or write one.")
                )
            return RefusedReply(proposal.case_id, proposal.version, proposal.text, proposal.draft_rank)

        return await self._database.run("read a refused text", work)


def _chosen(drafts: Sequence[Draft], rank: int | None, text: str | None) -> tuple[str, Draft | None]:
    """The person's part of the reply, and the draft that it is or began as."""
    begun = next((draft for draft in drafts if draft.rank == rank), None)
    if rank is not None and begun is None:
        raise BadInput(
            sentence("The case has no draft of rank {rank}.", rank=rank), remedy=sentence("Look at its card again.")
        )
    if text is None:
        if begun is None:
            raise BadInput(
                sentence("There is no text to approve."), remedy=sentence("Choose a draft, or write a text.")
            )
        return begun.text, begun
    if not text.strip():
        raise BadInput(sentence("The text is empty."), remedy=sentence("Write a reply, or close the case."))
    same = next((draft for draft in drafts if draft.text.strip() == text.strip()), None)
    return (text, begun) if same is None else (same.text, same)


async def _keep_refused(
    session: Session, case: store.Case, who: str, reply: str, rank: int | None, err: AntiphonError
) -> Unsendable:
    """Keep a text that can never be posted; without a hash of what would be posted, nobody can approve it."""
    community = await communities.load(session, case.community_id)
    proposal = await approvals.keep_proposal(
        session, case, community, who, reply, "", suggestion_id=None, draft_rank=rank
    )
    return Unsendable(err.message, remedy=err.remedy, text_id=proposal.id)


async def _keep_proposed(
    session: Session,
    case: store.Case,
    who: str,
    by: Person,
    reply: str,
    draft: Draft | None,
    rendered: PublicText,
    stored: suggestions.StoredSuggestion | None,
    waits: Obstacle | None,
) -> _Proposed:
    suggestion_id = None if draft is None or stored is None else stored.id
    rank = None if draft is None else draft.rank
    if draft is None and (same := await approvals.proposal_with(session, case, rendered.sha256)) is not None:
        suggestion_id, rank = same.suggestion_id, same.draft_rank  # a second person's text began as the first one's
    counted, selves = await approvals.counting(session, case), await accounts.selves(session, by)
    if any(first.moderator in selves and first.sha256 == rendered.sha256 for first in counted):
        raise Conflict(
            sentence("You approved this text already; another person must approve it, too."),
            remedy=sentence("Ask another moderator to approve the same text on the case's card."),
        )
    community = await communities.load(session, case.community_id)
    proposal = await approvals.keep_proposal(
        session,
        case,
        community,
        who,
        reply,
        rendered.sha256,
        suggestion_id=suggestion_id,
        draft_rank=rank,
        quote=rendered.quote,
    )
    own = draft.warnings if draft is not None and draft.text == reply else ()
    is_second = any(first.sha256 == rendered.sha256 for first in counted)
    return _Proposed(
        proposal,
        rendered,
        stored,
        own,
        not community.is_posting,
        is_second,
        await wrote_post(session, case, by),
        waits,
        case.post,
        communities.policy_of(community).text_rules,
    )


def _reply_to_show(proposed: _Proposed, reader: EditReader | None) -> ProposedReply:
    """What the person is shown. Blocking: the text is held against the evidence, and read."""
    proposal = proposed.proposal
    suggestion = _said_of(proposed.stored, proposed.post)
    edit = checked_edit(proposal.text, suggestion, proposed.rules, reader)
    return ProposedReply(
        id=proposal.id,
        case_id=proposal.case_id,
        version=proposal.version,
        text=proposed.rendered.text,
        reply=proposal.text,
        sha256=proposal.sha256,
        warnings=tuple(dict.fromkeys((*proposed.warnings, *edit.warnings))),
        why_two=_why_two_of(suggestion, edit, is_known=proposed.stored is not None, wrote_post=proposed.wrote_post),
        is_shadow=proposed.is_shadow,
        is_second=proposed.is_second,
        quote=proposal.quote,
        waits_because="" if proposed.waits is None else proposed.waits.reason,
        waits_until=None if proposed.waits is None else proposed.waits.until,
        disclosure=proposed.rendered.footer.strip(),
    )


async def _kept_proposal(session: Session, proposal_id: str) -> ProposalRow:
    """A text that waits to be approved; ``Conflict`` if it is no longer kept."""
    proposal = await session.get(ProposalRow, proposal_id, populate_existing=True)
    if proposal is None:
        raise Conflict(sentence("This text is not waiting to be approved any more."), remedy=_LOOK_AGAIN)
    return proposal


async def _require_shown(session: Session, case: store.Case, proposal: ProposalRow, who: str) -> PublicText:
    """What would be posted now: exactly what the person with this pseudonym was shown.

    Raises:
        NotAllowed: somebody else was shown it.
        Conflict: the case's community adds another sentence, or another quote, now, or approving it would do something
            else than it would have done when it was shown.
    """
    if who != proposal.person_id:
        raise NotAllowed(
            sentence("Only the person who was shown this text can approve it here."),
            remedy=sentence("Choose the same text on the case's card yourself, read it, and approve it."),
        )
    community = await communities.load(session, case.community_id)
    if community.is_posting is not proposal.is_posting:
        raise Conflict(
            sentence("Posting was switched on after you were shown this: it would be posted now.")
            if community.is_posting
            else sentence("Posting was switched off after you were shown this: it would not be posted now."),
            remedy=_LOOK_AGAIN,
        )
    rendered = await _rendered_in(session, case, proposal.text, await suggestions.latest_suggestion(session, case.id))
    if rendered.sha256 != proposal.sha256:
        raise Conflict(
            sentence("What is added to replies here changed after you were shown this text."), remedy=_LOOK_AGAIN
        )
    if community.rules_version != proposal.rules_version:
        raise Conflict(
            sentence("The rules of the community were changed after you were shown this text."), remedy=_LOOK_AGAIN
        )
    return rendered


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
    community: communities.Community
    stored: suggestions.StoredSuggestion | None
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
        proposal = await _kept_proposal(session, basis.proposal.id)
        case, who = await decider(session, proposal.case_id, proposal.version, by, OnCase.APPROVE, CaseState.IN_REVIEW)
        rendered = await _require_shown(session, case, proposal, who)
        check_answerable(case.post)
        await require_settled(session, case.id)
        await self._checks.check_text(session, case, rendered, basis.stored)
        waits = await self._checks.waits(session, case)
        suggestion, edit = checked
        is_known = basis.stored is not None
        reasons = _why_two_of(suggestion, edit, is_known=is_known, wrote_post=await wrote_post(session, case, by))
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
            own = approvals.First(who, reply.sha256, community.rules_version, reply.approved_at, until)
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
            approvals.ApprovalOrigin(proposal.suggestion_id, proposal.draft_rank, _is_edited(basis)),
            seconded_by=None if first is None else who,
            holds_for=self._holds_for,
            undo_for=self._undo_for + self._hearing.get(case.post.ref.platform, timedelta()),
            waits_because="" if waits is None else waits.reason,
            waits_until=None if waits is None else waits.until,
        )
        return CompleteApproval(case.id, reply, case.created_at)

    async def _wait(
        self, session: Session, case: store.Case, first: approvals.First, reasons: tuple[str, ...]
    ) -> AwaitsSecond:
        """Keep a first approval, and leave the case open to somebody else."""
        await approvals.keep_first(session, case, first)
        await holds.end(session, case)
        return AwaitsSecond(case.id, first.sha256, reasons, first.until)


async def _first(session: Session, case: store.Case, proposal: ProposalRow, by: Person) -> approvals.First | None:
    """Another person's approval of the same bytes, which still counts."""
    firsts, own = await approvals.counting(session, case), await accounts.selves(session, by)
    return next((first for first in firsts if first.sha256 == proposal.sha256 and first.moderator not in own), None)


async def _basis(session: Session, proposal_id: str) -> _Basis:
    proposal = await _kept_proposal(session, proposal_id)
    case = await store.load(session, proposal.case_id)
    community = await communities.load(session, case.community_id)
    firsts = await approvals.firsts(session, case)
    members = [await member(session, community.id, community.platform, first.moderator) for first in firsts]
    people = tuple(person for person in members if person is not None)
    return _Basis(proposal, community, await suggestions.latest_suggestion(session, case.id), people, case.post)


def _checked(basis: _Basis) -> _Checked:
    """What would be posted, held against the evidence, leaving out the sentence that discloses Antiphon."""
    suggestion = _said_of(basis.stored, basis.post)
    return suggestion, CheckedEdit(check_edit(basis.proposal.text.strip(), suggestion))


def _is_edited(basis: _Basis) -> bool:
    """Whether the text is another one than the draft that it began as; so it is where it began as none."""
    drafts = () if basis.stored is None else basis.stored.suggestion.drafts
    began = next((draft.text for draft in drafts if draft.rank == basis.proposal.draft_rank), None)
    return basis.proposal.text.strip() != began


async def _rendered_in(
    session: Session, case: store.Case, reply: str, stored: suggestions.StoredSuggestion | None
) -> PublicText:
    """A reply as it would be posted now, in the language of the case's suggestion, below its quote of the post."""
    community = await communities.load(session, case.community_id)
    language = None if stored is None else stored.suggestion.reading.language
    policy = communities.policy_of(community)
    quote = quote_of(case.post.public_words, language) if policy.quotes else ""
    quote = "" if broken_rule(quote, policy.text_rules) else quote
    return render(reply, language, discloses=community.discloses, quote=quote)


def _said_of(stored: suggestions.StoredSuggestion | None, post: FlaggedPost) -> Suggestion:
    """What a reply is held against: what the engine said of the post, or that nothing is known of it. Blocking."""
    return nothing_known(post, "en") if stored is None else stored.suggestion


def _why_two_of(suggestion: Suggestion, checked: CheckedEdit, *, is_known: bool, wrote_post: bool) -> tuple[str, ...]:
    """Why one person is not enough for a reply; empty where one is.

    Args:
        is_known: the engine said something of the post.
    """
    own = () if not wrote_post else (sentence("The person who approves it wrote the post."),)
    unread = () if is_known else (suggestion.reading.reason,)
    return (*own, *why_two(suggestion, checked.sentences), *unread)
