"""What a platform later says about a flagged post: it was edited, it is gone, or it reads as before again.

Owns ``cases.original``. Keeps no text: the hash of what was flagged is enough to compare. Works inside the caller's
transaction and never commits.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import update

from bot.sending.checks import CHANGED, GONE
from bot.store.cases import holds
from bot.store.cases.cases import find_all, touch, transition
from bot.store.cases.renewals import renew
from bot.store.engine.database import Session
from bot.store.schema import CaseRow, Original
from core.models import PostRef
from core.moderation.approval import CaseState, text_hash

_REASONS: Final = {Original.EDITED: CHANGED, Original.DELETED: GONE}


async def note_original(session: Session, ref: PostRef, text: str | None, revision: str = "") -> None:
    """Record what a flagged post says now, ``None`` if it is gone; a post that has no case is ignored.

    An open case whose post has new words is drafted anew. Where the words are hidden, the case keeps its version, since
    nobody decided anything; but an approved reply is no longer sent, and a person is asked instead. A post that was not
    hateful is looked at again.
    """
    found = (await find_all(session, [ref])).get(ref)
    if found is None:
        return
    case = await holds.lock(session, found.id)
    if text is not None and await renew(session, case, text, revision) is not None:
        return
    row = await session.get_one(CaseRow, case.id)
    now = _compared(row, text, revision)
    if now is row.original or row.erased_at is not None:
        return
    changed = update(CaseRow).where(CaseRow.id == case.id).values(original=now)
    await session.execute(changed, execution_options={"synchronize_session": "fetch"})
    await touch(session, case.id)
    if now in _REASONS and case.state is CaseState.APPROVED:
        reason = _REASONS[now]
        await transition(session, case.id, case.version, CaseState.NEEDS_PERSON, actor="desk", reason=reason)


def _compared(row: CaseRow, text: str | None, revision: str) -> Original:
    if text is None:
        return Original.DELETED
    if not text and revision and row.revision:
        return Original.UNCHANGED if revision == row.revision else Original.EDITED
    return Original.UNCHANGED if text_hash(text) == row.target_sha256 else Original.EDITED
