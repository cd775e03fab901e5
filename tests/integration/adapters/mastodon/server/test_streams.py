"""What the fake instance tells in its streams, and how they end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from tests.fakes.mastodon.server.server import MastodonServer

_PREFIX = "/api/v1/streaming"


class _Heard:
    """What a stream told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []
        self.heartbeats = 0
        self.ended = False

    def names(self) -> list[str]:
        return [name for name, _ in self.events]


@asynccontextmanager
async def _listening(server: MastodonServer, path: str, token: str | None = None) -> AsyncIterator[_Heard]:
    """By Server-Sent Events."""
    heard = _Heard()

    async def listen() -> None:
        headers = {"Authorization": f"Bearer {server.bot.token if token is None else token}"}
        async with aiohttp.ClientSession(headers=headers) as session, session.get(f"{server.url}{path}") as answer:
            name = ""
            async for raw in answer.content:
                line = raw.decode().strip()
                heard.heartbeats += line.startswith(":")
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    data = line.removeprefix("data: ")
                    heard.events.append((name, json.loads(data) if data.startswith("{") else data))
        heard.ended = True

    task = asyncio.create_task(listen())
    await server.until(lambda: heard.heartbeats or task.done())
    try:
        yield heard
    finally:
        task.cancel()


async def test_a_stream_tells_of_mentions_as_they_come(server: MastodonServer) -> None:
    ada = server.town.add_account("ada")
    async with _listening(server, f"{_PREFIX}/user") as heard:
        post = await server.town.mention(ada, server.bot, "hello")
        await server.until(lambda: heard.events)
    (name, told), *_ = heard.events
    assert name == "notification"
    assert (told["type"], told["status"]["id"]) == ("mention", post["id"])
    assert "quote_approval" in told["status"]
    await server.until(lambda: server.streams.count == 0)


async def test_a_hashtag_is_told_with_its_edits_and_its_end(server: MastodonServer) -> None:
    ada, ben = server.town.add_account("ada"), server.town.add_account("ben", "far.example")
    async with _listening(server, f"{_PREFIX}/hashtag?tag=talk") as heard:
        await server.town.post(ada, "unlisted #talk", visibility="unlisted")
        await server.town.post(ada, "private #talk", visibility="private")
        await server.town.post(ada, "something else")
        post = await server.town.post(ben, "hello #talk")
        await server.town.edit(ben, post, "hello all #talk")
        await server.town.delete(ben, post)
        await server.until(lambda: "delete" in heard.names())
    assert heard.names() == ["update", "status.update", "delete"]
    assert heard.events[2][1] == post["id"]


async def test_a_closed_half_of_a_feed_is_not_told(server: MastodonServer) -> None:
    ada, ben = server.town.add_account("ada"), server.town.add_account("ben", "far.example")
    server.settings.timelines_access["live_feeds"]["local"] = "disabled"
    async with _listening(server, f"{_PREFIX}/public") as heard:
        await server.town.post(ada, "here")
        await server.town.post(ben, "there")
        await server.until(lambda: heard.events)
    assert [told["account"]["acct"] for _, told in heard.events] == ["ben@far.example"]


async def test_a_direct_post_is_told_to_who_it_is_for(server: MastodonServer) -> None:
    ada, eve = map(server.town.add_account, ("ada", "eve"))
    async with (
        _listening(server, f"{_PREFIX}/direct") as heard,
        _listening(server, f"{_PREFIX}/direct", eve.token) as eves,
    ):
        await server.town.direct(ada, "hello", server.bot)
        await server.until(lambda: heard.events)
        await server.town.direct(ada, "hello", eve)
        await server.until(lambda: eves.events)
    assert (heard.names(), eves.names()) == (["conversation"], ["conversation"])
    assert eves.events[0][1]["last_status"]["mentions"][0]["acct"] == "eve"


async def test_streams_end_and_may_be_opened_again(server: MastodonServer) -> None:
    async with _listening(server, f"{_PREFIX}/user") as heard:
        server.streams.end()
        await server.until(lambda: heard.ended)
    async with _listening(server, f"{_PREFIX}/user"):
        assert server.streams.count == 1


