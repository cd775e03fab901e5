"""People who flagged a post: whom to tell what became of it, and the flags of people without a role.

In communities that tell flaggers, the platform's id of each is kept until they were told. Flags of people without a
role are counted until a post has enough of them to become a case; no word of the post is kept.
"""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, func, select

from core.desk.database.connection import Session, insert_new
from core.desk.rules.approval import CLOSED, CaseState
from core.desk.schema import CaseRow, FlaggerRow, MemberFlagRow
from core.desk.store import communities
from core.desk.store.cases import Case
from core.desk.store.people import pseudonym
from core.models import PostRef

_AT_ONCE: Final = 50


@dataclass(frozen=True, slots=True)
class Flagger:
    """A person who waits to hear what became of a post, by pseudonym and by the platform's id, and its case's end."""

    case_id: str
    community_id: str
    person_id: str
    user: str
    post: PostRef
    state: CaseState


async def remember(session: Session, case: Case, user: str) -> None:
    """Keep that a person flagged the post of an open case, if the community tells people what became of it.

    Args:
        user: the platform's id of the person; "" for somebody whom the platform hides, who cannot be told.
    """
    if not user:
        return
    community = await communities.load(session, case.community_id)
    if case.state in CLOSED or not communities.policy_of(community).tells_flaggers:
        return
    key = {"case_id": case.id, "person_id": await pseudonym(session, case.post.ref.platform, user)}
    await insert_new(session, FlaggerRow, {**key, "user": user, "flagged_at": session.moment}, *key)


async def to_tell(session: Session, platform: str) -> list[Flagger]:
    """Whom to tell, of cases that are closed; the longest waiting first, and not all at once."""
    query = (
        select(FlaggerRow, CaseRow)
        .join(CaseRow, CaseRow.id == FlaggerRow.case_id)
        .where(CaseRow.platform == platform, CaseRow.state.in_(CLOSED))
        .order_by(FlaggerRow.flagged_at, FlaggerRow.case_id, FlaggerRow.person_id)
        .limit(_AT_ONCE)
    )
    return [
        Flagger(case.id, case.community_id, row.person_id, row.user, case.ref, case.state)
        for row, case in await session.execute(query)
    ]


async def forget(session: Session, case_id: str, person_id: str) -> None:
    """Keep no longer who flagged it."""
    await session.execute(delete(FlaggerRow).filter_by(case_id=case_id, person_id=person_id))


KEPT: Final = timedelta(days=1)
"""How long a flag counts."""


async def count_flag(session: Session, post: PostRef, person_id: str) -> int:
    """Add a person's flag; returns how many different people flagged the post within ``KEPT``, this one included."""
    await forget_old_flags(session)
    key = {**asdict(post), "person_id": person_id}
    await insert_new(session, MemberFlagRow, {**key, "flagged_at": session.moment}, *key)
    query = select(func.count()).select_from(MemberFlagRow).filter_by(**asdict(post))
    return int(await session.scalar(query) or 0)


async def flagged_since(session: Session, person_id: str, since: datetime) -> int:
    """How many posts a person flagged that did not become a case by it."""
    query = select(func.count()).select_from(MemberFlagRow).filter_by(person_id=person_id)
    return int(await session.scalar(query.where(MemberFlagRow.flagged_at > since)) or 0)


async def forget_flags(session: Session, post: PostRef) -> None:
    """Keep no longer who flagged a post, which has a case now."""
    await session.execute(delete(MemberFlagRow).filter_by(**asdict(post)))


async def forget_old_flags(session: Session) -> None:
    """Delete flags that count no longer."""
    await session.execute(delete(MemberFlagRow).where(MemberFlagRow.flagged_at <= session.moment - KEPT))
