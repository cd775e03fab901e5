"""What Discord is asked over the wire: whether a reply stands there, what a post says now, and who has which role."""

import asyncio
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.discord.connection.client import HOLDS_SECONDS, acting, acts
from adapters.discord.connection.refs import revision_of
from adapters.discord.platform import DiscordPlatform, DiscordRoles
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.errors import AmbiguousSend, PlatformUnavailable, TextHidden
from tests.conformance import reply_to
from tests.fakes.discord.server import BOT_ID, DiscordServer, DiscordState, LoopbackClient, connected
from tests.fakes.discord.server.faults import Fault
from tests.fakes.discord.server.state import CHANNEL_ID, GUILD_ID, OWNER_ID
from tests.fakes.discord.wire import MESSAGES, Wire
from tests.fakes.machine.clock import FakeClock

_MANAGE_GUILD, _ADMINISTRATOR = 1 << 5, 1 << 3


async def test_a_reply_is_found_among_many_messages(wire: Wire) -> None:
    """A busy channel writes hundreds of messages while a send is looked up."""
    ref = wire.written()
    reply = reply_to(ref, "We all live here.")
    wire.server.faults.add(Fault("POST", MESSAGES, arrives=True))
    with pytest.raises(AmbiguousSend):
        await wire.platform.post(reply)
    for number in range(250):
        wire.written(f"Something else, number {number}.")
    found = await wire.platform.find_reply(reply)
    assert found is not None
    assert wire.state.messages[int(found.ref.message)]["content"] == reply.text


async def test_the_search_for_a_reply_ends_at_its_approval(wire: Wire) -> None:
    """What was written before the approval is not looked through."""
    old = wire.clock.now
    wire.clock.now = datetime(2026, 2, 1, tzinfo=UTC)
    for number in range(300):
        wire.written(f"Long ago, number {number}.")
    wire.clock.now = old
    ref = wire.written()
    assert await wire.platform.find_reply(reply_to(ref, "We all live here.")) is None
    assert len(wire.server.asked("GET", "/messages")) == 1


async def test_words_of_ours_elsewhere_are_no_reply(wire: Wire) -> None:
    """The same words under another post, without a post, or of another approval are not the reply that is looked up."""
    ref, other = wire.written(), wire.written("Another one.")
    await wire.platform.post(reply_to(other, "We all live here.", "approval-2"))
    await wire.platform.post(reply_to(ref, "We all live here.", "approval-3"))
    wire.state.write(BOT_ID, CHANNEL_ID, "We all live here.")
    assert await wire.platform.find_reply(reply_to(ref, "We all live here.")) is None


async def test_after_a_restart_a_reply_is_found_by_its_words(wire: Wire) -> None:
    """Discord tells nobody the key of a message that stands; nothing is remembered of it, and it is found."""
    ref = wire.written()
    posted = await wire.platform.post(reply_to(ref, "We all live here."))
    restarted = DiscordPlatform(wire.client)
    found = await restarted.find_reply(reply_to(ref, "We all live here."))
    assert found is not None
    assert found.ref == posted.ref


async def test_a_hidden_history_is_not_taken_for_an_empty_one(wire: Wire) -> None:
    """Without the right to read it a history looks empty; an answer of "not there" would be a lie."""
    ref = wire.written()
    wire.server.faults.add(Fault("GET", MESSAGES, 200, body=[]))
    wire.server.faults.add(Fault("GET", MESSAGES + r"/\d+", 403, body={"message": "Missing Access", "code": 50001}))
    with pytest.raises(PlatformUnavailable):
        await wire.platform.find_reply(reply_to(ref, "We all live here."))


