"""One row of the outbox inside a transaction: whether it may be sent, and how it moves together with its case.

Every transaction of the send protocol locks rows in one order: community, case, outbox. The functions never commit.
"""

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from core.desk.database.connection import Session
from core.desk.rules.approval import TRANSITIONS, ApprovedReply, CaseState, state_words
from core.desk.schema import OutboxState
from core.desk.sending.checks import Obstacle, SendLimits, obstacle
from core.desk.store import communities
from core.desk.store.cases import Case, touch, transition
from core.desk.store.outbox import Entry, entry_of
from core.i18n.sentences import sentence

_LOG = logging.getLogger(__name__)
_ROW_STATES: Final = {
    CaseState.SENDING: OutboxState.SENDING,
    CaseState.POSTED: OutboxState.POSTED,
    CaseState.UNKNOWN: OutboxState.UNKNOWN,
    CaseState.NEEDS_PERSON: OutboxState.UNKNOWN,
    CaseState.FAILED: OutboxState.FAILED,
    CaseState.APPROVED: OutboxState.QUEUED,
    CaseState.RETRACTED: OutboxState.RETRACTED,
}


@dataclass(frozen=True, slots=True)
class Rules:
    """How patient the outbox is.

    Args:
        call_seconds: how long one call of a platform may take.
        retry_seconds: the longest pause between two attempts; the first pauses are shorter.
        max_attempts: how often anything is tried before a person is asked.
    """

    limits: SendLimits
    call_seconds: float
    retry_seconds: float
    max_attempts: int

    @property
    def hold_seconds(self) -> float:
        """How long after the lease began a call may still begin, so that it ends within the lease."""
        return 2 * self.call_seconds

    @property
    def lease(self) -> timedelta:
        """How long a sender holds its row."""
        return timedelta(seconds=3 * self.call_seconds)

    def pause(self, attempts: int) -> timedelta:
        """How long to wait after this many attempts: 2 seconds, then twice as long each time."""
        return timedelta(seconds=min(self.retry_seconds, 2.0 ** min(attempts, 16)))


@dataclass(frozen=True, slots=True)
class Delivery:
    """The outcome of one approved reply: the state that its case has now, and why."""

    case_id: str
    approval_id: str
    state: CaseState
    reason: str


@dataclass(frozen=True, slots=True)
class SendLease:
    """The right to bring one send to its end, until its lease is over.

    ``attempt`` is the fence. The call may begin only within ``hold_seconds`` of the lease's beginning. If the lease is
    not ``is_first``, an earlier call may have arrived.
    """

    case_id: str
    reply: ApprovedReply
    attempt: int
    is_first: bool
    hold_seconds: float


async def sendable(session: Session, rules: Rules, before: Entry) -> Entry | Delivery | None:
    """The reply, locked, if it may be sent; otherwise its outcome, or ``None`` if it waits or was moved."""
    await communities.load(session, before.case.community_id, lock=True)
    entry = await entry_of(session, before.approval.id, lock=True)
    row = entry.row
    if row.state is not OutboxState.QUEUED or row.not_before > session.moment:
        return None
    if entry.case.version != before.case.version:
        return None
    if entry.case.state is not CaseState.APPROVED:
        reason = sentence("The case is {state}, not approved.", state=state_words(entry.case.state))
        row.state, row.error, row.updated_at = OutboxState.CANCELLED, reason, session.moment
        return Delivery(entry.case.id, entry.approval.id, entry.case.state, reason)
    objection = await obstacle(session, entry, rules.limits)
    return entry if objection is None else await hold_back(session, rules, entry, objection)


async def hold_back(session: Session, rules: Rules, entry: Entry, objection: Obstacle) -> Delivery | None:
    """Let a reply wait, or take it out of the outbox with its case."""
    entry.row.error, entry.row.updated_at = objection.reason, session.moment
    if objection.to is None:
        later = session.moment + timedelta(seconds=rules.retry_seconds)
        entry.row.not_before = later if objection.until is None else objection.until
        await touch(session, entry.case.id)
        return None
    case = await _move(session, entry, objection.to, objection.reason)
    return Delivery(case.id, entry.approval.id, case.state, objection.reason)


async def intend(session: Session, rules: Rules, entry: Entry, hold_seconds: float, *, is_first: bool) -> SendLease:
    """Record that the reply is being sent, and who makes this attempt."""
    reply = entry.reply()
    entry.row.attempts += 1
    entry.row.lease_until = session.moment + rules.lease
    await end(session, entry, CaseState.SENDING, "sending" if is_first else "sending again under the same key")
    return SendLease(entry.case.id, reply, entry.row.attempts, is_first, hold_seconds)


async def mine(session: Session, lease: SendLease, state: OutboxState) -> Entry | None:
    """The row of a lease, locked; ``None`` if another process holds it by now."""
    entry = await entry_of(session, lease.reply.approval_id, lock=True)
    return entry if entry.row.attempts == lease.attempt and entry.row.state is state else None


async def end(
    session: Session, entry: Entry, to: CaseState, reason: str, *, actor: str = "outbox", note: str = ""
) -> Delivery:
    """Move the row and its case to ``to``; only the row, if the case was moved meanwhile."""
    row = entry.row
    row.state, row.updated_at = _ROW_STATES[to], session.moment
    row.error = None if to in (CaseState.SENDING, CaseState.POSTED, CaseState.RETRACTED) else reason
    if to is not CaseState.SENDING:
        row.lease_until = None
    if to not in TRANSITIONS[entry.case.state]:
        _LOG.error("case %s is %s, its reply is %s", entry.case.id, entry.case.state, row.state)
        return Delivery(entry.case.id, entry.approval.id, entry.case.state, reason)
    case = await _move(session, entry, to, reason, actor, note)
    return Delivery(case.id, entry.approval.id, case.state, reason)


async def _move(
    session: Session, entry: Entry, to: CaseState, reason: str, actor: str = "outbox", note: str = ""
) -> Case:
    case = entry.case
    return await transition(session, case.id, case.version, to, actor=actor, reason=reason, note=note)
