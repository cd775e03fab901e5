"""Sends of unknown fate: taken over when their sender is gone, sent again inside the platform's window, or settled.

Owns the transactions of a send that got no answer. Does not know any platform. Must never let a reply be sent again
unless it passes every check of a first send.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from bot.sending.checks import obstacle
from bot.sending.outbox_rows import Delivery, Rules, SendLease, end, intend, mine
from bot.store.cases import sending as store
from bot.store.cases.cases import LOOK_AGAIN, load, load_expected
from bot.store.cases.sending import Entry, entry_of
from bot.store.engine.database import Database, Session
from bot.store.people import communities
from bot.store.people.people import require_on_case
from bot.store.schema import OutboxState
from core.errors import NotAllowed
from core.i18n.sentences import joined, sentence
from core.models import PostRef
from core.moderation.approval import CaseState
from core.moderation.roles import OnCase, Person


class UnknownSends:
    """The transactions of sends whose outcome is unknown, over one database."""

    def __init__(self, database: Database, rules: Rules) -> None:
        self._database = database
        self._rules = rules

    async def interrupted(self) -> dict[str, str]:
        """The approvals whose sends were not finished and that no process looks after, with their platforms."""
        return await self._database.run("look for interrupted sends", store.interrupted)

    async def take_over(self, approval_id: str, serves: Callable[[PostRef], bool]) -> SendLease | Delivery | None:
        """Take over a send whose sender is gone; ``None`` if another process took it, or should.

        If no process serves its platform and its approval is too old, the send is left to a person.
        """

        async def work(session: Session) -> SendLease | Delivery | None:
            entry = await entry_of(session, approval_id, lock=True)
            row, is_served = entry.row, serves(entry.case.post.ref)
            is_open = entry.case.state in (CaseState.SENDING, CaseState.UNKNOWN)
            if not is_open or row.state not in (OutboxState.SENDING, OutboxState.UNKNOWN):
                return None
            if row.lease_until is not None and row.lease_until > session.moment:
                return None
            if not is_served and session.moment < entry.approval.expires_at:
                return None
            if entry.case.state is CaseState.SENDING:
                await end(session, entry, CaseState.UNKNOWN, sentence("the send was interrupted"))
                entry = await entry_of(session, approval_id)
            if not is_served:
                left = sentence(
                    "The send was interrupted, and {platform} is not connected any more.",
                    platform=entry.case.post.ref.platform,
                )
                return await end(session, entry, CaseState.NEEDS_PERSON, left)
            row.attempts += 1
            row.lease_until = session.moment + self._rules.lease
            try:
                reply = entry.reply()
            except NotAllowed as err:
                why = joined(sentence("The send was interrupted."), err.message)
                return await end(session, entry, CaseState.NEEDS_PERSON, why)
            held = self._rules.hold_seconds
            return SendLease(entry.case.id, reply, row.attempts, is_first=False, hold_seconds=held)

        return await self._database.run("take over a send", work)

    async def in_window(self, lease: SendLease, resend_seconds: float) -> Entry | None:
        """The send, if its reply may be sent again under its key now; ``None`` if it may not, or was moved."""

        async def work(session: Session) -> Entry | None:
            entry = await mine(session, lease, OutboxState.UNKNOWN)
            return None if entry is None or self._seconds_left(session, entry, resend_seconds) <= 0 else entry

        return await self._database.run("look at the window of a send", work)

    async def again(self, lease: SendLease, resend_seconds: float, why: str) -> SendLease | Delivery | None:
        """Commit the intent to send again under the same key, if every condition of a first send holds."""

        async def work(session: Session) -> SendLease | Delivery | None:
            seen = await entry_of(session, lease.reply.approval_id)
            await communities.load(session, seen.case.community_id, lock=True)
            entry = await mine(session, lease, OutboxState.UNKNOWN)
            if entry is None:
                return None
            found = await obstacle(session, entry, self._rules.limits)
            left = self._seconds_left(session, entry, resend_seconds)
            if found is not None or left <= 0:
                instead = found.reason if found else sentence("It is too late to send it again.")
                return await end(session, entry, CaseState.NEEDS_PERSON, joined(why, instead))
            return await intend(session, self._rules, entry, min(self._rules.hold_seconds, left), is_first=False)

        return await self._database.run("commit the intent again", work)

    async def wait(self, lease: SendLease, reason: str, resend_seconds: float) -> Delivery | None:
        """Leave a send for a while if it may still be sent again then; otherwise ask a person."""

        async def work(session: Session) -> Delivery | None:
            entry = await mine(session, lease, OutboxState.UNKNOWN)
            if entry is None:
                return None
            pause = self._rules.pause(entry.row.attempts)
            if self._seconds_left(session, entry, resend_seconds) <= pause.total_seconds():
                return await end(session, entry, CaseState.NEEDS_PERSON, reason)
            entry.row.error, entry.row.lease_until = reason, session.moment + pause
            return Delivery(entry.case.id, entry.approval.id, entry.case.state, reason)

        return await self._database.run("leave an unknown send", work)

    async def park(self, lease: SendLease, reason: str) -> Delivery | None:
        """Ask a person how a send ended."""

        async def work(session: Session) -> Delivery | None:
            entry = await mine(session, lease, OutboxState.UNKNOWN)
            return None if entry is None else await end(session, entry, CaseState.NEEDS_PERSON, reason)

        return await self._database.run("ask a person about a send", work)

    async def settle(
        self, case_id: str, version: int, *, stands: bool, by: Person, note: str, message: str | None = None
    ) -> Delivery:
        """Record what a person found on the platform; the case is then ``posted`` or ``failed``."""

        async def work(session: Session) -> Delivery:
            case = await load(session, case_id)
            who = await require_on_case(session, case.community_id, by, OnCase.APPROVE)
            await load_expected(session, case_id, version, CaseState.NEEDS_PERSON)
            newest = await store.newest(session, case_id)
            if newest is None or newest.state is not OutboxState.UNKNOWN:
                raise NotAllowed(sentence("Whether the reply was posted is known already."), remedy=LOOK_AGAIN)
            entry = await entry_of(session, newest.approval_id, lock=True)
            if stands:
                entry.row.remote_message, entry.row.posted_at = message, entry.row.first_sent_at
                return await end(
                    session, entry, CaseState.POSTED, sentence("found on the platform"), actor=who, note=note
                )
            missing = sentence("not found on the platform")
            return await end(session, entry, CaseState.FAILED, missing, actor=who, note=note)

        return await self._database.run("settle a send", work)

    def _seconds_left(self, session: Session, entry: Entry, resend_seconds: float) -> float:
        """How many seconds the reply may still be sent again; 0 once it was tried often enough."""
        first = entry.row.first_sent_at
        if first is None or entry.row.attempts >= self._rules.max_attempts:
            return 0.0
        return (first + timedelta(seconds=resend_seconds) - session.moment).total_seconds()
