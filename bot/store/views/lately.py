"""What people decided lately in one community, for the people who share the work.

Owns which lines of the audit log count as decisions. Reads only. Works inside the caller's transaction and never
commits.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import select

from bot.store.engine.database import Session
from bot.store.people.people import name_of
from bot.store.schema import AuditRow, CaseRow
from core.models import PostRef
from core.moderation.cards import DecidedLately

MOST: Final = 20


async def lately(session: Session, community_id: str) -> tuple[DecidedLately, ...]:
    """The newest decisions about cases of a community by people, undone ones included, newest first."""
    query = (
        select(AuditRow, CaseRow)
        .join(CaseRow, CaseRow.id == AuditRow.stream)
        .where(CaseRow.community_id == community_id, AuditRow.from_state.is_not(None), AuditRow.actor.startswith("p-"))
        .order_by(AuditRow.at.desc(), AuditRow.id.desc())
        .limit(MOST)
    )
    found: list[DecidedLately] = []
    for line, case in (await session.execute(query)).all():
        ref = PostRef(case.platform, case.community, case.channel, case.message)
        name = await name_of(session, community_id, line.actor)
        found.append(DecidedLately(case.id, ref, line.to_state or case.state, line.reason, name, line.at))
    return tuple(found)
