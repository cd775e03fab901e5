"""The background process that has the models, started by a command (``asking``).

Owns its end: after some minutes without a question, when it is asked under other settings, when the models cannot be
loaded, or at SIGTERM. Only one of a user lives at a time.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import psutil
from filelock import FileLock, Timeout

from bot.cli.drafting.warm.place import (
    Alive,
    Ask,
    AskStanding,
    Done,
    Failed,
    Other,
    Standing,
    key_of,
    lock_of,
    own_folder,
    put,
    require_same_user,
    socket_of,
    take,
)
from bot.compose.settings.loading import load_settings
from bot.compose.settings.settings import Settings
from core.engine import Engine
from core.errors import AntiphonError
from core.models import Suggestion
from core.ports import EvidenceQuery, EvidenceSource, Found
from core.request import Request

_BEAT_SECONDS: Final = 0.5
_LOCK_SECONDS: Final = 5.0
OnPreparing = Callable[[str, int, int], None]
OnKnowledge = Callable[[EvidenceSource], Awaitable[None]]
Opening = Callable[[OnPreparing, OnKnowledge], AbstractAsyncContextManager[Engine]]


class WarmModels:
    """An engine behind a socket, loaded once.

    Args:
        key: what the engine depends on; who asks under another one is not answered.
        idle_seconds: without a question for so long it ends.
        opening: loads the models, called once, with what to tell of their preparation, and of the knowledge base as
            soon as it can be searched.
    """

    def __init__(self, key: str, idle_seconds: float, opening: Opening) -> None:
        self._key, self._idle_seconds, self._opening = key, idle_seconds, opening
        self._since = datetime.now(UTC)
        self._busy = self._drafted = 0
        self._preparing = Alive()
        self._stop, self._changed = False, asyncio.Event()
        self._engine: asyncio.Future[Engine] = asyncio.get_running_loop().create_future()
        self._knowledge: asyncio.Future[EvidenceSource] = asyncio.get_running_loop().create_future()
        self._searches = set[asyncio.Future[Found]]()

    async def serve(self, path: Path) -> None:
        """Listen at ``path`` until it is time to end. The caller holds the lock, so what lies there is left over."""
        _clear(path)
        before = os.umask(0o177)
        try:
            server = await asyncio.start_unix_server(self._answer, path)
        finally:
            os.umask(before)
        async with asyncio.TaskGroup() as tasks:
            loading = tasks.create_task(self._load())
            try:
                async with server:
                    await self._idle()
            finally:  # who comes now finds nobody, while the models are given back
                _clear(path)
            loading.cancel()

    def stop(self) -> None:
        """End as soon as nobody waits for an answer."""
        self._stop = True
        self._changed.set()

    async def _load(self) -> None:
        def tell(what: str, done: int, total: int) -> None:
            self._preparing = Alive(False, what, done, total)

        try:
            async with self._opening(tell, self._know) as engine:
                self._engine.set_result(engine)
                await asyncio.Event().wait()  # until it is cancelled at the end
        except AntiphonError as err:
            for wanted in (self._engine, self._knowledge):
                if not wanted.done():
                    wanted.set_exception(err)
                    wanted.exception()  # it counts as heard, even if nobody waits for it any more
            self.stop()

    async def _know(self, knowledge: EvidenceSource) -> None:
        """Answer the searches that wait, before the language model takes the process for itself."""
        self._knowledge.set_result(knowledge)
        if self._searches:
            await asyncio.wait(self._searches)

    async def _idle(self) -> None:
        """Wait until nobody has asked for long, or the end is wanted and nobody waits for an answer."""
        while self._busy or not self._stop:
            self._changed.clear()
            try:
                async with asyncio.timeout(None if self._busy else self._idle_seconds):
                    await self._changed.wait()
            except TimeoutError:
                return

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            require_same_user(writer)
            match await take(reader):
                case AskStanding(key):
                    put(writer, self._standing(key))
                case Ask(key, question) if key == self._key and not self._stop:
                    await self._work(question, reader, writer)
                case _:
                    put(writer, Other())
                    self.stop()
            await writer.drain()
        except (EOFError, ConnectionError, PermissionError):
            pass  # the command ended; what it asked has been cancelled
        finally:
            writer.close()

    async def _work(
        self, question: Request | EvidenceQuery, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer; a sign of life goes out all the while, and if the command ends, the work does."""
        self._busy += 1
        self._changed.set()
        put(writer, self._preparing)
        work: asyncio.Future[Suggestion] | asyncio.Future[Found]
        if isinstance(question, Request):
            work = asyncio.ensure_future(self._suggest(question, writer))
        else:
            work = asyncio.ensure_future(self._search(question))
            self._searches.add(work)
            work.add_done_callback(self._searches.discard)
        gone = asyncio.ensure_future(reader.read(1))
        try:
            while not work.done():
                await asyncio.wait({work, gone}, timeout=_BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if gone.done() and not work.done():
                    return
                put(writer, Alive(is_loaded=True) if self._engine.done() else self._preparing)
                await writer.drain()
            try:
                put(writer, Done(work.result()))
                self._drafted += isinstance(question, Request)
            except AntiphonError as err:
                put(writer, Failed(err))
        finally:
            work.cancel()
            gone.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)
            self._busy -= 1
            self._changed.set()

    async def _suggest(self, request: Request, writer: asyncio.StreamWriter) -> Suggestion:
        engine = await asyncio.shield(self._engine)
        return await engine.suggest(request, lambda step: put(writer, step))

    async def _search(self, query: EvidenceQuery) -> Found:
        knowledge = await asyncio.shield(self._knowledge)
        return await knowledge.search(query)

    def _standing(self, key: str) -> Standing:
        return Standing(
            os.getpid(),
            self._since,
            self._engine.done(),
            self._drafted,
            psutil.Process().memory_full_info().pss,  # weights that two servers share count once
            self._idle_seconds / 60,
            key == self._key,
        )


def _clear(path: Path) -> None:
    path.unlink(missing_ok=True)


async def _run(settings: Settings) -> None:
    def opening(tell: OnPreparing, know: OnKnowledge) -> AbstractAsyncContextManager[Engine]:
        from bot.compose.engine import open_engine  # takes seconds to load; the socket is there before

        return open_engine(settings, tell, know)

    folder = own_folder()
    models = WarmModels(key_of(settings), settings.llm.warm_minutes * 60, opening)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, models.stop)
    await models.serve(socket_of(folder))


def main() -> None:
    """Run until it is time to end; if another process has the place, end at once."""
    settings = load_settings(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    try:
        with FileLock(lock_of(own_folder()), timeout=_LOCK_SECONDS, mode=0o600):
            asyncio.run(_run(settings))
    except Timeout:
        sys.exit(1)
