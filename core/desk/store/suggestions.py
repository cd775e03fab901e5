"""What was drafted for cases, which claim a moderator chose, and which replies are on the platforms.

What the engine said of a case is a JSON document: the suggestion, and the preview before it. A preview is the best
draft so far of a case in drafting. It is gone when the case leaves ``drafting``, and can never be approved.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError
from sqlalchemy import Text, cast, delete, or_, select, update

from core.desk.database.connection import Session, insert_or_set, json_text
from core.desk.rules.approval import CaseState
from core.desk.schema import ApprovalRow, CaseRow, ClaimChoiceRow, OutboxRow, OutboxState, PreviewRow, SuggestionRow
from core.desk.store.cases import Case
from core.desk.store.communities import id_of
from core.errors import BadAnswer, StoreUnavailable
from core.i18n.sentences import sentence
from core.models import Draft, Evidence, Kind, Reading, Suggestion

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Preview:
    """What the engine found so far; ``evidence`` holds the passages that the draft's receipts name."""

    reading: Reading | None = None
    draft: Draft | None = None
    evidence: tuple[Evidence, ...] = ()


_SUGGESTION: Final = TypeAdapter(Suggestion)
_PREVIEW: Final = TypeAdapter(Preview)


def suggestion_to_json(suggestion: Suggestion) -> str:
    """The suggestion as JSON text; ``suggestion_from_json`` gives an equal one back.

    Raises:
        BadAnswer: it holds text that cannot be encoded as UTF-8.
    """
    return _written(_SUGGESTION, suggestion)


def suggestion_from_json(document: str) -> Suggestion:
    """The suggestion of a stored document.

    Raises:
        StoreUnavailable: the document is not one that this version of Antiphon can read.
    """
    return _read(_SUGGESTION, document)


def preview_to_json(preview: Preview) -> str:
    """The preview as JSON text; ``BadAnswer`` if it holds text that cannot be encoded as UTF-8."""
    return _written(_PREVIEW, preview)


def preview_from_json(document: str) -> Preview:
    """The preview of a stored document; ``StoreUnavailable`` if this version cannot read it."""
    return _read(_PREVIEW, document)


def _written(form: TypeAdapter[_T], value: _T) -> str:
    try:
        return form.dump_json(value).decode()
    except PydanticSerializationError:
        # Not `from err`: the message may quote the text.
        raise BadAnswer("The suggestion holds text that cannot be stored.", remedy="Draft the case again.") from None


def _read(form: TypeAdapter[_T], document: str) -> _T:
    try:
        return form.validate_json(document)
    except ValidationError as err:
        fields = ", ".join(".".join(map(str, error["loc"])) for error in err.errors()[:3])
        # Not `from err`: pydantic's message quotes the document, and with it the post.
        raise StoreUnavailable(
            sentence("A stored suggestion cannot be read (at: {where}).", where=fields or sentence("its beginning")),
            remedy=sentence("Put the case back in the queue, so that it is drafted again."),
        ) from None


async def keep_preview(session: Session, case_id: str, document: str) -> None:
    """Store a preview, as ``preview_to_json`` writes it, in place of the earlier one."""
    await insert_or_set(session, PreviewRow, {"case_id": case_id}, {"document": document, "at": session.moment})


async def preview_of(session: Session, case_id: str) -> Preview | None:
    """What there is to show before the suggestion comes; ``None`` if there is nothing."""
    row = await session.get(PreviewRow, case_id, populate_existing=True)
    return None if row is None else preview_from_json(row.document)


@dataclass(frozen=True, slots=True)
class StoredSuggestion:
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


async def newest_documents(session: Session, case_ids: Collection[str]) -> dict[str, str]:
    """The newest suggestion of each case that has one, as the JSON text that is stored."""
    query = (
        select(SuggestionRow.case_id, SuggestionRow.document)
        .where(SuggestionRow.case_id.in_(case_ids), SuggestionRow.is_outdated.is_(False))
        .order_by(SuggestionRow.created_at)
    )
    return {row.case_id: row.document for row in await session.execute(query)}


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
    await session.execute(update(SuggestionRow).where(SuggestionRow.case_id == case_id).values(is_outdated=True))
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
