"""The card of a case, built from the rows of one transaction.

A person who only flagged the post sees less of it, and nobody sees a word of an erased case. Of the author's earlier
cases the card says what became of them, and so of an approved reply, by its row of the outbox.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from typing import Final

from sqlalchemy import func, select

from core.desk.database.connection import Session
from core.desk.rules import case_cards
from core.desk.rules.approval import CLOSED, IN_PROGRESS, CaseState, why_two
from core.desk.rules.roles import OnCase, Person, may_on_case
from core.desk.rules.shortfalls import for_people
from core.desk.schema import CaseRow, Original, OutboxRow, OutboxState
from core.desk.store import approvals, campaigns, communities, holds, outbox, own_cards, suggestions
from core.desk.store import cases as store
from core.desk.store.audit import newest_move
from core.desk.store.people import known_name, name_of, names_of, pseudonym, require_on_case, roles_of
from core.desk.views.review_cards import card_language
from core.desk.views.status import progress
from core.errors import StoreUnavailable
from core.models import PostRef, Priority, Reading

_COUNTED: Final = 20
"""Of how many cases, the newest, the outcomes are counted: what a card costs does not grow with its author's cases."""
_ANSWERED: Final = (CaseState.POSTED, CaseState.RETRACTED)


async def earlier_cases(session: Session, case: store.Case) -> case_cards.EarlierCases | None:
    """What became of the cases of the same author that were opened in this community before this one; the newest 20.

    It is told while somebody has to decide; ``None`` where nobody is known to have written the post, as of pasted text.
    """
    if not case.post.author or case.post.is_from_elsewhere or case.state in CLOSED:
        return None
    newest = (
        select(CaseRow.state, CaseRow.is_hateful)
        .where(CaseRow.author == case.post.author, CaseRow.community_id == case.community_id)
        .where(CaseRow.created_at < case.created_at)
        .order_by(CaseRow.created_at.desc())
        .limit(_COUNTED)
        .subquery()
    )
    query = select(newest.c.state, newest.c.is_hateful, func.count()).group_by(newest.c.state, newest.c.is_hateful)
    counted = Counter[str]()
    for state, is_hateful, number in await session.execute(query):
        counted[_outcome(state, is_hateful)] += number
    return case_cards.EarlierCases(**counted)


def _outcome(state: CaseState, is_hateful: bool | None) -> str:
    """The field of ``EarlierCases`` that a case counts in."""
    if state in _ANSWERED:
        return "answered"
    if state is CaseState.SHADOWED:
        return "rehearsed"
    if state not in CLOSED:
        return "open"
    return "not_hateful" if is_hateful is False else "unanswered"


_WITH_REASON: Final = CLOSED | {CaseState.NEEDS_PERSON, CaseState.FAILED}
_WITH_APPROVED: Final = (
    CaseState.APPROVED, CaseState.SENDING, CaseState.POSTED, CaseState.NEEDS_PERSON, CaseState.UNKNOWN,
    CaseState.FAILED, CaseState.SHADOWED, CaseState.RETRACTED,
)  # fmt: skip
"""The states that an approval leads to."""
_DECIDES_APPROVAL: Final = frozenset({CaseState.CAPTURED, CaseState.IN_REVIEW, CaseState.QUEUED, CaseState.APPROVED})
"""The last of these says whether the newest approval was taken back since."""


async def seen_by(session: Session, case_id: str, by: Person) -> case_cards.Card:
    """A case as this person may see it.

    Raises:
        BadInput: there is no such case.
        NotAllowed: the person may not read cases there, and did not flag this one.
    """
    case = await store.load(session, case_id)
    who = await require_on_case(session, case.community_id, by, OnCase.READ, flagged_by=case.post.flagged_by)
    return await _card_for(session, case, who)


async def seen_after_flagging(session: Session, case_id: str, platform: str, user: str) -> case_cards.Card:
    """A case as shown to a person who flagged its post just now, perhaps after somebody else did."""
    case = await store.load(session, case_id)
    return await _card_for(session, case, await pseudonym(session, platform, user))


async def _card_for(session: Session, case: store.Case, who: str) -> case_cards.Card:
    card = await build(session, case.id)
    if may_on_case(await roles_of(session, case.community_id, who), OnCase.READ):
        return card
    has_asked = case.post.flagged_by == who and case.post.priority is Priority.ASKED
    return for_flagger(card, has_asked=has_asked)


