"""What the dashboard asks of the desk: the queue, the library of a community's own texts, and the record."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Final

from sqlalchemy import select

from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database, Session, json_text
from core.desk.invariants.facts import doubled_in, faults_of
from core.desk.review.approvals import Proposals, TextCheck
from core.desk.rules.approval import CaseState
from core.desk.rules.numbers import Numbers
from core.desk.rules.preferences import NOTHING_HIDDEN, HiddenCategories
from core.desk.rules.roles import OnCase, OnCommunity, Person
from core.desk.schema import CaseRow, SuggestionRow
from core.desk.store import cases as store
from core.desk.store.communities import id_of
from core.desk.store.erasure import cases_quoting
from core.desk.store.people import known_pseudonym, names_of, require_on_case, require_on_community
from core.desk.upkeep.erasure import Erasure, ErasureReport, require_only_here
from core.desk.upkeep.retention import RetentionPeriods
from core.desk.views import numbers, queue, record
from core.desk.views.queue import CaseChanges, Queue
from core.desk.views.record import LogLines, LogPage, PersonalData
from core.i18n.sentences import Name, sentence
from core.models import TargetGroup

_Add = Callable[[Session, str, datetime, numbers.Tallies, numbers.PageEnd | None], Awaitable[numbers.PageEnd | None]]
_CHAINS: Final = 100
_MOST_FAULTS: Final = 100
MOST: Final = 300
_DAYS: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Move:
    """A line of a case's history: who did what when, and the note that they wrote, "" for none."""

    state: CaseState | None
    by: str
    reason: str
    note: str
    at: datetime


@dataclass(frozen=True, slots=True)
class History:
    """Every move of a case, oldest first, and when the schedule closes it, as ``QueuedCase.waits_until``."""

    moves: tuple[Move, ...] = ()
    waits_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class KeptPost:
    """A post that came to the desk lately, as it is kept: where, how and when, and what is known of it.

    ``text`` is for the filter to read, and ``channel`` is ``PostRef.channel``; ``score`` is that of the filter where it
    found the post.
    """

    case_id: str
    channel: str
    text: str
    flagged_how: str
    score: float | None
    at: datetime
    group: TargetGroup | None


@dataclass(frozen=True, slots=True)
class LogFault:
    """A chain of the log that is broken: of a case, or of the community itself (``case_id`` ""), and how."""

    case_id: str
    what: str


@dataclass(frozen=True, slots=True)
class LogCheck:
    """What a check of the log found: of so many chains and lines, those that are broken, the first hundred of them."""

    chains: int
    lines: int
    faults: tuple[LogFault, ...]


class DeskRecord:
    """What is on record of communities. Each call asks the platform for the person's roles at this moment.

    Args:
        keeping: how long this installation keeps things.
    """

    def __init__(self, database: Database, live_roles: LiveRoles, keeping: RetentionPeriods) -> None:
        self._database = database
        self._live_roles = live_roles
        self.keeping = keeping

    async def numbers(self, platform: str, community: str, by: Person, since: timedelta) -> Numbers:
        """What ``Governance.statistics`` does not count, of the cases that were flagged in the last ``since``.

        Raises:
            NotAllowed: they may not see the community's numbers.
        """
        place = await self._live_roles.refresh_in(platform, community, by)

        async def allowed(session: Session) -> None:
            await require_on_community(session, place.id, by, OnCommunity.READ_STATISTICS)

        async def end(session: Session) -> Numbers:
            await allowed(session)
            return await numbers.numbers(session, place.id, session.moment - since, read)

        async def page(session: Session, after: numbers.PageEnd | None, *, add: _Add) -> numbers.PageEnd | None:
            await allowed(session)
            return await add(session, place.id, session.moment - since, read, after)

        read = numbers.Tallies()
        for add in (numbers.add_drafts, numbers.add_closed):
            after: numbers.PageEnd | None = None
            while True:
                after = await self._database.run("read a page of numbers", partial(page, after=after, add=add))
                if after is None:
                    break
        return await self._database.run("count for the numbers", end)

    async def log(
        self,
        platform: str,
        community: str,
        by: Person,
        *,
        which: LogLines = LogLines.ALL,
        before: int | None = None,
    ) -> LogPage:
        """A page of the audit log, before a line or from the newest on; ``NotAllowed`` if they may not read it."""
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> LogPage:
            await require_on_community(session, place.id, by, OnCommunity.READ_AUDIT)
            return await record.log(session, place.id, which, before)

        return await self._database.run("read the audit log", work)

    async def verify(self, platform: str, community: str, by: Person) -> LogCheck:
        """Compute every chain of the community's log again; ``NotAllowed`` if they may not read it."""
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

    async def kept(self, person: Person) -> PersonalData:
        async def work(session: Session) -> PersonalData:
            return await _kept_about(session, person.platform, person.user) or PersonalData(person.platform)

        return await self._database.run("look for what is kept", work)

    async def kept_about(self, platform: str, community: str, by: Person, user: str) -> PersonalData | None:
        """What is kept about somebody, by the platform's id; ``None`` where nobody is known by it.

        Raises:
            NotAllowed: they may erase nobody there, or the person is known in other communities, too.
        """
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> PersonalData | None:
            await require_on_community(session, place.id, by, OnCommunity.ERASE)
            await require_only_here(session, await known_pseudonym(session, platform, user), place.id)
            return await _kept_about(session, platform, user)

        return await self._database.run("count what is kept", work)

    async def erase(self, platform: str, community: str, by: Person, user: str) -> ErasureReport | None:
        """Erase somebody from this installation; raises and returns as ``kept_about``."""
        place = await self._live_roles.refresh_in(platform, community, by)
        erased = await Erasure(self._database).erase(platform, user, by=by, community_id=place.id)
        return erased if erased.is_known else None


