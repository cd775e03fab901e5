"""Communities in the database: how Antiphon behaves in each, and the kill switch.

A community keeps its id, and with it its people, cases and log; its ``name``, the platform's own id, may change.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import delete, select

from core.desk.database.connection import Session, insert_new
from core.desk.rules.policy import CommunityPolicy, from_json
from core.desk.schema import Change, CommunityRow, PauseRow
from core.desk.store.audit import record
from core.errors import BadInput, StoreUnavailable
from core.i18n.sentences import sentence

EVERYWHERE: Final = "*"
"""The scope of the kill switch for all communities, and the row whose admins may use it."""
_KEEPS_APPROVALS: Final = frozenset({Change.SETTING, Change.STOPPED, Change.RESUMED})


@dataclass(frozen=True, slots=True)
class Community:
    """How Antiphon behaves in a community; an approval holds only for its ``rules_version``.

    ``policy`` holds the fields of ``core.desk.rules.policy.CommunityPolicy`` that were set, as stored.
    """

    id: str
    platform: str
    name: str
    version: int
    rules_version: int
    is_posting: bool
    discloses: bool
    policy: dict[str, Any]


def policy_of(community: Community) -> CommunityPolicy:
    """What a community set; ``StoreUnavailable`` if this version cannot read it."""
    try:
        return from_json(community.policy)
    except BadInput as err:
        raise StoreUnavailable(
            sentence(
                "The settings of {community} cannot be read: {reason}", community=community.id, reason=err.message
            ),
            remedy=sentence("Use the version of Antiphon that wrote them."),
        ) from err


def community_id(platform: str, community: str) -> str:
    """The id of a community that is first met under this name: unique over all platforms."""
    return f"{platform}/{community}"


async def id_of(session: Session, platform: str, name: str) -> str:
    """The id of a community by its name now, or by an earlier one; of an unknown one the id that it would get."""
    return (await ids_of(session, [(platform, name)]))[platform, name]


async def ids_of(session: Session, places: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The ids of several communities, each given as platform and name."""
    query = select(CommunityRow.platform, CommunityRow.name, CommunityRow.id)
    rows = await session.execute(query.where(CommunityRow.name.in_(sorted({name for _, name in places}))))
    ids = {(platform, name): own for platform, name, own in rows}
    return {place: ids.get(place) or community_id(*place) for place in places}


async def ensure(session: Session, platform: str, name: str) -> Community:
    """The community; a new one is in shadow mode, and discloses Antiphon."""
    identity = await id_of(session, platform, name)
    return await _ensure(session, identity, platform, name, "first seen: shadow mode, disclosure on")


async def everywhere(session: Session) -> Community:
    """The row of the whole installation, with its admins and its audit stream. It is not a community."""
    return await _ensure(session, EVERYWHERE, EVERYWHERE, EVERYWHERE, "the whole installation")


async def _ensure(session: Session, identity: str, platform: str, name: str, reason: str) -> Community:
    row = {
        "id": identity,
        "platform": platform,
        "name": name,
        "version": 1,
        "rules_version": 1,
        "is_posting": False,
        "discloses": True,
        "policy": {},
        "created_at": session.moment,
    }
    if await insert_new(session, CommunityRow, row, "id"):
        await record(session, identity, 1, actor="desk", reason=reason)
    return await load(session, identity)


async def find(session: Session, identity: str) -> Community | None:
    """The community as it is now; ``None`` if Antiphon does not know it."""
    row = await session.get(CommunityRow, identity, populate_existing=True)
    return None if row is None else _community(row)


async def all_communities(session: Session) -> list[Community]:
    rows = await session.scalars(select(CommunityRow).where(CommunityRow.id != EVERYWHERE).order_by(CommunityRow.id))
    return [_community(row) for row in rows]


async def load(session: Session, identity: str, *, lock: bool = False) -> Community:
    """The community as it is now; with ``lock``, nobody else changes it or decides about a send there meanwhile.

    Raises:
        BadInput: there is no such community.
    """
    query = select(CommunityRow).filter_by(id=identity).execution_options(populate_existing=True)
    row = await session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise BadInput(f"There is no community {identity}.", remedy="Flag a post there first, or correct the name.")
    return _community(row)


def _community(row: CommunityRow) -> Community:
    return Community(
        id=row.id,
        platform=row.platform,
        name=row.name,
        version=row.version,
        rules_version=row.rules_version,
        is_posting=row.is_posting,
        discloses=row.discloses,
        policy=dict(row.policy),
    )


async def change(
    session: Session,
    identity: str,
    *,
    actor: str,
    reason: str,
    note: str = "",
    what: Change = Change.RULES,
    discloses: bool | None = None,
    policy: dict[str, Any] | None = None,
    name: str | None = None,
) -> Community:
    """Change a community, or only write a line into its audit stream; its version grows by one.

    Args:
        what: the kind of change. Waiting approvals no longer hold after it, with two exceptions: a ``SETTING`` cannot
            make a right reply wrong, and a person who may no longer approve is noticed at the send (invariants I7 and
            I8); the kill switch lets approvals wait until it is off again (I12).
    """
    await load(session, identity, lock=True)
    row = await session.get_one(CommunityRow, identity)
    row.version += 1
    row.rules_version = row.rules_version if what in _KEEPS_APPROVALS else row.version
    row.policy = row.policy if policy is None else policy
    row.is_posting = {Change.POSTING: True, Change.SHADOW: False}.get(what, row.is_posting)
    row.discloses = row.discloses if discloses is None else discloses
    row.name = row.name if name is None else name
    await session.flush()
    await record(session, identity, row.version, actor=actor, reason=reason, note=note, change=what)
    return await load(session, identity)


async def pause(session: Session, scope: str, who: str) -> bool:
    """Stop all posting in a community, or everywhere; ``False`` if it was already stopped."""
    return await insert_new(session, PauseRow, {"scope": scope, "paused_by": who, "at": session.moment}, "scope")


async def resume(session: Session, scope: str) -> bool:
    """Allow posting again; ``False`` if it was not stopped. What waited for it is looked at anew (``wake``)."""
    deleted = await session.execute(delete(PauseRow).where(PauseRow.scope == scope).returning(PauseRow.scope))
    return deleted.first() is not None


async def paused(session: Session, scopes: Collection[str]) -> list[str]:
    """Those of ``scopes``, and ``EVERYWHERE``, in which the kill switch is on."""
    return list(await session.scalars(select(PauseRow.scope).where(PauseRow.scope.in_({*scopes, EVERYWHERE}))))
