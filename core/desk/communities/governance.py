"""What managers do with their community from a chat platform or the dashboard.

The platform is asked for a person's roles before anything is decided (the decisions are in
``core.desk.communities.decisions``). An adapter's word counts for one thing only: that a person administers the
community (``is_owner``).
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final, TypeAlias

from sqlalchemy import delete, select

from core.desk import schema
from core.desk.communities.decisions import CommunityDesk, set_policy
from core.desk.communities.export import Format, export, write_export
from core.desk.communities.native_roles import BY_PLATFORM, LiveRoles, keep_native
from core.desk.database.connection import Database, Session
from core.desk.rules.careful_watch import FindLabel, WatchRecord
from core.desk.rules.case_cards import DeskStatus, RecentDecision, Statistics
from core.desk.rules.input_checks import check_text
from core.desk.rules.policy import CommunityPolicy, differences, elsewhere, to_json, with_channel_moved
from core.desk.rules.roles import OnCase, OnCommunity, Person, Role
from core.desk.store import communities, finds, people
from core.desk.store.audit import record
from core.desk.store.communities import Community, policy_of
from core.desk.views import review_cards
from core.desk.views.numbers import statistics
from core.desk.views.record import lately
from core.desk.views.status import status
from core.errors import BadInput, PlatformUnavailable
from core.i18n.sentences import sentence

_NOBODY: Final = ("desk", BY_PLATFORM)
"""The actors of audit lines that tell of no decision."""


async def moved(session: Session, platform: str, old: str, new: str) -> frozenset[str]:
    """Let what was set up for ``old`` count for ``new``; ``Governance.moved`` says the rest.

    A community that somebody set up under the new id already stays as it is, beside the one under the old id.
    """
    query = select(schema.CommunityRow.id).filter_by(platform=platform).order_by(schema.CommunityRow.id)
    locked = [await communities.load(session, own, lock=True) for own in list(await session.scalars(query))]
    by_name = {community.name: community for community in locked}
    before, after = by_name.get(old), by_name.get(new)
    channels = set[str]()
    if before is not None and (after is None or await _is_untouched(session, after)):
        if after is not None:
            await _drop(session, after, f"{before.id} has this place now")
        reason = f"its id on {platform} is {new}; it was {old}"
        setting = schema.Change.SETTING
        await communities.change(session, before.id, actor=BY_PLATFORM, reason=reason, what=setting, name=new)
        channels.add(new)
    for community in locked:
        is_left = after is not None and community.id == after.id and new in channels
        if not is_left and await _follow(session, community, old, new):
            channels.add(new if before is not None and community.id == before.id else community.name)
    await _follow_elsewhere(session, platform, old, new)
    return frozenset(channels)


async def _follow(session: Session, community: Community, old: str, new: str) -> bool:
    """Name a channel by its new id in a community's settings, and show its open cases there."""
    policy = policy_of(community)
    following = with_channel_moved(policy, old, new)
    changed = differences(policy, following)
    if not changed:
        return False
    reason = f"{old} has the id {new}: {', '.join(changed)}"
    await communities.change(
        session, community.id, actor=BY_PLATFORM, reason=reason, what=schema.Change.SETTING, policy=to_json(following)
    )
    await review_cards.were_left_behind(session, community.id, old)
    return True


async def _follow_elsewhere(session: Session, platform: str, old: str, new: str) -> None:
    """Let the communities of other platforms whose cases are reviewed in a channel follow it."""
    for community in await communities.all_communities(session):
        at = elsewhere(review_cards.review_channel(community.policy))
        if at is not None and at[0] == platform and at[1].partition("/")[0] == old:
            locked = await communities.load(session, community.id, lock=True)
            await set_policy(session, locked, {"review_channel": f"{platform}/{new}"}, BY_PLATFORM)
            await review_cards.were_left_behind(session, community.id, f"{platform}/{old}")


async def _is_untouched(session: Session, community: Community) -> bool:
    """Whether a community was only met: it has no case, and nobody ever decided anything about it."""
    if await session.scalar(select(schema.CaseRow.id).filter_by(community_id=community.id).limit(1)):
        return False
    decided = select(schema.AuditRow.id).filter_by(stream=community.id).where(schema.AuditRow.actor.not_in(_NOBODY))
    return await session.scalar(decided.limit(1)) is None


