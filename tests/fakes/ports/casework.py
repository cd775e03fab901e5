"""A ``Casework`` in memory, with the real rules of versions, holds, roles and transitions; nothing is ever posted."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from core.errors import BadInput, Conflict, NotAllowed, Unsendable
from core.models import FlaggedPost, Intent, PostRef
from core.moderation.approval import CLOSED, CaseState, check_transition
from core.moderation.cards import Approval, ApprovedText, Card, Holder, OpenCase, OpenCases, ProposedReply, RefusedReply
from core.moderation.case_numbers import beginning_of_id
from core.moderation.closing import CloseReason, RetractReason, closed_as
from core.moderation.community.disclosure import render
from core.moderation.roles import OnCase, Person, Role, may_on_case, refused

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
_HELD = (CaseState.IN_REVIEW, CaseState.NEEDS_PERSON, CaseState.UNKNOWN, CaseState.FAILED)


def open_cases(cards: Sequence[Card], page: int, size: int = 10) -> OpenCases:
    """A page of those of the cards whose cases are open, as the desk lists them."""
    found = sorted((card for card in cards if card.state not in CLOSED), key=lambda card: card.opened_at)
    pages = max(1, -(-len(found) // size))
    shown = found[page * size : (page + 1) * size]
    lines = tuple(OpenCase(card.case_id, card.state, card.opened_at, card.holder, None) for card in shown)
    return OpenCases(lines, page, pages, len(found), found[0].opened_at if found else None)


@dataclass
class MemoryCasework:
    """Cases by id. ``roles`` by the platform's user id; ``decided`` keeps what was done, by whom and how.

    ``gone`` are the cards that were deleted. ``quote`` stands above every text that is proposed. ``trouble`` is raised
    by the next call, once; reading a card takes ``slow_seconds``.
    """

    roles: dict[str, Role] = field(default_factory=dict)
    cases: dict[str, Card] = field(default_factory=dict)
    decided: list[tuple[str, str, object]] = field(default_factory=list)
    gone: list[PostRef] = field(default_factory=list)
    trouble: Exception | None = None
    slow_seconds: float = 0.0
    discloses: bool = True
    can_retract: bool = True
    quote: str = ""
    _proposals: dict[str, ProposedReply] = field(default_factory=dict)
    _refused: dict[str, RefusedReply] = field(default_factory=dict)
    _first: dict[str, tuple[Person, str]] = field(default_factory=dict)

    def put(self, card: Card) -> Card:
        """Keep a case as it is."""
        self.cases[card.case_id] = card
        return card

    async def flag(self, post: FlaggedPost) -> Card:
        known = await self.find(post.ref, Person(post.ref.platform, post.flagged_by))
        if known is not None:
            return known
        case_id = hashlib.sha256(repr(post.ref).encode()).hexdigest()[:32]
        return self.put(Card(case_id, 1, CaseState.QUEUED, post.ref.community, post, NOW))

    async def member_flag(self, post: FlaggedPost) -> Card | None:
        return await self.flag(post)

    async def card(self, case_id: str, by: Person) -> Card:
        await asyncio.sleep(self.slow_seconds)
        self._require(case_id, by, OnCase.READ)
        return self._seen(self.cases[case_id], by)

    async def look(self, case_id: str, by: Person) -> Card:
        return await self.card(case_id, by)

    async def posts(self, platform: str, most: int) -> list[PostRef]:
        return [card.post.ref for card in self.cases.values()][-most:]

    async def find(self, ref: PostRef, by: Person) -> Card | None:
        found = (card for card in self.cases.values() if ref in (card.post.ref, card.reply))
        return next(found, None)

    async def open_cases(self, platform: str, community: str, by: Person, page: int = 0) -> OpenCases:
        return open_cases(list(self.cases.values()), page)

    async def numbered(self, platform: str, community: str, number: str, by: Person) -> Card:
        begun = beginning_of_id(number)
        found = next((case_id for case_id in self.cases if begun and case_id.startswith(begun)), "")
        return await self.card(found, by)

    async def card_gone(self, ref: PostRef) -> None:
        self.gone.append(ref)

    async def hold(self, case_id: str, by: Person) -> Card:
        card = self._require(case_id, by, OnCase.REVIEW)
        self._require_free(card, by)
        if card.state not in _HELD:
            raise NotAllowed(f"The case is {card.state}: it does not wait for a person.", remedy="Choose another case.")
        self.decided.append(("hold", by.user, None))
        return self.put(replace(card, holder=Holder(by.name, NOW + timedelta(minutes=5))))

    async def release(self, case_id: str, by: Person) -> Card:
        card = self._require(case_id, by, OnCase.REVIEW)
        self.decided.append(("release", by.user, None))
        is_mine = card.holder is not None and card.holder.name == by.name
        return self.put(replace(card, holder=None)) if is_mine else card

    async def propose(
        self, case_id: str, version: int, by: Person, *, rank: int | None = None, text: str | None = None
    ) -> ProposedReply:
        card = self._decider(case_id, version, by, OnCase.APPROVE, CaseState.IN_REVIEW)
        reply = text if text is not None else next(draft.text for draft in card.drafts if draft.rank == rank)
        if not reply.strip():
            raise BadInput("The reply is empty.", remedy="Write a reply, or close the case.")
        rendered = render(reply, card.language, discloses=self.discloses, quote=self.quote)
        whole = rendered.text
        if len(whole) > 2000:
            text_id = hashlib.sha256(reply.encode()).hexdigest()[:16]
            self._refused[text_id] = RefusedReply(case_id, version, reply, rank)
            remedy = "Shorten it to 2000 characters, the last line included."
            raise Unsendable("The reply is too long.", remedy=remedy, text_id=text_id)
        figures = [f"No evidence holds the figure “{figure}”." for figure in re.findall(r"\d+", reply) if text]
        first = self._first.get(case_id)
        proposal = ProposedReply(
            hashlib.sha256(f"{case_id}{version}{whole}{by.user}".encode()).hexdigest()[:16],
            case_id,
            version,
            whole,
            reply,
            rendered.sha256,
            warnings=(*next((draft.warnings for draft in card.drafts if draft.rank == rank), ()), *figures),
            why_two=card.why_two,
            is_shadow=card.is_shadow,
            is_second=first is not None and first[0].user != by.user and first[1] == rendered.sha256,
            quote=rendered.quote,
        )
        self._proposals[proposal.id] = proposal
        return proposal

    async def refused(self, text_id: str, by: Person) -> RefusedReply:
        return self._refused[text_id]

    async def approve(self, proposal_id: str, by: Person) -> Approval:
        proposal = self._proposals.get(proposal_id)
        if proposal is None:
            raise Conflict("The text that you saw is not kept any more.", remedy="Choose it again.")
        card = self._decider(proposal.case_id, proposal.version, by, OnCase.APPROVE, CaseState.IN_REVIEW)
        first = self._first.get(card.case_id)
        if proposal.why_two and (first is None or first[0].user == by.user or first[1] != proposal.sha256):
            self._first[card.case_id] = (by, proposal.sha256)
            card = self.put(replace(card, first_approvals=(by.name,), first_texts=(proposal.reply,)))
            return Approval(card, NOW + timedelta(hours=24), proposal.why_two)
        self.decided.append(("approve", by.user, proposal.text))
        names = (by.name,) if first is None else (first[0].name, by.name)
        approved = ApprovedText(proposal.text, names, NOW)
        return Approval(self._move(card, CaseState.APPROVED, send_at=NOW + timedelta(seconds=15), approved=approved))

    async def undo(self, case_id: str, version: int, by: Person) -> Card:
        card = self._decider(case_id, version, by, OnCase.APPROVE)
        if card.state not in (CaseState.APPROVED, CaseState.DECLINED, CaseState.NO_REPLY, CaseState.WITHDRAWN):
            raise NotAllowed(f"The case is {card.state}: there is nothing to undo.", remedy="Look at it again.")
        self.decided.append(("undo", by.user, None))
        return self._move(card, CaseState.IN_REVIEW)

    async def redraft(
        self, case_id: str, version: int, by: Person, *, intent: Intent | None = None, claim: str | None = None
    ) -> Card:
        card = self._decider(case_id, version, by, OnCase.REVIEW, CaseState.IN_REVIEW)
        self.decided.append(("redraft", by.user, claim or intent))
        return self._move(card, CaseState.QUEUED)

    async def close(self, case_id: str, version: int, by: Person, reason: CloseReason, note: str = "") -> Card:
        if reason is CloseReason.OTHER and not note.strip():
            raise BadInput("A reason is missing.", remedy="Say why.")
        to = closed_as(reason)
        action = OnCase.WITHDRAW if to is CaseState.WITHDRAWN else OnCase.REVIEW
        return self._close("close", case_id, version, by, to, (reason, note), action)

    async def reopen(self, case_id: str, version: int, by: Person) -> Card:
        return self._close("reopen", case_id, version, by, CaseState.IN_REVIEW, None)

    async def settle(self, case_id: str, version: int, by: Person, *, is_posted: bool) -> Card:
        to = CaseState.POSTED if is_posted else CaseState.FAILED
        return self._close("settle", case_id, version, by, to, is_posted)

    async def split_out(self, case_id: str, version: int, by: Person) -> Card:
        return self._close("split_out", case_id, version, by, CaseState.QUEUED, None)

    async def retract(self, case_id: str, version: int, by: Person, reason: RetractReason, note: str = "") -> Card:
        card = self._decider(case_id, version, by, OnCase.RETRACT)
        self.decided.append(("retract", by.user, (reason, note)))
        if not self.can_retract:
            return replace(card, notes=(*card.notes, "The platform is away."))
        return self._move(card, CaseState.RETRACTED)

    async def original_changed(self, ref: PostRef, text: str | None, *, revision: str = "") -> None:
        card = await self.find(ref, Person(ref.platform, ""))
        if card is not None:
            self.put(replace(card, is_original_gone=text is None, is_original_edited=text is not None))

    def _close(
        self,
        name: str,
        case_id: str,
        version: int,
        by: Person,
        to: CaseState,
        how: object,
        action: OnCase = OnCase.REVIEW,
    ) -> Card:
        card = self._decider(case_id, version, by, action)
        self.decided.append((name, by.user, how))
        return self._move(card, to)

    def _move(
        self, card: Card, to: CaseState, *, send_at: datetime | None = None, approved: ApprovedText | None = None
    ) -> Card:
        check_transition(card.state, to)
        moved = replace(card, state=to, version=card.version + 1, holder=None, send_at=send_at)
        return self.put(replace(moved, approved=approved))

    def _seen(self, card: Card, by: Person) -> Card:
        role = self.roles.get(by.user)
        if role is not None and may_on_case([role], OnCase.READ):
            return card
        return replace(card, drafts=(), evidence=(), claims=(), notes=(), gist=None)

    def _decider(self, case_id: str, version: int, by: Person, action: OnCase, state: CaseState | None = None) -> Card:
        card = self._require(case_id, by, action)
        if card.version != version:
            raise Conflict("Somebody was faster: the case has changed.", remedy="Look at it again.")
        if state is not None and card.state is not state:
            raise Conflict(f"The case is {card.state} now.", remedy="Look at it again.")
        self._require_free(card, by)
        return card

    def _require(self, case_id: str, by: Person, action: OnCase) -> Card:
        if self.trouble is not None:
            trouble, self.trouble = self.trouble, None
            raise trouble
        if case_id not in self.cases:
            raise BadInput("There is no such case.", remedy="Look at the list of cases.")
        role, card = self.roles.get(by.user), self.cases[case_id]
        if not may_on_case([role] if role else [], action, is_flagger=card.post.flagged_by == by.user):
            raise refused(action)
        return card

    @staticmethod
    def _require_free(card: Card, by: Person) -> None:
        if card.holder is not None and card.holder.name != by.name:
            raise Conflict(f"{card.holder.name} looks at this case.", remedy="Take another one, or wait.")
