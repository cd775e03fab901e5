"""What the filter of watched channels found, what moderators said of it, and how many messages it read on each day.

Finds that a moderator called not hateful are learnt from, and remembered by their text.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from sqlalchemy import case as when
from sqlalchemy import delete, func, select, update

from core.desk.database.connection import Session, insert_or_add
from core.desk.rules.approval import CaseState
from core.desk.rules.careful_watch import COUNTED_DAYS, LABEL_DAYS, FindLabel, WatchRecord
from core.desk.schema import CaseRow, CommunityRow, WatchDayRow
from core.desk.store import campaigns
from core.desk.store.cases import Case

_COUNTED: Final = timedelta(days=COUNTED_DAYS)
_DAY: Final = timedelta(days=1)


async def label(session: Session, case: Case, is_hateful: bool | None) -> None:
    """Keep what a moderator said of a post; ``None`` takes it back. Only what the filter found teaches it."""
    await session.execute(
        update(CaseRow)
        .where(CaseRow.id == case.id)
        .values(is_hateful=is_hateful, labelled_at=None if is_hateful is None else session.moment)
    )


async def labels(session: Session, community_id: str) -> tuple[FindLabel, ...]:
    """What moderators said of the finds in a community, as long as it counts."""
    since = session.moment - timedelta(days=LABEL_DAYS)
    query = select(CaseRow.score, CaseRow.is_hateful).where(
        CaseRow.community_id == community_id, CaseRow.labelled_at > since, CaseRow.score.is_not(None)
    )
    return tuple(FindLabel(float(score or 0), bool(hateful)) for score, hateful in await session.execute(query))


async def record_of(session: Session, community_id: str) -> WatchRecord:
    """What the filter did in a community in the last weeks."""
    since = session.moment - _COUNTED
    days = select(func.sum(WatchDayRow.looked_at), func.min(WatchDayRow.first_at)).where(
        WatchDayRow.community_id == community_id, WatchDayRow.day > since.date()
    )
    looked_at, first_at = (await session.execute(days)).one()
    finds = select(func.count(), func.count(when((CaseRow.is_hateful.is_(False), 1)))).where(
        CaseRow.community_id == community_id, CaseRow.score.is_not(None), CaseRow.created_at > since
    )
    count, wrong = (await session.execute(finds)).one()
    return WatchRecord(
        labels=await labels(session, community_id),
        looked_at=int(looked_at or 0),
        days=0.0 if first_at is None else (session.moment - first_at) / _DAY,
        found=int(count),
        wrong=int(wrong),
    )


async def add_looked_at(session: Session, counts: Mapping[str, int]) -> None:
    """Add to today's count of each community, by its id; what is said of unknown communities is left out."""
    ids = await session.scalars(select(CommunityRow.id).where(CommunityRow.id.in_(sorted(counts))))
    rows = [
        {"community_id": own, "day": session.moment.date(), "looked_at": counts[own], "first_at": session.moment}
        for own in sorted(ids)
    ]
    await insert_or_add(session, WatchDayRow, rows, "looked_at", "community_id", "day")


async def forget_old_days(session: Session, most: int) -> int:
    """Delete counts that no figure uses any longer, at most so many; returns how many."""
    old = select(WatchDayRow).where(WatchDayRow.day <= (session.moment - _COUNTED).date()).limit(most)
    rows = list(await session.scalars(old.with_for_update(skip_locked=True)))
    for row in rows:
        await session.execute(delete(WatchDayRow).filter_by(community_id=row.community_id, day=row.day))
    return len(rows)


async def dismiss(session: Session, case: Case) -> None:
    """Keep that a moderator said that the post of a case is not hateful."""
    await label(session, case, False)
    if not case.post.is_from_elsewhere:
        await campaigns.remember(session, case)


async def take_back(session: Session, case: Case) -> None:
    """Keep that nobody says so any longer."""
    if await is_dismissed(session, case):
        await label(session, case, None)
        await campaigns.stop_remembering(session, case.id)


async def is_dismissed(session: Session, case: Case) -> bool:
    """Whether a moderator said so, and the case is closed by it."""
    row = await session.get_one(CaseRow, case.id, populate_existing=True)
    return row.state is CaseState.NO_REPLY and row.is_hateful is False