async def _drop(session: Session, community: Community, reason: str) -> None:
    """Delete a community that was only met; its audit log stays, and ends by saying so."""
    for table in (schema.MembershipRow, schema.KnownNameRow, schema.WatchDayRow, schema.BoardTroubleRow):
        await session.execute(delete(table).filter_by(community_id=community.id))
    await session.execute(delete(schema.CommunityRow).filter_by(id=community.id))
    await record(
        session, community.id, community.version + 1, actor=BY_PLATFORM, reason=reason, change=schema.Change.DELETED
    )


_LOG = logging.getLogger(__name__)
PolicyChanges: TypeAlias = Mapping[str, object] | Callable[[CommunityPolicy], Mapping[str, object]]
"""New values by the names of ``CommunityPolicy``'s fields, or what makes them from the policy as it is at that moment.

A value that keeps a part of the present one, as the role of one kind among all, is made so: else of two managers one
would lose what the other set.
"""


class Governance:
    """What people can ask and change about communities, over one database; it raises as ``Casework``.

    Args:
        live_roles: asks the platforms for a person's roles at this moment.
    """

    def __init__(self, database: Database, live_roles: LiveRoles) -> None:
        self._database = database
        self._live_roles = live_roles
        self._desk = CommunityDesk(database)

    async def policy(self, platform: str, community: str) -> CommunityPolicy:
        """How the community wants Antiphon to behave; the defaults where it was never set. Anybody may know."""

        async def work(session: Session) -> Community | None:
            return await communities.find(session, await communities.id_of(session, platform, community))

        row = await self._database.run("read a policy", work)
        return CommunityPolicy() if row is None else policy_of(row)

    async def communities(self, platform: str) -> tuple[str, ...]:
        """The communities of a platform that Antiphon knows, by the platform's own ids. Not for people to see."""
        every = await self._database.run("name the communities of a platform", communities.all_communities)
        return tuple(row.name for row in every if row.platform == platform)

    async def find_labels(self, platform: str, community: str) -> tuple[FindLabel, ...]:
        """What moderators said in the last weeks of the posts that the filter found there. Anybody may know."""

        async def work(session: Session) -> tuple[FindLabel, ...]:
            return await finds.labels(session, await communities.id_of(session, platform, community))

        return await self._database.run("read what finds were", work)

    async def watch_record(self, platform: str, community: str) -> WatchRecord:
        """What the filter did there in the last weeks, in numbers. Anybody may know."""

        async def work(session: Session) -> WatchRecord:
            return await finds.record_of(session, await communities.id_of(session, platform, community))

        return await self._database.run("count finds", work)

    async def looked_at(self, platform: str, counts: Mapping[str, int]) -> None:
        """Add how many messages the filter read in each community since the last call, in one transaction."""

        async def work(session: Session) -> None:
            ids = await communities.ids_of(session, {(platform, community) for community in counts})
            messages = Counter[str]()
            for (_, community), own in ids.items():
                messages[own] += counts[community]
            await finds.add_looked_at(session, messages)

        await self._database.run("count looked at", work)

    async def moved(self, platform: str, old: str, new: str) -> frozenset[str]:
        """Say that a place of the platform has another id from now on, and that nothing stands there under the old one.

        What was set up for it counts for the new id: a community keeps all that belongs to it, and wherever the place
        has cards or is watched, its new id is named; the cards of open cases are put up there again. Only where the
        platform itself says so. Said again, it changes nothing.

        Returns:
            The communities whose settings, or whose id, changed, as the platform names them now.
        """
        return await self._database.run("move a place", lambda session: moved(session, platform, old, new))

    async def roles_of(self, platform: str, community: str, by: Person) -> frozenset[Role]:
        """The roles that somebody has now; this asks the platform."""
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> frozenset[Role]:
            who = await people.known_pseudonym(session, by.platform, by.user)
            return frozenset() if who is None else await people.roles_of(session, place.id, who)

        return await self._database.run("read somebody's roles", work)

    async def require(self, platform: str, community: str, by: Person, action: OnCase | OnCommunity) -> None:
        place = await self._live_roles.refresh_in(platform, community, by)
        await self._database.run("check a right", lambda session: _require(session, place, by, action))

    async def configure(
        self, platform: str, community: str, changes: PolicyChanges, by: Person, *, is_owner: bool = False
    ) -> CommunityPolicy:
        """Change some fields of the policy; recorded in the audit log.

        Args:
            changes: what to change; made from the present policy in the transaction that changes it.
            is_owner: the platform itself says that this person administers the community. The first manager gets in
                this way.
        """

        def choose(policy: CommunityPolicy) -> Mapping[str, object]:
            fields = changes if isinstance(changes, Mapping) else changes(policy)
            for text in _texts(fields):
                check_text(text)
            return fields

        if is_owner and by.platform == platform:  # who administers the community there is an admin here
            place = await self._live_roles.known(platform, community)
            await keep_native(self._database, place.id, by, frozenset({Role.ADMIN}))
        else:
            place = await self._live_roles.refresh_in(platform, community, by)
        return await self._desk.configure(place.id, choose, by)

    async def set_posting(self, platform: str, community: str, is_posting: bool, by: Person, note: str = "") -> None:
        """Leave shadow mode, or return to it."""
        place = await self._live_roles.refresh_in(platform, community, by)
        await self._desk.set_posting(place.id, is_posting, by, note)

    async def set_disclosure(self, platform: str, community: str, discloses: bool, by: Person, note: str = "") -> None:
        """Set whether each reply says that Antiphon drafted it; leaving this out needs a reason."""
        place = await self._live_roles.refresh_in(platform, community, by)
        await self._desk.set_disclosure(place.id, discloses, by, note)

    async def pause(self, platform: str, community: str, by: Person, note: str = "") -> bool:
        """Stop all posting there at once; ``False`` if it was already stopped.

        The only decision that is possible while the platform cannot be asked: it then uses the roles that the platform
        gave last, since stopping in vain does less harm than going on.
        """
        identity = await self._database.run("find a community", lambda s: communities.id_of(s, platform, community))
        try:
            await self._live_roles.refresh_in(platform, community, by)
        except PlatformUnavailable as err:
            _LOG.warning("posting in %s may be stopped by roles as they were: %s", identity, err)
        return await self._desk.pause(identity, by, note)

    async def resume(self, platform: str, community: str, by: Person, note: str = "") -> bool:
        """Allow posting again; ``False`` if it was allowed already."""
        place = await self._live_roles.refresh_in(platform, community, by)
        return await self._desk.resume(place.id, by, note)

    async def status(self, platform: str, community: str, by: Person) -> DeskStatus:
        """The state of the queue, the model and the community's mode."""
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> DeskStatus:
            await _require(session, place, by, OnCommunity.READ_STATISTICS)
            return await status(session, await communities.load(session, place.id))

        return await self._database.run("read the status", work)

    async def statistics(self, platform: str, community: str, by: Person, since: timedelta) -> Statistics:
        """The outcome of the cases that were flagged in the last ``since``."""
        if since <= timedelta():
            raise BadInput(
                sentence("The span of time must be longer than zero."),
                remedy=sentence("Name a span of time, such as 7 days."),
            )
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> Statistics:
            await _require(session, place, by, OnCommunity.READ_STATISTICS)
            return await statistics(session, place.id, session.moment - since)

        return await self._database.run("count what happened", work)

    async def lately(self, platform: str, community: str, by: Person) -> tuple[RecentDecision, ...]:
        """The newest decisions of people there, newest first; for everybody who may read cases."""
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> tuple[RecentDecision, ...]:
            await _require(session, place, by, OnCase.READ)
            return await lately(session, place.id)

        return await self._database.run("list what was decided lately", work)

    async def export(self, platform: str, community: str, by: Person, to: Path) -> int:
        """Write the community's cases, by pseudonym, as CSV or JSON lines by the file's suffix; how many rows."""
        try:
            how = Format(to.suffix.removeprefix(".").lower())
        except ValueError as err:
            suffixes = " or ".join(f".{suffix}" for suffix in Format)
            raise BadInput(
                sentence("Antiphon cannot export to a file named {name}.", name=to.name),
                remedy=sentence("End its name with {suffixes}.", suffixes=suffixes),
            ) from err
        place = await self._live_roles.refresh_in(platform, community, by)
        return await write_export(export(self._database, place.id, by=by), to, how)


async def _require(session: Session, community: Community, by: Person, action: OnCase | OnCommunity) -> str:
    if isinstance(action, OnCase):
        return await people.require_on_case(session, community.id, by, action)
    return await people.require_on_community(session, community.id, by, action)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for pair in value.items():
            yield from _texts(pair)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _texts(item)
