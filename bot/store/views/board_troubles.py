"""Why cards of a community cannot be shown, in the database: for its managers, whichever process shows the cards.

Owns the ``board_troubles`` table. Works inside the caller's transaction and never commits. Holds sentences of ours, and
no word of a case.
"""

from __future__ import annotations

from sqlalchemy import delete, select, update

from bot.store.engine.database import Session
from bot.store.engine.dialect import insert_new
from bot.store.schema import BoardTroubleRow
from core.i18n.sentences import from_json, to_json
from core.moderation.cards import CardTrouble


async def keep_trouble(session: Session, community_id: str, channel: str, message: str, remedy: str) -> None:
    """Store why cards cannot be shown in a channel at this moment; the time since when stays as it was."""
    said = {"message": to_json(message), "remedy": to_json(remedy)}
    key = {"community_id": community_id, "channel": channel}
    if not await insert_new(session, BoardTroubleRow, {**key, **said, "since": session.moment}, *key):
        changed = update(BoardTroubleRow).filter_by(**key).values(said)
        await session.execute(changed, execution_options={"synchronize_session": "fetch"})


async def end_trouble(session: Session, community_id: str, channel: str) -> None:
    """Record that a card of a community was shown in a channel."""
    ended = delete(BoardTroubleRow).filter_by(community_id=community_id, channel=channel)
    await session.execute(ended, execution_options={"synchronize_session": "fetch"})


async def troubled(session: Session) -> set[str]:
    """The communities some of whose cards could not be shown when it was tried last."""
    return set(await session.scalars(select(BoardTroubleRow.community_id)))


async def trouble_in(session: Session, community_id: str, channel: str) -> CardTrouble | None:
    """Why cards cannot be shown in a channel, if they cannot."""
    row = await session.get(BoardTroubleRow, (community_id, channel), populate_existing=True)
    return None if row is None else CardTrouble(from_json(row.message), from_json(row.remedy), row.since)
