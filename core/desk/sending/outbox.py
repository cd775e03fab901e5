"""The outbox: posts each approved reply exactly once, or asks a person.

The send protocol has this order (reliability, section 1.2): check, read the original, commit the intent, call, record
the outcome, and read back a send that got no answer. A send of unknown fate is taken over when its sender is gone, then
sent again inside the platform's window, or settled by a person. No transaction stays open across a network call. Any
number of processes may run an outbox over the same database.
"""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Final

from core import errors
from core.desk.communities.native_roles import keep_native
from core.desk.database.connection import Database, Session
from core.desk.rules.approval import CaseState, text_hash
from core.desk.rules.closures import RetractReason
from core.desk.rules.input_checks import check_note, check_text
from core.desk.rules.platforms import ChatPlatform, RoleSource
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import OnCase, Person
from core.desk.runtime import metrics
from core.desk.runtime.lease import pause
from core.desk.runtime.logs import about
from core.desk.schema import OutboxState
from core.desk.sending.checks import CHANGED, GONE, Obstacle, SendLimits, obstacle
from core.desk.sending.gate import Gate, OnFault, cause, unheard
from core.desk.sending.outbox_rows import Delivery, Rules, SendLease, end, hold_back, intend, mine, sendable
from core.desk.sending.retraction import Retractions
from core.desk.store import communities
from core.desk.store import outbox as store
from core.desk.store.cases import LOOK_AGAIN, load, load_expected
from core.desk.store.outbox import Entry, entry_of
from core.desk.store.people import member, require_on_case
from core.i18n.sentences import Sentence, joined, sentence
from core.models import PostRef, SentReply

_LOG = logging.getLogger(__name__)
_LONGEST_WAIT: Final = 3600.0


