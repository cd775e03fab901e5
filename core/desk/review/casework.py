"""The desk as chat platforms see it: every decision a person makes is answered with the case's card.

Each call asks the platform for the person's roles at this moment, lets the desk decide, and reads the card again
(``Casework``). Open cases come as a list, or by the short number that people call them by.
"""

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from sqlalchemy import func, select, update

from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database, Session
from core.desk.intake import Intake
from core.desk.review.approvals import Approvals, AwaitsSecond, Proposals
from core.desk.review.decisions import Decisions
from core.desk.rules import case_cards
from core.desk.rules.approval import CLOSED, CaseState, text_hash
from core.desk.rules.closures import CloseReason, RetractReason
from core.desk.rules.input_checks import check_text
from core.desk.rules.roles import OnCase, Person
from core.desk.runtime.logs import about
from core.desk.schema import CaseRow, Original, ReviewCardRow
from core.desk.sending.checks import CHANGED, GONE
from core.desk.sending.outbox import Outbox
from core.desk.store import captures, communities, holds
from core.desk.store import cases as store
from core.desk.store.outbox import case_replied_with
from core.desk.store.people import require_on_case
from core.desk.store.renewals import renew
from core.desk.views.cards import seen_by
from core.desk.views.review_cards import put_up_again, was_deleted
from core.errors import BadInput
from core.i18n.sentences import sentence
from core.models import Intent, PostRef

PAGE: Final = 10
_UNLISTED: Final = CLOSED | {CaseState.FOLDED}
"""A folded case is decided with the one that stands for it, which is listed."""
_MOST_ALIKE: Final = 8