def for_flagger(card: case_cards.Card, *, has_asked: bool) -> case_cards.Card:
    """The card without what is only for the desk: who holds, approved, decided or reviewed, and what others said.

    Args:
        has_asked: they asked for a draft, and so see the drafts and what these rest on.
    """
    post = replace(card.post, thread=())
    own = replace(card, is_partial=True, post=post, holder=None, why_two=(), claims=(), argued=None)
    own = replace(own, campaign_posts=1, first_approvals=(), first_texts=(), reviews={}, names={})
    own = replace(own, approved=None, last_move=None, flagger="", earlier=None)
    if has_asked:
        return own
    own = replace(
        own, gist=None, is_gist_ours=False, advice=None, advice_reason="", read_by=None, evidence=(), notes=()
    )
    return replace(own, drafts=(), is_preview=False, suggestion_id=None)


async def build(session: Session, case_id: str) -> case_cards.Card:
    """The whole card of a case, for moderators and for the review channel.

    Raises:
        BadInput: there is no such case.
    """
    case = await store.load(session, case_id)
    row = await session.get_one(CaseRow, case_id)
    community = await communities.load(session, case.community_id)
    is_paused = bool(await communities.paused(session, [community.id]))
    send_at, waits_because, reply = await _send(session, case, is_paused=is_paused)
    firsts = await _first_approvals(session, case)
    moved = await newest_move(session, case.id)
    card = case_cards.Card(
        case_id=case.id,
        version=case.version,
        state=case.state,
        community=community.name,
        post=case.post,
        opened_at=case.created_at,
        flagger=await known_name(session, community.id, case.post.flagged_by),
        earlier=await earlier_cases(session, case),
        first_approvals=tuple(name for name, _ in firsts),
        first_texts=tuple(text for _, text in firsts),
        approved=await _approved(session, case),
        last_move=case_cards.LastMove(await known_name(session, community.id, moved.actor), moved.at),
        holder=await holds.holder(session, case),
        waiting=await progress(session, case.id, store.DRAFT) if case.state in IN_PROGRESS else None,
        campaign_posts=await _campaign_posts(session, case),
        is_original_gone=row.original is Original.DELETED,
        is_original_edited=row.original is Original.EDITED,
        is_post_renewed=row.edited_at is not None,
        send_at=send_at,
        waits_because=waits_because,
        reply=reply,
        may_be_posted=case.state is CaseState.NEEDS_PERSON and await outbox.is_unsettled(session, case.id),
        is_shadow=not community.is_posting,
        is_paused=is_paused,
        closed_because=moved.reason if case.state in _WITH_REASON else "",
        community_language=card_language(community.policy),
        names=await names_of(session, community.id, {message.author for message in case.post.thread}),
    )
    card = await _with_drafts(session, card)
    return replace(card, reviews=await own_cards.reviews_of(session, community.id, case_cards.prepared_of(card.drafts)))