class Ledger:
    """The transactions of a send, over one database."""

    def __init__(self, database: Database, rules: Rules) -> None:
        self._database = database
        self._rules = rules

    # Before the call

    async def look(self, approval_id: str) -> Entry | Delivery | None:
        """A reply that may be sent as far as the database knows; otherwise its outcome, or ``None`` if it waits."""

        async def work(session: Session) -> Entry | Delivery | None:
            return await sendable(session, self._rules, await entry_of(session, approval_id))

        return await self._database.run("look at a reply", work)

    async def approvers(self, entry: Entry) -> list[Person]:
        """The people who approved and have a role here, by their ids on the platform."""

        async def work(session: Session) -> list[Person]:
            who = filter(None, (entry.approval.moderator, entry.approval.seconded_by))
            community, platform = entry.case.community_id, entry.case.post.ref.platform
            people = [await member(session, community, platform, person_id) for person_id in who]
            return [person for person in people if person is not None]

        return await self._database.run("look up who approved", work)

    async def policy(self, entry: Entry) -> CommunityPolicy:
        """What the community of a reply set."""

        async def work(session: Session) -> CommunityPolicy:
            return communities.policy_of(await communities.load(session, entry.case.community_id))

        return await self._database.run("read the policy of a reply", work)

    async def refuse(self, before: Entry, reason: str) -> Delivery | None:
        """Hand the case to a person because of what the platform showed; ``None`` if the case was moved meanwhile."""

        async def work(session: Session) -> Delivery | None:
            entry = await sendable(session, self._rules, before)
            return await hold_back(session, self._rules, entry, Obstacle(reason)) if isinstance(entry, Entry) else entry

        return await self._database.run("refuse a send", work)

    async def postpone(self, before: Entry, reason: str) -> Delivery | None:
        """Leave a reply for later because the platform could not be asked; after ``max_attempts``, ask a person."""

        async def work(session: Session) -> Delivery | None:
            entry = await sendable(session, self._rules, before)
            if not isinstance(entry, Entry):
                return entry
            entry.row.attempts += 1
            later = session.moment + self._rules.pause(entry.row.attempts)
            is_last = entry.row.attempts >= self._rules.max_attempts
            objection = Obstacle(reason) if is_last else Obstacle(reason, to=None, until=later)
            return await hold_back(session, self._rules, entry, objection)

        return await self._database.run("postpone a send", work)

    async def lease(self, before: Entry) -> SendLease | Delivery | None:
        """Commit the intent to send, if everything still holds and nothing was moved since ``before``."""

        async def work(session: Session) -> SendLease | Delivery | None:
            entry = await sendable(session, self._rules, before)
            if not isinstance(entry, Entry):
                return entry
            entry.row.first_sent_at = session.moment
            return await intend(session, self._rules, entry, self._rules.hold_seconds, is_first=True)

        return await self._database.run("commit the intent", work)

    # After the call

    async def posted(self, lease: SendLease, posted: SentReply, reason: str = sentence("posted")) -> Delivery | None:
        """Record that the reply is on the platform; the only thing a sender may still record after its lease."""

        async def work(session: Session) -> Delivery | None:
            entry = await entry_of(session, lease.reply.approval_id, lock=True)
            if entry.row.state not in (OutboxState.SENDING, OutboxState.UNKNOWN):
                if entry.row.state is not OutboxState.POSTED:
                    _LOG.error("case %s: a reply stands that counts as %s", entry.case.id, entry.row.state)
                return None
            entry.row.remote_message, entry.row.posted_at = posted.ref.message, posted.posted_at
            return await end(session, entry, CaseState.POSTED, reason)

        return await self._database.run("record a posted reply", work)

    async def failed(self, lease: SendLease, reason: str) -> Delivery | None:
        """Record that the platform refused the reply, and would refuse it again."""

        async def work(session: Session) -> Delivery | None:
            entry = await mine(session, lease, OutboxState.SENDING)
            return None if entry is None else await end(session, entry, CaseState.FAILED, reason)

        return await self._database.run("record a refused send", work)

    async def busy(self, lease: SendLease, reason: str, after_seconds: float) -> Delivery | None:
        """Put a reply that was certainly not posted back, for later; after ``max_attempts`` it has failed."""

        async def work(session: Session) -> Delivery | None:
            entry = await mine(session, lease, OutboxState.SENDING)
            if entry is None:
                return None
            if entry.row.attempts >= self._rules.max_attempts:
                return await end(session, entry, CaseState.FAILED, reason)
            wait = timedelta(seconds=min(after_seconds, _LONGEST_WAIT) if math.isfinite(after_seconds) else 0.0)
            entry.row.not_before = session.moment + max(wait, self._rules.pause(entry.row.attempts))
            entry.row.first_sent_at = None
            await end(session, entry, CaseState.APPROVED, reason)
            return None

        return await self._database.run("put a reply back", work)

    async def unknown(self, lease: SendLease, reason: str) -> Delivery | None:
        """Record that the outcome of a send is unknown; ``None`` if another process looks after it by now."""

        async def work(session: Session) -> Delivery | None:
            entry = await mine(session, lease, OutboxState.SENDING)
            if entry is None:
                return None
            delivery = await end(session, entry, CaseState.UNKNOWN, reason)
            wait = self._rules.lease if lease.is_first else self._rules.pause(lease.attempt)
            entry.row.lease_until = session.moment + wait
            return delivery

        return await self._database.run("record an unknown send", work)


