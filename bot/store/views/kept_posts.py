"""Posts that came to a community's desk in the last seven days, for a look at what other rules would have found.

Reads only. Works inside the caller's transaction and never commits.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from sqlalchemy import select

from bot.store.engine.database import Session
from bot.store.engine.dialect import json_text
from bot.store.schema import CaseRow, SuggestionRow
from bot.store.views.queue import of_newest_suggestion
from core.models import TargetGroup
from core.moderation.dashboard_ports import KeptPost

MOST: Final = 300
_DAYS: Final = timedelta(days=7)


async def kept_posts(session: Session, community_id: str) -> tuple[KeptPost, ...]:
    """The newest ``MOST`` of them whose words were not erased, newest first."""
    group_of = json_text(session, SuggestionRow.document.expression, "reading", "target_group")
    rows = await session.execute(
        select(CaseRow, of_newest_suggestion(group_of))
        .where(CaseRow.community_id == community_id, CaseRow.created_at > session.moment - _DAYS)
        .where(CaseRow.erased_at.is_(None), CaseRow.is_from_elsewhere.is_(False))
        .order_by(CaseRow.created_at.desc(), CaseRow.id)
        .limit(MOST)
    )
    return tuple(
        KeptPost(
            row.id,
            row.channel,
            row.text,
            row.flagged_how,
            row.score,
            row.created_at,
            TargetGroup(group) if group in set(TargetGroup) else None,
        )
        for row, group in rows
    )
