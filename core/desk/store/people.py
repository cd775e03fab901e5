"""People in the database: their pseudonyms, and their roles in communities.

Only a row here links a pseudonym to a platform's id.
"""

import hashlib
import hmac
import secrets
from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import delete, select, update

from core.desk.database.connection import Session, committed_row, insert_all_new, insert_new
from core.desk.rules.roles import OnCase, OnCommunity, Person, Role, may_on_case, may_on_community, refused
from core.desk.schema import CommunityRow, KnownNameRow, MembershipRow, PersonRow
from core.i18n.sentences import Name

_LENGTH = 20


@dataclass(frozen=True, slots=True)
class Member:
    """A person with a role in a community, as the platform knows them."""

    person: Person
    roles: frozenset[Role]


def lookup_of(secret: bytes, platform: str, user: str) -> str:
    """The hash by which a person's row is found; the platform's id itself is not stored there."""
    return hmac.new(secret, f"{platform}\0{user}".encode(), hashlib.sha256).hexdigest()


async def pseudonym(session: Session, platform: str, user: str) -> str:
    """The pseudonym of a person, made at the first call; after an erasure it is a different one."""
    id_ = await known_pseudonym(session, platform, user)
    if id_ is not None:
        return id_
    row = _new_row(session, lookup_of(session.secret, platform, user))
    if await insert_new(session, PersonRow, row, "lookup"):
        return str(row["id"])
    return committed_row(await known_pseudonym(session, platform, user))


