"""A community that has another id on its platform from now on: what was set up is kept, once, and is on record."""

import asyncio
from dataclasses import replace
from functools import partial

import pytest

from bot.compose.desk import Desk
from core.desk.communities.decisions import CommunityDesk
from core.desk.communities.governance import Governance
from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.invariants.checks import audit
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Person, Role
from core.desk.store import communities
from core.models import FlaggedPost
from tests.fakes.desk.decisions import approve, drafted
from tests.fakes.desk.people import COMMUNITY, COMMUNITY_ID, KEEPER, MANAGER, MODERATOR, PLATFORM, VOLUNTEER
from tests.fakes.ports.roles import FakeRoles

OLD, NEW = COMMUNITY, "brenmoor-the-second"
MOVED = f"its id on {PLATFORM} is {NEW}; it was {OLD}"


@pytest.fixture
def source() -> FakeRoles:
    """Who is what on the platform; nobody at first."""
    return FakeRoles()


@pytest.fixture
def governance(database: Database, source: FakeRoles) -> Governance:
    return Governance(database, LiveRoles(database, {PLATFORM: source}))


async def reasons(database: Database, community_id: str = COMMUNITY_ID) -> list[str]:
    """What a community's audit log says, oldest first."""
    return [line.reason for line in await CommunityDesk(database).history(community_id, KEEPER)]


async def ids(database: Database) -> list[tuple[str, str]]:
    """The communities by id, and what their platform calls them."""
    found = await database.run("look", communities.all_communities)
    return [(one.id, one.name) for one in found]


async def holds(database: Database) -> bool:
    return [finding for finding in await audit(database) if not finding.ok] == []


async def test_all_that_was_set_up_counts_for_the_new_id(
    governance: Governance, database: Database, source: FakeRoles
) -> None:
    """Settings, people, posting and pause; the old id leads there, too. What is said again changes nothing."""
    await governance.configure(PLATFORM, OLD, {"tone": "dry", "roles": {"77": "moderator"}}, MANAGER)
    await governance.pause(PLATFORM, OLD, MANAGER)
    before, policy = await reasons(database), await governance.policy(PLATFORM, OLD)
    assert await governance.moved(PLATFORM, OLD, NEW) == {NEW}
    assert await governance.communities(PLATFORM) == (NEW,)
    for name in (NEW, OLD):
        assert await governance.policy(PLATFORM, name) == policy
    assert await governance.roles_of(PLATFORM, NEW, VOLUNTEER) == {Role.VOLUNTEER}
    assert source.asked[-1] == (NEW, VOLUNTEER.user), "the platform is asked by the new id"
    assert (await governance.status(PLATFORM, NEW, MANAGER)).is_paused_here
    assert await governance.moved(PLATFORM, OLD, NEW) == frozenset()
    assert await reasons(database) == [*before, MOVED]
    await governance.resume(PLATFORM, NEW, MANAGER)
    await governance.looked_at(PLATFORM, {OLD: 2, NEW: 3})
    assert (await governance.watch_record(PLATFORM, NEW)).looked_at == 5
    assert await holds(database)


@pytest.mark.both_databases
async def test_a_community_that_is_watched_as_a_whole_still_is(governance: Governance, database: Database) -> None:
    """Its own id stands among the channels that it watches."""
    await governance.configure(PLATFORM, OLD, {"watched_channels": [OLD, "other"]}, MANAGER)
    assert await governance.moved(PLATFORM, OLD, NEW) == {NEW}
    assert await governance.policy(PLATFORM, NEW) == CommunityPolicy(watched_channels=(NEW, "other"))
    assert await ids(database) == [(COMMUNITY_ID, NEW)]
    assert (await reasons(database))[-2:] == [MOVED, f"{OLD} has the id {NEW}: watched_channels (2)"]
    assert await governance.moved(PLATFORM, OLD, NEW) == frozenset()


@pytest.mark.both_databases
async def test_what_is_said_twice_at_once_is_kept_once(governance: Governance, database: Database) -> None:
    """As where both chats tell of it, and each is heard by itself."""
    found = await asyncio.gather(*(governance.moved(PLATFORM, OLD, NEW) for _ in range(4)))
    assert sorted(map(len, found)) == [0, 0, 0, 1]
    assert (await reasons(database)).count(MOVED) == 1