async def test_without_the_intent_only_the_revision_is_told() -> None:
    """The words are hidden; that they were not edited can be told, and our own words can be read."""
    clock = FakeClock()
    client = LoopbackClient()
    async with DiscordServer(DiscordState(clock, shows_content=False)).running() as server, connected(client):
        wire = Wire(server, client, clock)
        ref = wire.written()
        seen = []
        for text in (None, None, "Something else.", "Something else again."):
            if text is not None:
                clock.advance(1)
                wire.state.edit(int(ref.message), text)
            with pytest.raises(TextHidden) as caught:
                await wire.platform.read(ref)
            assert caught.value.remedy
            seen.append(caught.value.revision)
        assert seen[0] == seen[1]
        assert len(set(seen)) == 3
        channel = client.get_partial_messageable(CHANNEL_ID)
        assert revision_of(await channel.fetch_message(int(ref.message))) == seen[-1]
        posted = await wire.platform.post(reply_to(ref, "We all live here."))
        assert await wire.platform.read(posted.ref) == "We all live here."
        wire.state.delete(int(ref.message))
        assert await wire.platform.read(ref) is None


async def test_roles_are_asked_of_discord_each_time(wire: Wire) -> None:
    """By the community's own mapping, by ownership, and by rights; who left, or was told to be silent, has none."""
    guides = wire.state.add_role("guides", 0)
    stewards = wire.state.add_role("stewards", _MANAGE_GUILD)
    wardens = wire.state.add_role("wardens", _ADMINISTRATOR)
    guide = wire.state.add_member("guide", roles=(guides,))
    people = {
        guide: {Role.MODERATOR},
        wire.state.add_member("steward", roles=(stewards,)): {Role.MANAGER},
        wire.state.add_member("warden", roles=(wardens,)): {Role.ADMIN, Role.MANAGER},
        wire.state.add_member("anybody"): set(),
        OWNER_ID: {Role.ADMIN, Role.MANAGER},
        404: set(),
    }
    roles = DiscordRoles(wire.client, lambda _community: _policy({str(guides): Role.MODERATOR}))
    for user, expected in people.items():
        assert await roles.roles(str(GUILD_ID), str(user)) == expected
    until = wire.state.clock() + timedelta(days=20000)
    wire.state.members[guide]["communication_disabled_until"] = until.isoformat()
    assert await roles.roles(str(GUILD_ID), str(guide)) == frozenset()
    wire.state.members[guide] |= {"communication_disabled_until": None, "roles": []}
    assert await roles.roles(str(GUILD_ID), str(guide)) == frozenset()
    for community, nobody in (("999", "1"), ("nowhere", "1"), (str(GUILD_ID), "nobody")):
        with pytest.raises(PlatformUnavailable):
            await roles.roles(community, nobody)


async def test_who_is_answered_now_needs_no_question(wire: Wire) -> None:
    """Discord told their roles with the interaction; of others, and some seconds later, it is asked."""
    guides = wire.state.add_role("guides", 0)
    guide, other = (wire.state.add_member(name, roles=(guides,)) for name in ("guide", "other"))
    roles = DiscordRoles(wire.client, lambda _community: _policy({str(guides): Role.MODERATOR}))
    guild = wire.client.get_guild(GUILD_ID)
    assert guild is not None
    told: Any = SimpleNamespace(user=await guild.fetch_member(guide), guild_id=GUILD_ID, client=wire.client)
    seen = wire.client.requests.seen

    async def answering() -> None:
        acts(told)
        await roles.roles(str(GUILD_ID), str(guide))
        assert wire.client.requests.seen == seen
        assert await roles.roles(str(GUILD_ID), str(other)) == {Role.MODERATOR}
        assert acting(GUILD_ID + 1, guide) is None
        acts(told, lambda: 0.0)
        assert acting(GUILD_ID, guide, lambda: HOLDS_SECONDS) is not None
        assert acting(GUILD_ID, guide, lambda: HOLDS_SECONDS + 1) is None

    await asyncio.create_task(answering())
    assert acting(GUILD_ID, guide) is None, "it is of that answer alone"


async def _policy(roles: dict[str, Role]) -> CommunityPolicy:
    return CommunityPolicy(roles=roles)
