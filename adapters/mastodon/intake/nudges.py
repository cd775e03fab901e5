"""The stream of the instance: it says that there is something to ask for, and nothing that it says is taken.

Owns how a stream is opened, watched and opened anew: by WebSocket where the instance has one, else by server-sent
events, else not at all. The library's threads read it. Must never be needed: notifications are asked for in any case.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

import requests
from mastodon import Mastodon, StreamListener
from mastodon.errors import MastodonError

from adapters.mastodon.connection.client import MastodonOptions, session_for

_LOG = logging.getLogger(__name__)
LOOK_SECONDS: Final = 5.0
DEAF_SECONDS: Final = 20.0
"""So long may a stream be without a connection before it is given up."""
_SILENT_SECONDS: Final = 90
"""A stream that says nothing for so long is dead: instances give a sign of life every 30 seconds or more often."""
_FIRST_PAUSE_SECONDS: Final = 5.0
_LONGEST_PAUSE_SECONDS: Final = 900.0
_FAULTS: Final = (MastodonError, OSError, NotImplementedError)


class Stream(Protocol):
    """An open stream, as the library hands it out."""

    def is_alive(self) -> bool:
        """Whether its thread runs."""
        ...

    def is_receiving(self) -> bool:
        """Whether it is connected, too."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class Ears(StreamListener):
    """Says that something came; it is called in a thread of the library's.

    Args:
        nudge: may be called in any thread.
    """

    def __init__(self, nudge: Callable[[], None]) -> None:
        self._nudge = nudge
        self.let_go: Callable[[], None] = lambda: None
        """Is called when a connection was lost."""

    def on_abort(self, err: Any) -> None:
        """The connection was lost, or ended by the instance."""
        self.let_go()

    def on_any_event(self, name: str, data: Any = None, for_stream: Any = None) -> None:
        """Something came, whatever it is."""
        self._nudge()

    def handle_stream(self, response: Any) -> None:
        """Read events until the connection ends, for whatever reason: it is opened anew, and not at once."""
        with suppress(MastodonError, AttributeError, OSError):
            super().handle_stream(response)  # type: ignore[no-untyped-call]


Open = Callable[[MastodonOptions, Ears], Stream]
"""Opens a stream, in the thread that calls it.

Raises:
    MastodonError, OSError: the instance has none of this kind, or cannot be reached.
"""


@dataclass(frozen=True, slots=True)
class _OverSession:
    """A stream with the session of the library that it was opened by, whose connections end with it."""

    handle: Stream
    session: requests.Session

    def is_alive(self) -> bool:
        return self.handle.is_alive()

    def is_receiving(self) -> bool:
        return self.handle.is_receiving()

    def close(self) -> None:
        with closing(self.session):
            self.handle.close()


class _WebSocket(_OverSession):
    """A WebSocket, whose socket is closed also where the instance ended it, which the library leaves open."""

    def close(self) -> None:
        connection = getattr(self.handle, "connection", None)
        super().close()
        _shut(connection)


class _Events(_OverSession):
    """A stream of events, whose thread is waked first: closing an answer waits for who reads it."""

    def close(self) -> None:
        answer = getattr(self.handle, "connection", None)
        if answer is not None:
            with suppress(AttributeError, ValueError, RuntimeError, OSError):  # it has ended already
                answer.raw.shutdown()
        super().close()


def by_websocket(options: MastodonOptions, ears: Ears) -> Stream:
    """A stream by WebSocket, which GoToSocial has only; raises where there is none."""
    with ExitStack() as unused:
        api = _session(options, unused)
        handle = api.stream_open_websocket(ears, timeout=_SILENT_SECONDS, reconnect_async=True)  # type: ignore[no-untyped-call]
        unused.callback(handle.close)
        ears.let_go = lambda: _shut(handle.connection)
        api.stream_user_notifications(ears, websocket_handle=handle)
        unused.pop_all()
    return _WebSocket(handle, api.session)


def by_events(options: MastodonOptions, ears: Ears) -> Stream:
    """A stream by server-sent events; where there is none, it never receives."""
    with ExitStack() as unused:
        api = _session(options, unused)
        handle = api.stream_user_notifications(ears, run_async=True, timeout=_SILENT_SECONDS)
        unused.pop_all()
    return _Events(handle, api.session)


