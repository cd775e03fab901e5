"""The outbox: posts each approved reply exactly once, or asks a person.

Owns the send protocol (architecture, section 4); the only module that may call a platform's ``post``. Must never send
without an approval that still holds, never twice, and never keep a transaction open across a network call.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from bot.store.cases import Case, due_approvals, load, transition, unsettled_approvals
from bot.store.database import Database
from bot.store.schema import ApprovalRow, OutboxRow, OutboxState
from core.errors import AntiphonError, Conflict, NotAllowed, PlatformUnavailable
from core.models import Posted
from core.ports import ChatPlatform
from core.review import ApprovedReply, CaseState, restore, text_hash

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")

_ROW_STATES: Final = {
    CaseState.SENDING: OutboxState.SENDING,
    CaseState.POSTED: OutboxState.POSTED,
    CaseState.UNKNOWN: OutboxState.UNKNOWN,
    CaseState.FAILED: OutboxState.FAILED,
}


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of one approved reply: the state that its case has now, and why."""

    case_id: str
    approval_id: str
    state: CaseState
    reason: str


@dataclass(frozen=True, slots=True)
class _Entry:
    """A row of the outbox with its approval and its case."""

    row: OutboxRow
    approval: ApprovalRow
    case: Case

    def reply(self) -> ApprovedReply:
        """The reply, made again from the stored approval; ``NotAllowed`` if its text is another now."""
        stored = self.approval
        return restore(
            approval_id=stored.id,
            in_reply_to=self.case.post.ref,
            text=stored.text,
            moderator=stored.moderator,
            at=stored.approved_at,
            sha256=stored.sha256,
        )


