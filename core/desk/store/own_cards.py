"""What a community has of its own in the database: argument cards, and what it changed about prepared replies.

Of a card it is kept what was proposed, by whom, and what a second person said; of replies, what the community added,
took out and reviewed. The project's own replies are in ``core.engine.cards``; here they are known by their ids.
"""

from collections.abc import Collection
from contextlib import suppress

from sqlalchemy import delete, or_, select, update

from core.desk.database.connection import Session, insert_new, insert_or_set
from core.desk.rules.case_cards import ReviewOfPrepared
from core.desk.rules.own_cards import CommunityCard, Signatory, WrittenCard, restored
from core.desk.schema import OwnCardRow, PreparedReplyRow
from core.engine.cards.bank import CardVerdict, Changes, OwnReply, prepared_id
from core.engine.cards.own import OwnCard
from core.errors import BadInput, StoreUnavailable
from core.i18n.sentences import sentence


async def all_cards(session: Session, community_id: str) -> list[CommunityCard]:
    """The cards of a community, by their ids.

    Raises:
        StoreUnavailable: another version of Antiphon wrote one.
    """
    query = select(OwnCardRow).filter_by(community_id=community_id).order_by(OwnCardRow.id)
    rows = await session.scalars(query.execution_options(populate_existing=True))
    return [_stored(row) for row in rows]


async def accepted_cards(session: Session, community_id: str) -> tuple[OwnCard, ...]:
    """The cards from which a community's drafts start, before the project's."""
    return tuple(stored.as_card() for stored in await all_cards(session, community_id) if stored.is_accepted)


async def _card_reviews(session: Session, community_id: str, ids: Collection[str]) -> dict[str, ReviewOfPrepared]:
    """Who accepted the cards that these prepared texts stand on."""
    accepted = [stored for stored in await all_cards(session, community_id) if stored.is_accepted]
    return {
        id_: ReviewOfPrepared(stored.reviewer.name, stored.reviewer.at)
        for stored in accepted
        if stored.reviewer
        for id_ in stored.texts
        if id_ in ids
    }


async def keep_card(session: Session, community_id: str, card: WrittenCard, by: str, name: str) -> None:
    """Keep a new card, or a new version of one, which nobody has reviewed."""
    await remove_card(session, community_id, card.id)
    row = OwnCardRow(
        community_id=community_id,
        id=card.id,
        document=card.document,
        digest=card.digest,
        proposed_by=by,
        proposer=name,
        proposed_at=session.moment,
    )
    session.add(row)
    await session.flush()


async def keep_card_review(
    session: Session, community_id: str, id_: str, verdict: CardVerdict, by: str, name: str
) -> None:
    """Store what a second person says of a card from now on."""
    values = {"verdict": verdict, "reviewed_by": by, "reviewer": name, "reviewed_at": session.moment}
    await session.execute(update(OwnCardRow).filter_by(community_id=community_id, id=id_).values(values))


async def remove_card(session: Session, community_id: str, id_: str) -> None:
    """Delete a card, and whatever review of it there was."""
    await session.execute(delete(OwnCardRow).filter_by(community_id=community_id, id=id_))


async def forget_person(session: Session, person_id: str) -> list[tuple[str, str]]:
    """Take a person's name off every card and take back their reviews of prepared replies.

    Returns the communities and texts that they reviewed, those on cards too. A review without a named reviewer does not
    count as one, so that such a card waits for another person.
    """
    nobody = {"reviewed_by": None, "reviewer": None, "reviewed_at": None}
    replies = update(PreparedReplyRow).where(PreparedReplyRow.reviewed_by == person_id).values(nobody)
    returned = replies.returning(PreparedReplyRow.community_id, PreparedReplyRow.id)
    changed = [(community_id, id_) for community_id, id_ in await session.execute(returned)]
    mine = select(OwnCardRow).where(or_(OwnCardRow.proposed_by == person_id, OwnCardRow.reviewed_by == person_id))
    for row in await session.scalars(mine):
        if row.reviewed_by == person_id:
            with suppress(StoreUnavailable):  # what another version wrote must not stop an erasure
                changed += [(row.community_id, id_) for id_ in _stored(row).texts]
            row.verdict = row.reviewed_by = row.reviewer = row.reviewed_at = None
        if row.proposed_by == person_id:
            row.proposed_by = row.proposer = None
    await session.flush()
    return changed


def _stored(row: OwnCardRow) -> CommunityCard:
    try:
        card = restored(row.document)
    except BadInput as err:
        raise StoreUnavailable(
            sentence("The card {card} of {community} cannot be read.", card=row.id, community=row.community_id),
            remedy=sentence("Use the version of Antiphon that wrote it."),
        ) from err
    proposer = reviewer = None
    if row.proposed_by is not None:
        proposer = Signatory(row.proposed_by, row.proposer or "", row.proposed_at)
    if row.reviewed_by is not None and row.reviewed_at is not None:
        reviewer = Signatory(row.reviewed_by, row.reviewer or "", row.reviewed_at)
    return CommunityCard(card, proposer, row.verdict, reviewer)


async def replies_of(session: Session, community_id: str) -> dict[str, PreparedReplyRow]:
    """All that a community changed about prepared replies, by their ids."""
    rows = await session.scalars(select(PreparedReplyRow).filter_by(community_id=community_id))
    return {row.id: row for row in rows}


async def changes_of(session: Session, community_id: str) -> Changes:
    """What a community's drafts start from in addition to, or instead of, the project's prepared replies."""
    rows = (await replies_of(session, community_id)).values()
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
    on_cards = await _card_reviews(session, community_id, ids)
    return on_cards | {id_: review for id_, review in pairs if review is not None}


def review_in(row: PreparedReplyRow) -> ReviewOfPrepared | None:
    if row.reviewer is None or row.reviewed_at is None:
        return None
    return ReviewOfPrepared(row.reviewer, row.reviewed_at)


async def add_reply(session: Session, community_id: str, reply: OwnReply) -> bool:
    """Keep a reply of the community's own; ``False`` if it is there already."""
    row = {
        "community_id": community_id,
        "id": prepared_id(reply.language, reply.text),
        "language": reply.language,
        "target_group": reply.target_group,
        "stereotype": reply.stereotype,
        "intent": reply.intent,
        "text": reply.text,
    }
    return await insert_new(session, PreparedReplyRow, row, "community_id", "id")


async def remove_reply(session: Session, community_id: str, id_: str) -> None:
    """Delete a reply of the community's own, and whatever review of it there was."""
    await session.execute(delete(PreparedReplyRow).filter_by(community_id=community_id, id=id_))


async def hide_reply(session: Session, community_id: str, id_: str, *, is_hidden: bool) -> None:
    """Take one of the project's replies out of the community's drafts, or in again."""
    await _change_reply(session, community_id, id_, is_hidden=is_hidden)


async def keep_reply_review(session: Session, community_id: str, id_: str, person_id: str, name: str) -> None:
    """Store who vouches for a reply from now on."""
    await _change_reply(session, community_id, id_, reviewed_by=person_id, reviewer=name, reviewed_at=session.moment)


async def _change_reply(session: Session, community_id: str, id_: str, **values: object) -> None:
    await insert_or_set(session, PreparedReplyRow, {"community_id": community_id, "id": id_}, values)
