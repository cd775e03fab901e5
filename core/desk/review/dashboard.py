"""What the dashboard asks of the desk: the queue, the library of a community's own texts, and the record."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import select

from core.desk.communities.native_roles import LiveRoles
from core.desk.communities.own_cards import OwnCards, PreparedReplies
from core.desk.database.connection import Database, Session, json_text
from core.desk.invariants.facts import doubled_in, faults_of
from core.desk.review.approvals import Proposals
from core.desk.rules import dashboard_ports as ports
from core.desk.rules.case_cards import ReviewOfPrepared
from core.desk.rules.numbers import Numbers
from core.desk.rules.own_cards import checked_card
from core.desk.rules.roles import OnCase, OnCommunity, Person
from core.desk.schema import CaseRow, SuggestionRow
from core.desk.store import cases as store
from core.desk.store.communities import id_of
from core.desk.store.erasure import cases_quoting
from core.desk.store.own_cards import Signatory, StoredCard
from core.desk.store.people import known_name, known_pseudonym, require_on_case, require_on_community
from core.desk.upkeep.erasure import Erasure, require_only_here
from core.desk.views import numbers, queue, record
from core.engine.cards.bank import CardVerdict, OwnReply
from core.i18n.sentences import sentence
from core.models import TargetGroup

_Add = Callable[[Session, str, datetime, numbers.Tallies, numbers.PageEnd | None], Awaitable[numbers.PageEnd | None]]
_CHAINS: Final = 100
_MOST_FAULTS: Final = 100
MOST: Final = 300
_DAYS: Final = timedelta(days=7)


class DeskLibrary:
    """The replies and cards of communities, over one database; ``facts`` gives the ids on which a card may rest."""

    def __init__(self, database: Database, live_roles: LiveRoles, facts: Callable[[], frozenset[str]]) -> None:
        self._live_roles, self._facts = live_roles, facts
        self._replies, self._cards = PreparedReplies(database), OwnCards(database)

    async def _id(self, platform: str, community: str, by: Person) -> str:
        return (await self._live_roles.refresh_in(platform, community, by)).id

    async def replies(self, platform: str, community: str, by: Person) -> list[ports.PreparedReply]:
        return await self._replies.listed(await self._id(platform, community, by), by)

    async def add_reply(self, platform: str, community: str, by: Person, reply: OwnReply, note: str = "") -> str:
        return await self._replies.add(await self._id(platform, community, by), reply, by, note)

    async def review_reply(self, platform: str, community: str, by: Person, id_: str) -> None:
        await self._replies.review(await self._id(platform, community, by), id_, by)

    async def remove_reply(
        self, platform: str, community: str, by: Person, id_: str, note: str = "", *, is_undone: bool = False
    ) -> None:
        await self._replies.remove(await self._id(platform, community, by), id_, by, note, is_undone=is_undone)

    async def cards(self, platform: str, community: str, by: Person) -> list[ports.CommunityCard]:
        return [_community_card(card) for card in await self._cards.listed(await self._id(platform, community, by), by)]

    async def propose_card(
        self, platform: str, community: str, by: Person, row: Mapping[str, Any], note: str = ""
    ) -> bool:
        community_id = await self._id(platform, community, by)
        return await self._cards.propose(community_id, checked_card(row, self._facts()), by, note)

    async def review_card(
        self, platform: str, community: str, by: Person, id_: str, verdict: CardVerdict, digest: str
    ) -> None:
        await self._cards.review(await self._id(platform, community, by), id_, verdict, by, digest)

    async def remove_card(self, platform: str, community: str, by: Person, id_: str, note: str = "") -> None:
        await self._cards.remove(await self._id(platform, community, by), id_, by, note)


def _community_card(stored: StoredCard) -> ports.CommunityCard:
    return ports.CommunityCard(
        stored.card, _signature(stored.proposer), stored.verdict, _signature(stored.reviewer), stored.is_accepted
    )


def _signature(signed: Signatory | None) -> ReviewOfPrepared | None:
    return None if signed is None else ReviewOfPrepared(signed.name, signed.at)


class DeskRecord:
    """What is on record of communities, over one database.

    Args:
        keeping: how long this installation keeps things.
    """

    def __init__(self, database: Database, live_roles: LiveRoles, keeping: ports.RetentionPeriods) -> None:
        self._database = database
        self._live_roles = live_roles
        self._keeping = keeping

    @property
    def keeping(self) -> ports.RetentionPeriods:
        return self._keeping

    async def numbers(self, platform: str, community: str, by: Person, since: timedelta) -> Numbers:
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
        which: ports.LogLines = ports.LogLines.ALL,
        before: int | None = None,
    ) -> ports.LogPage:
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> ports.LogPage:
            await require_on_community(session, place.id, by, OnCommunity.READ_AUDIT)
            return await record.log(session, place.id, which, before)

        return await self._database.run("read the audit log", work)

    async def verify(self, platform: str, community: str, by: Person) -> ports.LogCheck:
        place = await self._live_roles.refresh_in(platform, community, by)
        chains, lines, faults, after = 0, 0, list[ports.LogFault](), ""

        async def work(session: Session) -> tuple[list[str], list[ports.LogFault], int]:
            await require_on_community(session, place.id, by, OnCommunity.READ_AUDIT)
            streams, rows = await record.chains(session, place.id, after, _CHAINS)
            by_stream = {stream: list(of) for stream, of in groupby(rows, key=attrgetter("stream"))}
            new_faults = list[ports.LogFault]()
            for stream in streams:
                own = by_stream.get(stream, [])
                texts = [fault.what for fault in (*faults_of(stream, own, is_deleted=False), *doubled_in(stream, own))]
                texts += [] if own else [sentence("It has no line in the audit log.")]
                new_faults += [ports.LogFault("" if stream == place.id else stream, what) for what in texts]
            return streams, new_faults, len(rows)

        while True:
            streams, new_faults, count = await self._database.run("verify the audit log", work)
            chains, lines, faults = chains + len(streams), lines + count, (faults + new_faults)[:_MOST_FAULTS]
            if len(streams) < _CHAINS:
                return ports.LogCheck(chains, lines, tuple(faults))
            after = streams[-1]

    async def kept(self, person: Person) -> ports.PersonalData:
        async def work(session: Session) -> ports.PersonalData:
            return await _kept_about(session, person.platform, person.user) or ports.PersonalData(person.platform)

        return await self._database.run("look for what is kept", work)

    async def kept_about(self, platform: str, community: str, by: Person, user: str) -> ports.PersonalData | None:
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> ports.PersonalData | None:
            await require_on_community(session, place.id, by, OnCommunity.ERASE)
            await require_only_here(session, await known_pseudonym(session, platform, user), place.id)
            return await _kept_about(session, platform, user)

        return await self._database.run("count what is kept", work)

    async def erase(self, platform: str, community: str, by: Person, user: str) -> ports.ErasedPerson | None:
        place = await self._live_roles.refresh_in(platform, community, by)
        erased = await Erasure(self._database).erase(platform, user, by=by, community_id=place.id)
        if not erased.is_known:
            return None
        return ports.ErasedPerson(
            posts=erased.cases, roles=erased.memberships, notes=erased.notes, waiting=erased.waiting
        )


async def _kept_about(session: Session, platform: str, user: str) -> ports.PersonalData | None:
    who = await known_pseudonym(session, platform, user)
    if who is None:
        return None
    kept = await record.kept(session, platform, who)
    around = set(await cases_quoting(session, who)) - {post.case_id for post in kept.posts}
    return replace(kept, said_around=len(around))


async def kept_posts(session: Session, community_id: str) -> tuple[ports.KeptPost, ...]:
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
        ports.KeptPost(
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
        proposals: checks texts, as everywhere.
        keeping: how long this installation keeps things.
    """

    def __init__(self, database: Database, proposals: Proposals, keeping: ports.RetentionPeriods) -> None:
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
        hides: ports.HiddenCategories = ports.NOTHING_HIDDEN,
    ) -> ports.Queue:
        async def work(session: Session) -> ports.Queue:
            return await queue.queue(
                session, people, self._keeping, platform=platform, community=community, page=page, hides=hides
            )

        return await self._database.run("list what waits", work)

    async def reader(self, people: tuple[Person, ...], platform: str, community: str) -> Person | None:
        return await self._database.run(
            "look who may read", lambda session: queue.reader(session, people, platform, community)
        )

    async def oldest(self, people: tuple[Person, ...]) -> datetime | None:
        return await self._database.run("look for the oldest case", lambda session: queue.oldest(session, people))

    async def history(self, case_id: str, by: Person) -> tuple[ports.Move, ...]:
        async def work(session: Session) -> tuple[ports.Move, ...]:
            case = await store.load(session, case_id)
            await require_on_case(session, case.community_id, by, OnCase.READ)
            moves = []
            for line in await store.history(session, case_id):
                who = await known_name(session, case.community_id, line.actor)
                why = await record.with_names(session, case.community_id, line.reason)
                moves.append(ports.Move(line.to_state, who, why, line.note, line.at))
            return tuple(moves)

        return await self._database.run("read the history of a page's case", work)

    async def waits_until(self, case_id: str, by: Person) -> datetime | None:
        async def work(session: Session) -> datetime | None:
            case = await store.load(session, case_id)
            await require_on_case(session, case.community_id, by, OnCase.READ)
            return await queue.waits_until(session, case, self._keeping)

        return await self._database.run("look how long a case waits", work)

    async def check(self, case_id: str, by: Person, text: str) -> ports.TextCheck:
        return await self._proposals.check(case_id, by, text)

    async def changes(self, people: tuple[Person, ...], since: int | None) -> ports.CaseChanges:
        return await self._database.run("look for changes", lambda session: queue.changes(session, people, since))

    async def holds(self, people: tuple[Person, ...]) -> dict[str, str]:
        return await self._database.run("look for holds", lambda session: queue.holds(session, people))

    async def kept_posts(self, platform: str, community: str, by: Person) -> tuple[ports.KeptPost, ...]:
        async def work(session: Session) -> tuple[ports.KeptPost, ...]:
            identity = await id_of(session, platform, community)
            await require_on_community(session, identity, by, OnCommunity.CONFIGURE)
            return await kept_posts(session, identity)

        return await self._database.run("read what came lately", work)
