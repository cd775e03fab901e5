"""A connection that survives what Discord does to it, or ends with what to mend; and what is installed on it."""

import asyncio
import json
import logging

import discord
import pytest

from adapters.discord.connection.refs import name_of
from core.errors import AntiphonError, BadSettings, PlatformUnavailable
from tests.conformance import reply_to
from tests.fakes.discord.server import TOKEN, DiscordServer, DiscordState, LoopbackClient, connected
from tests.fakes.discord.server.faults import Fault
from tests.fakes.discord.server.state import CHANNEL_ID, GUILD_ID
from tests.fakes.discord.wire import Wire
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS


def _event(wire: Wire, text: str) -> dict[str, object]:
    return wire.state.write(wire.state.user("mill_pond"), CHANNEL_ID, text) | {"guild_id": str(GUILD_ID)}


async def test_servers_and_channels_are_called_by_their_names(wire: Wire) -> None:
    """A channel without its server is named with it; of what Discord told nothing about, nothing is known."""
    guild, channel = str(GUILD_ID), str(CHANNEL_ID)
    place = wire.client.get_channel(CHANNEL_ID)
    assert isinstance(place, discord.TextChannel) and place.guild.name
    assert await name_of(wire.client, guild, "") == place.guild.name
    assert await name_of(wire.client, guild, channel) == f"#{place.name}"
    assert await name_of(wire.client, "", channel) == f"#{place.name}, {place.guild.name}"
    for community, unknown in (("404", ""), (guild, "404"), ("", "404"), ("home.example", ""), (guild, "x")):
        assert await name_of(wire.client, community, unknown) == ""


# Lost and taken up again


async def test_a_lost_connection_is_taken_up_where_it_ended(wire: Wire) -> None:
    """What was said while nobody listened is heard once the session is resumed."""
    await wire.server.gateway.send("MESSAGE_CREATE", _event(wire, "before"))
    await wire.until(lambda: wire.heard == ["before"])
    await wire.server.gateway.drop()
    await wire.server.gateway.send("MESSAGE_CREATE", _event(wire, "meanwhile"))
    async with asyncio.timeout(GUARD_SECONDS):
        await wire.server.gateway.resumed.wait()
    await wire.server.gateway.send("MESSAGE_CREATE", _event(wire, "after"))
    await wire.until(lambda: wire.heard == ["before", "meanwhile", "after"])
    ref = wire.written()
    await wire.platform.post(reply_to(ref, "We all live here."))
    assert wire.standing(ref) == ["We all live here."]


async def test_a_request_to_reconnect_is_followed(wire: Wire) -> None:
    """Discord restarts its gateways; nothing is missed."""
    await wire.server.gateway.ask_to_reconnect()
    async with asyncio.timeout(GUARD_SECONDS):
        await wire.server.gateway.resumed.wait()
    await wire.server.gateway.send("MESSAGE_CREATE", _event(wire, "after"))
    await wire.until(lambda: bool(wire.heard))
    assert wire.heard == ["after"]


async def test_a_session_that_discord_forgot_is_begun_anew(wire: Wire) -> None:
    """INVALID_SESSION: the client identifies itself once more and hears what is said from then on."""
    await wire.server.gateway.invalidate()
    await wire.until(lambda: len(wire.server.gateway.intents) == 2)
    await wire.server.gateway.send("MESSAGE_CREATE", _event(wire, "after"))
    await wire.until(lambda: bool(wire.heard))
    assert wire.heard == ["after"]


async def test_duplicate_and_disordered_events_do_no_harm(wire: Wire) -> None:
    """Events come twice and in any order, of messages that are gone, or were never heard of; the client lives on."""
    gateway = wire.server.gateway
    first = await gateway.send("MESSAGE_CREATE", _event(wire, "one"))
    second = await gateway.send("MESSAGE_CREATE", _event(wire, "two"))
    gone = {"id": "77", "channel_id": str(CHANNEL_ID), "guild_id": str(GUILD_ID)}
    await gateway.send("MESSAGE_DELETE", gone)
    await gateway.send("MESSAGE_UPDATE", gone | {"content": "never heard of"})
    await gateway.send_again(second, first, second)
    await gateway.send("SOMETHING_NEW", {"id": "1"})
    await gateway.send("MESSAGE_CREATE", _event(wire, "three"))
    await wire.until(lambda: "three" in wire.heard)
    assert set(wire.heard) == {"one", "two", "three"}
    await gateway.drop()
    async with asyncio.timeout(GUARD_SECONDS):
        await gateway.resumed.wait()
    ref = wire.written()
    await wire.platform.post(reply_to(ref, "We all live here."))
    assert wire.standing(ref) == ["We all live here."]


