"""What was drafted for cases, which claim a moderator chose, and which replies are on the platforms."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Text, cast, delete, or_, select, update

from core.desk.database.connection import Session, json_text
from core.desk.rules.approval import CaseState
from core.desk.schema import ApprovalRow, CaseRow, ClaimChoiceRow, OutboxRow, OutboxState, SuggestionRow
from core.desk.store.cases import Case
from core.desk.store.communities import id_of
from core.desk.store.suggestion_documents import suggestion_from_json
from core.errors import StoreUnavailable
from core.models import Kind, Suggestion


@dataclass(frozen=True, slots=True)
class StoredSuggestion:
    """A suggestion with the id by which an approval names it."""

    id: str
    suggestion: Suggestion
    created_at: datetime


@dataclass(frozen=True, slots=True)
class PostedReply:
    """A reply that a moderator approved and that was posted, with the text of the post that it answered.

    ``is_argued``: it began as a reply to the post, or a person wrote it, and so may teach the next one; a word of
    support or a notice does not.
    """

    post: str
    text: str
    is_argued: bool = True


@dataclass(frozen=True, slots=True)
class DraftedBefore:
    """How often a case was drafted, and what the drafts said, each text once, the latest first.

    ``is_told``: something was said of the post as it reads now, so that whoever wants drafts again knows of it.
    """

    times: int
    texts: tuple[str, ...] = ()
    is_told: bool = False


async def latest_suggestion(session: Session, case_id: str) -> StoredSuggestion | None:
    """The newest suggestion of a case."""
    return next(iter(await suggestions(session, case_id, limit=1)), None)


async def suggestions(session: Session, case_id: str, *, limit: int | None = None) -> list[StoredSuggestion]:
    """What was said of the case's words of now, newest first; ``StoreUnavailable`` for one that cannot be read."""
    query = (
        select(SuggestionRow)
        .filter_by(case_id=case_id, is_outdated=False)
        .order_by(SuggestionRow.created_at.desc())
        .limit(limit)
    )
    rows = await session.scalars(query)
    return [StoredSuggestion(row.id, suggestion_from_json(row.document), row.created_at) for row in rows]


async def drafted_before(session: Session, case_id: str) -> DraftedBefore:
    """What was drafted for a case so far; a suggestion that cannot be read counts, but its words are left out."""
    query = select(SuggestionRow).filter_by(case_id=case_id).order_by(SuggestionRow.created_at.desc())
    rows, texts = list(await session.scalars(query)), list[str]()
    for row in rows:
        with suppress(StoreUnavailable):
            texts += [draft.text for draft in suggestion_from_json(row.document).drafts]
    is_told = any(not row.is_outdated for row in rows)
    return DraftedBefore(len(rows), tuple(dict.fromkeys(texts)), is_told)


async def cases_with_prepared(session: Session, community_id: str, *ids: str) -> list[str]:
    """The cases of a community that have a suggestion with a draft made of one of these prepared replies."""
    query = (
        select(CaseRow.id)
        .join(SuggestionRow, SuggestionRow.case_id == CaseRow.id)
        .where(CaseRow.community_id == community_id, or_(*(SuggestionRow.document.contains(id_) for id_ in ids)))
    )
    return sorted(set(await session.scalars(query)))


def claims_of(drafted: Sequence[StoredSuggestion]) -> list[str]:
    """Every counter-claim of suggestions, newest first, each once."""
    return list(dict.fromkeys(claim.text for stored in drafted for claim in stored.suggestion.claims))


async def outdate(session: Session, case_id: str) -> None:
    """Show nobody any longer what was drafted for a case and which claim was chosen: its post has other words now."""
    old = update(SuggestionRow).where(SuggestionRow.case_id == case_id).values(is_outdated=True)
    await session.execute(old, execution_options={"synchronize_session": "fetch"})
    await session.execute(delete(ClaimChoiceRow).where(ClaimChoiceRow.case_id == case_id))


async def choose_claim(session: Session, case: Case, claim: str) -> None:
    """Keep the counter-claim that a moderator chose in the move that gave the case its version."""
    session.add(ClaimChoiceRow(case_id=case.id, version=case.version, claim=claim))
    await session.flush()


async def chosen_claim(session: Session, case_id: str) -> str | None:
    """The counter-claim that a moderator chose last, or ``None`` if no moderator chose one."""
    query = select(ClaimChoiceRow.claim).filter_by(case_id=case_id).order_by(ClaimChoiceRow.version.desc()).limit(1)
    return await session.scalar(query)


async def posted_replies(session: Session, platform: str, community: str, limit: int) -> list[PostedReply]:
    """The replies of a community that are certainly posted, without the disclosing sentence; latest first."""
    identity = await id_of(session, platform, community)
    newest = (
        select(CaseRow)
        .filter_by(community_id=identity, state=CaseState.POSTED, erased_at=None)
        .order_by(CaseRow.updated_at.desc(), CaseRow.id)
        .limit(limit)
        .subquery()
    )
    place = cast(ApprovalRow.draft_rank - 1, Text)
    kind = json_text(session, SuggestionRow.document.expression, "drafts", place, "kind")
    query = (
        select(newest.c.text, ApprovalRow.text, ApprovalRow.footer, OutboxRow.state, kind)
        .join_from(newest, ApprovalRow, ApprovalRow.case_id == newest.c.id)
        .join(OutboxRow, OutboxRow.approval_id == ApprovalRow.id)
        .outerjoin(SuggestionRow, SuggestionRow.id == ApprovalRow.suggestion_id)
        .order_by(newest.c.updated_at.desc(), newest.c.id)
    )
    return [
        PostedReply(post, text.removesuffix(footer), kind in {None, Kind.REPLY})
        for post, text, footer, state, kind in await session.execute(query)
        if state is OutboxState.POSTED
    ]