async def pseudonyms(session: Session, people: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The pseudonyms of several people, each given as platform and user."""
    lookups = {lookup_of(session.secret, platform, user): (platform, user) for platform, user in people}
    query = select(PersonRow.lookup, PersonRow.id).where(PersonRow.lookup.in_(sorted(lookups)))
    ids = {str(lookup): str(id_) for lookup, id_ in await session.execute(query)}
    if len(ids) < len(lookups):
        await insert_all_new(
            session, PersonRow, [_new_row(session, lookup) for lookup in lookups if lookup not in ids], "lookup"
        )
        ids = {str(lookup): str(id_) for lookup, id_ in await session.execute(query)}
    return {person: committed_row(ids.get(lookup)) for lookup, person in lookups.items()}


def _new_row(session: Session, lookup: str) -> dict[str, object]:
    """A new row for a person, whose pseudonym depends on their own key."""
    key = secrets.token_bytes(32)
    id_ = "p-" + hmac.new(key, lookup.encode(), hashlib.sha256).hexdigest()[:_LENGTH]
    return {"id": id_, "lookup": lookup, "key": key, "created_at": session.moment}


async def known_pseudonym(session: Session, platform: str, user: str) -> str | None:
    """The pseudonym of a person, or ``None`` if Antiphon does not know them."""
    return await session.scalar(select(PersonRow.id).filter_by(lookup=lookup_of(session.secret, platform, user)))


async def strangers(session: Session, most: int = 100) -> int:
    """How many of the people with a role are not found under this secret: none where it is the database's own.

    Args:
        most: so many people are looked at.
    """
    query = (
        select(CommunityRow.platform, MembershipRow.platform, MembershipRow.user, PersonRow.lookup)
        .join(CommunityRow, CommunityRow.id == MembershipRow.community_id)
        .join(PersonRow, PersonRow.id == MembershipRow.person_id)
        .where(MembershipRow.user != "", CommunityRow.id != CommunityRow.platform)  # the admins of all are of any one
        .order_by(PersonRow.created_at.desc())
        .limit(most)
    )
    rows = await session.execute(query)
    return sum(lookup_of(session.secret, other or own, user) != lookup for own, other, user, lookup in rows)


async def roles_of(session: Session, community_id: str, person_id: str) -> frozenset[Role]:
    return frozenset(
        await session.scalars(select(MembershipRow.role).filter_by(community_id=community_id, person_id=person_id))
    )


async def require_on_case(
    session: Session, community_id: str, person: Person, action: OnCase, *, flagged_by: str = ""
) -> str:
    """The pseudonym of ``person``, who may do this with a case of the community.

    Raises:
        NotAllowed: their roles do not allow it, at this moment.
    """
    who = await pseudonym(session, person.platform, person.user)
    roles = await roles_of(session, community_id, who)
    if not may_on_case(roles, action, is_flagger=bool(flagged_by) and who == flagged_by):
        raise refused(action)
    return who


async def require_on_community(session: Session, community_id: str, person: Person, action: OnCommunity) -> str:
    """The pseudonym of ``person``, who may do this with the community; ``NotAllowed`` if they may not."""
    who = await pseudonym(session, person.platform, person.user)
    roles = await roles_of(session, community_id, who)
    if not may_on_community(roles, action):
        raise refused(action)
    return who


async def grant(
    session: Session, community_id: str, person: Person, roles: Collection[Role], by: str, *, is_native: bool = False
) -> str:
    """Give a person exactly these roles, of those granted here or, with ``is_native``, on the platform.

    A role that they already have stays as it was granted; a new name of the person is stored.
    """
    who = await pseudonym(session, person.platform, person.user)
    own = await session.scalar(select(CommunityRow.platform).filter_by(id=community_id))
    mine = (MembershipRow.community_id == community_id) & (MembershipRow.person_id == who)
    same_kind = mine & (MembershipRow.is_native == is_native)
    await session.execute(delete(MembershipRow).where(same_kind, MembershipRow.role.not_in(set(roles))))
    for role in sorted(set(roles)):
        row = {
            "community_id": community_id,
            "person_id": who,
            "role": role,
            "user": person.user,
            "name": person.name,
            "is_native": is_native,
            "granted_by": by,
            "granted_at": session.moment,
            "platform": "" if person.platform == own else person.platform,
        }
        await insert_new(session, MembershipRow, row, "community_id", "person_id", "role", "is_native")
    if person.name:
        renamed = update(MembershipRow).where(mine, MembershipRow.name != person.name).values(name=person.name)
        await session.execute(renamed)
        key = {"community_id": community_id, "person_id": who}
        if not await insert_new(session, KnownNameRow, {**key, "name": person.name}, *key):
            rename = update(KnownNameRow).filter_by(**key).where(KnownNameRow.name != person.name)
            await session.execute(rename.values(name=person.name))
    return who


async def granted_roles(session: Session, community_id: str, person_id: str) -> frozenset[Role]:
    """The roles of a person that were granted here, without those that the platform gives."""
    query = select(MembershipRow.role).filter_by(community_id=community_id, person_id=person_id, is_native=False)
    return frozenset(await session.scalars(query))


async def native_roles(session: Session, community_id: str, person_id: str) -> frozenset[Role]:
    query = select(MembershipRow.role).filter_by(community_id=community_id, person_id=person_id, is_native=True)
    return frozenset(await session.scalars(query))


async def member(session: Session, community_id: str, platform: str, person_id: str) -> Person | None:
    """A person with a role in a community, as their platform knows them; ``None`` for anybody else.

    Args:
        platform: the community's.
    """
    row = await session.scalar(select(MembershipRow).filter_by(community_id=community_id, person_id=person_id).limit(1))
    return None if row is None else Person(row.platform or platform, row.user, row.name)


async def members(session: Session, community_id: str, platform: str) -> list[Member]:
    """Everybody with a role in a community, which is of ``platform``, by pseudonym."""
    rows = list(await session.scalars(select(MembershipRow).filter_by(community_id=community_id)))
    by_pseudonym: dict[str, Member] = {}
    for row in sorted(rows, key=lambda row: row.person_id):
        before = by_pseudonym[row.person_id].roles if row.person_id in by_pseudonym else frozenset[Role]()
        person = Person(row.platform or platform, row.user, row.name)
        by_pseudonym[row.person_id] = Member(person, before | {row.role})
    return list(by_pseudonym.values())


async def name_of(session: Session, community_id: str, person_id: str) -> str:
    """The name of a person who has, or had, a role in the community; the pseudonym of anybody else."""
    return await known_name(session, community_id, person_id) or person_id


async def known_name(session: Session, community_id: str, person_id: str) -> str:
    """The name of a person who has, or had, a role in the community; "" for anybody else, and parts of Antiphon.

    It is known until the person is erased: the person who answers for a decision stays readable after they lost the
    role.
    """
    query = select(KnownNameRow.name).filter_by(community_id=community_id, person_id=person_id)
    return Name(await session.scalar(query) or "")


async def names_of(session: Session, community_id: str, person_ids: Collection[str]) -> dict[str, str]:
    """The names of those of the people who have, or had, a role in the community, by their pseudonyms."""
    if not person_ids:
        return {}
    query = select(KnownNameRow.person_id, KnownNameRow.name).where(
        KnownNameRow.community_id == community_id, KnownNameRow.person_id.in_(sorted(person_ids))
    )
    return {str(who): str(name) for who, name in await session.execute(query) if name}