def digest_of(card: case_cards.Card) -> str:
    """A digest by which two cards differ; it leaves out what changes although the case did not.

    Those are estimates, and what became of the author's other cases: no card is edited for them alone.
    """
    card = replace(card, earlier=None)
    if card.waiting is not None:
        card = replace(card, waiting=replace(card.waiting, ahead=0, expected_seconds=None))
    document = json.dumps(asdict(card), default=str, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(document.encode(errors="surrogatepass")).hexdigest()


async def _with_drafts(session: Session, card: case_cards.Card) -> case_cards.Card:
    """The card with what is said about its post, by the newest suggestion or, before there is one, by its preview."""
    if not card.post.text:  # erased
        return card
    try:
        stored, preview = (
            await suggestions.suggestions(session, card.case_id),
            await suggestions.preview_of(session, card.case_id),
        )
    except StoreUnavailable as err:  # of another version: the person who reviews the case reads what to do
        return replace(card, notes=(err.said,))
    suggested = _with_suggestion(card, stored)
    return suggested if preview is None else _with_preview(suggested, preview)


def _with_suggestion(card: case_cards.Card, stored: Sequence[suggestions.StoredSuggestion]) -> case_cards.Card:
    if not stored:
        return card
    newest = stored[0].suggestion
    return replace(
        _with_reading(card, newest.reading),
        drafts=newest.drafts,
        suggestion_id=stored[0].id,
        evidence=newest.evidence,
        claims=tuple(suggestions.claims_of(stored)),
        argued=newest.claim,
        notes=for_people(newest.degraded),
        why_two=() if card.post.is_from_elsewhere else why_two(newest, ()),
    )


def _with_preview(before: case_cards.Card, preview: suggestions.Preview) -> case_cards.Card:
    """What there is so far of new drafts, in place of the earlier ones."""
    after = _with_reading(before, preview.reading)
    if preview.draft is None:
        return after
    return replace(
        after, drafts=(preview.draft,), is_preview=True, suggestion_id=None, evidence=preview.evidence, notes=()
    )


def _with_reading(card: case_cards.Card, reading: Reading | None) -> case_cards.Card:
    if reading is None:
        return card
    return replace(
        card,
        gist=reading.implied_meaning,
        is_gist_ours=bool(reading.stereotypes),
        target_group=reading.target_group,
        severity=reading.severity,
        language=reading.language,
        advice=reading.recommended_action,
        advice_reason=reading.reason,
        read_by=reading.read_by,
    )


async def _first_approvals(session: Session, case: store.Case) -> list[tuple[str, str]]:
    """Who already approved a text, and their part of it, oldest first; only what a second person can still join."""
    if case.state is not CaseState.IN_REVIEW:
        return []
    parts: list[tuple[str, str]] = []
    for first in await approvals.counting(session, case):
        proposal = await approvals.proposal_with(session, case, first.sha256)
        name = await name_of(session, case.community_id, first.moderator)
        parts.append((name, "" if proposal is None else proposal.text.strip()))
    return parts


async def _approved(session: Session, case: store.Case) -> case_cards.ApprovedText | None:
    """The text that was approved last, unless that was taken back, as by an undo."""
    if case.state not in _WITH_APPROVED:
        return None
    if (await newest_move(session, case.id, _DECIDES_APPROVAL)).to_state is not CaseState.APPROVED:
        return None
    row = await approvals.newest(session, case.id)
    if row is None:
        return None
    people = [person for person in (row.moderator, row.seconded_by) if person is not None]
    names = [await known_name(session, case.community_id, person) for person in people]
    return case_cards.ApprovedText(row.text, tuple(names), row.approved_at)


async def _campaign_posts(session: Session, case: store.Case) -> int:
    if case.campaign_id is None:
        return 1
    campaign = await campaigns.load(session, case.campaign_id)
    return campaign.posts if campaign.lead_case_id == case.id else 1


async def _send(session: Session, case: store.Case, *, is_paused: bool) -> tuple[datetime | None, str, PostRef | None]:
    """When the approved reply is sent, as far as that is known, why it waits, and where the posted one is."""
    if case.state not in (CaseState.APPROVED, CaseState.POSTED):
        return None, "", None
    row = await outbox.newest(session, case.id)
    if row is None:
        return None, "", None
    if case.state is not CaseState.APPROVED:
        return None, "", reply_now(row, case.post.ref, is_paused=is_paused).place
    if is_paused:
        return None, "", None
    return None if row.attempts and row.error else row.not_before, row.error or "", None


_OF_REPLIES: Final = {OutboxState.QUEUED: CaseState.APPROVED, OutboxState.CANCELLED: CaseState.WITHDRAWN}
"""What the state of a reply is called as that of a case; all others are called alike."""


async def replies_in(session: Session, community_id: str) -> Callable[[OutboxRow, PostRef], case_cards.ReplyNow]:
    is_paused = bool(await communities.paused(session, [community_id]))
    is_shadow = not (await communities.load(session, community_id)).is_posting
    return partial(reply_now, is_paused=is_paused, is_shadow=is_shadow)


def reply_now(row: OutboxRow, post: PostRef, *, is_paused: bool, is_shadow: bool = False) -> case_cards.ReplyNow:
    """The reply to a post, with the moment of its send and its place as far as they are known.

    Nobody knows when what holds it back ends; the moment of the next attempt would only count down to another.
    """
    state = _OF_REPLIES.get(row.state) or CaseState(row.state.value)
    waits = state is CaseState.APPROVED
    is_timed = waits and not is_paused and not is_shadow and not row.error
    message = row.remote_message if state is CaseState.POSTED else None
    return case_cards.ReplyNow(
        state,
        row.not_before if is_timed else None,
        None if message is None else replace(post, message=message),
        is_shadow=waits and is_shadow,
    )
