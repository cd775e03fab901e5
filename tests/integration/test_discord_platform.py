"""What Discord's answers come to, and a connection that survives what Discord does to it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta

import discord
import pytest

from adapters.discord import DiscordOptions, DiscordPlatform, DiscordRoles
from adapters.discord.answers import of_send
from adapters.discord.refs import revision_of
from adapters.discord.requests import CLOSED_SECONDS, FORBIDDEN_IN_A_ROW, MOST_INVALID, WINDOW_SECONDS
from core.community_policy import CommunityPolicy
from core.errors import AmbiguousSend, AntiphonError, BadSettings, PlatformBusy, PlatformUnavailable, TextHidden
from core.models import PostRef
from core.roles import Role
from tests.conformance import reply_to
from tests.fakes.clock import FakeClock, Seconds
from tests.fakes.discord_server import BOT_ID, TOKEN, DiscordServer, LoopbackClient, World, connected
from tests.fakes.discord_server.faults import Fault
from tests.fakes.discord_server.world import CHANNEL_ID, GUILD_ID, OWNER_ID

_MESSAGES = r"/channels/\d+/messages"
_MANAGE_GUILD, _ADMINISTRATOR = 1 << 5, 1 << 3


class Scene:
    """A connected platform, and the world that it is connected to."""

    def __init__(self, server: DiscordServer, client: LoopbackClient, clock: FakeClock) -> None:
        self.server, self.world, self.client, self.clock = server, server.world, client, clock
        self.platform = DiscordPlatform(client)
        self.heard: list[str] = []

    def written(self, text: str = "They do not belong here.") -> PostRef:
        """Somebody writes a post."""
        message = self.world.write(self.world.user("slate_roof"), CHANNEL_ID, text)
        return PostRef("discord", str(GUILD_ID), str(CHANNEL_ID), message["id"])

    def standing(self, ref: PostRef) -> list[str]:
        """What stands under a post."""
        return [message["content"] for message in self.world.replies_to(int(ref.message))]

    def fail(self, status: int, code: int = 0, *, method: str = "POST", arrives: bool = False, times: int = 1) -> None:
        """Let Discord answer the next change otherwise."""
        pattern = _MESSAGES if method == "POST" else _MESSAGES + r"/\d+"
        body = {"message": "No.", "code": code}
        self.server.faults.add(Fault(method, pattern, status, arrives, body, times=times))

    def installs_listener(self, client: LoopbackClient) -> None:
        """Hear the messages of the gateway."""

        async def on_message(message: discord.Message) -> None:
            self.heard.append(message.content)

        client.event(on_message)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something comes true."""
        async with asyncio.timeout(20):
            while not is_so():  # noqa: ASYNC110 - whatever it is, it tells nobody
                await asyncio.sleep(0.005)


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    clock = FakeClock()
    client = LoopbackClient(DiscordOptions(reads_messages=True))
    async with DiscordServer(World(clock)).running() as server, connected(client):
        scene = Scene(server, client, clock)
        scene.installs_listener(client)
        yield scene
        assert server.complaints == []


REFUSALS = {
    "a missing right": (403, 50013),
    "a hidden channel": (403, 50001),
    "a channel that is gone": (404, 10003),
    "an archived thread": (400, 50083),
    "AutoMod": (400, 200000),
    "no right to read the history": (400, 160002),
    "a refusal that nobody knows": (400, 99999),
    "a bad token": (401, 0),
}


@pytest.mark.parametrize(("status", "code"), REFUSALS.values(), ids=REFUSALS.keys())
async def test_a_refusal_is_certain_and_names_a_remedy(scene: Scene, status: int, code: int) -> None:
    """Nothing stands there, nothing was repeated, and somebody can do something about it."""
    ref = scene.written()
    scene.fail(status, code)
    with pytest.raises(PlatformUnavailable) as caught:
        await scene.platform.post(reply_to(ref, "We all live here."))
    assert not isinstance(caught.value, PlatformBusy)
    assert caught.value.remedy
    assert scene.standing(ref) == []
    assert len(scene.server.asked("POST", "/messages")) == 1


