"""What people can do with a community: roles, posting, disclosure, the notice on its rules, and the kill switch.

Each decision is one transaction with a line in the community's audit stream. Each, except giving a role, wording the
notice and the kill switch, changes the community's rules, so that approvals in flight no longer hold (reliability, I8).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from core.desk.database.connection import Database, Session
from core.desk.rules.input_checks import check_note, check_text
from core.desk.rules.policy import NO_RULES, CommunityPolicy, changed, differences, elsewhere, to_json
from core.desk.rules.roles import OnCommunity, Operator, Person, Role, may_grant, may_on_community
from core.desk.schema import Change
from core.desk.store import communities, people
from core.desk.store.audit import AuditEntry, entries
from core.desk.store.communities import EVERYWHERE, Community
from core.desk.store.outbox import wake
from core.errors import BadInput, NotAllowed

By = Person | Operator
"""Who decides: a person of the community, by their roles there, or the person who runs Antiphon on its machine."""


@dataclass(frozen=True, slots=True)
class CommunityView:
    """How Antiphon behaves in a community now; ``paused`` holds the scopes of the kill switches that stop it."""

    community: Community
    paused: tuple[str, ...]
    members: tuple[people.Member, ...]


class CommunityDesk:
    """The decisions about communities, over one database.

    Every method raises ``NotAllowed`` if the person may not do it, and ``BadInput`` for an unknown community. ``note``
    is what the person typed as their reason.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def listed(self, by: By) -> list[CommunityView]:
        """The communities that a person may look into; all of them for the operator."""

        async def work(session: Session) -> list[CommunityView]:
            return [
                await _view(session, community)
                for community in await communities.all_communities(session)
                if await _may(session, community.id, by, OnCommunity.READ_STATISTICS)
            ]

        return await self._database.run("list communities", work)

    async def known(self, platform: str, name: str) -> str:
        """The id of a community that the platform itself named; a new one is in shadow mode."""

        async def work(session: Session) -> str:
            return (await communities.ensure(session, platform, name)).id

        return await self._database.run("know a community", work)

    async def view(self, community_id: str, by: By) -> CommunityView:
        """One community, or the admins of all (``EVERYWHERE``), with its people."""

        async def work(session: Session) -> CommunityView:
            community = await _scope(session, community_id)
            await who_decides(session, community.id, by, OnCommunity.READ_STATISTICS)
            return await _view(session, community)

        return await self._database.run("view a community", work)

    async def history(self, community_id: str, by: By) -> list[AuditEntry]:
        """Every change of a community, or of the kill switch for all (``EVERYWHERE``), oldest first."""

        async def work(session: Session) -> list[AuditEntry]:
            community = await _scope(session, community_id)
            await who_decides(session, community.id, by, OnCommunity.READ_AUDIT)
            return await entries(session, community.id)

        return await self._database.run("read a community's history", work)

    async def grant(self, community_id: str, person: Person, role: Role, by: By, note: str = "") -> CommunityView:
        """Give a person a role. In ``EVERYWHERE`` there are only admins, who may stop all posting.

        A person of another platform gets one only where the cases are reviewed in a channel of that platform.
        """
        check_text(note)

        async def work(session: Session) -> CommunityView:
            community, actor, granted = await self._to_grant(session, community_id, person, role, by)
            _check_platform(community, person)
            who = await people.grant(session, community.id, person, granted | {role}, actor)
            if role in granted:  # a new name is stored all the same
                return await _view(session, community)
            reason = f"{role} granted to {who}"
            changed = await communities.change(
                session, community.id, actor=actor, reason=reason, note=note, what=Change.SETTING
            )
            return await _view(session, changed)

        return await self._database.run("grant a role", work)

    async def revoke(self, community_id: str, person: Person, role: Role, by: By, note: str = "") -> CommunityView:
        """Take a role away that was granted here; it ends at once.

        Raises:
            NotAllowed: the person does not have it, or has it from the platform.
        """
        check_text(note)

        async def work(session: Session) -> CommunityView:
            community, actor, granted = await self._to_grant(session, community_id, person, role, by)
            if role not in granted:
                raise NotAllowed(
                    f"{person.name or person.user} was not granted the role {role} here.",
                    remedy="If they have it on the platform, take it away there.",
                )
            who = await people.grant(session, community.id, person, granted - {role}, actor)
            reason = f"{role} taken from {who}"
            return await _view(
                session, await communities.change(session, community.id, actor=actor, reason=reason, note=note)
            )

        return await self._database.run("revoke a role", work)

    async def _to_grant(
        self, session: Session, community_id: str, person: Person, role: Role, by: By
    ) -> tuple[Community, str, frozenset[Role]]:
        community = await _scope(session, community_id, lock=True)
        actor = await who_decides(session, community.id, by, OnCommunity.GRANT)
        if isinstance(by, Person) and not may_grant(await people.roles_of(session, community.id, actor), role):
            raise NotAllowed(f"Only an admin can give or take the role {role}.", remedy="Ask an admin.")
        if community.id == EVERYWHERE and role is not Role.ADMIN:
            raise BadInput("Everywhere there are admins only.", remedy=f"Give the role {role} in one community.")
        if not person.user.strip():
            raise BadInput("A role needs somebody who has it.", remedy="Name the person's id on the platform.")
        who = await people.known_pseudonym(session, person.platform, person.user)
        granted = frozenset[Role]() if who is None else await people.granted_roles(session, community.id, who)
        return community, actor, granted

    async def set_posting(self, community_id: str, is_posting: bool, by: By, note: str = "") -> Community:
        """Leave shadow mode, or go back into it. A new community is in shadow mode: nothing is posted there."""
        check_text(note)

        async def work(session: Session) -> Community:
            community = await one_community(session, community_id, lock=True)
            actor = await who_decides(session, community.id, by, OnCommunity.CONFIGURE)
            if community.is_posting is is_posting:
                return community
            reason = "posting on" if is_posting else "posting off: shadow mode"
            what = Change.POSTING if is_posting else Change.SHADOW
            return await communities.change(session, community.id, actor=actor, reason=reason, note=note, what=what)

        return await self._database.run("set posting", work)

    async def set_disclosure(self, community_id: str, discloses: bool, by: By, note: str = "") -> Community:
        """Say under each reply that Antiphon drafted it, or do not; the latter needs a reason, which is recorded."""
        check_text(note)
        if not discloses:
            check_note(note)

        async def work(session: Session) -> Community:
            community = await one_community(session, community_id, lock=True)
            actor = await who_decides(session, community.id, by, OnCommunity.CONFIGURE)
            if community.discloses is discloses:
                return community
            reason = "disclosure on" if discloses else "disclosure off"
            return await communities.change(
                session, community.id, actor=actor, reason=reason, note=note, discloses=discloses
            )

        return await self._database.run("set disclosure", work)

    async def configure(
        self, community_id: str, choose: Callable[[CommunityPolicy], Mapping[str, object]], by: By, note: str = ""
    ) -> CommunityPolicy:
        """Change some fields of the policy; ``choose`` says which, by what they are now. Raises ``BadInput``."""
        check_text(note)

        async def work(session: Session) -> CommunityPolicy:
            community = await one_community(session, community_id, lock=True)
            actor = await who_decides(session, community.id, by, OnCommunity.CONFIGURE)
            return await set_policy(session, community, choose(communities.policy_of(community)), actor, note)

        return await self._database.run("set a policy", work)

    async def pause(self, scope: str, by: By, note: str = "") -> bool:
        """Stop all posting in a community or ``EVERYWHERE``, at once; ``False`` if it was stopped already.

        What was approved waits, as long as its approval holds, and is checked anew before it is sent.
        """
        return await self._switch(scope, by, note, is_paused=True)

    async def resume(self, scope: str, by: By, note: str = "") -> bool:
        """Allow posting again where it was stopped; ``False`` if it was not."""
        return await self._switch(scope, by, note, is_paused=False)

    async def _switch(self, scope: str, by: By, note: str, *, is_paused: bool) -> bool:
        check_text(note)

        async def work(session: Session) -> bool:
            community = await _scope(session, scope, lock=True)
            action = OnCommunity.PAUSE if is_paused else OnCommunity.RESUME
            actor = await who_decides(session, community.id, by, action)
            if is_paused:
                is_changed = await communities.pause(session, community.id, actor)
            else:
                is_changed = await communities.resume(session, community.id)
                await wake(session, None if community.id == communities.EVERYWHERE else community.id)
            if is_changed:
                reason = "posting stopped" if is_paused else "posting allowed again"
                what = Change.STOPPED if is_paused else Change.RESUMED
                await communities.change(session, community.id, actor=actor, reason=reason, note=note, what=what)
            return is_changed

        return await self._database.run("pause or resume", work)


