"""Replies that are posted over the wire: what each request says, and what Discord's answers to it come to."""

from __future__ import annotations

from collections.abc import AsyncIterator

import discord
import pytest

from adapters.discord import DiscordOptions, DiscordPlatform
from adapters.discord.connection.error_meanings import of_send
from adapters.discord.connection.requests import CLOSED_SECONDS, FORBIDDEN_IN_A_ROW, MOST_INVALID, WINDOW_SECONDS
from core.errors import AmbiguousSend, PlatformBusy, PlatformUnavailable
from core.models import PostRef
from tests.conformance import reply_to
from tests.fakes.discord.server import DiscordServer, LoopbackClient, World, connected
from tests.fakes.discord.server.faults import Fault
from tests.fakes.discord.server.world import CHANNEL_ID, GUILD_ID, OWNER_ID
from tests.fakes.discord.wire import MESSAGES, Scene, connected_scene
from tests.fakes.machine.clock import FakeClock, Seconds

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


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    """A platform, connected."""
    async with connected_scene() as made:
        yield made


# What a request says


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


# What an answer comes to


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
    scene.server.faults.add(Fault("POST", MESSAGES, 429, body="<html>", headers=headers))
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
    scene.server.faults.add(Fault("POST", MESSAGES, status=Fault.SILENCE, arrives=True))
    reply = reply_to(ref, "We all live here.")
    with pytest.raises(AmbiguousSend):
        await platform.post(reply)
    assert await platform.find_reply(reply) is not None


def test_an_unknown_error_is_never_called_certain() -> None:
    """Whatever nobody thought of may have arrived."""
    assert isinstance(of_send(OSError("line")), AmbiguousSend)
    assert isinstance(of_send(discord.DiscordException("new")), AmbiguousSend)
    assert isinstance(of_send(OSError("line"), is_sent=False), PlatformBusy)


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


# Refusals that pile up


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
