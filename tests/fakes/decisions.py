"""What a moderator does in the tests of desk and database, and a look into the tables."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from bot.desk import Desk
from bot.store.cases import Case
from bot.store.database import Database
from core.review import ApprovedReply, text_hash

OWN_TEXT = "We all live here, and most of us came from somewhere."


async def approve(desk: Desk, case: Case, moderator: str = "moderator_one") -> ApprovedReply:
    """Approve a text that the moderator wrote."""
    return await desk.approve(case.id, case.version, OWN_TEXT, text_hash(OWN_TEXT), moderator)


async def one_row(database: Database, query: str) -> tuple[object, ...]:
    """The only row that a query gives."""

    async def work(session: AsyncSession) -> tuple[object, ...]:
        return tuple((await session.execute(text(query))).one())

    return await database.run(work)
