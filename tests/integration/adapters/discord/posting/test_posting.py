"""Replies that are posted over the wire: what each request says, and what Discord's answers to it come to."""

from itertools import product

import discord
import pytest

from adapters.discord.connection.error_meanings import of_send
from adapters.discord.connection.requests import CLOSED_SECONDS, FORBIDDEN_IN_A_ROW, MOST_INVALID, WINDOW_SECONDS
from adapters.discord.platform import DiscordPlatform
from core.errors import AmbiguousSend, PlatformBusy, PlatformUnavailable
from core.models import PostRef
from tests.conformance import reply_to
from tests.fakes.discord.server import DiscordServer, DiscordState, LoopbackClient, connected
from tests.fakes.discord.server.faults import Fault
from tests.fakes.discord.server.state import CHANNEL_ID, GUILD_ID, OWNER_ID
from tests.fakes.discord.wire import MESSAGES, Wire
from tests.fakes.machine.clock import FakeClock, Seconds, outlasting

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


# What a request says


async def test_a_reply_mentions_nobody_and_shows_no_preview(wire: Wire) -> None:
    """The request itself says so, whatever the text holds and whatever the client's defaults are."""
    ref = wire.written()
    reply = reply_to(ref, "@everyone: <@1002>, see below.")
    await wire.platform.post(reply)
    (body,) = wire.server.asked("POST", "/messages")
    assert body["allowed_mentions"] == {"parse": [], "replied_user": False}
    assert body["flags"] & 4
    assert (body["nonce"], body["enforce_nonce"]) == (reply.key, True)
    assert str(body["message_reference"]["message_id"]) == ref.message
    assert body["message_reference"]["fail_if_not_exists"] is True


async def test_what_discord_would_change_is_refused_before(wire: Wire) -> None:
    """What stands there must be what was approved, to the byte; an app may count an emoji twice."""
    ref = wire.written()
    for text in (" spaced", "spaced\n", "one\r\ntwo", "\U0001f680" * 1001):
        with pytest.raises(PlatformUnavailable):
            await wire.platform.post(reply_to(ref, text))
    assert wire.server.asked("POST", "/messages") == []


# What an answer comes to


async def test_a_refusal_is_certain_and_names_a_remedy(wire: Wire) -> None:
    """Nothing stands there, nothing was repeated, and somebody can do something about it."""
    for count, (name, (status, code)) in enumerate(REFUSALS.items(), start=1):
        ref = wire.written()
        wire.client.requests._refusals.clear()
        wire.fail(status, code)
        with pytest.raises(PlatformUnavailable) as caught:
            await wire.platform.post(reply_to(ref, "We all live here.", name))
        assert not isinstance(caught.value, PlatformBusy), name
        assert caught.value.remedy, name
        assert wire.standing(ref) == [], name
        assert len(wire.server.asked("POST", "/messages")) == count, name


async def test_a_server_error_is_ambiguous_and_not_repeated(wire: Wire) -> None:
    """The reply may stand there; one request went out, although discord.py repeats some of these by itself."""
    for status, arrives in product((500, 502, 503, 504, 524), (True, False)):
        ref, asked = wire.written(), len(wire.server.asked("POST", "/messages"))
        wire.fail(status, arrives=arrives)
        reply = reply_to(ref, "We all live here.", f"{status} {arrives}")
        with pytest.raises(AmbiguousSend):
            await wire.platform.post(reply)
        assert len(wire.server.asked("POST", "/messages")) == asked + 1, status
        assert (await wire.platform.find_reply(reply) is not None) is arrives, status
        await wire.platform.post(reply)
        assert wire.standing(ref) == ["We all live here."], status


async def test_a_rate_limit_without_a_word_of_discord_is_busy(wire: Wire) -> None:
    """Who stands before Discord answers with a page of its own, and the time in a header."""
    ref = wire.written()
    headers = {"Retry-After": "12", "Content-Type": "text/html"}
    wire.server.faults.add(Fault("POST", MESSAGES, 429, body="<html>", headers=headers))
    with pytest.raises(PlatformBusy) as caught:
        await wire.platform.post(reply_to(ref, "We all live here."))
    assert caught.value.retry_after_seconds == 12
    assert wire.standing(ref) == []


async def test_the_account_is_named_also_while_the_server_is_in_an_outage(wire: Wire) -> None:
    """discord.py knows no member of it then, not even the bot."""
    ref, guild, bot = wire.written(), wire.client.get_guild(GUILD_ID), wire.client.user
    assert guild is not None and bot is not None
    guild._remove_member(guild.me)
    assert (await wire.platform.in_public(ref, "We all live here.")).account == f"{bot.display_name} ({bot})"


