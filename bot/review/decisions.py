"""What people can do with a case.

Owns the decisions that take one transaction: hold, release, redraft, undo, decline, stay silent, withdraw, reopen. Each
is committed before the call returns, and reads the person's role again in its transaction. Flags are ``bot.intake``'s,
approvals ``bot.review.approvals``'s. Must never post anything.

Every decision names the version of the case that the person saw. ``Conflict`` says that somebody was faster or holds
the case, ``NotAllowed`` that the rules forbid it, ``BadInput`` that the call is wrong, and ``StoreUnavailable`` that
the database does not answer; after the first three nothing has changed.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from bot.drafting.chosen_claim import checked_claim
from bot.review.guard import decider
from bot.store.cases import cases as store
from bot.store.cases import finds, holds, suggestions
from bot.store.cases.cases import Case
from bot.store.cases.sending import require_settled
from bot.store.engine.database import Database, Session
from bot.store.people.people import require_on_case
from core.errors import BadInput, NotAllowed
from core.i18n.sentences import sentence
from core.models import Intent
from core.moderation.approval import CaseState, state_words
from core.moderation.decline import DeclineReason, decline_reason, decline_words
from core.moderation.input_checks import check_note, check_text
from core.moderation.roles import OnCase, Person

_HELD = frozenset({CaseState.IN_REVIEW, CaseState.NEEDS_PERSON, CaseState.UNKNOWN, CaseState.FAILED})
"""The states in which a case waits for a person, who can hold it."""


class Decisions:
    """The decisions about cases, over one database.

    Args:
        hold_minutes: how long a case that somebody holds is closed to others.
    """

    def __init__(self, database: Database, *, hold_minutes: float = 5.0) -> None:
        self._database = database
        self._hold = timedelta(minutes=hold_minutes)

    async def hold(self, case_id: str, by: Person) -> Case:
        """Hold a case for ``hold_minutes``: nobody else can decide about it then. Holding it again extends the time.

        Raises:
            Conflict: somebody else holds it; the message says who, and until when.
            NotAllowed: the person may not review here, or the case does not wait for a person.
        """

        async def work(session: Session) -> Case:
            case, who = await self._reviewer(session, case_id, by)
            await holds.require_free(session, case, who)
            if case.state not in _HELD:
                raise NotAllowed(
                    sentence("The case is {state}: it does not wait for a person.", state=state_words(case.state)),
                    remedy=sentence("Choose another case."),
                )
            return await holds.start(session, case, who, self._hold)

        return await self._database.run("hold a case", work)

    async def release(self, case_id: str, by: Person) -> Case:
        """Give up holding a case. Changes nothing if the person does not hold it."""

        async def work(session: Session) -> Case:
            case, who = await self._reviewer(session, case_id, by)
            return await holds.end(session, case) if case.held_by == who else case

        return await self._database.run("release a case that was held", work)

    async def _reviewer(self, session: Session, case_id: str, by: Person) -> tuple[Case, str]:
        case = await holds.lock(session, case_id)
        return case, await require_on_case(session, case.community_id, by, OnCase.REVIEW)

    async def redraft(
        self, case_id: str, version: int, claim: str | None, by: Person, *, intent: Intent | None = None
    ) -> Case:
        """Put a case in review back into the queue for other drafts; if nothing new comes, the earlier drafts stay.

        Args:
            case_id: the case, which must be in review.
            version: the case's version that the moderator saw.
            claim: another of the case's claims, or one of the moderator's own, 300 characters at most; ``None`` to keep
                the present one.
            by: the person who asks; recorded with the claim.
            intent: the only intent to draft; ``None`` for those that were wanted before.

        Raises:
            BadInput: the claim is empty, too long, or already the one that is argued.
        """
        check_text(claim or "")
        chosen = None if claim is None else checked_claim(claim)

        async def work(session: Session) -> Case:
            case, who = await decider(session, case_id, version, by, OnCase.REVIEW, CaseState.IN_REVIEW)
            if chosen is not None:
                await _require_other(session, case_id, chosen)
            moved = await store.transition(
                session,
                case_id,
                version,
                CaseState.QUEUED,
                actor=who,
                reason=_wanted(chosen, intent),
                note=chosen or "",
            )
            if chosen is not None:
                await suggestions.choose_claim(session, moved, chosen)
            if intent is not None:
                await store.set_wish(session, case_id, replace(case.post.wish, intent=intent))
            return await holds.end(session, moved)

        return await self._database.run("redraft", work)

    async def undo(self, case_id: str, version: int, by: Person) -> Case:
        """Take an approval back before its reply is sent; the case is in review again."""

        async def work(session: Session) -> Case:
            case, who = await decider(session, case_id, version, by, OnCase.APPROVE, CaseState.APPROVED)
            await finds.label(session, case, None)
            return await store.transition(
                session, case_id, version, CaseState.IN_REVIEW, actor=who, reason="approval undone"
            )

        return await self._database.run("undo", work)

    async def decline(self, case_id: str, version: int, by: Person, reason: DeclineReason, note: str = "") -> Case:
        """Close a case because no draft will do.

        Args:
            case_id: the case, which must be in review or need a person.
            version: the case's version that the moderator saw.
            by: who declines.
            reason: what is wrong with the drafts.
            note: more about it; needed with ``DeclineReason.OTHER``.
        """
        because = decline_reason(reason)
        if because is DeclineReason.OTHER:
            check_note(note)
        check_text(note)
        return await self._close(
            case_id,
            version,
            CaseState.DECLINED,
            by,
            sentence("declined: {why}", why=decline_words(because)),
            note,
            OnCase.REVIEW,
            is_hateful=False if because is DeclineReason.NOT_HATEFUL else None,
        )

    async def stay_silent(self, case_id: str, version: int, by: Person, note: str) -> Case:
        """Close a case because this post is better left without a reply, with a reason."""
        check_note(note)
        reason = sentence("left without a reply")
        return await self._close(case_id, version, CaseState.NO_REPLY, by, reason, note, OnCase.REVIEW)

    async def withdraw(self, case_id: str, version: int, by: Person, note: str) -> Case:
        """Close a case that should not have been opened, with a reason; an approved reply is no longer sent."""
        check_note(note)
        return await self._close(
            case_id, version, CaseState.WITHDRAWN, by, sentence("withdrawn"), note, OnCase.WITHDRAW
        )

    async def reopen(self, case_id: str, version: int, by: Person) -> Case:
        """Put a case that needs a person or whose send failed in review again, or in the queue if it has no draft."""

        async def work(session: Session) -> Case:
            case, who = await decider(session, case_id, version, by, OnCase.REVIEW)
            if case.state not in (CaseState.NEEDS_PERSON, CaseState.FAILED):
                raise NotAllowed(
                    sentence("The case is {state}: it cannot be reopened.", state=state_words(case.state)),
                    remedy=sentence("Reload the case."),
                )
            await require_settled(session, case_id)
            stored = await suggestions.latest_suggestion(session, case_id)
            has_drafts = stored is not None and bool(stored.suggestion.drafts)
            to = CaseState.IN_REVIEW if has_drafts else CaseState.QUEUED
            return await store.transition(session, case_id, version, to, actor=who, reason="reopened")

        return await self._database.run("reopen", work)

    async def _close(
        self,
        case_id: str,
        version: int,
        to: CaseState,
        by: Person,
        reason: str,
        note: str,
        action: OnCase,
        *,
        is_hateful: bool | None = None,
    ) -> Case:
        async def work(session: Session) -> Case:
            case, who = await decider(session, case_id, version, by, action)
            await require_settled(session, case_id)
            if is_hateful is not None or to is CaseState.WITHDRAWN:
                await finds.label(session, case, is_hateful)
            moved = await store.transition(session, case_id, version, to, actor=who, reason=reason, note=note)
            return await holds.end(session, moved)

        return await self._database.run("close a case", work)


async def _require_other(session: Session, case_id: str, claim: str) -> None:
    stored = await suggestions.latest_suggestion(session, case_id)
    if stored is not None and claim.casefold() == (stored.suggestion.claim or "").casefold():
        raise BadInput(
            sentence("The drafts argue this claim already."), remedy=sentence("Choose another, or write one.")
        )


def _wanted(claim: str | None, intent: Intent | None) -> str:
    """Why a case is drafted again, for its history."""
    kind = f"{intent} drafts" if intent is not None else "other drafts"
    if claim is None:
        return f"for {kind}"
    return "to argue another claim" if intent is None else f"for {kind}, to argue another claim"
