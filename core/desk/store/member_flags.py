"""Flags of people without a role, without a word of a post, counted until there are enough of them for a case."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, func, select

from core.desk.database.connection import Session
from core.desk.database.dialect import insert_new
from core.desk.schema import MemberFlagRow
from core.models import PostRef

KEPT: Final = timedelta(days=1)
"""How long a flag counts."""


async def count(session: Session, post: PostRef, person_id: str) -> int:
    """Add a person's flag; returns how many different people flagged the post within ``KEPT``, this one included."""
    await forget_old(session)
    key = {**asdict(post), "person_id": person_id}
    await insert_new(session, MemberFlagRow, {**key, "flagged_at": session.moment}, *key)
    query = select(func.count()).select_from(MemberFlagRow).filter_by(**asdict(post))
    return int(await session.scalar(query) or 0)


async def flagged_since(session: Session, person_id: str, since: datetime) -> int:
    """How many posts a person flagged that did not become a case by it."""
    query = select(func.count()).select_from(MemberFlagRow).filter_by(person_id=person_id)
    return int(await session.scalar(query.where(MemberFlagRow.flagged_at > since)) or 0)


async def forget(session: Session, post: PostRef) -> None:
    """Keep no longer who flagged a post, which has a case now."""
    await session.execute(delete(MemberFlagRow).filter_by(**asdict(post)))


async def forget_old(session: Session) -> None:
    """Delete flags that count no longer."""
    await session.execute(delete(MemberFlagRow).where(MemberFlagRow.flagged_at <= session.moment - KEPT))