class UnknownSends:
    """The transactions of sends whose outcome is unknown, over one database."""

    def __init__(self, database: Database, rules: Rules) -> None:
        self._database = database
        self._rules = rules

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
                reason = sentence(
                    "The send was interrupted, and {platform} is not connected any more.",
                    platform=entry.case.post.ref.platform,
                )
                return await end(session, entry, CaseState.NEEDS_PERSON, reason)
            row.attempts += 1
            row.lease_until = session.moment + self._rules.lease
            try:
                reply = entry.reply()
            except errors.NotAllowed as err:
                why = joined(sentence("The send was interrupted."), err.message)
                return await end(session, entry, CaseState.NEEDS_PERSON, why)
            hold_seconds = self._rules.hold_seconds
            return SendLease(entry.case.id, reply, row.attempts, is_first=False, hold_seconds=hold_seconds)

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
            before = await entry_of(session, lease.reply.approval_id)
            await communities.load(session, before.case.community_id, lock=True)
            entry = await mine(session, lease, OutboxState.UNKNOWN)
            if entry is None:
                return None
            objection = await obstacle(session, entry, self._rules.limits)
            seconds = self._seconds_left(session, entry, resend_seconds)
            if objection is not None or seconds <= 0:
                instead = objection.reason if objection else sentence("It is too late to send it again.")
                return await end(session, entry, CaseState.NEEDS_PERSON, joined(why, instead))
            return await intend(session, self._rules, entry, min(self._rules.hold_seconds, seconds), is_first=False)

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
            await load_expected(session, case_id, version, CaseState.NEEDS_PERSON, by)
            newest = await store.newest(session, case_id)
            if newest is None or newest.state is not OutboxState.UNKNOWN:
                raise errors.NotAllowed(sentence("Whether the reply was posted is known already."), remedy=LOOK_AGAIN)
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


__all__ = ["Delivery", "Outbox", "SendLimits"]

Platforms = Callable[[str], bool]
"""Which platforms, by name."""

_NOT_FOUND: Final = sentence("The reply was not found.")


def every(_platform: str) -> bool:
    return True


