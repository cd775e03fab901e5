"""What became of an approved reply, by its row of the outbox."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from core.desk.database.connection import Session
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import ReplyNow
from core.desk.schema import OutboxRow, OutboxState
from core.desk.store import communities
from core.models import PostRef

_STATES: Final = {
    OutboxState.QUEUED: CaseState.APPROVED,
    OutboxState.SENDING: CaseState.SENDING,
    OutboxState.POSTED: CaseState.POSTED,
    OutboxState.UNKNOWN: CaseState.UNKNOWN,
    OutboxState.FAILED: CaseState.FAILED,
    OutboxState.CANCELLED: CaseState.WITHDRAWN,
    OutboxState.SHADOWED: CaseState.SHADOWED,
    OutboxState.RETRACTED: CaseState.RETRACTED,
}


async def replies_in(session: Session, community_id: str) -> Callable[[OutboxRow, PostRef], ReplyNow]:
    """What says of the replies in a community what became of them."""
    is_paused = bool(await communities.paused(session, [community_id]))
    is_shadow = not (await communities.load(session, community_id)).is_posting
    return partial(reply_now, is_paused=is_paused, is_shadow=is_shadow)


def reply_now(row: OutboxRow, post: PostRef, *, is_paused: bool, is_shadow: bool = False) -> ReplyNow:
    """The reply to a post, with the moment of its send and its place as far as they are known.

    Nobody knows when what holds it back ends; the moment of the next attempt would only count down to another.
    """
    state = _STATES[row.state]
    waits = state is CaseState.APPROVED
    is_timed = waits and not is_paused and not is_shadow and not row.error
    message = row.remote_message if state is CaseState.POSTED else None
    return ReplyNow(
        state,
        row.not_before if is_timed else None,
        None if message is None else replace(post, message=message),
        is_shadow=waits and is_shadow,
    )
