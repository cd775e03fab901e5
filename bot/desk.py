"""What people, and the worker for them, can do with a case.

Owns the decisions: flag, suggest, redraft, approve, undo, decline, stay silent, withdraw. Each is one transaction,
committed before the call returns. Must never post anything: an approval only puts a reply into the outbox.

Every decision names the version of the case that the person saw. ``Conflict`` says that somebody was faster,
``NotAllowed`` that the rules forbid it, ``BadInput`` that the call is wrong, ``StoreUnavailable`` that the database
does not answer; after each of them nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import uuid4

from sqlalchemy.ext.asyncio import AsyncSession

from bot.chosen_claim import checked_claim
from bot.store import cases as store
from bot.store.cases import AuditEntry, Case, PostedReply, StoredSuggestion
from bot.store.database import Database
from bot.store.documents import suggestion_from_json, suggestion_to_json
from bot.store.schema import ApprovalRow, OutboxRow, OutboxState, SuggestionRow
from core.errors import BadInput, NotAllowed
from core.models import FlaggedPost, PostRef, Suggestion
from core.review import ApprovedReply, CaseState, approve, text_hash


def _check_text(text: str) -> None:
    """Refuse what has no UTF-8 bytes, and so neither a hash nor a place in the database."""
    try:
        text.encode()
    except UnicodeEncodeError as err:
        raise BadInput(
            "The text holds half a character (a lone surrogate).", remedy="Send whole Unicode text."
        ) from err


def _check_decision(moderator: str, reason: str) -> None:
    if not moderator.strip():
        raise NotAllowed("Nobody made this decision.", remedy="Decide as a moderator with a name.")
    if not reason.strip():
        raise BadInput("A reason is missing.", remedy="Say in a few words why; the next moderator will read it.")


class Desk:
    """The decisions about cases, over one database.

    Args:
        clock: gives the time now, aware.
        undo_seconds: how long an approved reply waits before it is sent.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime], *, undo_seconds: float = 15.0) -> None:
        self._database = database
        self._clock = clock
        self.undo_seconds = undo_seconds

    async def flag(self, post: FlaggedPost) -> Case:
        """Open the case of a post and queue it; a post flagged before keeps the case that it has.

        Raises:
            BadInput: the post has no place or its text is broken.
        """
        if not (post.ref.platform.strip() and post.ref.message.strip()):
            raise BadInput("A flagged post needs its platform and message id.", remedy="Mend the adapter.")
        for text in (post.text, post.author, *(part for turn in post.thread for part in (turn.author, turn.text))):
            _check_text(text)
        return await self._database.run(lambda session: store.capture(session, post, self._clock()))

    async def case(self, case_id: str) -> Case:
        """The case as it stands now; ``BadInput`` if there is none."""
        return await self._database.run(lambda session: store.load(session, case_id))

    async def cases(self, state: CaseState | None = None) -> list[Case]:
        """The cases of one state, or all, oldest first."""
        return await self._database.run(lambda session: store.all_cases(session, state))

    async def history(self, case_id: str) -> list[AuditEntry]:
        """Every move of a case, oldest first; ``BadInput`` if there is no such case."""

        async def work(session: AsyncSession) -> list[AuditEntry]:
            await store.load(session, case_id)
            return await store.history(session, case_id)

        return await self._database.run(work)

    async def suggestion(self, case_id: str) -> StoredSuggestion | None:
        """The newest suggestion of a case, with the id that ``approve`` takes; ``None`` before there is one."""

        async def work(session: AsyncSession) -> StoredSuggestion | None:
            await store.load(session, case_id)
            return await store.latest_suggestion(session, case_id)

        return await self._database.run(work)

    async def claims(self, case_id: str) -> list[str]:
        """Every counter-claim that was proposed or chosen for a case, the one argued now first."""

        async def work(session: AsyncSession) -> list[str]:
            await store.load(session, case_id)
            return await store.claims(session, case_id)

        return await self._database.run(work)

    async def chosen_claim(self, case_id: str) -> str | None:
        """The counter-claim that a moderator chose for a case, or ``None`` to let the engine write some and vote."""
        return await self._database.run(lambda session: store.chosen_claim(session, case_id))

    async def posted_replies(self, ref: PostRef, limit: int) -> list[PostedReply]:
        """The replies posted in the community of ``ref``, at most ``limit``, latest first."""
        return await self._database.run(lambda s: store.posted_replies(s, ref.platform, ref.community, limit))

    async def take_next(self) -> Case | None:
        """Take the case that has waited longest, for drafting; ``None`` when none waits."""

        async def work(session: AsyncSession) -> Case | None:
            case = await store.oldest_queued(session)
            if case is None:
                return None
            return await self._move(session, case.id, case.version, CaseState.DRAFTING, "worker", "drafting")

        return await self._database.run(work)

    async def store_suggestion(self, case_id: str, version: int, suggestion: Suggestion) -> Case:
        """Keep what the engine said, and put the case before a moderator.

        An earlier suggestion is kept, and is no longer shown. Without a draft the case needs a person, and the reason
        says what the engine found; if a moderator had asked for other drafts, those that there were stand instead.
        """
        document = suggestion_to_json(suggestion)

        async def work(session: AsyncSession) -> Case:
            await store.load_expected(session, case_id, version, CaseState.DRAFTING)
            to, reason = CaseState.IN_REVIEW, f"{len(suggestion.drafts)} drafts"
            if not suggestion.drafts:
                reason = " ".join(("The engine has no draft to offer.", *suggestion.degraded))
                to, reason = await _without_drafts(session, case_id, reason)
            if suggestion.drafts or to is CaseState.NEEDS_PERSON:
                session.add(SuggestionRow(id=uuid4().hex, case_id=case_id, document=document, created_at=self._clock()))
            return await self._move(session, case_id, version, to, "worker", reason)

        return await self._database.run(work)

    async def give_up(self, case: Case, reason: str) -> Case:
        """Hand a case that could not be drafted to a person, with the reason; drafts of before stand."""

        async def work(session: AsyncSession) -> Case:
            await store.load_expected(session, case.id, case.version, CaseState.DRAFTING)
            to, why = await _without_drafts(session, case.id, reason)
            return await self._move(session, case.id, case.version, to, "worker", why)

        return await self._database.run(work)

    async def release(self, case: Case) -> Case:
        """Put a case whose drafting was interrupted back into the queue."""

        async def work(session: AsyncSession) -> Case:
            await store.load_expected(session, case.id, case.version, CaseState.DRAFTING)
            reason = "drafting was interrupted"
            return await self._move(session, case.id, case.version, CaseState.QUEUED, "worker", reason)

        return await self._database.run(work)

    async def redraft(self, case_id: str, version: int, claim: str, moderator: str) -> Case:
        """Put a case in review back into the queue, for drafts that argue another counter-claim.

        Args:
            case_id: the case, which must be in review.
            version: the case's version that the moderator saw.
            claim: another of the case's claims, or one of the moderator's own; 300 characters at most.
            moderator: who chose it; recorded with the claim.

        Raises:
            BadInput: the claim is empty, too long, or the one that is argued already.
        """
        _check_decision(moderator, "redraft")
        _check_text(claim)
        chosen = checked_claim(claim)

        async def work(session: AsyncSession) -> Case:
            await store.load_expected(session, case_id, version, CaseState.IN_REVIEW)
            stored = await store.latest_suggestion(session, case_id)
            if stored is not None and chosen.casefold() == (stored.suggestion.claim or "").casefold():
                raise BadInput("The drafts argue this claim already.", remedy="Choose another, or write one.")
            moved = await self._move(session, case_id, version, CaseState.QUEUED, moderator, f"to argue: {chosen}")
            await store.choose_claim(session, moved, chosen)
            return moved

        return await self._database.run(work)

    async def approve(
        self,
        case_id: str,
        version: int,
        text: str,
        shown_sha256: str,
        moderator: str,
        *,
        suggestion_id: str | None = None,
        draft_rank: int | None = None,
    ) -> ApprovedReply:
        """Approve one exact text; it will be sent after ``undo_seconds``, unless undone.

        Args:
            case_id: the case, which must be in review.
            version: the case's version that the moderator saw.
            text: the bytes that will be posted, whole.
            shown_sha256: ``core.review.text_hash`` of the text that the moderator saw.
            moderator: who approves; recorded with the reply.
            suggestion_id: with ``draft_rank``, the draft that the text comes from; neither for a text of one's own.
            draft_rank: the draft's rank, from 1.
        """
        _check_text(text)
        now = self._clock()

        async def work(session: AsyncSession) -> ApprovedReply:
            case = await self._move(session, case_id, version, CaseState.APPROVED, moderator, "approved")
            draft = await _draft_text(session, case_id, suggestion_id, draft_rank)
            reply = approve(
                approval_id=uuid4().hex,
                in_reply_to=case.post.ref,
                text=text,
                shown_sha256=shown_sha256,
                moderator=moderator,
                at=now,
            )
            approval = ApprovalRow(
                id=reply.approval_id,
                case_id=case_id,
                suggestion_id=suggestion_id,
                draft_rank=draft_rank,
                text=reply.text,
                sha256=reply.sha256,
                moderator=reply.moderator,
                approved_at=reply.approved_at,
                edited=text != draft,
                target_sha256=text_hash(case.post.text),
            )
            session.add(approval)
            await session.flush()
            session.add(self._send_later(reply.approval_id, now))
            return reply

        return await self._database.run(work)

    async def undo(self, case_id: str, version: int, moderator: str) -> Case:
        """Take an approval back before its reply is sent; the case is in review again."""
        _check_decision(moderator, "undone")

        async def work(session: AsyncSession) -> Case:
            await store.load_expected(session, case_id, version, CaseState.APPROVED)
            return await self._move(session, case_id, version, CaseState.IN_REVIEW, moderator, "approval undone")

        return await self._database.run(work)

    async def decline(self, case_id: str, version: int, moderator: str, reason: str) -> Case:
        """Close a case because no draft will do, with a reason."""
        return await self._close(case_id, version, CaseState.DECLINED, moderator, reason)

    async def stay_silent(self, case_id: str, version: int, moderator: str, reason: str) -> Case:
        """Close a case because this post is better left without a reply, with a reason."""
        return await self._close(case_id, version, CaseState.NO_REPLY, moderator, reason)

    async def withdraw(self, case_id: str, version: int, moderator: str, reason: str) -> Case:
        """Close a case that should not have been opened, with a reason; an approved reply is not sent any more."""
        return await self._close(case_id, version, CaseState.WITHDRAWN, moderator, reason)

    async def _close(self, case_id: str, version: int, to: CaseState, moderator: str, reason: str) -> Case:
        _check_decision(moderator, reason)
        return await self._database.run(lambda session: self._move(session, case_id, version, to, moderator, reason))

    async def _move(
        self, session: AsyncSession, case_id: str, version: int, to: CaseState, actor: str, reason: str
    ) -> Case:
        return await store.transition(session, case_id, version, to, actor=actor, reason=reason, at=self._clock())

    def _send_later(self, approval_id: str, now: datetime) -> OutboxRow:
        not_before = now + timedelta(seconds=self.undo_seconds)
        return OutboxRow(
            id=uuid4().hex,
            approval_id=approval_id,
            state=OutboxState.QUEUED,
            not_before=not_before,
            attempts=0,
            updated_at=now,
        )


async def _without_drafts(session: AsyncSession, case_id: str, reason: str) -> tuple[CaseState, str]:
    """Where a case goes for which there is no new draft, and why.

    A chosen claim says that it was in review before, and so has drafts, which a moderator must not lose by asking.
    """
    if await store.chosen_claim(session, case_id) is None:
        return CaseState.NEEDS_PERSON, reason
    return CaseState.IN_REVIEW, f"{reason} The drafts of before stand."


async def _draft_text(session: AsyncSession, case_id: str, suggestion_id: str | None, rank: int | None) -> str | None:
    """The text of the draft that an approval names, or ``None`` if it names none."""
    if suggestion_id is None and rank is None:
        return None
    row = None if suggestion_id is None else await session.get(SuggestionRow, suggestion_id)
    if row is not None and row.case_id == case_id:
        for draft in suggestion_from_json(row.document).drafts:
            if draft.rank == rank:
                return draft.text
    raise BadInput(
        f"The case has no draft of rank {rank} in that suggestion.",
        remedy="Give the suggestion's id and the draft's rank together, or neither for a text of your own.",
    )