def _check_platform(community: Community, person: Person) -> None:
    at = None if community.id == EVERYWHERE else elsewhere(communities.policy_of(community).review_channel)
    if community.id != EVERYWHERE and person.platform not in (community.platform, at and at[0]):
        raise BadInput(
            f"{person.user} is of {person.platform}, the community of {community.platform}.",
            remedy=f"Name somebody as {community.platform} knows them, or choose a review channel on "
            f"{person.platform} first.",
        )


async def set_policy(
    session: Session, community: Community, changes: Mapping[str, object], actor: str, note: str = ""
) -> CommunityPolicy:
    """Change fields of a locked community's policy, with a line in its audit stream; nothing if nothing differs."""
    old = communities.policy_of(community)
    new = changed(old, changes)
    if fields := differences(old, new):
        await communities.change(
            session,
            community.id,
            actor=actor,
            reason=f"settings changed: {', '.join(fields)}",
            note=note,
            policy=to_json(new),
            what=Change.SETTING if _keeps_approvals(old, new) else Change.RULES,
        )
    return new


def _keeps_approvals(old: CommunityPolicy, new: CommunityPolicy) -> bool:
    """Whether what was approved before may still be sent: nothing else stands around it, and no rule is new."""
    return _frames(old, new) == _frames(new, old) and set(new.forbidden) <= set(old.forbidden)


