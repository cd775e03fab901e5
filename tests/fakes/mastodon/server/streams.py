"""The streams of the fake instance: Server-Sent Events and WebSockets.

Owns the open streams. They tell what happens to those who may see it; delivery is never promised.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import WSMsgType, web
from mastodon_mock.streaming import Event, direct_channel, hashtag_channel, user_channel

from tests.fakes.mastodon.server.asked import Asked
from tests.fakes.mastodon.server.kinds import Kind
from tests.fakes.mastodon.server.mock.home import Home, Viewer
from tests.fakes.mastodon.server.mock.shown import Shown
from tests.fakes.mastodon.server.refusing.refusals import NO_TOKEN, NOT_FOUND, Refused
from tests.fakes.mastodon.server.refusing.rules import feed_of
from tests.fakes.mastodon.server.settings import Settings

PREFIX: Final = "/api/v1/streaming"
_HEARTBEAT_SECONDS: Final = 0.2  # 15 in the real one; a library may close a stream only after the first
_OF_SOMEBODY: Final = ("user", "user:notification", "direct")
_HALVES: Final = {"public": ("local", "remote"), "public:local": ("local",), "public:remote": ("remote",)}


@dataclass(eq=False)
class _Stream:
    """One stream that somebody listens to."""

    name: str
    tag: str
    viewer: Viewer
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def parts(self) -> list[str]:
        """Its name in frames of WebSockets."""
        return [self.name, self.tag] if self.tag else [self.name]

    def channel(self) -> str:
        """Where mastodon-mock tells it."""
        account = self.viewer.account
        if self.name in _OF_SOMEBODY:
            if account is None:
                raise Refused(401, NO_TOKEN)
            return direct_channel(account) if self.name == "direct" else user_channel(account)
        if self.name.startswith("hashtag"):
            return hashtag_channel(self.tag, local=self.name.endswith(":local"))
        if self.name in _HALVES:
            return self.name
        raise Refused(404, NOT_FOUND)


class Streams:
    """Who listens.

    Attributes:
        offered: the ways that streams are offered in: ``sse``, ``websocket``; an operator may take them away.
        are_dead: whether streams stay open and tell nothing, not even that they live.
    """

    def __init__(self, home: Home, kind: Kind, settings: Settings, shown: Shown) -> None:
        self.offered = set(kind.streams)
        self.are_dead = False
        self._home, self._settings, self._shown = home, settings, shown
        self._open: set[_Stream] = set()

    @property
    def count(self) -> int:
        """How many are open."""
        return len(self._open)

    def end(self) -> None:
        """Close those that are open; they may be opened again."""
        for stream in self._open:
            stream.ended.set()

    async def serve(self, request: web.Request, asked: Asked, viewer: Viewer | None) -> web.StreamResponse:
        """Tell what happens until somebody has enough of it.

        Raises:
            Refused: there is no such stream, or it is not for them.
        """
        if asked.path == f"{PREFIX}/health":
            return web.Response(text="OK")
        is_websocket = request.headers.get("Upgrade", "").lower() == "websocket"
        if ("websocket" if is_websocket else "sse") not in self.offered:
            raise Refused(404, NOT_FOUND)
        if asked.token and viewer is None:
            raise Refused(401, NO_TOKEN)
        viewer = viewer or Viewer()
        if is_websocket:
            return await self._websocket(request, asked, viewer)
        rest = asked.path.removeprefix(PREFIX).strip("/").replace("/", ":")
        return await self._events(request, _Stream(rest or asked.query.get("stream", ""), _tag(asked), viewer))

    async def _events(self, request: web.Request, stream: _Stream) -> web.StreamResponse:
        stream.channel()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        async with contextlib.aclosing(self._told(stream)) as told:
            await response.prepare(request)
            async for event in told:
                if event is None:
                    await response.write(b":thump\n")
                else:
                    name, payload = event
                    await response.write(f"event: {name}\ndata: {payload}\n\n".encode())
        return response

    async def _websocket(self, request: web.Request, asked: Asked, viewer: Viewer) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        listening: dict[tuple[str, ...], asyncio.Task[None]] = {}

        def listen(stream: _Stream) -> None:
            stream.channel()
            if tuple(stream.parts) not in listening:
                listening[tuple(stream.parts)] = asyncio.create_task(self._frames(socket, stream))

        first = _Stream(asked.query.get("stream", ""), _tag(asked), viewer)
        if first.name:
            first.channel()
        await socket.prepare(request)
        if first.name:
            listen(first)
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    wanted = json.loads(message.data)
                    stream = _Stream(wanted["stream"], wanted.get("tag", ""), viewer)
                    if wanted["type"] == "unsubscribe":
                        _stop(listening.pop(tuple(stream.parts), None))
                        continue
                    try:
                        listen(stream)
                    except Refused as err:
                        await socket.send_json(err.body | {"status": err.code})
        finally:
            for task in listening.values():
                _stop(task)
        return socket

    async def _frames(self, socket: web.WebSocketResponse, stream: _Stream) -> None:
        async with contextlib.aclosing(self._told(stream)) as told:
            async for event in told:
                if event is not None:
                    name, payload = event
                    await socket.send_json({"stream": stream.parts, "event": name, "payload": payload})
        await socket.close()

    async def _told(self, stream: _Stream) -> AsyncGenerator[tuple[str, str] | None, None]:
        """What a stream tells, as name and text; ``None`` at first, and where nothing happened for a while."""
        self._open.add(stream)
        ended = asyncio.create_task(stream.ended.wait())
        try:
            with self._home.listening(stream.channel()) as queue:
                yield None
                while not stream.ended.is_set():
                    got = asyncio.create_task(queue.get())
                    await asyncio.wait({got, ended}, timeout=_HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                    event = got.result() if got.done() else None
                    _stop(got)
                    if not self.are_dead and (event is None or self._is_for(stream, event)):
                        yield None if event is None else (event.name.replace("_", "."), self._text(event.payload))
        finally:
            _stop(ended)
            self._open.discard(stream)

    def _is_for(self, stream: _Stream, event: Event) -> bool:
        if stream.name == "user:notification":
            return event.name == "notification"
        if stream.name in _OF_SOMEBODY or not isinstance(event.payload, dict):
            return True
        feed = feed_of(f"{PREFIX}/{stream.name}")
        half = "remote" if "@" in event.payload["account"]["acct"] else "local"
        is_open = feed is None or self._settings.is_open(feed, half, somebody=stream.viewer.account is not None)
        return event.payload["visibility"] == "public" and is_open

    def _text(self, payload: Any) -> str:
        if isinstance(payload, str):
            return str(self._shown.event({"id": payload})["id"])
        return json.dumps(self._shown.event(payload))


def _tag(asked: Asked) -> str:
    return str(asked.query.get("tag") or asked.form.get("tag") or "")


def _stop(task: asyncio.Task[Any] | None) -> None:
    if task is not None:
        task.cancel()