async def test_discord_out_of_reach_is_said() -> None:
    """Who supervises the connection makes another one later."""
    server = DiscordServer(DiscordState(FakeClock()))
    server.faults.add(Fault("GET", "/users/@me", 503, body={"message": "down", "code": 0}, times=5))
    async with server.running():
        with pytest.raises(PlatformUnavailable, match="could not be reached"):
            await _run(LoopbackClient())


# What it asks for, and what ends it


async def test_the_connection_asks_for_no_more_than_it_needs() -> None:
    """The intent to read messages is asked for only where the operator says so."""
    for reads_messages in (False, True):
        client = LoopbackClient(reads_messages=reads_messages)
        async with DiscordServer(DiscordState(FakeClock())).running() as server, connected(client):
            (intents,) = server.gateway.intents
        wanted = {name for name, is_set in discord.Intents._from_value(intents) if is_set}
        expected = {"guilds", "guild_messages", "guild_reactions", "auto_moderation_execution"}
        assert wanted == expected | ({"message_content"} if reads_messages else set())


async def _run(client: LoopbackClient, token: str = TOKEN) -> None:
    async with asyncio.timeout(GUARD_SECONDS):
        await client.run_until(asyncio.Event(), token)


@pytest.mark.parametrize("token", ["", "  ", "wrong"])
async def test_a_bad_token_is_a_bad_setting(token: str) -> None:
    """A person who set it up reads what to do, not a traceback."""
    async with DiscordServer(DiscordState(FakeClock())).running():
        with pytest.raises(BadSettings) as caught:
            await _run(LoopbackClient(), token)
    assert "developers/applications" in caught.value.remedy
    assert "wrong" not in str(caught.value)


async def test_a_token_that_the_gateway_refuses_is_a_bad_setting() -> None:
    """It was made anew between the login and the connection."""
    async with DiscordServer(DiscordState(FakeClock())).running() as server:
        server.gateway.expects("another")
        with pytest.raises(BadSettings):
            await _run(LoopbackClient())


async def test_a_missing_intent_names_its_switch() -> None:
    """Discord closes the connection; the remedy is a switch in its portal."""
    async with DiscordServer(DiscordState(FakeClock(), shows_content=False)).running():
        with pytest.raises(BadSettings) as caught:
            await _run(LoopbackClient(reads_messages=True))
    assert "Message Content Intent" in caught.value.remedy


async def test_a_token_that_is_revoked_stops_the_client() -> None:
    """Every further request would count against the address; the first 401 ends it all, with a clear error."""
    clock, client = FakeClock(), LoopbackClient(reads_messages=True)
    async with DiscordServer(DiscordState(clock)).running() as server, connected(client) as running:
        wire = Wire(server, client, clock)
        server.token = "revoked"
        with pytest.raises(PlatformUnavailable):
            await wire.platform.post(reply_to(wire.written(), "We all live here."))
        async with asyncio.timeout(GUARD_SECONDS):
            await asyncio.wait({running})
        assert isinstance(running.exception(), BadSettings)
        assert client.is_closed()


# What is installed on it


async def test_every_part_is_installed_once_before_events_come() -> None:
    """Installers get the client after it logged in; one that waits is waited for."""
    installed: list[str] = []

    def sync_part(client: discord.Client) -> None:
        assert client.user is not None
        installed.append("first")

    async def async_part(client: discord.Client) -> None:
        await asyncio.sleep(0)
        installed.append("ready" if client.is_ready() else "second")

    client = LoopbackClient([sync_part, async_part])
    async with DiscordServer(DiscordState(FakeClock())).running() as server, connected(client):
        await server.gateway.drop()
        async with asyncio.timeout(GUARD_SECONDS):
            await server.gateway.resumed.wait()
    assert installed == ["first", "second"]


async def test_an_error_of_an_installer_is_the_reason_why_it_ends() -> None:
    """A part that cannot be installed must not be missing silently."""

    def broken(_client: discord.Client) -> None:
        raise BadSettings("No desk.", remedy="Attach one.")

    async with DiscordServer(DiscordState(FakeClock())).running():
        with pytest.raises(AntiphonError, match=r"No desk\."):
            await _run(LoopbackClient([broken]))


async def test_a_failing_listener_leaves_no_words_in_the_logs(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    """What somebody wrote is in the error, and must not be in the log; the place is."""

    async def on_message(message: discord.Message) -> None:
        raise ValueError(message.content)

    with caplog.at_level(logging.DEBUG):
        wire.client.event(on_message)
        await wire.server.gateway.send("MESSAGE_CREATE", _event(wire, "canary words"))
        await wire.until(lambda: "ValueError" in caplog.text)
        await wire.platform.post(reply_to(wire.written("canary words"), "We all live here."))
    assert "on_message" in caplog.text
    logged = json.dumps([record.getMessage() + str(record.exc_info) for record in caplog.records])
    assert "canary" not in logged
    assert "We all live" not in logged
    assert TOKEN not in logged