async def test_nobody_there_is_busy_and_certain() -> None:
    """Where no connection was made, nothing was posted."""
    client = LoopbackClient(reads_messages=True)
    platform = DiscordPlatform(client)
    reply = reply_to(PostRef("discord", str(GUILD_ID), str(CHANNEL_ID), "1"), "We all live here.")
    with pytest.raises(PlatformBusy):
        await platform.post(reply)
    async with DiscordServer(DiscordState(FakeClock())).running() as server, connected(client):
        await server.stop()
        with pytest.raises(PlatformBusy):
            await platform.post(reply)
        with pytest.raises(PlatformUnavailable):
            await platform.read(reply.in_reply_to)
    with pytest.raises(PlatformBusy):
        await platform.post(reply)


async def test_a_send_that_never_ends_is_ambiguous(wire: Wire) -> None:
    """A call has its time; what came of it then is looked up."""
    ref = wire.written()
    wire.server.faults.add(Fault("POST", MESSAGES, status=Fault.SILENCE, arrives=True))
    reply = reply_to(ref, "We all live here.")
    with pytest.raises(AmbiguousSend):
        await outlasting(wire.platform.post(reply), 13, lambda: wire.standing(ref))
    assert await wire.platform.find_reply(reply) is not None


def test_an_unknown_error_is_never_called_certain() -> None:
    """Whatever nobody thought of may have arrived."""
    assert isinstance(of_send(OSError("line")), AmbiguousSend)
    assert isinstance(of_send(discord.DiscordException("new")), AmbiguousSend)
    assert isinstance(of_send(OSError("line"), is_sent=False), PlatformBusy)


async def test_other_words_than_approved_are_never_called_posted(wire: Wire) -> None:
    """Should Discord answer with a message of other words, a person must look at it."""
    ref = wire.written()
    await wire.platform.post(reply_to(ref, "We all live here."))
    with pytest.raises(AmbiguousSend):
        await wire.platform.post(reply_to(ref, "Other words under the same key."))


async def test_a_deleted_reply_is_not_posted_again_under_its_key(wire: Wire) -> None:
    """A moderator deleted it a minute after; sending it again says so instead of posting a second one."""
    ref = wire.written()
    posted = await wire.platform.post(reply_to(ref, "We all live here."))
    wire.state.delete(int(posted.ref.message))
    with pytest.raises(PlatformUnavailable):
        await wire.platform.post(reply_to(ref, "We all live here."))
    assert wire.standing(ref) == []


# Refusals that pile up


async def test_a_channel_that_refuses_is_left_alone(wire: Wire) -> None:
    """Several refusals in a row, and nothing is asked for a while; other channels are served, then this one again."""
    ticks = Seconds()
    wire.client.requests._ticks = ticks
    ref = wire.written()
    wire.state.forbidden.add(CHANNEL_ID)
    for _ in range(FORBIDDEN_IN_A_ROW + 3):
        with pytest.raises(PlatformUnavailable) as caught:
            await wire.platform.post(reply_to(ref, "We all live here."))
        assert not isinstance(caught.value, PlatformBusy)
    assert len(wire.server.asked("POST", "/messages")) == FORBIDDEN_IN_A_ROW
    other = wire.state.add_channel("elsewhere")
    message = wire.state.write(OWNER_ID, other, "Hello.")
    elsewhere = PostRef("discord", str(GUILD_ID), str(other), message["id"])
    await wire.platform.post(reply_to(elsewhere, "Hello to you.", "approval-2"))
    wire.state.forbidden.clear()
    ticks.now += CLOSED_SECONDS
    await wire.platform.post(reply_to(ref, "We all live here."))
    assert wire.standing(ref) == ["We all live here."]


async def test_refused_requests_are_counted_and_stop_in_time(wire: Wire) -> None:
    """Discord bans an address after 10,000 of them in ten minutes; Antiphon stops far before, and goes on later."""
    ticks = Seconds()
    wire.client.requests._ticks = ticks
    wire.client.requests._invalid.extend([ticks.now] * (MOST_INVALID - 1))
    ref = wire.written()
    wire.server.be_busy(1.0)
    for _ in range(2):
        with pytest.raises(PlatformBusy) as caught:
            await wire.platform.post(reply_to(ref, "We all live here."))
    assert caught.value.retry_after_seconds == WINDOW_SECONDS
    assert len(wire.server.asked("POST", "/messages")) == 1
    wire.clock.advance(1.0)
    ticks.now += WINDOW_SECONDS
    await wire.platform.post(reply_to(ref, "We all live here."))
