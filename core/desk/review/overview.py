"""What somebody sees over all their communities: ``core.desk.rules.dashboard_ports.Overview`` over the database.

Rights are read in the transaction that answers. The posts of the last seven days are there for a look at what other
rules would have found.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select

from core.desk.database.connection import Database, Session
from core.desk.database.dialect import json_text
from core.desk.review.queries import CaseQueries
from core.desk.rules.dashboard_ports import NOTHING_HIDDEN, Changes, Hidden, KeptPost, Move, Queue, TextCheck
from core.desk.rules.roles import OnCase, OnCommunity, Person
from core.desk.schema import CaseRow, SuggestionRow
from core.desk.store import cases as store
from core.desk.store.communities import id_of
from core.desk.store.people import known_name, require_on_case, require_on_community
from core.desk.views import queue as views
from core.desk.views.queue import of_newest_suggestion
from core.desk.views.record import with_names
from core.models import TargetGroup

MOST: Final = 300
_DAYS: Final = timedelta(days=7)


async def kept_posts(session: Session, community_id: str) -> tuple[KeptPost, ...]:
    """The newest ``MOST`` of them whose words were not erased, newest first."""
    group_of = json_text(session, SuggestionRow.document.expression, "reading", "target_group")
    rows = await session.execute(
        select(CaseRow, of_newest_suggestion(group_of))
        .where(CaseRow.community_id == community_id, CaseRow.created_at > session.moment - _DAYS)
        .where(CaseRow.erased_at.is_(None), CaseRow.is_from_elsewhere.is_(False))
        .order_by(CaseRow.created_at.desc(), CaseRow.id)
        .limit(MOST)
    )
    return tuple(
        KeptPost(
            row.id,
            row.channel,
            row.text,
            row.flagged_how,
            row.score,
            row.created_at,
            TargetGroup(group) if group in set(TargetGroup) else None,
        )
        for row, group in rows
    )


class DeskOverview:
    """What waits, what happened, and what the evidence says of a text.

    Args:
        queries: checks texts, as everywhere.
    """

    def __init__(self, database: Database, queries: CaseQueries) -> None:
        self._database = database
        self._queries = queries

    async def queue(
        self,
        people: tuple[Person, ...],
        *,
        platform: str = "",
        community: str = "",
        page: int = 0,
        hides: Hidden = NOTHING_HIDDEN,
    ) -> Queue:
        async def work(session: Session) -> Queue:
            return await views.queue(session, people, platform=platform, community=community, page=page, hides=hides)

        return await self._database.run("list what waits", work)

    async def oldest(self, people: tuple[Person, ...]) -> datetime | None:
        return await self._database.run("look for the oldest case", lambda session: views.oldest(session, people))

    async def history(self, case_id: str, by: Person) -> tuple[Move, ...]:
        async def work(session: Session) -> tuple[Move, ...]:
            case = await store.load(session, case_id)
            await require_on_case(session, case.community_id, by, OnCase.READ)
            moves = []
            for line in await store.history(session, case_id):
                who = await known_name(session, case.community_id, line.actor)
                why = await with_names(session, case.community_id, line.reason)
                moves.append(Move(line.to_state, who, why, line.note, line.at))
            return tuple(moves)

        return await self._database.run("read the history of a page's case", work)

    async def check(self, case_id: str, by: Person, text: str) -> TextCheck:
        async def may(session: Session) -> None:
            case = await store.load(session, case_id)
            await require_on_case(session, case.community_id, by, OnCase.APPROVE)

        await self._database.run("check a right for a page", may)
        reply = await self._queries.checked(case_id, text)
        return TextCheck(reply.sentences, reply.warnings, reply.why_two)

    async def changes(self, people: tuple[Person, ...], since: int | None) -> Changes:
        return await self._database.run("look for changes", lambda session: views.changes(session, people, since))

    async def holds(self, people: tuple[Person, ...]) -> dict[str, str]:
        return await self._database.run("look for holds", lambda session: views.holds(session, people))

    async def kept_posts(self, platform: str, community: str, by: Person) -> tuple[KeptPost, ...]:
        async def work(session: Session) -> tuple[KeptPost, ...]:
            identity = await id_of(session, platform, community)
            await require_on_community(session, identity, by, OnCommunity.CONFIGURE)
            return await kept_posts(session, identity)

        return await self._database.run("read what came lately", work)
