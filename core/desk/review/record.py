"""What is on record of a community: ``core.desk.rules.dashboard_ports.Record`` over the database.

Rights are asked of the platform first, and read in each transaction that answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Final

from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database, Session
from core.desk.invariants.facts import doubled_in, faults_of
from core.desk.rules.dashboard_ports import ErasedPerson, Kept, Lines, LogCheck, LogFault, LogPage, RetentionPeriods
from core.desk.rules.numbers import Numbers
from core.desk.rules.roles import OnCommunity, Person
from core.desk.store.erasure import cases_quoting
from core.desk.store.people import known_pseudonym, require_on_community
from core.desk.upkeep.erasure import Erasure, require_only_here
from core.desk.views import numbers as views
from core.desk.views import record
from core.i18n.sentences import sentence

_Add = Callable[[Session, str, datetime, views.Tallies, views.Place | None], Awaitable[views.Place | None]]
_CHAINS: Final = 100
_MOST_FAULTS: Final = 100


class DeskRecord:
    """What is on record of communities, over one database.

    Args:
        keeping: how long this installation keeps things.
    """

    def __init__(self, database: Database, live_roles: LiveRoles, keeping: RetentionPeriods) -> None:
        self._database = database
        self._live_roles = live_roles
        self._keeping = keeping

    @property
    def keeping(self) -> RetentionPeriods:
        return self._keeping

    async def numbers(self, platform: str, community: str, by: Person, since: timedelta) -> Numbers:
        place = await self._live_roles.refresh_in(platform, community, by)

        async def allowed(session: Session) -> None:
            await require_on_community(session, place.id, by, OnCommunity.READ_STATISTICS)

        async def end(session: Session) -> Numbers:
            await allowed(session)
            return await views.numbers(session, place.id, session.moment - since, read)

        async def page(session: Session, after: views.Place | None, *, add: _Add) -> views.Place | None:
            await allowed(session)
            return await add(session, place.id, session.moment - since, read, after)

        read = views.Tallies()
        for add in (views.add_drafts, views.add_closed):
            after: views.Place | None = None
            while True:
                after = await self._database.run("read a page of numbers", partial(page, after=after, add=add))
                if after is None:
                    break
        return await self._database.run("count for the numbers", end)

    async def log(
        self, platform: str, community: str, by: Person, *, which: Lines = Lines.ALL, before: int | None = None
    ) -> LogPage:
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> LogPage:
            await require_on_community(session, place.id, by, OnCommunity.READ_AUDIT)
            return await record.log(session, place.id, which, before)

        return await self._database.run("read the audit log", work)

    async def verify(self, platform: str, community: str, by: Person) -> LogCheck:
        place = await self._live_roles.refresh_in(platform, community, by)
        chains, lines, faults, after = 0, 0, list[LogFault](), ""

        async def work(session: Session) -> tuple[list[str], list[LogFault], int]:
            await require_on_community(session, place.id, by, OnCommunity.READ_AUDIT)
            streams, rows = await record.chains(session, place.id, after, _CHAINS)
            by_stream = {stream: list(of) for stream, of in groupby(rows, key=attrgetter("stream"))}
            new_faults = list[LogFault]()
            for stream in streams:
                own = by_stream.get(stream, [])
                texts = [fault.what for fault in (*faults_of(stream, own, is_deleted=False), *doubled_in(stream, own))]
                texts += [] if own else [sentence("It has no line in the audit log.")]
                new_faults += [LogFault("" if stream == place.id else stream, what) for what in texts]
            return streams, new_faults, len(rows)

        while True:
            streams, new_faults, count = await self._database.run("verify the audit log", work)
            chains, lines, faults = chains + len(streams), lines + count, (faults + new_faults)[:_MOST_FAULTS]
            if len(streams) < _CHAINS:
                return LogCheck(chains, lines, tuple(faults))
            after = streams[-1]

    async def kept(self, person: Person) -> Kept:
        async def work(session: Session) -> Kept:
            return await _kept_about(session, person.platform, person.user) or Kept(person.platform)

        return await self._database.run("look for what is kept", work)

    async def kept_about(self, platform: str, community: str, by: Person, user: str) -> Kept | None:
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> Kept | None:
            await require_on_community(session, place.id, by, OnCommunity.ERASE)
            await require_only_here(session, await known_pseudonym(session, platform, user), place.id)
            return await _kept_about(session, platform, user)

        return await self._database.run("count what is kept", work)

    async def erase(self, platform: str, community: str, by: Person, user: str) -> ErasedPerson | None:
        place = await self._live_roles.refresh_in(platform, community, by)
        erased = await Erasure(self._database).erase(platform, user, by=by, community_id=place.id)
        if not erased.is_known:
            return None
        return ErasedPerson(posts=erased.cases, roles=erased.memberships, notes=erased.notes, waiting=erased.waiting)


async def _kept_about(session: Session, platform: str, user: str) -> Kept | None:
    who = await known_pseudonym(session, platform, user)
    if who is None:
        return None
    kept = await record.kept(session, platform, who)
    around = set(await cases_quoting(session, who)) - {post.case_id for post in kept.posts}
    return replace(kept, said_around=len(around))
