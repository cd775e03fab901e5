"""Posts that a moderator said are not hateful: learnt from, remembered by their text, looked at again when edited.

Owns what follows from that label on a case. Near-identical posts join the case although it is closed, and so get no
drafts; an edit of the post opens it again. Works inside the caller's transaction and never commits.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import update

from bot.store.cases import campaigns, finds
from bot.store.cases.cases import Case, load, transition, words_to_json
from bot.store.engine.database import Session
from bot.store.schema import CaseRow, Original
from core.i18n.sentences import sentence
from core.models import FlaggedPost, MessageWords, Part, PartKind, Unread
from core.moderation.approval import CaseState, text_hash

_EDITED: Final = sentence("The post was edited after a moderator said that it is not hateful.")


async def dismiss(session: Session, case: Case) -> None:
    """Keep that a moderator said that the post of a case is not hateful."""
    await finds.label(session, case, False)
    if not case.post.is_from_elsewhere:
        await campaigns.remember(session, case)


async def take_back(session: Session, case: Case) -> None:
    """Keep that nobody says so any longer."""
    if await _is_dismissed(session, case):
        await finds.label(session, case, None)
        await campaigns.stop_remembering(session, case.id)


async def reopen_edited(session: Session, case: Case, text: str, revision: str = "") -> Case | None:
    """Open a dismissed case again whose post reads otherwise now; ``None`` if nothing is to be done.

    With its new words the post is drafted anew, what it quotes included. Where the platform hides them (``text`` is
    ""), a person must look.

    Args:
        text: the words that are compared (``FlaggedPost.compared``).
    """
    row = await session.get_one(CaseRow, case.id, populate_existing=True)
    if text:
        is_same = text_hash(text) == row.target_sha256
    else:
        is_same = not (revision and row.revision) or revision == row.revision
    if row.erased_at is not None or is_same or not await _is_dismissed(session, case):
        return None
    await take_back(session, case)
    to = CaseState.QUEUED if text else CaseState.NEEDS_PERSON
    await transition(session, case.id, case.version, to, actor="desk", reason=_EDITED)
    now: dict[str, object] = {"original": Original.EDITED}
    if text:
        now = {**_changed(case.post, text), "target_sha256": text_hash(text), "original": Original.UNCHANGED}
    words = update(CaseRow).where(CaseRow.id == case.id).values(now | {"revision": revision or row.revision})
    await session.execute(words.execution_options(synchronize_session="fetch"))
    return await load(session, case.id)


def _changed(post: FlaggedPost, text: str) -> dict[str, object]:
    """The columns of a post whose own words are others now; what it quotes stays."""
    quoted = [part for part in post.words.parts if part.kind is PartKind.QUOTED]
    unread = [each for each in post.words.unread if each is not Unread.REST]
    words = MessageWords.of([Part(PartKind.OWN, text), *quoted], unread)
    return {"text": words.text, "words": words_to_json(words)}


async def _is_dismissed(session: Session, case: Case) -> bool:
    row = await session.get_one(CaseRow, case.id, populate_existing=True)
    return row.state is CaseState.NO_REPLY and row.is_hateful is False
