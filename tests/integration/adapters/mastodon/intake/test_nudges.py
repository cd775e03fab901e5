"""The stream: it says that there is something to ask for, in whichever way the instance offers it, or not at all."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from adapters.mastodon.connection.client import MastodonOptions
from adapters.mastodon.intake.nudges import Nudges
from bot.serving.supervision import cancelled
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.town import Person

BOTH = {"sse", "websocket"}


class Nudged:
    """What the stream of one account nudged."""

    def __init__(self, server: MastodonServer) -> None:
        self.count = 0
        self.pauses: list[float] = []
        options = MastodonOptions(server.url, server.bot.token)
        self.nudges = Nudges(options, self._nudge, look_seconds=0.05, deaf_seconds=2.0, sleep=self._sleep)

    def _nudge(self) -> None:
        self.count += 1

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await asyncio.sleep(0.01)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Listen while the block runs."""
        task = asyncio.create_task(self.nudges.run())
        try:
            yield
            assert not task.done()
        finally:
            await cancelled([task])


@pytest.fixture
def nudged(server: MastodonServer) -> Nudged:
    return Nudged(server)


@pytest.fixture
def ada(server: MastodonServer) -> Person:
    return server.town.add_account("ada")


def _ways(server: MastodonServer) -> list[str]:
    """How streams were asked for, in order."""
    return [asked.path.removeprefix("/api/v1/") for asked in server.asked("GET", "/api/v1/streaming**")]


@pytest.mark.parametrize("offered", [BOTH, {"websocket"}, {"sse"}], ids=["both", "websocket", "events"])
async def test_a_mention_nudges(server: MastodonServer, nudged: Nudged, ada: Person, offered: set[str]) -> None:
    server.streams.offered = offered
    async with nudged.running():
        await server.until(lambda: server.streams.count == 1 and nudged.nudges.opened == 1)
        before = nudged.count
        await server.town.mention(ada, server.bot, "one")
        await server.until(lambda: nudged.count > before)
    await server.until(lambda: server.streams.count == 0)
    assert _ways(server)[0] == "streaming"
    assert (_ways(server)[-1] == "streaming/user/notification") is (offered == {"sse"})


async def test_gotosocial_has_websockets_alone(gotosocial: MastodonServer) -> None:
    nudged, ada = Nudged(gotosocial), gotosocial.town.add_account("ada")
    async with nudged.running():
        await gotosocial.until(lambda: gotosocial.streams.count == 1 and nudged.nudges.opened == 1)
        await gotosocial.town.mention(ada, gotosocial.bot, "one")
        await gotosocial.until(lambda: nudged.count)


async def test_streams_may_be_on_another_host(server: MastodonServer, ada: Person) -> None:
    """As large instances have them."""
    async with MastodonServer(domain="streams.example").running() as other:
        other.stream_for(server)
        server.settings.streaming_url = other.url.replace("http", "ws", 1)
        nudged = Nudged(server)
        async with nudged.running():
            await server.until(lambda: nudged.nudges.opened == 1)
            await server.town.mention(ada, server.bot, "one")
            await server.until(lambda: nudged.count)
        assert _ways(other) and not _ways(server)


@pytest.mark.parametrize("offered", [{"websocket"}, {"sse"}], ids=["websocket", "events"])
async def test_a_stream_that_ends_is_opened_again(
    server: MastodonServer, nudged: Nudged, ada: Person, offered: set[str]
) -> None:
    server.streams.offered = offered
    async with nudged.running():
        await server.until(lambda: server.streams.count == 1 and nudged.nudges.opened == 1)
        server.streams.end()
        await server.until(lambda: server.streams.count == 0)
        await server.until(lambda: server.streams.count == 1)
        before = nudged.count
        await server.town.mention(ada, server.bot, "one")
        await server.until(lambda: nudged.count > before)


async def test_a_connection_that_is_lost_is_made_again(server: MastodonServer, nudged: Nudged, ada: Person) -> None:
    async with nudged.running():
        await server.until(lambda: server.streams.count == 1 and nudged.nudges.opened == 1)
        server.refuse()
        await server.until(lambda: server.streams.count == 0)
        await server.accept()
        await server.until(lambda: server.streams.count == 1)
        before = nudged.count
        await server.town.mention(ada, server.bot, "one")
        await server.until(lambda: nudged.count > before)


async def test_without_any_stream_it_rests_longer_and_longer(
    server: MastodonServer, nudged: Nudged, caplog: pytest.LogCaptureFixture
) -> None:
    """And says so once."""
    caplog.set_level(logging.INFO)
    server.fault("/api/v1/streaming**", "404", count=None)
    nudged.nudges._deaf_seconds = 0.2
    async with nudged.running():
        await server.until(lambda: len(nudged.pauses) >= 3)
    assert nudged.pauses[:3] == [5, 10, 20]
    assert nudged.nudges.opened == 0 and nudged.count == 0
    assert caplog.text.count("Mastodon offers no stream") == 1


async def test_what_is_no_stream_is_not_asked_for_in_a_hurry(server: MastodonServer) -> None:
    """As a page that a misled proxy answers with."""
    asked: list[str] = []

    async def page(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(text="<html>Welcome</html>\n\n", content_type="text/html")

    app = web.Application()
    app.router.add_get("/{path:.*}", page)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.settings.streaming_url = f"ws://127.0.0.1:{runner.addresses[0][1]}"
    nudged = Nudged(server)
    nudged.nudges._deaf_seconds = 0.3
    async with nudged.running():
        await server.until(lambda: len(nudged.pauses) >= 2)
    await runner.cleanup()
    assert 2 <= asked.count("/api/v1/streaming/user/notification") <= len(nudged.pauses) + 1
    assert nudged.count == 0


class Late:
    """A way to a stream that goes on only when it is let; ``ended`` once the stream was."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.begun, self.ended, self.go_on = asyncio.Event(), asyncio.Event(), threading.Event()

    def __call__(self, *_: object) -> Late:
        self._loop.call_soon_threadsafe(self.begun.set)
        self.go_on.wait(10)
        return self

    def is_alive(self) -> bool:
        return True

    def is_receiving(self) -> bool:
        return True

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self.ended.set)


@pytest.mark.parametrize("is_open", [False, True], ids=["connects", "was opened"])
async def test_a_stream_that_is_not_listened_to_at_the_end_is_ended(server: MastodonServer, is_open: bool) -> None:
    """Nobody waits for one that still connects, nor hears of one that was opened in the moment of the end."""
    late = Late()
    task = asyncio.create_task(Nudges(MastodonOptions(server.url, "x"), lambda: None, ways=(late,)).run())
    await late.begun.wait()
    if is_open:
        late.go_on.set()
        for thread in [each for each in threading.enumerate() if each.name == "mastodon stream"]:
            thread.join()  # it has told the loop, which is busy here
        asyncio.get_running_loop().call_soon(task.cancel)
        await asyncio.wait([task])
    await cancelled([task])
    late.go_on.set()
    async with asyncio.timeout(10):
        await late.ended.wait()