def _frames(policy: CommunityPolicy, other: CommunityPolicy) -> dict[str, tuple[str, bool]]:
    """What stands around a reply in each place that one of two policies knows; its approver was shown that, too."""
    places = {place: policy.places.get(place, NO_RULES) for place in {*policy.places, *other.places}}
    return {place: (rules.hashtag, rules.mentions_author) for place, rules in places.items()}


async def one_community(session: Session, community_id: str, *, lock: bool = False) -> Community:
    if community_id == EVERYWHERE:
        raise BadInput("This is set for one community at a time.", remedy="Name a community.")
    return await communities.load(session, community_id, lock=lock)


async def _scope(session: Session, scope: str, *, lock: bool = False) -> Community:
    if scope == EVERYWHERE:
        await communities.everywhere(session)
    return await communities.load(session, scope, lock=lock)


async def _may(session: Session, community_id: str, by: By, action: OnCommunity) -> bool:
    if isinstance(by, Operator):
        return True
    who = await people.known_pseudonym(session, by.platform, by.user)
    return who is not None and may_on_community(await people.roles_of(session, community_id, who), action)


async def who_decides(session: Session, community_id: str, by: By, action: OnCommunity) -> str:
    """The actor for the audit log; ``NotAllowed`` if they may not do this."""
    if isinstance(by, Operator):
        return f"terminal:{by.user}"
    return await people.require_on_community(session, community_id, by, action)


async def _view(session: Session, community: Community) -> CommunityView:
    return CommunityView(
        community,
        tuple(sorted(await communities.paused(session, [community.id]))),
        tuple(await people.members(session, community.id, community.platform)),
    )
