"""What the engine said of a case as JSON documents: the suggestion, and the preview before it.

A preview is the best draft so far of a case in drafting. It is gone when the case leaves ``drafting``, and can never be
approved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError
from sqlalchemy import delete, update

from core.desk.database.connection import Session, insert_new
from core.desk.schema import PreviewRow
from core.errors import BadAnswer, StoreUnavailable
from core.i18n.sentences import sentence
from core.models import Draft, Evidence, Reading, Suggestion

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
    row = {"case_id": case_id, "document": document, "at": session.moment}
    if not await insert_new(session, PreviewRow, row, "case_id"):
        changed = update(PreviewRow).where(PreviewRow.case_id == case_id).values(document=document, at=session.moment)
        await session.execute(changed, execution_options={"synchronize_session": "fetch"})


async def preview_of(session: Session, case_id: str) -> Preview | None:
    """What there is to show before the suggestion comes; ``None`` if there is nothing."""
    row = await session.get(PreviewRow, case_id, populate_existing=True)
    return None if row is None else preview_from_json(row.document)


async def drop_preview(session: Session, case_id: str) -> None:
    dropped = delete(PreviewRow).where(PreviewRow.case_id == case_id)
    await session.execute(dropped, execution_options={"synchronize_session": "fetch"})