@pytest.mark.parametrize("status", [500, 502, 503, 504, 524])
@pytest.mark.parametrize("arrives", [True, False])
async def test_a_server_error_is_ambiguous_and_not_repeated(scene: Scene, status: int, arrives: bool) -> None:
    """The reply may stand there; one request went out, although discord.py repeats some of these by itself."""
    ref = scene.written()
    scene.fail(status, arrives=arrives)
    reply = reply_to(ref, "We all live here.")
    with pytest.raises(AmbiguousSend):
        await scene.platform.post(reply)
    assert len(scene.server.asked("POST", "/messages")) == 1
    assert (await scene.platform.find_reply(reply) is not None) is arrives
    await scene.platform.post(reply)
    assert scene.standing(ref) == ["We all live here."]


async def test_a_rate_limit_without_a_word_of_discord_is_busy(scene: Scene) -> None:
    """Who stands before Discord answers with a page of its own, and the time in a header."""
    ref = scene.written()
    headers = {"Retry-After": "12", "Content-Type": "text/html"}
    scene.server.faults.add(Fault("POST", _MESSAGES, 429, body="<html>", headers=headers))
    with pytest.raises(PlatformBusy) as caught:
        await scene.platform.post(reply_to(ref, "We all live here."))
    assert caught.value.retry_after_seconds == 12
    assert scene.standing(ref) == []


async def test_nobody_there_is_busy_and_certain() -> None:
    """Where no connection was made, nothing was posted."""
    client = LoopbackClient(DiscordOptions(reads_messages=True))
    platform = DiscordPlatform(client)
    reply = reply_to(PostRef("discord", str(GUILD_ID), str(CHANNEL_ID), "1"), "We all live here.")
    with pytest.raises(PlatformBusy):
        await platform.post(reply)
    async with DiscordServer(World(FakeClock())).running() as server, connected(client):
        await server.stop()
        with pytest.raises(PlatformBusy):
            await platform.post(reply)
        with pytest.raises(PlatformUnavailable):
            await platform.read(reply.in_reply_to)
    with pytest.raises(PlatformBusy):
        await platform.post(reply)


async def test_a_send_that_never_ends_is_ambiguous(scene: Scene) -> None:
    """A call has its time; what came of it then is looked up."""
    platform = DiscordPlatform(scene.client, timeout_seconds=0.2)
    ref = scene.written()
    scene.server.faults.add(Fault("POST", _MESSAGES, status=Fault.SILENCE, arrives=True))
    reply = reply_to(ref, "We all live here.")
    with pytest.raises(AmbiguousSend):
        await platform.post(reply)
    assert await platform.find_reply(reply) is not None


def test_an_unknown_error_is_never_called_certain() -> None:
    """Whatever nobody thought of may have arrived."""
    assert isinstance(of_send(OSError("line")), AmbiguousSend)
    assert isinstance(of_send(discord.DiscordException("new")), AmbiguousSend)
    assert isinstance(of_send(OSError("line"), is_sent=False), PlatformBusy)


async def test_a_reply_mentions_nobody_and_shows_no_preview(scene: Scene) -> None:
    """The request itself says so, whatever the text holds and whatever the client's defaults are."""
    ref = scene.written()
    reply = reply_to(ref, "@everyone: <@1002>, see below.")
    await scene.platform.post(reply)
    (body,) = scene.server.asked("POST", "/messages")
    assert body["allowed_mentions"] == {"parse": [], "replied_user": False}
    assert body["flags"] & 4
    assert (body["nonce"], body["enforce_nonce"]) == (reply.key, True)
    assert str(body["message_reference"]["message_id"]) == ref.message
    assert body["message_reference"]["fail_if_not_exists"] is True


