"""A line to PostgreSQL that can be cut: what is sent over it then is lost, and both ends still think that it stands."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import URL

_CHUNK = 2**16


class Line:
    """A proxy on loopback before a PostgreSQL server's socket."""

    def __init__(self, server: URL) -> None:
        self._folder = str(server.query["host"])
        self._server = server
        self._is_cut = False
        self._passing = set[asyncio.Task[None]]()

    def cut(self) -> None:
        """From now on nothing passes in either direction, and nobody is told; new connections get no answer."""
        self._is_cut = True

    def mend(self) -> None:
        """New connections pass again; of old ones a part is lost, so that they are closed."""
        self._is_cut = False
        for one in list(self._passing):
            one.cancel()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[URL]:
        listening = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        try:
            yield self._server.difference_update_query(["host"]).set(host="127.0.0.1", port=port)
        finally:
            listening.close()
            self.mend()
            if self._passing:
                await asyncio.wait(self._passing)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._passing.add(task)
        try:
            there, back = await asyncio.open_unix_connection(f"{self._folder}/.s.PGSQL.5432")
            try:
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._pass(reader, back))
                    both.create_task(self._pass(there, writer))
            finally:
                back.transport.abort()
        except (ExceptionGroup, OSError, asyncio.CancelledError):
            pass  # one of the ends is gone, or the line was mended
        finally:
            writer.transport.abort()
            self._passing.discard(task)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(_CHUNK):
            if self._is_cut:
                continue
            writer.write(chunk)
            await writer.drain()
        raise ConnectionResetError
