"""Offices that one process holds at a time, each under a lease that it renews.

Owns the ``leaderships`` table. Works inside the caller's transaction and never commits.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete, or_, update

from bot.store.engine.database import Session
from bot.store.engine.dialect import insert_new
from bot.store.schema import LeadershipRow


async def lead(session: Session, office: str, owner: str, lease: timedelta) -> bool:
    """Take an office, or keep it, for ``lease``; ``False`` while somebody else holds it.

    A holder whose time ends later than two leases from now took it before the clock was put back, and counts as gone.
    """
    now = session.moment
    if await insert_new(session, LeadershipRow, {"office": office, "owner": owner, "until": now + lease}, "office"):
        return True
    is_free = or_(
        LeadershipRow.owner == owner, LeadershipRow.until < now, LeadershipRow.until > now + 2 * lease
    )  # fmt: skip
    statement = (
        update(LeadershipRow)
        .where(LeadershipRow.office == office, is_free)
        .values(owner=owner, until=now + lease)
        .returning(LeadershipRow.office)
        .execution_options(synchronize_session="fetch")
    )
    return (await session.execute(statement)).first() is not None


async def resign(session: Session, office: str, owner: str) -> None:
    """Give an office back, so that the next holder need not wait."""
    await session.execute(delete(LeadershipRow).where(LeadershipRow.office == office, LeadershipRow.owner == owner))