async def test_cases_stay_and_new_ones_join_them(
    governance: Governance, database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """People decide about cases from before as they did; posts under either id are of one community."""
    case = await drafted(desk, queue, post)
    await governance.moved(PLATFORM, OLD, NEW)
    await approve(desk, case)
    for community in (NEW, OLD):
        ref = replace(post.ref, community=community, channel=NEW, message=f"900 in {community}")
        found = await desk.intake.flag(replace(post, ref=ref, text=f"{community} {post.text}"))
        assert found.community_id == COMMUNITY_ID
    assert await ids(database) == [(COMMUNITY_ID, NEW)]
    assert await holds(database)


@pytest.mark.both_databases
async def test_a_new_id_that_was_only_met_gives_way(
    governance: Governance, database: Database, source: FakeRoles
) -> None:
    """As where somebody opened its panel before the platform's word was heard; its log says where it went."""
    source.now["opener"] = frozenset({Role.MANAGER})
    await governance.roles_of(PLATFORM, NEW, Person(PLATFORM, "opener", "Opener"))
    assert len(await ids(database)) == 2
    assert await governance.moved(PLATFORM, OLD, NEW) == {NEW}
    assert await ids(database) == [(COMMUNITY_ID, NEW)]
    assert await governance.moved(PLATFORM, OLD, NEW) == frozenset()
    assert await governance.roles_of(PLATFORM, NEW, VOLUNTEER) == {Role.VOLUNTEER}
    assert await holds(database)


async def test_a_new_id_that_somebody_set_up_stays_as_it_is(governance: Governance, database: Database) -> None:
    """What people decided since is not undone."""
    await governance.configure(PLATFORM, NEW, {"tone": "warm"}, MANAGER, is_owner=True)
    await governance.configure(PLATFORM, OLD, {"tone": "dry"}, MANAGER)
    before = await reasons(database)
    assert await governance.moved(PLATFORM, OLD, NEW) == frozenset()
    assert await ids(database) == [(COMMUNITY_ID, OLD), (f"{PLATFORM}/{NEW}", NEW)]
    assert (await governance.policy(PLATFORM, NEW)).tone == "warm"
    assert await reasons(database) == before


async def test_settings_that_name_the_place_follow_it(governance: Governance, database: Database) -> None:
    """Wherever cards are shown there, or in a part of it, and where it is watched; other settings stay."""
    others = {"whole": "-7", "part": "-7/3", "longer": "-77", "": ""}
    for name, channel in others.items():
        settings = {"review_channel": channel, "watched_channels": [name or OLD, "-7"], "tone": "dry"}
        await governance.configure(PLATFORM, name or OLD, settings, MANAGER, is_owner=True)
    assert await governance.moved(PLATFORM, "-7", "-1007") == {"whole", "part", "longer", OLD}
    wanted = {"whole": "-1007", "part": "-1007", "longer": "-77", OLD: ""}
    for name, channel in wanted.items():
        expected = CommunityPolicy(review_channel=channel, watched_channels=(name, "-1007"), tone="dry")
        assert await governance.policy(PLATFORM, name) == expected
    assert (await reasons(database, f"{PLATFORM}/part"))[
        -1
    ] == "-7 has the id -1007: review_channel, watched_channels (2)"
    assert await governance.moved(PLATFORM, "-7", "-1007") == frozenset()
    assert (await governance.policy("elsewhere", "whole")) == CommunityPolicy()
    assert await governance.roles_of(PLATFORM, OLD, MODERATOR) == {Role.MODERATOR}


async def test_communities_of_other_platforms_that_review_there_follow(
    governance: Governance, database: Database
) -> None:
    """Those whose channel, or a part of it, has another id; a channel of the same number elsewhere is another one."""
    channels = {"a": "sample/-7", "b": "sample/-7/3", "c": "sample/-77", "d": "other/-7", "e": "-7"}
    desk = CommunityDesk(database)
    for name, channel in channels.items():
        place = await desk.known("mastodon", name)
        await desk.configure(place, partial(_reviewed_in, channel), KEEPER)
    await governance.moved(PLATFORM, "-7", "-1007")
    found = {name: (await governance.policy("mastodon", name)).review_channel for name in channels}
    assert found == channels | {"a": "sample/-1007", "b": "sample/-1007"}
    assert (await reasons(database, "mastodon/a"))[-1] == "settings changed: review_channel"


def _reviewed_in(channel: str, _: CommunityPolicy) -> dict[str, object]:
    return {"review_channel": channel}
