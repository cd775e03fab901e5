"""The best draft so far of a case in drafting: it is never approved, and gone when the case leaves ``drafting``."""

from __future__ import annotations

from sqlalchemy import delete, update

from core.desk.database.connection import Session
from core.desk.database.dialect import insert_new
from core.desk.schema import PreviewRow
from core.desk.store.suggestion_documents import Preview, preview_from_json


async def keep_preview(session: Session, case_id: str, document: str) -> None:
    """Store a preview, as ``preview_to_json`` writes it, in place of the earlier one."""
    row = {"case_id": case_id, "document": document, "at": session.moment}
    if not await insert_new(session, PreviewRow, row, "case_id"):
        changed = update(PreviewRow).where(PreviewRow.case_id == case_id).values(document=document, at=session.moment)
        await session.execute(changed, execution_options={"synchronize_session": "fetch"})


async def preview_of(session: Session, case_id: str) -> Preview | None:
    """What there is to show before the suggestion comes; ``None`` if there is nothing."""
    row = await session.get(PreviewRow, case_id, populate_existing=True)
    return None if row is None else preview_from_json(row.document)


async def drop_preview(session: Session, case_id: str) -> None:
    """Delete it, as when the suggestion is there."""
    dropped = delete(PreviewRow).where(PreviewRow.case_id == case_id)
    await session.execute(dropped, execution_options={"synchronize_session": "fetch"})