class Outbox:
    """Sends what was approved.

    Args:
        platforms: the connected platforms, by ``PostRef.platform``.
        clock: gives the time now, aware.
        timeout_seconds: how long one call of a platform may take.
        retry_seconds: how long to wait before trying again to read the original post.
        max_attempts: how often to try that before a person is asked.
    """

    def __init__(
        self,
        database: Database,
        platforms: Mapping[str, ChatPlatform],
        clock: Callable[[], datetime],
        *,
        timeout_seconds: float = 30.0,
        retry_seconds: float = 30.0,
        max_attempts: int = 5,
    ) -> None:
        self._database = database
        self._platforms = platforms
        self._clock = clock
        self._timeout_seconds = timeout_seconds
        self._retry = timedelta(seconds=retry_seconds)
        self._max_attempts = max_attempts

    async def send_due(self) -> list[Delivery]:
        """Send every reply whose undo window is over; say what became of each that was decided.

        A reply whose original post cannot be read just now is left for a later call.

        Raises:
            StoreUnavailable: the database does not answer. What was being sent is left for ``recover``.
        """
        approval_ids = await self._database.run(lambda session: due_approvals(session, self._clock()))
        deliveries = [await self._send(approval_id) for approval_id in approval_ids]
        return [delivery for delivery in deliveries if delivery is not None]

    async def recover(self) -> list[Delivery]:
        """Settle the sends that a stop interrupted, by reading back; nothing is sent again.

        Call it at start-up, before the first ``send_due``.
        """
        approval_ids = await self._database.run(unsettled_approvals)
        return [await self._resolve(approval_id, "The send was interrupted.") for approval_id in approval_ids]

    async def _send(self, approval_id: str) -> Delivery | None:
        """Take one reply from ``queued`` to its end; ``None`` if it is left, or was taken by another."""
        entry = await self._database.run(lambda session: _entry(session, approval_id))
        try:
            obstacle = await self._obstacle(entry)
        except Exception as err:
            return await self._postpone(entry, err)
        if obstacle:
            return await self._refuse(entry, obstacle)
        try:
            reply = await self._claim(entry)
        except Conflict:
            return None
        except NotAllowed as err:
            return await self._refuse(entry, err.message)
        return await self._post(reply)

    async def _obstacle(self, entry: _Entry) -> str | None:
        """Why this reply must not be posted, or ``None``. Raises whatever the platform raises when read."""
        if entry.case.state is not CaseState.APPROVED:
            return f"The case is {entry.case.state}, not approved."
        try:
            reply = entry.reply()
        except NotAllowed as err:
            return err.message
        platform = self._platforms.get(reply.in_reply_to.platform)
        if platform is None:
            return f"No platform named {reply.in_reply_to.platform} is connected."
        original = await self._in_time(platform.read(reply.in_reply_to))
        if original is None:
            return "The post that the reply answers is gone."
        if text_hash(original) != entry.approval.target_sha256:
            return "The post that the reply answers was changed after it was flagged."
        return None

    async def _claim(self, seen: _Entry) -> ApprovedReply:
        """Commit the intent to send, provided that nothing changed since ``seen``.

        Raises:
            Conflict: the case was moved, or another process sends this reply.
            NotAllowed: the stored text is not the one that was approved.
        """

        async def work(session: AsyncSession) -> ApprovedReply:
            entry = await _entry(session, seen.approval.id)
            reply = entry.reply()
            if entry.row.state is not OutboxState.QUEUED:
                raise Conflict("This reply was taken out of the outbox.", remedy="Reload the case.")
            entry.row.attempts += 1
            await self._move(session, entry, CaseState.SENDING, "sending", version=seen.case.version)
            return reply

        return await self._database.run(work)

    async def _post(self, reply: ApprovedReply) -> Delivery:
        """Make the network call, once, and record what came of it.

        A cancellation passes through: the row stays in ``sending``, and ``recover`` reads back.
        """
        try:
            posted = await self._in_time(self._platforms[reply.in_reply_to.platform].post(reply))
        except PlatformUnavailable as err:
            return await self._settle(reply.approval_id, CaseState.FAILED, str(err))
        except Exception as err:
            # Whatever else went wrong, the reply may stand on the platform.
            return await self._resolve(reply.approval_id, f"The send ended without an answer: {_cause(err)}")
        return await self._settle(reply.approval_id, CaseState.POSTED, "posted", posted)

    async def _resolve(self, approval_id: str, why: str) -> Delivery:
        """Settle a send of unknown outcome: the reply is found on the platform, or a person must look."""

        async def work(session: AsyncSession) -> _Entry:
            entry = await _entry(session, approval_id)
            if entry.case.state is not CaseState.UNKNOWN:
                await self._move(session, entry, CaseState.UNKNOWN, why)
            return entry

        entry = await self._database.run(work)
        try:
            reply = entry.reply()
            posted = await self._in_time(self._platforms[reply.in_reply_to.platform].find_reply(reply))
        except Exception as err:
            reason = f"{why} It could not be read back; look on the platform. {_cause(err)}"
            return await self._settle(approval_id, CaseState.NEEDS_PERSON, reason)
        if posted is None:
            reason = f"{why} The reply was not found; look on the platform before you approve it again."
            return await self._settle(approval_id, CaseState.NEEDS_PERSON, reason)
        return await self._settle(approval_id, CaseState.POSTED, f"{why} The reply was found.", posted)

    async def _settle(self, approval_id: str, to: CaseState, reason: str, posted: Posted | None = None) -> Delivery:
        """Record how a send ended."""

        async def work(session: AsyncSession) -> Case:
            entry = await _entry(session, approval_id)
            if posted is not None:
                entry.row.remote_message = posted.ref.message
            return await self._move(session, entry, to, reason)

        case = await self._database.run(work)
        _LOG.info("case %s: the send ended as %s", case.id, to)
        return Delivery(case.id, approval_id, to, reason)

    async def _refuse(self, seen: _Entry, reason: str) -> Delivery | None:
        """Cancel a reply that must not be posted, and ask a person; ``None`` if the case was moved meanwhile."""

        async def work(session: AsyncSession) -> Delivery | None:
            entry = await _entry(session, seen.approval.id)
            if entry.row.state is not OutboxState.QUEUED or entry.case.version != seen.case.version:
                return None
            entry.row.state, entry.row.error, entry.row.updated_at = OutboxState.CANCELLED, reason, self._clock()
            case = entry.case
            if case.state is CaseState.APPROVED:
                case = await self._move(session, entry, CaseState.NEEDS_PERSON, reason)
            return Delivery(case.id, seen.approval.id, case.state, reason)

        _LOG.info("case %s: the reply is not posted", seen.case.id)
        return await self._database.run(work)

    async def _postpone(self, seen: _Entry, err: Exception) -> Delivery | None:
        """Leave a reply whose original cannot be read for later; after ``max_attempts``, ask a person."""
        reason = f"The post that the reply answers cannot be read: {_cause(err)}"
        if seen.row.attempts + 1 >= self._max_attempts:
            return await self._refuse(seen, reason)

        async def work(session: AsyncSession) -> None:
            row = (await _entry(session, seen.approval.id)).row
            if row.state is OutboxState.QUEUED:
                row.attempts += 1
                row.not_before, row.error, row.updated_at = self._clock() + self._retry, reason, self._clock()

        await self._database.run(work)
        return None

    async def _move(
        self, session: AsyncSession, entry: _Entry, to: CaseState, reason: str, *, version: int | None = None
    ) -> Case:
        """Move the case, and the row with it where the state has a counterpart there."""
        now = self._clock()
        seen = entry.case.version if version is None else version
        entry.row.state = _ROW_STATES.get(to, entry.row.state)
        entry.row.error = None if to in (CaseState.SENDING, CaseState.POSTED) else reason
        entry.row.updated_at = now
        return await transition(session, entry.case.id, seen, to, actor="outbox", reason=reason, at=now)

    async def _in_time(self, call: Awaitable[_T]) -> _T:
        async with asyncio.timeout(self._timeout_seconds):
            return await call


async def _entry(session: AsyncSession, approval_id: str) -> _Entry:
    row = (await session.scalars(select(OutboxRow).filter_by(approval_id=approval_id))).one()
    approval = await session.get_one(ApprovalRow, approval_id)
    return _Entry(row, approval, await load(session, approval.case_id))


def _cause(err: Exception) -> str:
    """What a person may read about an error: our own message; of a stranger's only its kind, as it may quote text."""
    return str(err) if isinstance(err, AntiphonError) else f"{type(err).__name__}."
