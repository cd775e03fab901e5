"""Follow-ups: what has happened to a posted reply after a day, a week and four weeks.

They tell whether the reply and the post that it answers are still there, and how often the author was flagged since.
They claim no effect: they count what can be seen.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import exists, func, select

from core.desk.database.connection import Database, Session, insert_new
from core.desk.rules.approval import CaseState
from core.desk.rules.numbers import AFTER_HOURS
from core.desk.rules.platforms import ChatPlatform
from core.desk.runtime.faults import reach
from core.desk.schema import ApprovalRow, CaseRow, OutboxRow, OutboxState, OutcomeRow, PersonRow
from core.desk.store.jobs import Job
from core.desk.upkeep.chores import Done
from core.errors import PlatformUnavailable
from core.models import PostRef

_LATEST: Final = timedelta(hours=24)
_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class _Due:
    """A reply to look at, for the latest point in time that passed without a look."""

    case_id: str
    ref: PostRef
    remote_message: str | None
    posted_at: datetime
    after_hours: int
    is_last_chance: bool


class FollowUps:
    """Looks at posted replies.

    Args:
        platforms: the platforms that are connected at this moment, by ``PostRef.platform``; replies on others are
            left for later.
        timeout_seconds: how long one call of a platform may take.
    """

    def __init__(
        self, database: Database, platforms: Mapping[str, ChatPlatform], *, timeout_seconds: float = 30.0
    ) -> None:
        self._database = database
        self._platforms = platforms
        self._timeout_seconds = timeout_seconds

    async def do(self, _: Job) -> Done:
        """Look at every reply that is due, and record what was found."""
        due, silent, count = await self._database.run("look for follow-ups", self._due), set[str](), 0
        for reply in due:
            if reply.ref.platform not in silent:
                count += await self._look_after(reply, silent)
        return Done(f"{count} of {len(due)} replies looked after")

    async def _due(self, session: Session) -> list[_Due]:
        posted_at = func.coalesce(OutboxRow.posted_at, OutboxRow.updated_at, type_=OutboxRow.posted_at.type)
        looked = exists().where(OutcomeRow.case_id == CaseRow.id)
        due = list[_Due]()
        for hours, then in zip(AFTER_HOURS, (*AFTER_HOURS[1:], None), strict=True):
            query = (
                select(CaseRow, OutboxRow.remote_message, posted_at)
                .join(ApprovalRow, ApprovalRow.case_id == CaseRow.id)
                .join(OutboxRow, OutboxRow.approval_id == ApprovalRow.id)
                .join(PersonRow, PersonRow.id == CaseRow.author)  # nothing is looked up about an erased person
                .where(CaseRow.state == CaseState.POSTED, OutboxRow.state == OutboxState.POSTED)
                .where(CaseRow.platform.in_(list(self._platforms)), ~looked.where(OutcomeRow.after_hours >= hours))
                .where(posted_at <= session.moment - timedelta(hours=hours))
                .order_by(posted_at, CaseRow.id)
                .limit(_AT_ONCE)
            )
            if then is not None:
                query = query.where(posted_at > session.moment - timedelta(hours=then))
            for case, remote, at in await session.execute(query):
                is_last = session.moment - at >= timedelta(hours=hours) + _LATEST
                due.append(_Due(case.id, case.ref, remote, at, hours, is_last))
        return due

    async def _look_after(self, reply: _Due, silent: set[str]) -> bool:
        """Store what is found; ``False`` if the platform does not answer and there is time left to ask again.

        A platform that takes too long for a call is added to ``silent``, so that the other chores need not wait as
        well.
        """
        platform = self._platforms.get(reply.ref.platform)
        if platform is None:  # its connection was lost meanwhile
            return False
        answer = None
        if reply.remote_message is not None:
            answer = await self._stands(platform, replace(reply.ref, message=reply.remote_message), silent)
        original = await self._stands(platform, reply.ref, silent)
        could_not_tell = original is None or (answer is None and reply.remote_message is not None)
        if could_not_tell and not reply.is_last_chance:
            return False

        async def work(session: Session) -> bool:
            row = {
                "case_id": reply.case_id,
                "after_hours": reply.after_hours,
                "reply_stands": answer,
                "original_stands": original,
                "author_flagged_again": await _flagged_again(session, reply),
                "at": session.moment,
            }
            return await insert_new(session, OutcomeRow, row, "case_id", "after_hours")

        return await self._database.run("keep a follow-up", work)

    async def _stands(self, platform: ChatPlatform, ref: PostRef, silent: set[str]) -> bool | None:
        """Whether a message is there; ``None`` if the platform cannot say at the moment."""
        await reach("read for a follow-up: before")
        try:
            async with asyncio.timeout(self._timeout_seconds):
                text = await platform.read(ref)
        except PlatformUnavailable:
            return None
        except TimeoutError:
            silent.add(ref.platform)
            return None
        await reach("read for a follow-up: after")
        return text is not None


async def _flagged_again(session: Session, reply: _Due) -> int:
    """How many other posts of the author were flagged in the community since the reply was posted."""
    own = await session.get_one(CaseRow, reply.case_id)
    theirs = select(CaseRow.community_id).where(
        CaseRow.author == own.author, CaseRow.id != own.id, CaseRow.created_at > reply.posted_at
    )
    # The community is compared here: in the query it would make SQLite read every case of the community.
    return [*await session.scalars(theirs)].count(own.community_id)