async def _kept_about(session: Session, platform: str, user: str) -> PersonalData | None:
    who = await known_pseudonym(session, platform, user)
    if who is None:
        return None
    kept = await record.kept(session, platform, who)
    around = set(await cases_quoting(session, who)) - {post.case_id for post in kept.posts}
    return replace(kept, said_around=len(around))


async def kept_posts(session: Session, community_id: str) -> tuple[KeptPost, ...]:
    """The newest ``MOST`` of them whose words were not erased, newest first."""
    group_of = json_text(session, SuggestionRow.document.expression, "reading", "target_group")
    rows = await session.execute(
        select(CaseRow, queue.of_newest_suggestion(group_of))
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
    """What somebody sees over all their communities. Their rights are read in the transaction that answers.

    Args:
        proposals: checks texts, as everywhere.
        keeping: how long this installation keeps things.
    """

    def __init__(self, database: Database, proposals: Proposals, keeping: RetentionPeriods) -> None:
        self._database = database
        self._proposals = proposals
        self._keeping = keeping

    async def queue(
        self,
        people: tuple[Person, ...],
        *,
        platform: str = "",
        community: str = "",
        page: int = 0,
        hides: HiddenCategories = NOTHING_HIDDEN,
    ) -> Queue:
        """A page of what waits, of all their communities or of one; of a page that there is not, the last one."""
        return await self._database.run(
            "list what waits",
            lambda session: queue.queue(
                session, people, self._keeping, platform=platform, community=community, page=page, hides=hides
            ),
        )

    async def able(
        self, people: tuple[Person, ...], platform: str, community: str, *wanted: OnCase | OnCommunity
    ) -> Person | None:
        """Who of them may do the first thing of ``wanted`` that any of them may do there; ``None`` if nobody may."""
        return await self._database.run(
            "look who may do it", lambda session: queue.able(session, people, platform, community, wanted)
        )

    async def oldest(self, people: tuple[Person, ...]) -> datetime | None:
        """Since when the oldest case that needs a person waits, in all their communities; ``None`` if none does."""
        return await self._database.run("look for the oldest case", lambda session: queue.oldest(session, people))

    async def history(self, case_id: str, by: Person) -> History:
        """What happened to a case, with names; ``NotAllowed`` if they may not read cases there."""

        async def work(session: Session) -> History:
            case = await store.load(session, case_id)
            await require_on_case(session, case.community_id, by, OnCase.READ)
            lines = await store.history(session, case_id)
            names = await names_of(session, case.community_id, {line.actor for line in lines})
            moves = []
            for line in lines:
                why = await record.with_names(session, case.community_id, line.reason)
                moves.append(Move(line.to_state, Name(names.get(line.actor, "")), why, line.note, line.at))
            return History(tuple(moves), await queue.waits_until(session, case, self._keeping))

        return await self._database.run("read the history of a page's case", work)

    async def check(self, case_id: str, by: Person, text: str) -> TextCheck:
        """A text, checked against the case's evidence; ``NotAllowed`` if they may not decide about cases there."""
        return await self._proposals.check(case_id, by, text)

    async def changes(self, people: tuple[Person, ...], since: int | None) -> CaseChanges:
        """What changed in their communities since a number; nothing, and the present number, where there is none."""
        return await self._database.run("look for changes", lambda session: queue.changes(session, people, since))

    async def holds(self, people: tuple[Person, ...]) -> dict[str, str]:
        """Who holds which case in their communities, by a pseudonym that no page shows; no number tells of it."""
        return await self._database.run("look for holds", lambda session: queue.holds(session, people))

    async def kept_posts(self, platform: str, community: str, by: Person) -> tuple[KeptPost, ...]:
        """The newest posts of the last seven days whose words are kept; ``NotAllowed`` if they may not configure it."""

        async def work(session: Session) -> tuple[KeptPost, ...]:
            identity = await id_of(session, platform, community)
            await require_on_community(session, identity, by, OnCommunity.CONFIGURE)
            return await kept_posts(session, identity)

        return await self._database.run("read what came lately", work)