@pytest.mark.parametrize("text", [" spaced", "spaced\n", "one\r\ntwo", "\U0001f680" * 1001])
async def test_what_discord_would_change_is_refused_before(scene: Scene, text: str) -> None:
    """What stands there must be what was approved, to the byte; an app may count an emoji twice."""
    ref = scene.written()
    with pytest.raises(PlatformUnavailable):
        await scene.platform.post(reply_to(ref, text))
    assert scene.server.asked("POST", "/messages") == []


async def test_other_words_than_approved_are_never_called_posted(scene: Scene) -> None:
    """Should Discord answer with a message of other words, a person must look at it."""
    ref = scene.written()
    await scene.platform.post(reply_to(ref, "We all live here."))
    with pytest.raises(AmbiguousSend):
        await scene.platform.post(reply_to(ref, "Other words under the same key."))


async def test_a_deleted_reply_is_not_posted_again_under_its_key(scene: Scene) -> None:
    """A moderator deleted it a minute after; sending it again says so instead of posting a second one."""
    ref = scene.written()
    posted = await scene.platform.post(reply_to(ref, "We all live here."))
    scene.world.delete(int(posted.ref.message))
    with pytest.raises(PlatformUnavailable):
        await scene.platform.post(reply_to(ref, "We all live here."))
    assert scene.standing(ref) == []


async def test_a_reply_is_found_among_many_messages(scene: Scene) -> None:
    """A busy channel writes hundreds of messages while a send is looked up."""
    ref = scene.written()
    reply = reply_to(ref, "We all live here.")
    scene.server.faults.add(Fault("POST", _MESSAGES, arrives=True))
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
    scene.server.faults.add(Fault("GET", _MESSAGES, 200, body=[]))
    scene.server.faults.add(Fault("GET", _MESSAGES + r"/\d+", 403, body={"message": "Missing Access", "code": 50001}))
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


async def test_a_channel_that_refuses_is_left_alone(scene: Scene) -> None:
    """Several refusals in a row, and nothing is asked for a while; other channels are served, then this one again."""
    ticks = Seconds()
    scene.client.requests._ticks = ticks
    ref = scene.written()
    scene.world.forbidden.add(CHANNEL_ID)
    for _ in range(FORBIDDEN_IN_A_ROW + 3):
        with pytest.raises(PlatformUnavailable) as caught:
            await scene.platform.post(reply_to(ref, "We all live here."))
        assert not isinstance(caught.value, PlatformBusy)
    assert len(scene.server.asked("POST", "/messages")) == FORBIDDEN_IN_A_ROW
    other = scene.world.add_channel("elsewhere")
    message = scene.world.write(OWNER_ID, other, "Hello.")
    elsewhere = PostRef("discord", str(GUILD_ID), str(other), message["id"])
    await scene.platform.post(reply_to(elsewhere, "Hello to you.", "approval-2"))
    scene.world.forbidden.clear()
    ticks.now += CLOSED_SECONDS
    await scene.platform.post(reply_to(ref, "We all live here."))
    assert scene.standing(ref) == ["We all live here."]


async def test_refused_requests_are_counted_and_stop_in_time(scene: Scene) -> None:
    """Discord bans an address after 10,000 of them in ten minutes; Antiphon stops far before, and goes on later."""
    ticks = Seconds()
    scene.client.requests._ticks = ticks
    scene.client.requests._invalid.extend([ticks.now] * (MOST_INVALID - 1))
    ref = scene.written()
    scene.server.be_busy(1.0)
    for _ in range(2):
        with pytest.raises(PlatformBusy) as caught:
            await scene.platform.post(reply_to(ref, "We all live here."))
    assert caught.value.retry_after_seconds == WINDOW_SECONDS
    assert len(scene.server.asked("POST", "/messages")) == 1
    scene.clock.advance(1.0)
    ticks.now += WINDOW_SECONDS
    await scene.platform.post(reply_to(ref, "We all live here."))


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


def _event(scene: Scene, text: str) -> dict[str, object]:
    return scene.world.write(scene.world.user("mill_pond"), CHANNEL_ID, text) | {"guild_id": str(GUILD_ID)}


