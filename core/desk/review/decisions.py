"""What people can do with a case.

These decisions take one transaction each: hold, release, redraft, close, undo, reopen. Each is committed before the
call returns, and reads the person's role again in its transaction. Flags are in ``core.desk.intake``, approvals in
``core.desk.review.approvals``.

Every decision names the version of the case that the person saw. ``Conflict`` says that somebody was faster or holds
the case, ``NotAllowed`` that the rules forbid it, ``BadInput`` that the call is wrong, and ``StoreUnavailable`` that
the database does not answer; after the first three nothing has changed.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

from core.desk.database.connection import Database, Session
from core.desk.drafting.request import checked_claim
from core.desk.rules import approval, closures
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.rules.input_checks import check_note, check_text
from core.desk.rules.roles import OnCase, Person, may_on_case
from core.desk.runtime import metrics
from core.desk.schema import CaseRow
from core.desk.store import accounts, finds, holds, suggestions
from core.desk.store import cases as store
from core.desk.store.cases import Case
from core.desk.store.outbox import require_settled
from core.desk.store.people import require_on_case, roles_of
from core.desk.store.renewals import reopen
from core.errors import BadInput, Conflict, NotAllowed
from core.i18n.sentences import sentence
from core.models import Intent

_HELD = frozenset({CaseState.IN_REVIEW, CaseState.NEEDS_PERSON, CaseState.UNKNOWN, CaseState.FAILED})
"""The states in which a case waits for a person, who can hold it."""
_CLOSINGS: Final = {
    CaseState.DECLINED: OnCase.REVIEW,
    CaseState.NO_REPLY: OnCase.REVIEW,
    CaseState.WITHDRAWN: OnCase.WITHDRAW,
}
"""How people close cases, and what they need the right to for each, and for undoing it."""


class Decisions:
    """The decisions about cases, over one database.

    Args:
        hold_minutes: how long a case that somebody holds is closed to others.
        undo_seconds: how long a person can undo that they closed a case.
        hearing_seconds: by platform, how long it may take until what a person wrote there is heard.
    """

    def __init__(
        self,
        database: Database,
        *,
        hold_minutes: float = 5.0,
        undo_seconds: float = 15.0,
        hearing_seconds: Mapping[str, float] | None = None,
    ) -> None:
        self._database = database
        self._hearing = {name: timedelta(seconds=seconds) for name, seconds in (hearing_seconds or {}).items()}
        self._undo = timedelta(seconds=undo_seconds)
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
                    sentence(
                        "The case is {state}: it does not wait for a person.", state=approval.state_words(case.state)
                    ),
                    remedy=sentence("Choose another case."),
                )
            return await holds.start(session, case, who, self._hold)

        return await self._database.run("hold a case", work)

    async def release(self, case_id: str, by: Person) -> Case:
        """Give up holding a case. Changes nothing where nobody holds it.

        Raises:
            Conflict: somebody else holds it, and goes on holding it.
        """

        async def work(session: Session) -> Case:
            case, who = await self._reviewer(session, case_id, by)
            await holds.require_free(session, case, who)
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
                reason=_why_again(chosen, intent),
                note=chosen or "",
            )
            if chosen is not None:
                await suggestions.choose_claim(session, moved, chosen)
            if intent is not None:
                await store.set_wish(session, case_id, replace(case.post.wish, intent=intent))
            return await holds.end(session, moved)

        return await self._database.run("redraft", work)

    async def undo(self, case_id: str, version: int, by: Person) -> Case:
        """Take a decision back: an approval before its reply is sent, or one's own closing of a case for a short time.

        Raises:
            NotAllowed: nothing can be undone: something else was decided, by somebody else, or too long ago.
        """

        async def work(session: Session) -> Case:
            before = await store.load(session, case_id)
            if before.state not in _CLOSINGS:
                case, who = await decider(session, case_id, version, by, OnCase.APPROVE, CaseState.APPROVED)
                to, reason = CaseState.IN_REVIEW, sentence("approval taken back")
            else:
                case, who = await decider(session, case_id, version, by, _CLOSINGS[before.state])
                to, reason = await self._open_again(session, case, who), sentence("decision undone")
                await finds.take_back(session, case)
            await finds.label(session, case, None)
            return await store.transition(session, case_id, version, to, actor=who, reason=reason)

        return await self._database.run("undo", work)

    async def _open_again(self, session: Session, case: Case, who: str) -> CaseState:
        """Where a closed case goes that its closer opens again in time."""
        last = (await store.history(session, case.id))[-1]
        to = approval.undone_to(last.from_state)
        if to is None or last.actor != who:
            raise NotAllowed(
                sentence("Only the person who closed the case can undo that."),
                remedy=sentence("Ask them, or leave it closed."),
            )
        undo = self._undo + self._hearing.get(case.post.ref.platform, timedelta())
        if session.moment - last.at > undo or (await session.get_one(CaseRow, case.id)).erased_at is not None:
            raise NotAllowed(
                sentence("A decision can be undone for {seconds} seconds only.", seconds=f"{self._undo.seconds}"),
                remedy=sentence("The case stays closed."),
            )
        return to

    async def close(self, case_id: str, version: int, by: Person, reason: CloseReason, note: str = "") -> Case:
        """Close a case without a reply.

        Args:
            case_id: the case, in a state that ``core.desk.rules.closures.close_reasons`` knows the reason for.
            version: the case's version that the person saw.
            by: who closes it; a person who flagged the post may only take the flag back (``CloseReason.MISTAKE``).
            reason: why; it decides how the case ends.
            note: more about it; needed with ``CloseReason.OTHER``.
        """
        because = closures.close_reason(reason)
        if because is CloseReason.OTHER:
            check_note(note)
        check_text(note)
        to = closures.closed_as(because)

        async def work(session: Session) -> Case:
            case, who = await decider(session, case_id, version, by, _CLOSINGS[to])
            if await wrote_post(session, case, by):
                raise NotAllowed(
                    sentence("You wrote this post, and others flagged it."),
                    remedy=sentence("Ask another moderator to decide about it."),
                )
            await require_settled(session, case_id)
            if to is CaseState.WITHDRAWN:
                await finds.label(session, case, None)
            moved = await store.transition(
                session, case_id, version, to, actor=who, reason=closures.close_words(because), note=note
            )
            if because is CloseReason.NOT_HATEFUL:
                await finds.dismiss(session, case)
            return await holds.end(session, moved)

        closed = await self._database.run("close a case", work)
        waited = closed.updated_at - closed.created_at
        metrics.FLAG_TO_DECISION.labels("closed").observe(waited.total_seconds())
        return closed

    async def reopen(self, case_id: str, version: int, by: Person) -> Case:
        """Put a case in review again, or in the queue if it has no draft.

        One that needs a person, whose send failed, or that was closed without a reply.
        """

        async def work(session: Session) -> Case:
            case, who = await decider(session, case_id, version, by, OnCase.REVIEW)
            await require_settled(session, case_id)
            return await reopen(session, case, who)

        return await self._database.run("reopen", work)


async def _require_other(session: Session, case_id: str, claim: str) -> None:
    stored = await suggestions.latest_suggestion(session, case_id)
    if stored is not None and claim.casefold() == (stored.suggestion.claim or "").casefold():
        raise BadInput(
            sentence("The drafts argue this claim already."), remedy=sentence("Choose another, or write one.")
        )


def _why_again(claim: str | None, intent: Intent | None) -> str:
    """Why a case is drafted again, for its history."""
    kind = f"{intent} drafts" if intent is not None else "other drafts"
    if claim is None:
        return f"for {kind}"
    return "to argue another claim" if intent is None else f"for {kind}, to argue another claim"


async def decider(
    session: Session, case_id: str, version: int, by: Person, action: OnCase, state: CaseState | None = None
) -> tuple[Case, str]:
    """The case, locked until the transaction is over, and the pseudonym of the person who decides about it.

    The questions are the same for every decision, in this order: may this person do it here, did they see the case as
    it is now, and does somebody else hold it? Nobody learns anything about a case before the first is answered.

    Args:
        version: the version of the case that the person saw.
        state: the only state in which this can be decided; ``None`` leaves that to the transition.

    Raises:
        BadInput: there is no such case.
        NotAllowed: the person may not do this here, or the case is in a different state.
        Conflict: the case has another version, or somebody else holds it.
    """
    case = await holds.lock(session, case_id)
    who = await require_on_case(session, case.community_id, by, action, flagged_by=case.post.flagged_by)
    try:
        case = await store.load_expected(session, case_id, version, state or case.state, by)
        await holds.require_free(session, case, who)
    except Conflict as err:
        if not may_on_case(await roles_of(session, case.community_id, who), OnCase.READ):
            raise err.without_names() from err  # who only flagged the post learns of no moderator
        raise
    return case, who


async def wrote_post(session: Session, case: Case, by: Person) -> bool:
    """Whether a person decides about a post of their own that others flagged."""
    own = await accounts.selves(session, by)
    return case.post.author in own and case.post.flagged_by not in own
