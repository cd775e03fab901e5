"""The cards in review channels, in the database: which are outdated, and where each one is.

``cases.unshown`` goes down only by what was shown. For the managers of a community it is kept why its cards cannot be
shown, whichever process shows them.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, or_, select, update

from core.desk.database.connection import Session, insert_or_set
from core.desk.rules.approval import CLOSED, IN_PROGRESS
from core.desk.rules.case_cards import CardTrouble
from core.desk.schema import BoardTroubleRow, CaseRow, CommunityRow, ReviewCardRow
from core.desk.store import communities
from core.desk.store.cases import CARDLESS, touch
from core.i18n.sentences import from_json, to_json
from core.models import PostRef

_CHANNEL, _LANGUAGE = "review_channel", "language"
"""The keys of ``CommunityRow.policy``, fields of ``core.desk.rules.policy.CommunityPolicy``."""


@dataclass(frozen=True, slots=True)
class Board:
    """Where a community's cards are shown, "" for nowhere, and what they all show of the community."""

    community_id: str
    name: str
    channel: str
    version: int
    is_paused: bool


@dataclass(frozen=True, slots=True)
class CardPlace:
    ref: PostRef
    digest: str
    shown_at: datetime


def review_channel(policy: Mapping[str, Any]) -> str:
    """Where a community with this policy wants its cards, "" for nowhere."""
    return str(policy.get(_CHANNEL) or "")


def card_language(policy: Mapping[str, Any]) -> str | None:
    """The language that a community with this policy chose for its cards, ``None`` for none."""
    language = policy.get(_LANGUAGE)
    return None if language is None else str(language)


async def boards(session: Session, platform: str, channel: str = "") -> dict[str, Board]:
    """The boards of a platform's communities, by their ids; ``channel`` is that of communities that chose none."""
    rows = list(await session.scalars(select(CommunityRow).filter_by(platform=platform).order_by(CommunityRow.id)))
    paused = set(await communities.paused(session, [row.id for row in rows]))
    return {
        row.id: Board(
            row.id,
            row.name,
            review_channel(row.policy) or channel,
            row.version,
            is_paused=not paused.isdisjoint({row.id, communities.EVERYWHERE}),
        )
        for row in rows
    }


async def changed(
    session: Session,
    community_ids: Collection[str],
    limit: int,
    *,
    without: Collection[str] = (),
    can_wait: Collection[str] = (),
) -> dict[str, str]:
    """The cases of these communities whose card may be outdated, at most ``limit``.

    What somebody must decide, or cannot decide any more, comes before what only waits for drafts; of these the longest
    waiting first, and of each community as many as of any other, so that a raid on one delays no other. Each with its
    community, as in ``standing_cards``.

    Args:
        without: no case of these.
        can_wait: none of these as long as they only wait for drafts.
    """
    order = (CaseRow.state.in_(IN_PROGRESS), CaseRow.updated_at, CaseRow.id)
    turn = func.row_number().over(partition_by=CaseRow.community_id, order_by=order)
    waiting = select(CaseRow.id, CaseRow.community_id, CaseRow.updated_at, turn.label("turn")).where(
        CaseRow.community_id.in_(sorted(community_ids)), CaseRow.unshown > 0
    )
    if without:
        waiting = waiting.where(CaseRow.id.not_in(sorted(without)))
    if can_wait:
        waiting = waiting.where(or_(CaseRow.id.not_in(sorted(can_wait)), CaseRow.state.not_in(IN_PROGRESS)))
    cases = waiting.subquery()
    query = select(cases.c.id, cases.c.community_id).order_by(cases.c.turn, cases.c.updated_at, cases.c.id).limit(limit)
    return {str(case_id): str(community_id) for case_id, community_id in await session.execute(query)}


async def standing_cards(
    session: Session, community_ids: Collection[str], *, only_erased: bool = False
) -> dict[str, str]:
    """The cases of these communities that have a card, and are open or were erased since it was shown."""
    is_erased = ReviewCardRow.digest == ""
    query = (
        select(CaseRow.id, CaseRow.community_id)
        .join(ReviewCardRow, ReviewCardRow.case_id == CaseRow.id)
        .where(CaseRow.community_id.in_(sorted(community_ids)))
        .where(is_erased if only_erased else or_(CaseRow.state.not_in(CLOSED), is_erased))
        .order_by(CaseRow.updated_at, CaseRow.id)
    )
    return {str(case_id): str(community_id) for case_id, community_id in await session.execute(query)}