class Outbox:
    """Sends what was approved, and takes back what was posted.

    Args:
        platforms: the platforms that are connected to this process at this moment, by ``PostRef.platform``; replies for
            others wait.
        role_sources: by platform, where the roles of those who approved are read again before each send.
        limits: how many replies one community may get.
        timeout_seconds: how long one call of a platform may take; a send belongs to its process three times as long.
        retry_seconds: the longest pause between two attempts.
        max_attempts: how often anything is tried before a person is asked.
        poll_seconds: how long ``run`` waits before it looks again.
        ticks: seconds that only grow, also while the process is stopped.
        on_fault: is called with a platform whose call failed in a way that its port does not allow.
    """

    def __init__(
        self,
        database: Database,
        platforms: Mapping[str, ChatPlatform],
        *,
        role_sources: Mapping[str, RoleSource] | None = None,
        limits: SendLimits | None = None,
        timeout_seconds: float = 30.0,
        retry_seconds: float = 60.0,
        max_attempts: int = 10,
        poll_seconds: float = 1.0,
        ticks: Callable[[], float] = time.monotonic,
        on_fault: OnFault = unheard,
    ) -> None:
        self._gate = Gate(platforms, role_sources or {}, timeout_seconds, on_fault)
        rules = Rules(limits or SendLimits(), timeout_seconds, retry_seconds, max_attempts)
        self._database = database
        self._ledger = Ledger(database, rules)
        self._unknown = UnknownSends(database, rules)
        self._retractions = Retractions(database, self._gate, rules)
        self._poll_seconds = poll_seconds
        self._ticks = ticks

    async def run(self, stop: asyncio.Event, of: Platforms = every) -> None:
        """Send, recover and take back until ``stop`` is set; work that has begun is finished first.

        Args:
            of: selects platforms by their names. Each platform has a run of its own, so that none waits for another
                that answers slowly.
        """
        while not stop.is_set():
            for step in (self.send_due, self.recover, self.carry_out_retractions):
                try:
                    await step(of)
                except errors.StoreUnavailable as err:
                    _LOG.warning("the outbox waits for the database: %s", err)
            await pause(stop, self._poll_seconds)

    async def send_due(self, of: Platforms = every) -> list[Delivery]:
        """Send every reply whose undo window is over; returns the outcome of each that was decided.

        A reply that must wait (the original cannot be read, posting is paused, a cap is reached, the platform is busy)
        is left for a later call.

        Raises:
            StoreUnavailable: the database does not answer. A send that had begun is left for ``recover``.
        """
        due = await self._database.run("look for due replies", store.due)
        return await self._each(due, of, self._send)

    async def recover(self, of: Platforms = every) -> list[Delivery]:
        """Settle the sends that were interrupted or got no answer, once their sender's lease is over.

        The reply is read back; one that is not found is sent again under its key, inside the platform's window only.
        """
        interrupted = await self._database.run("look for interrupted sends", store.interrupted)
        return await self._each(interrupted, of, self._recover)

    async def retract_reply(
        self, case_id: str, version: int, by: Person, reason: RetractReason, note: str = ""
    ) -> Delivery:
        """Take a posted reply away from the platform; the intent is committed first, and survives a crash.

        Returns:
            The case's state now: ``retracted``, or still ``posted`` with the reason why the reply is still there or is
            tried again later.

        Raises:
            BadInput: it is for another reason, which nobody wrote down.
            NotAllowed: the person may not, or the case has no posted reply.
            Conflict: the case has another version.
        """
        if reason is RetractReason.OTHER:
            check_note(note)
        check_text(note)
        return await self._retractions.retract(case_id, version, by, reason, note)

    async def settle(
        self, case_id: str, version: int, stands: bool, by: Person, note: str, *, message: str | None = None
    ) -> Delivery:
        """Record what a person found on the platform after a send of unknown fate.

        Args:
            stands: whether the reply is there; the case is then ``posted``, and otherwise ``failed``.
            message: the platform's id of the reply, where the person knows it; without it, the reply cannot be
                retracted here.

        Raises:
            BadInput: there is no reason.
            NotAllowed: the person may not, or no reply of the case is of unknown fate.
            Conflict: the case has another version.
        """
        check_note(note)
        delivery = await self._unknown.settle(
            case_id, version, stands=stands, by=by, note=note, message=message or None
        )
        metrics.SENDS.labels(by.platform, delivery.state).inc()
        return delivery

    async def carry_out_retractions(self, of: Platforms = every) -> None:
        """Try the retractions that wait: requested in another process, interrupted, or without an answer."""
        await self._retractions.carry_out(of)

    async def _each(
        self,
        waiting: dict[str, str],
        of: Platforms,
        bring_to_its_end: Callable[[str], Awaitable[Delivery | None]],
    ) -> list[Delivery]:
        """Bring each reply to its end; one that fails does not hold up the others."""
        deliveries = list[Delivery]()
        for approval_id, platform in waiting.items():
            if not of(platform):
                continue
            with about(platform=platform):
                try:
                    delivery = await bring_to_its_end(approval_id)
                except errors.StoreUnavailable:
                    raise
                except errors.AntiphonError as err:
                    _LOG.error("approval %s: %s", approval_id, err)
                    continue
            if delivery is not None:
                metrics.SENDS.labels(platform, delivery.state).inc()
                with about(case=delivery.case_id, platform=platform):
                    _LOG.info("its reply is %s", delivery.state)
                deliveries.append(delivery)
        return deliveries

    async def _send(self, approval_id: str) -> Delivery | None:
        """Take one reply from ``queued`` to its end; ``None`` if it must wait, or another process took it."""
        entry = await self._ledger.look(approval_id)
        if not isinstance(entry, Entry) or not self._gate.serves(entry.case.post.ref):
            return None if isinstance(entry, Entry) else entry
        ref = entry.case.post.ref
        with about(case=entry.case.id, community=ref.community):
            return await self._send_entry(entry)

    async def _send_entry(self, entry: Entry) -> Delivery | None:
        """Look at the platform once more, take the lease and send."""
        try:
            changed = await self._changed(entry)
        except errors.StoreUnavailable:
            raise
        except Exception as err:
            why = sentence("The platform cannot be asked before the send: {why}", why=cause(err))
            return await self._ledger.postpone(entry, why)
        if changed:
            return await self._ledger.refuse(entry, changed)
        started = self._ticks()
        lease = await self._ledger.lease(entry)
        return await self._post(lease, started) if isinstance(lease, SendLease) else lease

    async def _changed(self, entry: Entry) -> str | None:
        """What the platform says against this reply, or ``None``; also stores the roles that the approvers have now.

        Raises whatever the platform raises, but what no later attempt would mend. Edits and deletions that a platform
        tells by itself are found with the other checks.
        """
        try:
            return await self._change(entry)
        except (errors.PlaceClosed, errors.TextRefused) as err:
            return err.said

    async def _change(self, entry: Entry) -> str | None:
        ref = entry.case.post.ref
        self._gate.check(entry.reply(), await self._ledger.policy(entry))
        if self._gate.knows_roles(ref):
            for person in await self._ledger.approvers(entry):
                roles = await self._gate.roles(ref, person.user)
                await keep_native(self._database, entry.case.community_id, person, roles)
        try:
            original = await self._gate.read(ref)
        except errors.TextHidden as hidden:
            if not entry.case.post.revision:
                raise
            return None if hidden.revision == entry.case.post.revision else CHANGED
        except errors.NeverShownAgain:
            return None
        if original is None:
            return GONE
        return None if text_hash(original) == entry.approval.target_sha256 else CHANGED

    async def _post(self, lease: SendLease, started: float) -> Delivery | None:
        """Make the network call, once, and record its outcome.

        A cancellation passes through: the row stays in ``sending``, and ``recover`` reads back.
        """
        try:
            posted = await self._gate.send(lease.reply, lambda: self._ticks() - started <= lease.hold_seconds)
        except errors.PlatformBusy as err:
            if lease.is_first:
                return await self._ledger.busy(lease, err.said, err.retry_after_seconds)
            return await self._ledger.unknown(lease, _not_again(err))
        except errors.PlatformUnavailable as err:
            if lease.is_first:
                return await self._ledger.failed(lease, err.said)
            return await self._ledger.unknown(lease, _not_again(err))
        except Exception as err:
            # Whatever else went wrong, the reply may be on the platform.
            why = _failure(err, sentence("The send ended without an answer."))
            delivery = await self._ledger.unknown(lease, why)
            return await self._resolve(lease, why) if delivery is not None and lease.is_first else delivery
        return await self._ledger.posted(lease, posted)

    async def _recover(self, approval_id: str) -> Delivery | None:
        lease = await self._unknown.take_over(approval_id, self._gate.serves)
        if not isinstance(lease, SendLease):
            return lease
        ref = lease.reply.in_reply_to
        with about(case=lease.case_id, community=ref.community):
            return await self._resolve(lease, sentence("The send was interrupted, or had no answer."))

    async def _resolve(self, lease: SendLease, why: str) -> Delivery | None:
        """Settle a send of unknown fate: it is found on the platform, sent again under its key, or left to a person."""
        window = self._gate.resend_seconds(lease.reply.in_reply_to)
        try:
            reply = await self._gate.find(lease.reply)
        except Exception as err:
            if not self._gate.serves(lease.reply.in_reply_to):
                return None  # it is read back when the platform is connected again
            return await self._unknown.wait(
                lease,
                joined(why, _failure(err, sentence("Antiphon could not look whether the reply is there."))),
                window,
            )
        if reply is not None:
            return await self._ledger.posted(lease, reply, joined(why, sentence("The reply was found.")))
        why = joined(why, _NOT_FOUND)
        entry = await self._unknown.in_window(lease, window)
        if entry is None:
            return await self._unknown.park(lease, why)
        try:
            changed = await self._changed(entry)
        except errors.StoreUnavailable:
            raise
        except Exception as err:
            return await self._unknown.wait(lease, joined(why, cause(err)), window)
        if changed:
            return await self._unknown.park(lease, joined(why, changed))
        started = self._ticks()
        again = await self._unknown.again(lease, window, why)
        return await self._post(again, started) if isinstance(again, SendLease) else again


def _not_again(err: errors.PlatformUnavailable) -> Sentence:
    return sentence("It was not sent again: {why}", why=err.said)


def _failure(err: Exception, what: Sentence) -> Sentence:
    """What went wrong, for the card: with Antiphon's own words about why, without a remedy; the log names the kind."""
    _LOG.warning("%s %s", what, type(err.__cause__ or err).__name__)
    return joined(what, err.message) if isinstance(err, errors.AntiphonError) else what
