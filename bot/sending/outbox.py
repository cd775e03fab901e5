"""The outbox: posts each approved reply exactly once, or asks a person.

Owns the order of the send protocol (reliability, section 1.2): check, read the original, commit the intent, call,
record, and read back a send that got no answer. ``bot.sending`` holds its parts. Must never send without an approval
that still holds, never send twice, and never keep a transaction open across a network call. Any number of processes may
run one over the same database.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from bot.runtime import metrics
from bot.runtime.logs import about
from bot.runtime.waiting import pause
from bot.sending.checks import CHANGED, GONE, SendLimits
from bot.sending.gate import Gate, OnFault, cause, unheard
from bot.sending.outbox_rows import Delivery, Rules, SendLease
from bot.sending.retracting import Retractions
from bot.sending.send_transactions import Ledger
from bot.sending.unknown import UnknownSends
from bot.store.cases.sending import Entry
from bot.store.engine.database import Database
from core.errors import (
    AntiphonError,
    NeverShownAgain,
    PlaceClosed,
    PlatformBusy,
    PlatformUnavailable,
    StoreUnavailable,
    TextHidden,
    TextRefused,
)
from core.i18n.sentences import Sentence, joined, sentence
from core.moderation.approval import text_hash
from core.moderation.closing import RetractReason
from core.moderation.input_checks import check_note, check_text
from core.moderation.platforms import ChatPlatform, RoleSource
from core.moderation.roles import Person

__all__ = ["Delivery", "Outbox", "SendLimits"]

Platforms = Callable[[str], bool]
"""Which platforms, by name."""
_LOG = logging.getLogger(__name__)
_NOT_FOUND: Final = sentence("The reply was not found.")


def every(_platform: str) -> bool:
    """All platforms."""
    return True


class Outbox:
    """Sends what was approved, and takes back what was posted.

    Args:
        platforms: those that are connected to this process at this moment, by ``PostRef.platform``; replies for others
            wait.
        role_sources: by platform, where the roles of those who approved are read again before each send.
        limits: how many replies one community may get.
        timeout_seconds: how long one call of a platform may take; a send belongs to its process three times as long.
        retry_seconds: the longest pause between two attempts.
        max_attempts: how often anything is tried before a person is asked.
        poll_seconds: how long ``run`` waits before it looks again.
        ticks: seconds that only grow, also while the process is stopped.
        on_fault: is told of a platform whose call failed in a way that its port does not allow.
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
                except StoreUnavailable as err:
                    _LOG.warning("the outbox waits for the database: %s", err)
            await pause(stop, self._poll_seconds)

    async def send_due(self, of: Platforms = every) -> list[Delivery]:
        """Send every reply whose undo window is over; returns the outcome of each that was decided.

        A reply that must wait (the original cannot be read, posting is paused, a cap is reached, the platform is busy)
        is left for a later call.

        Raises:
            StoreUnavailable: the database does not answer. A send that had begun is left for ``recover``.
        """
        return await self._each(await self._ledger.due(), of, self._send)

    async def recover(self, of: Platforms = every) -> list[Delivery]:
        """Settle the sends that were interrupted or got no answer, once their sender's lease is over.

        The reply is read back; one that is not found is sent again under its key, inside the platform's window only.
        """
        return await self._each(await self._unknown.interrupted(), of, self._recover)

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
        self, found: dict[str, str], of: Platforms, bring_to_its_end: Callable[[str], Awaitable[Delivery | None]]
    ) -> list[Delivery]:
        """Bring each reply to its end; one that fails does not hold up the others."""
        deliveries = list[Delivery]()
        for approval_id, platform in found.items():
            if not of(platform):
                continue
            with about(platform=platform):
                try:
                    delivery = await bring_to_its_end(approval_id)
                except StoreUnavailable:
                    raise
                except AntiphonError as err:
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
        seen = await self._ledger.look(approval_id)
        if not isinstance(seen, Entry) or not self._gate.serves(seen.case.post.ref):
            return None if isinstance(seen, Entry) else seen
        ref = seen.case.post.ref
        with about(case=seen.case.id, community=ref.community):
            return await self._send_seen(seen)

    async def _send_seen(self, seen: Entry) -> Delivery | None:
        """Look at the platform once more, take the lease and send."""
        try:
            changed = await self._changed(seen)
        except StoreUnavailable:
            raise
        except Exception as err:
            why = sentence("The platform cannot be asked before the send: {why}", why=cause(err))
            return await self._ledger.postpone(seen, why)
        if changed:
            return await self._ledger.refuse(seen, changed)
        started = self._ticks()
        lease = await self._ledger.lease(seen)
        return await self._post(lease, started) if isinstance(lease, SendLease) else lease

    async def _changed(self, seen: Entry) -> str | None:
        """What the platform says against this reply, or ``None``; also stores the roles that the approvers have now.

        Raises whatever the platform raises, but what no later attempt would mend. Edits and deletions that a platform
        tells by itself are found with the other checks.
        """
        try:
            return await self._said_against(seen)
        except (PlaceClosed, TextRefused) as err:
            return err.said

    async def _said_against(self, seen: Entry) -> str | None:
        ref = seen.case.post.ref
        self._gate.check(seen.reply(), await self._ledger.policy(seen))
        if self._gate.knows_roles(ref):
            for person in await self._ledger.approvers(seen):
                await self._ledger.keep_roles(seen, person, await self._gate.roles(ref, person.user))
        try:
            original = await self._gate.read(ref)
        except TextHidden as hidden:
            if not seen.case.post.revision:
                raise
            return None if hidden.revision == seen.case.post.revision else CHANGED
        except NeverShownAgain:
            return None
        if original is None:
            return GONE
        return None if text_hash(original) == seen.approval.target_sha256 else CHANGED

    async def _post(self, lease: SendLease, started: float) -> Delivery | None:
        """Make the network call, once, and record its outcome.

        A cancellation passes through: the row stays in ``sending``, and ``recover`` reads back.
        """
        try:
            posted = await self._gate.send(lease.reply, lambda: self._ticks() - started <= lease.hold_seconds)
        except PlatformBusy as err:
            if lease.is_first:
                return await self._ledger.busy(lease, err.said, err.retry_after_seconds)
            return await self._ledger.unknown(lease, _not_again(err))
        except PlatformUnavailable as err:
            if lease.is_first:
                return await self._ledger.failed(lease, err.said)
            return await self._ledger.unknown(lease, _not_again(err))
        except Exception as err:
            # Whatever else went wrong, the reply may be on the platform.
            why = _told(err, sentence("The send ended without an answer."))
            delivery = await self._ledger.unknown(lease, why)
            return await self._resolve(lease, why) if delivery is not None and lease.is_first else delivery
        return await self._ledger.posted(lease, posted)

    async def _recover(self, approval_id: str) -> Delivery | None:
        taken = await self._unknown.take_over(approval_id, self._gate.serves)
        if not isinstance(taken, SendLease):
            return taken
        ref = taken.reply.in_reply_to
        with about(case=taken.case_id, community=ref.community):
            return await self._resolve(taken, sentence("The send was interrupted, or had no answer."))

    async def _resolve(self, lease: SendLease, why: str) -> Delivery | None:
        """Settle a send of unknown fate: it is found on the platform, sent again under its key, or left to a person."""
        window = self._gate.resend_seconds(lease.reply.in_reply_to)
        try:
            found = await self._gate.find(lease.reply)
        except Exception as err:
            if not self._gate.serves(lease.reply.in_reply_to):
                return None  # it is read back when the platform is connected again
            return await self._unknown.wait(
                lease, joined(why, _told(err, sentence("Antiphon could not look whether the reply is there."))), window
            )
        if found is not None:
            return await self._ledger.posted(lease, found, joined(why, sentence("The reply was found.")))
        why = joined(why, _NOT_FOUND)
        seen = await self._unknown.in_window(lease, window)
        if seen is None:
            return await self._unknown.park(lease, why)
        try:
            changed = await self._changed(seen)
        except StoreUnavailable:
            raise
        except Exception as err:
            return await self._unknown.wait(lease, joined(why, cause(err)), window)
        if changed:
            return await self._unknown.park(lease, joined(why, changed))
        started = self._ticks()
        again = await self._unknown.again(lease, window, why)
        return await self._post(again, started) if isinstance(again, SendLease) else again


def _not_again(err: PlatformUnavailable) -> Sentence:
    return sentence("It was not sent again: {why}", why=err.said)


def _told(err: Exception, what: Sentence) -> Sentence:
    """What went wrong, for the card: with our own words about why, without a remedy; the log names the kind."""
    _LOG.warning("%s %s", what, type(err.__cause__ or err).__name__)
    return joined(what, err.message) if isinstance(err, AntiphonError) else what
