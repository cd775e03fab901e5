"""Cases that begin anew: a post that its author edited, and a closed case that a moderator opens again.

Owns what becomes of drafts and approvals then: none that was made of earlier words counts. Works inside the caller's
transaction and never commits.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from sqlalchemy import update

from bot.store.cases import campaigns, dismissals, finds, holds, suggestions
from bot.store.cases.cases import Case, draft_anew, load, touch, transition, words_to_json
from bot.store.cases.sending import is_unsettled
from bot.store.engine.database import Session
from bot.store.schema import CaseRow, Original
from core.errors import NotAllowed
from core.i18n.sentences import sentence
from core.models import FlaggedPost, MessageWords, Part, PartKind, ThreadMessage, Unread
from core.moderation.approval import REOPENED, CaseState, state_words, text_hash

_EDITED: Final = sentence("The post was edited; drafts are made for its new words.")
_DISMISSED: Final = sentence("The post was edited after a moderator said that it is not hateful.")
_ANSWERED: Final = frozenset({CaseState.SENDING, CaseState.UNKNOWN, CaseState.POSTED, CaseState.RETRACTED})
_BEFORE_DRAFTS: Final = frozenset({CaseState.CAPTURED, CaseState.QUEUED})
_WITH_A_PERSON: Final = frozenset({CaseState.NEEDS_PERSON, CaseState.FAILED})


async def renew(
    session: Session, case: Case, text: str, revision: str = "", *, is_flagged_again: bool = False
) -> Case | None:
    """Take in what an edited post says now: drafts are made anew; ``None`` if there is nothing to take in.

    A post whose reply people may have read keeps its words, and so does one of which only that it was edited is known;
    after "not hateful" a person must look at that one. What was flagged first stays in the thread.

    Args:
        text: the words that are compared (``FlaggedPost.compared``) as they read now; "" where the platform hides them.
        is_flagged_again: somebody wants this post answered. Without it, a closed case stays closed, but for one that a
            moderator called not hateful.
    """
    row = await session.get_one(CaseRow, case.id, populate_existing=True)
    if row.erased_at is not None or case.state in _ANSWERED or await is_unsettled(session, case.id):
        return None
    is_dismissed = await dismissals.is_dismissed(session, case)
    if not text:
        is_same = not (revision and row.revision) or revision == row.revision
        return await _look(session, case, row, revision) if is_dismissed and not is_same else None
    if text_hash(text) == row.target_sha256:
        return await _as_before(session, case, row, revision)
    is_closed = case.state in REOPENED or case.state is CaseState.FOLDED
    if is_closed and not (is_flagged_again or is_dismissed):
        return None
    await dismissals.take_back(session, case)
    if case.state not in REOPENED:
        await campaigns.lead_on(session, case.id, actor="desk")
        await campaigns.forget_lead(session, case.id)
    if case.state is CaseState.FOLDED:
        await campaigns.leave(session, case)
    await finds.label(session, case, None)
    await suggestions.outdate(session, case.id)
    if case.state not in _BEFORE_DRAFTS:
        case = await draft_anew(session, case, actor="desk", reason=_DISMISSED if is_dismissed else _EDITED)
    thread = case.post.thread
    if row.edited_at is None:
        thread = (*thread, ThreadMessage(row.author, row.text))
    values = {
        **_changed(case.post, text),
        "target_sha256": text_hash(text),
        "original": Original.UNCHANGED,
        "revision": revision or row.revision,
        "edited_at": session.moment,
        "thread": [asdict(message) for message in thread],
    }
    await _write(session, case, values)
    await touch(session, case.id)
    return await holds.end(session, await load(session, case.id))


def _changed(post: FlaggedPost, text: str) -> dict[str, object]:
    """The columns of a post whose own words are others now; what it quotes stays."""
    quoted = [part for part in post.words.parts if part.kind is PartKind.QUOTED]
    unread = [each for each in post.words.unread if each is not Unread.REST]
    words = MessageWords.of([Part(PartKind.OWN, text), *quoted], unread)
    return {"text": words.text, "words": words_to_json(words)}


async def reopen(session: Session, case: Case, who: str) -> Case:
    """Open a closed case that nobody answered, or one that needs a person: in review, or in the queue without drafts.

    Raises:
        NotAllowed: it is not such a case, or its words were erased.
    """
    row = await session.get_one(CaseRow, case.id, populate_existing=True)
    if case.state not in REOPENED | _WITH_A_PERSON:
        raise NotAllowed(
            sentence("The case is {state}: it cannot be reopened.", state=state_words(case.state)),
            remedy=sentence("Look at the case as it is now, and decide again."),
        )
    if row.erased_at is not None:
        raise NotAllowed(
            sentence("The words of this case were erased; it is not drafted any more."),
            remedy=sentence("If the post still stands, report it to the platform."),
        )
    await dismissals.take_back(session, case)
    if case.state in REOPENED:
        await finds.label(session, case, None)
    stored = await suggestions.latest_suggestion(session, case.id)
    to = CaseState.IN_REVIEW if stored is not None and stored.suggestion.drafts else CaseState.QUEUED
    return await transition(session, case.id, case.version, to, actor=who, reason=sentence("reopened"))


async def _look(session: Session, case: Case, row: CaseRow, revision: str) -> Case:
    """Let a person look at a post that was not hateful, and whose new words are hidden."""
    await dismissals.take_back(session, case)
    await transition(session, case.id, case.version, CaseState.NEEDS_PERSON, actor="desk", reason=_DISMISSED)
    await _write(session, case, {"original": Original.EDITED, "revision": revision or row.revision})
    return await load(session, case.id)


async def _as_before(session: Session, case: Case, row: CaseRow, revision: str) -> Case | None:
    """Keep that a post reads as it did, whatever was heard of it."""
    if row.original is Original.UNCHANGED and revision in ("", row.revision):
        return None
    await _write(session, case, {"original": Original.UNCHANGED, "revision": revision or row.revision})
    await touch(session, case.id)
    return await load(session, case.id)


async def _write(session: Session, case: Case, values: dict[str, object]) -> None:
    written = update(CaseRow).where(CaseRow.id == case.id).values(values)
    await session.execute(written.execution_options(synchronize_session="fetch"))