async def test_a_lost_connection_is_taken_up_where_it_ended(scene: Scene) -> None:
    """What was said while nobody listened is heard once the session is resumed."""
    await scene.server.gateway.send("MESSAGE_CREATE", _event(scene, "before"))
    await scene.until(lambda: scene.heard == ["before"])
    await scene.server.gateway.drop()
    await scene.server.gateway.send("MESSAGE_CREATE", _event(scene, "meanwhile"))
    async with asyncio.timeout(20):
        await scene.server.gateway.resumed.wait()
    await scene.server.gateway.send("MESSAGE_CREATE", _event(scene, "after"))
    await scene.until(lambda: scene.heard == ["before", "meanwhile", "after"])
    ref = scene.written()
    await scene.platform.post(reply_to(ref, "We all live here."))
    assert scene.standing(ref) == ["We all live here."]


async def test_a_request_to_reconnect_is_followed(scene: Scene) -> None:
    """Discord restarts its gateways; nothing is missed."""
    await scene.server.gateway.ask_to_reconnect()
    async with asyncio.timeout(20):
        await scene.server.gateway.resumed.wait()
    await scene.server.gateway.send("MESSAGE_CREATE", _event(scene, "after"))
    await scene.until(lambda: scene.heard == ["after"])


async def test_a_session_that_discord_forgot_is_begun_anew(scene: Scene) -> None:
    """INVALID_SESSION: the client identifies itself once more and hears what is said from then on."""
    await scene.server.gateway.invalidate()
    await scene.until(lambda: len(scene.server.gateway.intents) == 2)
    await scene.server.gateway.send("MESSAGE_CREATE", _event(scene, "after"))
    await scene.until(lambda: scene.heard == ["after"])


async def test_duplicate_and_disordered_events_do_no_harm(scene: Scene) -> None:
    """Events come twice and in any order, of messages that are gone, or were never heard of; the client lives on."""
    gateway = scene.server.gateway
    first = await gateway.send("MESSAGE_CREATE", _event(scene, "one"))
    second = await gateway.send("MESSAGE_CREATE", _event(scene, "two"))
    gone = {"id": "77", "channel_id": str(CHANNEL_ID), "guild_id": str(GUILD_ID)}
    await gateway.send("MESSAGE_DELETE", gone)
    await gateway.send("MESSAGE_UPDATE", gone | {"content": "never heard of"})
    await gateway.send_again(second, first, second)
    await gateway.send("SOMETHING_NEW", {"id": "1"})
    await gateway.send("MESSAGE_CREATE", _event(scene, "three"))
    await scene.until(lambda: "three" in scene.heard)
    assert set(scene.heard) == {"one", "two", "three"}
    await gateway.drop()
    async with asyncio.timeout(20):
        await gateway.resumed.wait()
    ref = scene.written()
    await scene.platform.post(reply_to(ref, "We all live here."))
    assert scene.standing(ref) == ["We all live here."]


async def test_the_connection_asks_for_no_more_than_it_needs() -> None:
    """The intent to read messages is asked for only where the operator says so."""
    for reads_messages in (False, True):
        client = LoopbackClient(DiscordOptions(reads_messages=reads_messages))
        async with DiscordServer(World(FakeClock())).running() as server, connected(client):
            (intents,) = server.gateway.intents
        wanted = {name for name, is_set in discord.Intents._from_value(intents) if is_set}
        expected = {"guilds", "guild_messages", "guild_reactions", "auto_moderation_execution"}
        assert wanted == expected | ({"message_content"} if reads_messages else set())


async def _run(client: LoopbackClient, token: str = TOKEN) -> None:
    async with asyncio.timeout(20):
        await client.run_until(asyncio.Event(), token, first_wait_seconds=0.01)


@pytest.mark.parametrize("token", ["", "  ", "wrong"])
async def test_a_bad_token_is_a_bad_setting(token: str) -> None:
    """Whoever set it up reads what to do, not a traceback."""
    async with DiscordServer(World(FakeClock())).running():
        with pytest.raises(BadSettings) as caught:
            await _run(LoopbackClient(DiscordOptions()), token)
    assert "developers/applications" in caught.value.remedy
    assert "wrong" not in str(caught.value)


