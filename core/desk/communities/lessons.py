"""What a community's writer may learn from: decided cases, with what moderators were shown and what they made of it.

Without the community's consent (``CommunityPolicy.learns``) there are no rows. People are pseudonyms, and cases of
erased people are left out whole, as in exports.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

from sqlalchemy import func, select

from core.desk.database.connection import Database, Session
from core.desk.schema import ApprovalRow, CaseRow, PersonRow, SuggestionRow
from core.desk.store.audit import write
from core.desk.store.communities import load, policy_of
from core.desk.store.suggestion_documents import suggestion_from_json
from core.errors import BadInput, StoreUnavailable
from core.models import Kind

LESSONS: Final = "lessons"
"""The stream of the audit log that records who was given them."""
_PAGE: Final = 200


async def lessons(database: Database, community_id: str) -> AsyncIterator[dict[str, Any]]:
    """A community's approvals, oldest first: post, drafts as they were shown, and the reply that was approved.

    Raises:
        BadInput: there is no such community, or it does not allow this.
    """

    async def begin(session: Session) -> None:
        community = await load(session, community_id)
        if not policy_of(community).learns:
            raise BadInput(
                f"{community_id} does not allow that a writer learns from its decisions.",
                remedy=f"Ask its managers; then: antiphon community learning {community_id} --on",
            )
        await write(session, LESSONS, actor="terminal", reason=f"wrote the lessons of {community_id}")

    newest = (
        select(SuggestionRow.id)
        .where(SuggestionRow.case_id == ApprovalRow.case_id, SuggestionRow.created_at <= ApprovalRow.approved_at)
        .order_by(SuggestionRow.created_at.desc())
        .limit(1)
        .correlate(ApprovalRow)
        .scalar_subquery()
    )
    suggestion_id = func.coalesce(ApprovalRow.suggestion_id, newest)  # own words name no draft

    async def page(session: Session) -> list[tuple[ApprovalRow, CaseRow, str | None]]:
        query = (
            select(ApprovalRow, CaseRow, SuggestionRow.document)
            .join(CaseRow, CaseRow.id == ApprovalRow.case_id)
            .join(PersonRow, PersonRow.id == CaseRow.author)
            .join(SuggestionRow, SuggestionRow.id == suggestion_id, isouter=True)
            .where(CaseRow.community_id == community_id, CaseRow.erased_at.is_(None), ApprovalRow.id > after)
            .order_by(ApprovalRow.id)
            .limit(_PAGE)
        )
        return [(row[0], row[1], row[2]) for row in await session.execute(query)]

    await database.run("begin the lessons of a community", begin)
    after = ""
    while True:
        rows = await database.run("read a page of lessons", page)
        for approval, case, document in rows:
            yield {"community": community_id, **_row(approval, case, document)}
        if len(rows) < _PAGE:
            return
        after = rows[-1][0].id


def _row(approval: ApprovalRow, case: CaseRow, document: str | None) -> dict[str, Any]:
    try:
        suggestion = suggestion_from_json(document) if document else None
    except StoreUnavailable:
        suggestion = None  # from an older version: what was approved can still be read
    drafts = suggestion.drafts if suggestion else ()
    return {
        "moderator": approval.moderator,
        "seconded_by": approval.seconded_by,
        "post": case.text,
        "language": suggestion.reading.language if suggestion else None,
        "drafts": [
            {"rank": draft.rank, "text": draft.text, "intent": draft.intent.value}
            for draft in drafts
            if draft.kind is Kind.REPLY
        ],
        "draft_rank": approval.draft_rank,
        "is_edited": approval.edited,
        "reply": approval.text.removesuffix(approval.footer).strip(),
    }
