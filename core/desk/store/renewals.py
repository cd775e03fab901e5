"""Cases that begin anew: a post that its author edited, and a closed case that a moderator opens again.

No draft and no approval that was made of earlier words counts then.
"""

from dataclasses import asdict
from typing import Final

from sqlalchemy import update

from core.desk.database.connection import Session
from core.desk.rules.approval import IN_PROGRESS, REOPENED, WRITABLE, CaseState, state_words, text_hash
from core.desk.schema import CaseRow, Original
from core.desk.store import approvals, campaigns, finds, holds, jobs, suggestions
from core.desk.store.cases import DRAFT, LOOK_AGAIN, Case, draft_anew, load, touch, transition, words_to_json
from core.desk.store.outbox import is_unsettled
from core.errors import NotAllowed
from core.i18n.sentences import sentence
from core.models import FlaggedPost, MessageWords, Part, PartKind, ThreadMessage, Unread

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
    is_dismissed = await finds.is_dismissed(session, case)
    if not text:
        is_same = not (revision and row.revision) or revision == row.revision
        return await _look(session, case, row, revision) if is_dismissed and not is_same else None
    if text_hash(text) == row.target_sha256:
        return await _as_before(session, case, row, revision)
    is_closed = case.state in REOPENED or case.state is CaseState.FOLDED
    if is_closed and not (is_flagged_again or is_dismissed):
        return None
    await finds.take_back(session, case)
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
    """Open a closed case that nobody answered, or one that needs a person: in review, or in the queue for drafts.

    The queue is for a case that has no draft, and for which nobody approved a text before. One that waits for drafts
    goes in review without any, so that a person can write the reply.

    Raises:
        NotAllowed: it is not such a case, or its words were erased.
    """
    if case.state not in REOPENED | _WITH_A_PERSON | IN_PROGRESS:
        raise NotAllowed(
            sentence("The case is {state}: it cannot be reopened.", state=state_words(case.state)),
            remedy=sentence("Look at the case as it is now, and decide again."),
        )
    await _require_words(session, case)
    if case.state in IN_PROGRESS:
        return await _without_drafts(session, case, who)
    await finds.take_back(session, case)
    if case.state in REOPENED:
        await finds.label(session, case, None)
    stored = await suggestions.latest_suggestion(session, case.id)
    has_text = stored is not None and bool(stored.suggestion.drafts)
    has_text = has_text or await approvals.newest(session, case.id) is not None
    to = CaseState.IN_REVIEW if has_text else CaseState.QUEUED
    return await transition(session, case.id, case.version, to, actor=who, reason=sentence("reopened"))


async def _require_words(session: Session, case: Case) -> None:
    if (await session.get_one(CaseRow, case.id, populate_existing=True)).erased_at is not None:
        raise NotAllowed(
            sentence("The words of this case were erased; it is not drafted any more."),
            remedy=sentence("If the post still stands, report it to the platform."),
        )


async def _without_drafts(session: Session, case: Case, who: str) -> Case:
    """Put a case in review which no worker shall draft any longer: a person drafts it."""
    reason = sentence("taken on without drafts")
    if case.state is CaseState.QUEUED:
        case = await transition(session, case.id, case.version, CaseState.DRAFTING, actor=who, reason=reason)
    case = await transition(session, case.id, case.version, CaseState.IN_REVIEW, actor=who, reason=reason)
    await jobs.cancel_of_case(session, case.id, DRAFT)
    return case


async def take_on(session: Session, case: Case, who: str) -> Case:
    """Put a case in review for the reply that a person wrote: one that needs a person, or whose send failed.

    Raises:
        NotAllowed: it waits for something else, or its words were erased.
    """
    if case.state not in WRITABLE:
        raise NotAllowed(
            sentence(
                "This needs a case that is {wanted}; it is {state}.",
                wanted=state_words(CaseState.IN_REVIEW),
                state=state_words(case.state),
            ),
            remedy=LOOK_AGAIN,
        )
    await _require_words(session, case)
    if case.state is CaseState.IN_REVIEW:
        return case
    reason = sentence("a person writes the reply")
    return await transition(session, case.id, case.version, CaseState.IN_REVIEW, actor=who, reason=reason)


async def _look(session: Session, case: Case, row: CaseRow, revision: str) -> Case:
    """Let a person look at a post that was not hateful, and whose new words are hidden."""
    await finds.take_back(session, case)
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
    await session.execute(update(CaseRow).where(CaseRow.id == case.id).values(values))