async def test_a_dead_stream_tells_nothing_and_stays_open(server: MastodonServer) -> None:
    ada = server.town.add_account("ada")
    async with _listening(server, f"{_PREFIX}/user") as heard:
        server.streams.are_dead = True
        before = heard.heartbeats
        await server.town.mention(ada, server.bot, "hello")
        async with _listening(server, f"{_PREFIX}/user") as second:
            await asyncio.sleep(0.5)
        assert (heard.events, heard.ended, second.events) == ([], False, [])
        assert heard.heartbeats <= before + 1
        server.streams.are_dead = False
        await server.until(lambda: heard.heartbeats > before + 1)


@pytest.mark.parametrize("taken", ["sse", "websocket"])
async def test_an_operator_may_take_streams_away(server: MastodonServer, taken: str) -> None:
    server.streams.offered.discard(taken)
    headers = {"Authorization": f"Bearer {server.bot.token}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.get(f"{server.url}{_PREFIX}/user") as answer:
            assert answer.status == (404 if taken == "sse" else 200)
        if taken == "websocket":
            with pytest.raises(aiohttp.WSServerHandshakeError, match="404"):
                await session.ws_connect(f"{server.url}{_PREFIX}?stream=user")
        else:
            async with session.ws_connect(f"{server.url}{_PREFIX}?stream=user"):
                await server.until(lambda: server.streams.count == 1)
        async with session.get(f"{server.url}/api/v2/instance") as answer:
            about = await answer.json()
    assert about["configuration"]["urls"]["streaming"] == server.url.replace("http", "ws")


async def test_the_streams_may_be_elsewhere_or_nowhere(server: MastodonServer) -> None:
    server.settings.streaming_url = "wss://streams.example"
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{server.url}/api/v2/instance") as answer:
            assert (await answer.json())["configuration"]["urls"]["streaming"] == "wss://streams.example"
        async with session.get(f"{server.url}/api/v1/instance") as answer:
            assert (await answer.json())["urls"]["streaming_api"] == "wss://streams.example"
        server.streams.offered.clear()
        async with session.get(f"{server.url}/api/v2/instance") as answer:
            assert (await answer.json())["configuration"]["urls"]["streaming"] is None
    server.errors.clear()  # the description knows no instance without streams


async def test_several_streams_go_over_one_websocket(server: MastodonServer) -> None:
    ada = server.town.add_account("ada")
    headers = {"Authorization": f"Bearer {server.bot.token}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.ws_connect(f"{server.url}{_PREFIX}") as socket,
    ):
        await socket.send_json({"type": "subscribe", "stream": "user"})
        await socket.send_json({"type": "subscribe", "stream": "hashtag", "tag": "talk"})
        await server.until(lambda: server.streams.count == 2)
        await server.town.mention(ada, server.bot, "hello")
        told = await socket.receive_json()
        assert (told["stream"], told["event"]) == (["user"], "notification")
        assert json.loads(told["payload"])["type"] == "mention"
        await server.town.post(ada, "hello #talk")
        assert (await socket.receive_json())["stream"] == ["hashtag", "talk"]
        await socket.send_json({"type": "unsubscribe", "stream": "user"})
        await server.until(lambda: server.streams.count == 1)
        await socket.send_json({"type": "subscribe", "stream": "no such stream"})
        assert (await socket.receive_json())["status"] == 404
    await server.until(lambda: server.streams.count == 0)


@pytest.mark.parametrize(("token", "status"), [("", 401), ("another", 401)])
async def test_a_stream_of_ones_own_needs_a_token(server: MastodonServer, token: str, status: int) -> None:
    async with aiohttp.ClientSession() as session:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with session.get(f"{server.url}{_PREFIX}/user", headers=headers) as answer:
            assert answer.status == status
        with pytest.raises(aiohttp.WSServerHandshakeError, match=str(status)):
            await session.ws_connect(f"{server.url}{_PREFIX}?stream=user&access_token={token}")
