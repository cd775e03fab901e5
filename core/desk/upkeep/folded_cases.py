"""Folded cases: what people decide about a campaign's lead case, they decide about the others too.

They are closed here, some at a time, and not in the decision's own transaction: a raid may have folded many thousands,
and a moderator waits for an answer.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from functools import partial
from typing import Final

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import aliased

from core.desk.database.connection import Database, Session
from core.desk.rules.approval import CLOSED, CaseState
from core.desk.schema import CampaignRow, CaseRow
from core.desk.store.cases import Case, load, transition_all
from core.desk.store.jobs import Job
from core.desk.upkeep.chore import BATCH, Done, in_batches
from core.i18n.sentences import sentence

_ENDS: Final = {
    CaseState.POSTED: (CaseState.NO_REPLY, sentence("was answered")),
    CaseState.RETRACTED: (CaseState.NO_REPLY, sentence("was answered")),
    CaseState.SHADOWED: (CaseState.NO_REPLY, sentence("would have been answered")),
    CaseState.NO_REPLY: (CaseState.NO_REPLY, sentence("was left without a reply")),
    CaseState.DECLINED: (CaseState.DECLINED, sentence("was declined")),
    CaseState.WITHDRAWN: (CaseState.WITHDRAWN, sentence("was withdrawn")),
    CaseState.EXPIRED: (CaseState.EXPIRED, sentence("expired while it waited")),
}
"""The end of a folded case, and what is said about its lead case: one reply answers a campaign."""
_Lead = tuple[str | None, CaseState | None]
_Row = tuple[str, str | None, CaseState | None]


class FoldedCases:
    """Closes folded cases once their lead case is closed.

    Args:
        undo_seconds: how long people can still undo what was decided about the lead case.
    """

    def __init__(self, database: Database, *, undo_seconds: float = 0.0) -> None:
        self._database = database
        self._undo = timedelta(seconds=undo_seconds)

    async def do(self, _: Job) -> Done:
        """Close all folded cases whose lead case is closed."""
        closed = await in_batches(self._database, "close folded cases", partial(_close, undo=self._undo))
        return Done(f"{closed} folded cases closed")


async def _close(session: Session, *, undo: timedelta) -> int:
    lead, waiting = aliased(CaseRow), defaultdict[_Lead, list[Case]](list)
    is_decided = and_(lead.state.in_(CLOSED), lead.updated_at <= session.moment - undo)
    query = (
        select(CaseRow.id, lead.id, lead.state)
        .outerjoin(CampaignRow, CampaignRow.id == CaseRow.campaign_id)
        .outerjoin(lead, lead.id == CampaignRow.lead_case_id)
        .where(CaseRow.state == CaseState.FOLDED, or_(lead.id.is_(None), is_decided))
        .order_by(CaseRow.created_at, CaseRow.id)
        .limit(BATCH)
        .with_for_update(of=CaseRow, skip_locked=True)
    )
    rows: list[_Row] = [(case_id, own, state) for case_id, own, state in await session.execute(query)]
    for case_id, lead_id, state in rows:
        waiting[lead_id, state].append(await load(session, case_id))
    for (lead_id, state), cases in waiting.items():
        to, reason = _end(lead_id, state)
        await transition_all(session, cases, to, actor="schedule", reason=reason)
    return len(rows)


def _end(lead_id: str | None, state: CaseState | None) -> tuple[CaseState, str]:
    """The end of a case that was folded into another, and the reason; also if its lead case was deleted."""
    if state is None:
        return CaseState.EXPIRED, sentence("the case that stood for it is gone")
    to, end = _ENDS[state]
    return to, sentence("decided with case {case}, which stood for both and {end}", case=lead_id, end=end)