async def standing_places(session: Session, board: Board, most: int) -> list[PostRef]:
    """Where the cards of a community's open cases should stand in its review channel now; the newest ``most``."""
    query = (
        select(CaseRow.platform, CaseRow.community, ReviewCardRow.channel, ReviewCardRow.message)
        .join(ReviewCardRow, ReviewCardRow.case_id == CaseRow.id)
        .where(CaseRow.community_id == board.community_id, ReviewCardRow.channel == board.channel)
        .where(CaseRow.state.not_in(CLOSED), ReviewCardRow.digest != "")
        .order_by(ReviewCardRow.shown_at.desc(), CaseRow.id)
        .limit(most)
    )
    return [PostRef(*place) for place in await session.execute(query)]


async def place_of(session: Session, case: CaseRow) -> CardPlace | None:
    """Where a case's card is; ``None`` if it was never shown."""
    row = await session.get(ReviewCardRow, case.id, populate_existing=True)
    if row is None:
        return None
    return CardPlace(PostRef(case.platform, case.community, row.channel, row.message), row.digest, row.shown_at)


async def keep_place(session: Session, case_id: str, ref: PostRef, digest: str, shown: int) -> None:
    """Store where a card is now, and that it shows ``shown`` more changes; does nothing if the case is gone."""
    if not await were_shown(session, case_id, shown):
        return
    place = {"channel": ref.channel, "message": ref.message, "digest": digest, "shown_at": session.moment}
    await insert_or_set(session, ReviewCardRow, {"case_id": case_id}, place)


async def put_up_again(session: Session, case_id: str) -> None:
    """Have the card of an open case shown once more in its community's review channel, wherever it was before."""
    row = await session.get(CaseRow, case_id, populate_existing=True)
    if row is None or row.state in CLOSED or row.state in CARDLESS:
        return
    if not review_channel((await communities.load(session, row.community_id)).policy):
        return
    await session.execute(update(ReviewCardRow).where(ReviewCardRow.case_id == case_id).values(digest=""))
    await touch(session, case_id)


async def was_deleted(session: Session, ref: PostRef) -> None:
    """Somebody deleted a message: an open case gets its card again, and a closed one is left without."""
    query = (
        select(CaseRow.id, CaseRow.state)
        .join(ReviewCardRow, ReviewCardRow.case_id == CaseRow.id)
        .where(ReviewCardRow.channel == ref.channel, ReviewCardRow.message == ref.message)
        .where(CaseRow.platform == ref.platform, CaseRow.community == ref.community)
    )
    for case_id, state in list(await session.execute(query)):
        if state in CLOSED:
            await session.execute(delete(ReviewCardRow).where(ReviewCardRow.case_id == case_id))
        else:
            await put_up_again(session, case_id)


async def were_left_behind(session: Session, community_id: str, channel: str) -> None:
    """Forget the cards of a community in a channel, or a part of it, where none can be changed any more.

    Open cases are shown anew in the review channel, and closed ones are left without a card.
    """
    is_there = or_(ReviewCardRow.channel == channel, ReviewCardRow.channel.startswith(f"{channel}/", autoescape=True))
    query = select(CaseRow.id).join(ReviewCardRow, ReviewCardRow.case_id == CaseRow.id)
    case_ids = list(await session.scalars(query.where(CaseRow.community_id == community_id, is_there)))
    await session.execute(delete(ReviewCardRow).where(ReviewCardRow.case_id.in_(case_ids)))
    await touch(session, *case_ids)


async def were_shown(session: Session, case_id: str, shown: int) -> bool:
    """Count ``shown`` changes of a case as shown, and none that came since; ``False`` if the case is gone."""
    statement = (
        update(CaseRow)
        .where(CaseRow.id == case_id)
        .values(unshown=CaseRow.unshown - shown)
        .returning(CaseRow.id)
        .execution_options(synchronize_session=False)
    )
    return (await session.execute(statement)).first() is not None


async def keep_trouble(session: Session, community_id: str, channel: str, message: str, remedy: str) -> None:
    """Store why cards cannot be shown in a channel at this moment; the time since when stays as it was."""
    texts = {"message": to_json(message), "remedy": to_json(remedy)}
    key = {"community_id": community_id, "channel": channel}
    await insert_or_set(session, BoardTroubleRow, key, texts, since=session.moment)


async def end_trouble(session: Session, community_id: str, channel: str) -> None:
    """Record that a card of a community was shown in a channel."""
    await session.execute(delete(BoardTroubleRow).filter_by(community_id=community_id, channel=channel))


async def troubled(session: Session) -> set[str]:
    """The communities some of whose cards could not be shown when it was tried last."""
    return set(await session.scalars(select(BoardTroubleRow.community_id)))


async def trouble_in(session: Session, community_id: str, channel: str) -> CardTrouble | None:
    """Why cards cannot be shown in a channel, if they cannot."""
    row = await session.get(BoardTroubleRow, (community_id, channel), populate_existing=True)
    return None if row is None else CardTrouble(from_json(row.message), from_json(row.remedy), row.since)
