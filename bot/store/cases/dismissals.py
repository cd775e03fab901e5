"""Posts that a moderator said are not hateful: learnt from, and remembered by their text.

Owns what follows from that label on a case. Near-identical posts join the case although it is closed, and so get no
drafts. Works inside the caller's transaction and never commits.
"""

from __future__ import annotations

from bot.store.cases import campaigns, finds
from bot.store.cases.cases import Case
from bot.store.engine.database import Session
from bot.store.schema import CaseRow
from core.moderation.approval import CaseState


async def dismiss(session: Session, case: Case) -> None:
    """Keep that a moderator said that the post of a case is not hateful."""
    await finds.label(session, case, False)
    if not case.post.is_from_elsewhere:
        await campaigns.remember(session, case)


async def take_back(session: Session, case: Case) -> None:
    """Keep that nobody says so any longer."""
    if await is_dismissed(session, case):
        await finds.label(session, case, None)
        await campaigns.stop_remembering(session, case.id)


async def is_dismissed(session: Session, case: Case) -> bool:
    """Whether a moderator said so, and the case is closed by it."""
    row = await session.get_one(CaseRow, case.id, populate_existing=True)
    return row.state is CaseState.NO_REPLY and row.is_hateful is False