def _shut(connection: Any) -> None:
    if connection is not None:
        connection.shutdown()


def _session(options: MastodonOptions, unused: ExitStack) -> Mastodon:
    """A session of the library, which is closed where no stream comes of it, whatever the fault."""
    api = session_for(options.url, options.token)
    unused.callback(api.session.close)
    return api


class Nudges:
    """Keeps a stream open, and nudges with what comes.

    Args:
        nudge: is called in the running loop.
        ways: how a stream may be opened, the preferred first.
        look_seconds: how often is looked whether it still stands.
        deaf_seconds: how long it may be without a connection.
        pause_seconds: after all ways failed; twice as long after each further time.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        options: MastodonOptions,
        nudge: Callable[[], None],
        *,
        ways: tuple[Open, ...] = (by_websocket, by_events),
        look_seconds: float = LOOK_SECONDS,
        deaf_seconds: float = DEAF_SECONDS,
        pause_seconds: float = _FIRST_PAUSE_SECONDS,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._options, self._nudge, self._ways, self._sleep = options, nudge, ways, sleep
        self._look_seconds, self._deaf_seconds, self._pause_seconds = look_seconds, deaf_seconds, pause_seconds
        self.opened = 0
        """How many streams were heard so far."""

    async def run(self) -> None:
        """Keep a stream open as well as the instance lets us, until cancelled; raises nothing."""
        pause, was_told = self._pause_seconds, False
        while True:
            if await self._listen_in_any_way():
                pause, was_told = self._pause_seconds, False
            elif not was_told:
                was_told = True
                _LOG.info("Mastodon offers no stream: it is only asked for notifications now and then.")
            await self._sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    async def _listen_in_any_way(self) -> bool:
        """Listen to a stream until it is dead; whether there was one."""
        for way in self._ways:
            before = self.opened
            await self._listen(way)
            if self.opened > before:
                return True
        return False

    async def _listen(self, way: Open) -> None:
        loop = asyncio.get_running_loop()

        def nudge() -> None:
            with suppress(RuntimeError):  # the loop has ended, and the library's thread has not heard of it
                loop.call_soon_threadsafe(self._nudge)

        try:
            stream = await _opened(partial(way, self._options, Ears(nudge)))
        except Exception as err:  # whatever it is, we ask for notifications without a stream
            _LOG.debug("A stream of Mastodon could not be opened: %s", type(err).__name__)
            return
        try:
            await self._watch(stream)
        finally:
            _in_thread(partial(_end, stream))

    async def _watch(self, stream: Stream) -> None:
        """Look again and again whether a stream receives, until it has not for too long."""
        now = asyncio.get_running_loop().time
        until, was_open = now() + self._deaf_seconds, False
        while now() < until and stream.is_alive():
            await asyncio.sleep(self._look_seconds)
            if stream.is_receiving():
                self.opened += not was_open
                until, was_open = now() + self._deaf_seconds, True


async def _opened(way: Callable[[], Stream]) -> Stream:
    """Open a stream in a thread that nobody waits for at the end, however long it takes to connect."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Stream] = loop.create_future()

    def settle(stream: Stream | None, fault: Exception | None) -> None:
        if found.cancelled():
            if stream is not None:
                _in_thread(partial(_end, stream))
        elif fault is not None:
            found.set_exception(fault)
        elif stream is not None:
            found.set_result(stream)

    def work() -> None:
        stream, fault = None, None
        try:
            stream = way()
        except Exception as err:
            fault = err
        try:
            loop.call_soon_threadsafe(settle, stream, fault)
        except RuntimeError:  # the loop has ended
            if stream is not None:
                _end(stream)

    _in_thread(work)
    try:
        return await found
    except asyncio.CancelledError:
        if not found.cancelled() and found.exception() is None:  # it was opened in the moment of the end
            _in_thread(partial(_end, found.result()))
        raise


def _in_thread(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="mastodon stream", daemon=True).start()


def _end(stream: Stream) -> None:
    with suppress(*_FAULTS):
        stream.close()