async def test_a_token_that_the_gateway_refuses_is_a_bad_setting() -> None:
    """It was made anew between the login and the connection."""
    async with DiscordServer(World(FakeClock())).running() as server:
        server.gateway.expects("another")
        with pytest.raises(BadSettings):
            await _run(LoopbackClient(DiscordOptions()))


async def test_a_missing_intent_names_its_switch() -> None:
    """Discord closes the connection; the remedy is a switch in its portal."""
    async with DiscordServer(World(FakeClock(), shows_content=False)).running():
        with pytest.raises(BadSettings) as caught:
            await _run(LoopbackClient(DiscordOptions(reads_messages=True)))
    assert "Message Content Intent" in caught.value.remedy


async def test_a_token_that_is_revoked_stops_the_client() -> None:
    """Every further request would count against the address; the first 401 ends it all, with a clear error."""
    clock, client = FakeClock(), LoopbackClient(DiscordOptions(reads_messages=True))
    async with DiscordServer(World(clock)).running() as server, connected(client) as running:
        scene = Scene(server, client, clock)
        server.token = "revoked"
        with pytest.raises(PlatformUnavailable):
            await scene.platform.post(reply_to(scene.written(), "We all live here."))
        async with asyncio.timeout(20):
            await asyncio.wait({running})
        assert isinstance(running.exception(), BadSettings)
        assert client.is_closed()


async def test_discord_out_of_reach_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    """A process that starts while Discord is down connects when it is up."""
    clock, client = FakeClock(), LoopbackClient(DiscordOptions())
    server = DiscordServer(World(clock))
    unavailable = Fault("GET", "/users/@me", 503, body={"message": "down", "code": 0}, times=2)
    server.faults.add(unavailable)
    async with server.running(), connected(client):
        assert client.is_ready()
    assert "cannot be reached" in caplog.text


async def test_every_part_is_installed_once_before_events_come() -> None:
    """Installers get the client after it logged in; one that waits is waited for."""
    installed: list[str] = []

    def sync_part(client: discord.Client) -> None:
        assert client.user is not None
        installed.append("first")

    async def async_part(client: discord.Client) -> None:
        await asyncio.sleep(0)
        installed.append("ready" if client.is_ready() else "second")

    client = LoopbackClient(DiscordOptions(), [sync_part, async_part])
    async with DiscordServer(World(FakeClock())).running() as server, connected(client):
        await server.gateway.drop()
        async with asyncio.timeout(20):
            await server.gateway.resumed.wait()
    assert installed == ["first", "second"]


async def test_an_error_of_an_installer_is_the_reason_why_it_ends() -> None:
    """A part that cannot be installed must not be missing silently."""

    def broken(_client: discord.Client) -> None:
        raise BadSettings("No desk.", remedy="Attach one.")

    async with DiscordServer(World(FakeClock())).running():
        with pytest.raises(AntiphonError, match=r"No desk\."):
            await _run(LoopbackClient(DiscordOptions(), [broken]))


async def test_a_failing_listener_leaves_no_words_in_the_logs(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """What somebody wrote is in the error, and must not be in the log; the place is."""

    async def on_message(message: discord.Message) -> None:
        raise ValueError(message.content)

    with caplog.at_level(logging.DEBUG):
        scene.client.event(on_message)
        await scene.server.gateway.send("MESSAGE_CREATE", _event(scene, "canary words"))
        await scene.until(lambda: "ValueError" in caplog.text)
        await scene.platform.post(reply_to(scene.written("canary words"), "We all live here."))
    assert "on_message" in caplog.text
    logged = json.dumps([record.getMessage() + str(record.exc_info) for record in caplog.records])
    assert "canary" not in logged
    assert "We all live" not in logged
    assert TOKEN not in logged
