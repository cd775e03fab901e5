"""Where the databases of many small worlds come from, each over a copy of one in which the people are settled."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine

from core.desk.database.connection import Database, connected
from tests.fakes.desk.people import SECRET, settle
from tests.fakes.machine.postgres import new_database
from tests.fakes.machine.sqlite_at_once import call_at_once
from tests.torture.world.figures import Figures, TickingClock
from tests.torture.world.platform import LoggedPlatform


class Ground:
    """Where the worlds of one run come from: a template file, or a PostgreSQL server.

    Use it as a context manager.
    """

    def __init__(self, server: URL | None = None) -> None:
        self.server, self.figures = server, Figures()
        self.sends = self.ambiguous = self.posted = 0
        self.examples = 0

    def __enter__(self) -> Ground:
        shared_memory = Path("/dev/shm")  # a file there needs no disk; what fsync does is not under test
        self._folder = Path(tempfile.mkdtemp(dir=shared_memory if shared_memory.is_dir() else None))
        if self.server is None:
            _run_apart(self.make_template())
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder)

    async def make_template(self) -> None:
        database = await Database.open(self._folder / "template", secret=SECRET, clock=TickingClock())
        await settle(database)
        await database.close()

    async def open(self, stack: AsyncExitStack, clock: TickingClock) -> Database:
        """A new database with people in it, given back when ``stack`` is closed."""
        self.examples += 1
        if self.server is None:
            stack.callback(self._empty)
            shutil.copy(self._folder / "template", self.file)
            database = Database(connected(self.file), SECRET, clock)
            await call_at_once(database.engine, pauses=True)
            stack.push_async_callback(database.close)
            return database
        place = await stack.enter_async_context(new_database(self.server, is_settled=True))
        database = await Database.open(place, secret=SECRET, clock=clock)
        stack.push_async_callback(database.close)
        return database

    def _empty(self) -> None:
        for file in self._folder.glob("world*"):
            file.unlink()

    @property
    def file(self) -> Path:
        return self._folder / "world"

    def beside(self) -> Engine | None:
        return None if self.server else create_engine(URL.create("sqlite", database=str(self.file)))

    def count(self, platform: LoggedPlatform) -> None:
        self.sends += platform.sends
        self.ambiguous += platform.ambiguous
        self.posted += len(platform.sent())


def _run_apart(work: Coroutine[Any, Any, None]) -> None:
    """Run something in an event loop of its own, although one may be running here."""
    thread = threading.Thread(target=asyncio.run, args=(work,))
    thread.start()
    thread.join()