async def open_cases(session: Session, community_id: str, page: int) -> case_cards.OpenCases:
    """A page of a community's open cases, oldest first; the last page instead of one that there is not."""
    is_listed = (CaseRow.community_id == community_id, CaseRow.state.not_in(_UNLISTED))
    counted = await session.execute(select(func.count(), func.min(CaseRow.created_at)).where(*is_listed))
    total, oldest = counted.one()
    pages = max(1, -(-int(total) // PAGE))
    page = min(max(page, 0), pages - 1)
    query = (
        select(CaseRow, ReviewCardRow)
        .outerjoin(ReviewCardRow, ReviewCardRow.case_id == CaseRow.id)
        .where(*is_listed)
        .order_by(CaseRow.created_at, CaseRow.id)
        .offset(page * PAGE)
        .limit(PAGE)
    )
    cases = []
    for case, card in list(await session.execute(query)):
        place = None if card is None else PostRef(case.platform, case.community, card.channel, card.message)
        holder = await holds.holder(session, case)
        cases.append(case_cards.OpenCase(case.id, case.state, case.created_at, holder, place))
    return case_cards.OpenCases(tuple(cases), page, pages, int(total), oldest)


async def case_numbered(session: Session, community_id: str, number: str) -> str:
    """The id of the only case of a community that begins so; of several, the only open one.

    Raises:
        BadInput: there is none, or the number fits several.
    """
    begun = case_cards.beginning_of_id(number)
    query = (
        select(CaseRow.id, CaseRow.state)
        .where(CaseRow.community_id == community_id, CaseRow.id >= begun, CaseRow.id < begun + "g")
        .order_by(CaseRow.id)
        .limit(_MOST_ALIKE)
    )
    rows = list(await session.execute(query)) if begun else []
    alike = [case_id for case_id, state in rows if state not in CLOSED] or [case_id for case_id, _ in rows]
    if not alike:
        raise BadInput(
            sentence("There is no case {case} here.", case=number),
            remedy=sentence("Take the number from the list of open cases, or from the card."),
        )
    if len(alike) > 1:
        raise BadInput(
            sentence("Several cases begin with {case}.", case=case_cards.short_number(begun)),
            remedy=sentence("Type more of the number: {numbers}.", numbers=", ".join(_apart(alike))),
        )
    return alike[0]


def _apart(ids: list[str]) -> list[str]:
    """As much of each id as tells them apart."""
    length = next((n for n in range(1, 33) if len({case_id[:n] for case_id in ids}) == len(ids)), 32)
    return [case_id[:length].upper() for case_id in ids]


_REASONS: Final = {Original.EDITED: CHANGED, Original.DELETED: GONE}


async def note_original(session: Session, ref: PostRef, text: str | None, revision: str = "") -> None:
    """Record what a flagged post says now, ``None`` if it is gone; a post that has no case is ignored.

    An open case whose post has new words is drafted anew. Where the words are hidden, the case keeps its version, since
    nobody decided anything; but an approved reply is no longer sent, and a person is asked instead. A post that was not
    hateful is looked at again.
    """
    known_case = (await store.find_all(session, [ref])).get(ref)
    if known_case is None:
        return
    case = await holds.lock(session, known_case.id)
    if text is not None and await renew(session, case, text, revision) is not None:
        return
    row = await session.get_one(CaseRow, case.id)
    now = _compared(row, text, revision)
    if now is row.original or row.erased_at is not None:
        return
    await session.execute(update(CaseRow).where(CaseRow.id == case.id).values(original=now))
    await store.touch(session, case.id)
    if now in _REASONS and case.state is CaseState.APPROVED:
        reason = _REASONS[now]
        await store.transition(session, case.id, case.version, CaseState.NEEDS_PERSON, actor="desk", reason=reason)


def _compared(row: CaseRow, text: str | None, revision: str) -> Original:
    if text is None:
        return Original.DELETED
    if not text and revision and row.revision:
        return Original.UNCHANGED if revision == row.revision else Original.EDITED
    return Original.UNCHANGED if text_hash(text) == row.target_sha256 else Original.EDITED


_LOG = logging.getLogger(__name__)
_STANDS: Final = "somebody looked: it stands there"
_MISSING: Final = "somebody looked: it does not stand there"


class Casework:
    """Decisions about cases, by the people of a platform, and the intake of their flags.

    A method that fails raises one of ``core.errors`` with a remedy: ``NotAllowed`` if the person may not do this,
    ``Conflict`` if the case has changed since they saw it or somebody else holds it, ``BadInput`` if the call is wrong,
    ``PlatformUnavailable`` if the platform cannot say who the person is, and ``StoreUnavailable`` if the database does
    not answer. After each of them nothing has changed.

    A decision asks the platform once for its person's roles, and takes four transactions: whose case it is, what the
    platform said, the decision, and the card. An approval uses the first one for its own reading; a retraction talks to
    the platform and takes more.
    """

    def __init__(
        self,
        database: Database,
        *,
        live_roles: LiveRoles,
        intake: Intake,
        decisions: Decisions,
        proposals: Proposals,
        approvals: Approvals,
        outbox: Outbox,
    ) -> None:
        self._database = database
        self._live_roles = live_roles
        self.intake = intake
        self._decisions = decisions
        self._proposals = proposals
        self._approvals = approvals
        self._outbox = outbox

    # Cases

    async def card(self, case_id: str, by: Person) -> case_cards.Card:
        """A case as this person may see it. People who only flagged the post see the post's words and no others."""
        await self._ask_for_roles(case_id, by)
        return await self._card(case_id, by)

    async def look(self, case_id: str, by: Person) -> case_cards.Card:
        """The same by the roles that the platform told last, without asking it: to see whether a wait is over.

        What is shown to a person after a wait is read with ``card``.
        """
        return await self._card(case_id, by)

    async def posts(self, platform: str, most: int) -> list[PostRef]:
        """The posts whose edits and deletions matter to a case, at most so many, the newest last."""
        return await self._database.run("read what is followed", lambda s: captures.followed(s, platform, most))

    async def find(self, ref: PostRef, by: Person) -> case_cards.Card | None:
        """The case of a post, or that a posted reply belongs to; ``None`` if there is none."""

        async def look(session: Session) -> str | None:
            case = (await store.find_all(session, [ref])).get(ref)
            return await case_replied_with(session, ref) if case is None else case.id

        case_id = await self._database.run("find a case", look)
        return None if case_id is None else await self.card(case_id, by)

    async def open_cases(self, platform: str, community: str, by: Person, page: int = 0) -> case_cards.OpenCases:
        """A page of a community's open cases, oldest first; of a page that there is not, the last one."""
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> case_cards.OpenCases:
            await require_on_case(session, place.id, by, OnCase.READ)
            return await open_cases(session, place.id, page)

        return await self._database.run("list open cases", work)

    async def numbered(self, platform: str, community: str, number: str, by: Person) -> case_cards.Card:
        """The case of a community that people call so (``core.desk.rules.case_cards``).

        If it is open, its card is put up again where it is gone.
        """
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> case_cards.Card:
            await require_on_case(session, place.id, by, OnCase.READ)
            case_id = await case_numbered(session, place.id, number)
            await put_up_again(session, case_id)
            return await seen_by(session, case_id, by)

        return await self._database.run("show a case by its number", work)

    async def card_gone(self, ref: PostRef) -> None:
        """Say that a message is gone. If it was the card of an open case, the card is put up again.

        The card of a closed case stays gone; any other message is ignored.
        """
        await self._database.run("note that a card is gone", lambda session: was_deleted(session, ref))

    async def hold(self, case_id: str, by: Person) -> case_cards.Card:
        """Hold a case; ``Conflict`` says who else does, and until when."""
        return await self._decided("hold", case_id, by, lambda: self._decisions.hold(case_id, by))

    async def release(self, case_id: str, by: Person) -> case_cards.Card:
        """Stop holding it; ``Conflict`` if somebody else does."""
        return await self._decided("release", case_id, by, lambda: self._decisions.release(case_id, by))

    # Approvals

    async def propose(
        self, case_id: str, version: int, by: Person, *, rank: int | None = None, text: str | None = None
    ) -> case_cards.ProposedReply:
        """Store one exact text to approve: a draft by ``rank``, or an edited ``text`` (with the rank of its draft).

        Raises:
            BadInput: there is no such draft, or the text is empty.
            Unsendable: it can never be posted as it is; ``refused`` gives it back by the error's ``text_id``.
        """
        await self._ask_for_roles(case_id, by)
        return await self._proposals.propose(case_id, version, by, rank=rank, text=text)

    async def refused(self, text_id: str, by: Person) -> case_cards.RefusedReply:
        """A text that ``propose`` refused, for the person who wrote it to mend."""
        return await self._proposals.refused(text_id, by)

    async def approve(self, proposal_id: str, by: Person) -> case_cards.Approval:
        """Approve what ``propose`` kept and the person was shown; sent when the undo window is over."""
        outcome = await self._approvals.approve(proposal_id, by)
        with about(case=outcome.case_id, platform=by.platform):
            _LOG.info("decided: %s", "approve-first" if isinstance(outcome, AwaitsSecond) else "approve")
        card = await self._card(outcome.case_id, by)
        if isinstance(outcome, AwaitsSecond):
            return case_cards.Approval(card, outcome.until, outcome.because)
        return case_cards.Approval(card)

    async def undo(self, case_id: str, version: int, by: Person) -> case_cards.Card:
        """Take an approval back before it is sent, or one's own closing of a case for a short time."""
        return await self._decided("undo", case_id, by, lambda: self._decisions.undo(case_id, version, by))

    # Other ends

    async def redraft(
        self, case_id: str, version: int, by: Person, *, intent: Intent | None = None, claim: str | None = None
    ) -> case_cards.Card:
        """Ask for other drafts: of one intent, arguing another claim, or simply others."""
        return await self._decided(
            "redraft", case_id, by, lambda: self._decisions.redraft(case_id, version, claim, by, intent=intent)
        )

    async def close(
        self, case_id: str, version: int, by: Person, reason: CloseReason, note: str = ""
    ) -> case_cards.Card:
        """Close a case without a reply; ``CloseReason.OTHER`` needs a ``note``."""
        return await self._decided(
            "close", case_id, by, lambda: self._decisions.close(case_id, version, by, reason, note)
        )

    async def reopen(self, case_id: str, version: int, by: Person) -> case_cards.Card:
        """Put a case back in review that needs a person or whose send failed."""
        return await self._decided("reopen", case_id, by, lambda: self._decisions.reopen(case_id, version, by))

    async def settle(self, case_id: str, version: int, by: Person, *, is_posted: bool) -> case_cards.Card:
        """Say whether a reply is on the platform, after a send that could not be read back."""
        return await self._decided(
            "settle",
            case_id,
            by,
            lambda: self._outbox.settle(case_id, version, is_posted, by, _STANDS if is_posted else _MISSING),
        )

    async def split_out(self, case_id: str, version: int, by: Person) -> case_cards.Card:
        """Draft a folded post on its own."""
        return await self._decided("split_out", case_id, by, lambda: self.intake.split_out(case_id, version, by))

    async def retract(
        self, case_id: str, version: int, by: Person, reason: RetractReason, note: str = ""
    ) -> case_cards.Card:
        """Remove a posted reply; the card's notes say why one stays. ``RetractReason.OTHER`` needs a ``note``."""
        with _watched("retract", case_id, by):
            await self._ask_for_roles(case_id, by)
            delivery = await self._outbox.retract_reply(case_id, version, by, reason, note)
            card = await self._card(case_id, by)
        if delivery.state is CaseState.RETRACTED:
            return card
        return replace(card, notes=(*card.notes, delivery.reason))

    # What the platform says

    async def original_changed(self, ref: PostRef, text: str | None, *, revision: str = "") -> None:
        """Say that a flagged post now reads otherwise, or was deleted (``None``); unknown posts are ignored.

        Where the platform hides the words, ``text`` is "", and ``revision`` (``FlaggedPost.revision``) is compared.
        """
        check_text(text or "")
        await self._database.run(
            "note what a post says now", lambda session: note_original(session, ref, text, revision)
        )

    async def _decided(
        self, what: str, case_id: str, by: Person, decide: Callable[[], Awaitable[object]]
    ) -> case_cards.Card:
        """Ask the platform for the person's roles, let the desk decide, and return the card."""
        with _watched(what, case_id, by):
            await self._ask_for_roles(case_id, by)
            await decide()
            return await self._card(case_id, by)

    async def _ask_for_roles(self, case_id: str, by: Person) -> None:
        """Store the roles that the platform says the person has, so that the desk goes by them."""

        async def look(session: Session) -> communities.Community:
            return await communities.load(session, (await store.load(session, case_id)).community_id)

        community = await self._database.run("read whose case it is", look)
        await self._live_roles.refresh(community, [by])

    async def _card(self, case_id: str, by: Person) -> case_cards.Card:
        return await self._database.run("show a card", lambda session: seen_by(session, case_id, by))


@contextmanager
def _watched(what: str, case_id: str, by: Person) -> Iterator[None]:
    """Tell the log of a decision, and not whose it is."""
    with about(case=case_id, platform=by.platform):
        yield
        _LOG.info("decided: %s", what)
