"""Prepared replies in the database: what a community added, took out and reviewed.

The project's own replies are in ``core.engine.cards``; here they are known by their ids.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import delete, select, update

from core.desk.database.connection import Session, insert_new
from core.desk.rules.origins import ReviewOfPrepared
from core.desk.schema import PreparedReplyRow
from core.desk.store import own_cards
from core.engine.cards.bank import Changes, OwnReply, prepared_id


async def rows_of(session: Session, community_id: str) -> dict[str, PreparedReplyRow]:
    """All that a community changed about prepared replies, by their ids."""
    rows = await session.scalars(select(PreparedReplyRow).filter_by(community_id=community_id))
    return {row.id: row for row in rows}


async def changes_of(session: Session, community_id: str) -> Changes:
    """What a community's drafts start from in addition to, or instead of, the project's prepared replies."""
    rows = (await rows_of(session, community_id)).values()
    own = (own_reply(row) for row in rows)
    return Changes(tuple(reply for reply in own if reply), frozenset(row.id for row in rows if row.is_hidden))


def own_reply(row: PreparedReplyRow) -> OwnReply | None:
    """The community's own reply that a row holds; ``None`` for one of the project's."""
    if row.text is None or row.language is None or row.target_group is None or row.intent is None:
        return None
    return OwnReply(row.language, row.target_group, row.intent, row.text, row.stereotype)


async def reviews_of(session: Session, community_id: str, ids: Collection[str]) -> dict[str, ReviewOfPrepared]:
    """Who reviewed these replies in a community, or the cards that they stand on; others are left out."""
    if not ids:
        return {}
    query = select(PreparedReplyRow).filter_by(community_id=community_id).where(PreparedReplyRow.id.in_(set(ids)))
    pairs = ((row.id, review_in(row)) for row in await session.scalars(query))
    on_cards = await own_cards.reviews_of(session, community_id, ids)
    return on_cards | {id_: review for id_, review in pairs if review is not None}


def review_in(row: PreparedReplyRow) -> ReviewOfPrepared | None:
    if row.reviewer is None or row.reviewed_at is None:
        return None
    return ReviewOfPrepared(row.reviewer, row.reviewed_at)


async def add(session: Session, community_id: str, reply: OwnReply) -> bool:
    """Keep a reply of the community's own; ``False`` if it is there already."""
    row = _row(community_id, prepared_id(reply.language, reply.text)) | {
        "language": reply.language,
        "target_group": reply.target_group,
        "stereotype": reply.stereotype,
        "intent": reply.intent,
        "text": reply.text,
    }
    return await insert_new(session, PreparedReplyRow, row, "community_id", "id")


async def remove(session: Session, community_id: str, id_: str) -> None:
    """Delete a reply of the community's own, and whatever review of it there was."""
    await session.execute(delete(PreparedReplyRow).filter_by(community_id=community_id, id=id_))


async def hide(session: Session, community_id: str, id_: str, *, is_hidden: bool) -> None:
    """Take one of the project's replies out of the community's drafts, or in again."""
    await _change(session, community_id, id_, is_hidden=is_hidden)


async def keep_review(session: Session, community_id: str, id_: str, person_id: str, name: str) -> None:
    """Store who vouches for a reply from now on."""
    await _change(session, community_id, id_, reviewed_by=person_id, reviewer=name, reviewed_at=session.moment)


async def forget_reviewer(session: Session, person_id: str) -> list[tuple[str, str]]:
    """Take back every review by a person; returns the communities and replies that they were of.

    A review without a named reviewer does not count as one.
    """
    nobody = {"reviewed_by": None, "reviewer": None, "reviewed_at": None}
    mine = update(PreparedReplyRow).where(PreparedReplyRow.reviewed_by == person_id).values(nobody)
    returned = mine.returning(PreparedReplyRow.community_id, PreparedReplyRow.id)
    return [(community_id, id_) for community_id, id_ in await session.execute(returned)]


async def _change(session: Session, community_id: str, id_: str, **values: object) -> None:
    await insert_new(session, PreparedReplyRow, _row(community_id, id_), "community_id", "id")
    query = update(PreparedReplyRow).filter_by(community_id=community_id, id=id_).values(values)
    await session.execute(query.execution_options(synchronize_session="fetch"))


def _row(community_id: str, id_: str) -> dict[str, object]:
    return {"community_id": community_id, "id": id_, "is_hidden": False}
