"""What Discord is asked over the wire: whether a reply stands there, what a post says now, and who has which role."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from adapters.discord import DiscordOptions, DiscordPlatform, DiscordRoles
from adapters.discord.connection.refs import revision_of
from core.errors import AmbiguousSend, PlatformUnavailable, TextHidden
from core.moderation.community_policy import CommunityPolicy
from core.moderation.roles import Role
from tests.conformance import reply_to
from tests.fakes.discord.server import BOT_ID, DiscordServer, LoopbackClient, World, connected
from tests.fakes.discord.server.faults import Fault
from tests.fakes.discord.server.world import CHANNEL_ID, GUILD_ID, OWNER_ID
from tests.fakes.discord.wire import MESSAGES, Scene, connected_scene
from tests.fakes.machine.clock import FakeClock

_MANAGE_GUILD, _ADMINISTRATOR = 1 << 5, 1 << 3


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    """A platform, connected."""
    async with connected_scene() as made:
        yield made


async def test_a_reply_is_found_among_many_messages(scene: Scene) -> None:
    """A busy channel writes hundreds of messages while a send is looked up."""
    ref = scene.written()
    reply = reply_to(ref, "We all live here.")
    scene.server.faults.add(Fault("POST", MESSAGES, arrives=True))
    with pytest.raises(AmbiguousSend):
        await scene.platform.post(reply)
    for number in range(250):
        scene.written(f"Something else, number {number}.")
    found = await scene.platform.find_reply(reply)
    assert found is not None
    assert scene.world.messages[int(found.ref.message)]["content"] == reply.text


async def test_the_search_for_a_reply_ends_at_its_approval(scene: Scene) -> None:
    """What was written before the approval is not looked through."""
    old = scene.clock.now
    scene.clock.now = datetime(2026, 2, 1, tzinfo=UTC)
    for number in range(300):
        scene.written(f"Long ago, number {number}.")
    scene.clock.now = old
    ref = scene.written()
    assert await scene.platform.find_reply(reply_to(ref, "We all live here.")) is None
    assert len(scene.server.asked("GET", "/messages")) == 1


async def test_words_of_ours_elsewhere_are_no_reply(scene: Scene) -> None:
    """The same words under another post, without a post, or of another approval are not the reply that is looked up."""
    ref, other = scene.written(), scene.written("Another one.")
    await scene.platform.post(reply_to(other, "We all live here.", "approval-2"))
    await scene.platform.post(reply_to(ref, "We all live here.", "approval-3"))
    scene.world.write(BOT_ID, CHANNEL_ID, "We all live here.")
    assert await scene.platform.find_reply(reply_to(ref, "We all live here.")) is None


async def test_after_a_restart_a_reply_is_found_by_its_words(scene: Scene) -> None:
    """Discord tells nobody the key of a message that stands; nothing is remembered of it, and it is found."""
    ref = scene.written()
    posted = await scene.platform.post(reply_to(ref, "We all live here."))
    restarted = DiscordPlatform(scene.client)
    found = await restarted.find_reply(reply_to(ref, "We all live here."))
    assert found is not None
    assert found.ref == posted.ref


async def test_a_hidden_history_is_not_taken_for_an_empty_one(scene: Scene) -> None:
    """Without the right to read it a history looks empty; an answer of "not there" would be a lie."""
    ref = scene.written()
    scene.server.faults.add(Fault("GET", MESSAGES, 200, body=[]))
    scene.server.faults.add(Fault("GET", MESSAGES + r"/\d+", 403, body={"message": "Missing Access", "code": 50001}))
    with pytest.raises(PlatformUnavailable):
        await scene.platform.find_reply(reply_to(ref, "We all live here."))


async def test_without_the_intent_only_the_revision_is_told() -> None:
    """The words are hidden; that they were not edited can be told, and our own words can be read."""
    clock = FakeClock()
    client = LoopbackClient(DiscordOptions())
    async with DiscordServer(World(clock, shows_content=False)).running() as server, connected(client):
        scene = Scene(server, client, clock)
        ref = scene.written()
        seen = []
        for text in (None, None, "Something else.", "Something else again."):
            if text is not None:
                clock.advance(1)
                scene.world.edit(int(ref.message), text)
            with pytest.raises(TextHidden) as caught:
                await scene.platform.read(ref)
            assert caught.value.remedy
            seen.append(caught.value.revision)
        assert seen[0] == seen[1]
        assert len(set(seen)) == 3
        channel = client.get_partial_messageable(CHANNEL_ID)
        assert revision_of(await channel.fetch_message(int(ref.message))) == seen[-1]
        posted = await scene.platform.post(reply_to(ref, "We all live here."))
        assert await scene.platform.read(posted.ref) == "We all live here."
        scene.world.delete(int(ref.message))
        assert await scene.platform.read(ref) is None


async def test_roles_are_asked_of_discord_each_time(scene: Scene) -> None:
    """By the community's own mapping, by ownership, and by rights; who left, or was told to be silent, has none."""
    guides = scene.world.add_role("guides", 0)
    stewards = scene.world.add_role("stewards", _MANAGE_GUILD)
    wardens = scene.world.add_role("wardens", _ADMINISTRATOR)
    guide = scene.world.add_member("guide", roles=(guides,))
    people = {
        guide: {Role.MODERATOR},
        scene.world.add_member("steward", roles=(stewards,)): {Role.MANAGER},
        scene.world.add_member("warden", roles=(wardens,)): {Role.ADMIN, Role.MANAGER},
        scene.world.add_member("anybody"): set(),
        OWNER_ID: {Role.ADMIN, Role.MANAGER},
        404: set(),
    }
    roles = DiscordRoles(scene.client, lambda _community: _policy({str(guides): Role.MODERATOR}))
    for user, expected in people.items():
        assert await roles.roles(str(GUILD_ID), str(user)) == expected
    until = scene.world.clock() + timedelta(days=20000)
    scene.world.members[guide]["communication_disabled_until"] = until.isoformat()
    assert await roles.roles(str(GUILD_ID), str(guide)) == frozenset()
    scene.world.members[guide] |= {"communication_disabled_until": None, "roles": []}
    assert await roles.roles(str(GUILD_ID), str(guide)) == frozenset()
    for community, nobody in (("999", "1"), ("nowhere", "1"), (str(GUILD_ID), "nobody")):
        with pytest.raises(PlatformUnavailable):
            await roles.roles(community, nobody)


async def _policy(roles: dict[str, Role]) -> CommunityPolicy:
    return CommunityPolicy(roles=roles)
