"""A PostgreSQL server that is away or unsafe is said so with a remedy; it tells the time, and no value is quoted."""

import asyncio
import ssl
import struct
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import asyncpg
import pytest
from pydantic import SecretStr
from sqlalchemy import URL, exc, text

from bot.settings import DeskSettings, Settings
from core.desk.database import postgresql as postgresql_parts
from core.desk.database.connection import Database, Session, translating
from core.desk.database.postgresql import read_address, ssl_options
from core.errors import BadSettings, NotAllowed, StoreUnavailable
from tests.fakes.desk.decisions import execute, one_row
from tests.fakes.desk.people import SECRET
from tests.fakes.desk.traces import all_said
from tests.fakes.machine.postgres import execute as administer
from tests.fakes.machine.postgres import new_database

CANARY = "canary-in-the-post"


@pytest.fixture
async def of_postgresql(postgresql: URL) -> AsyncIterator[URL]:
    """A PostgreSQL database of its own, with our tables."""
    async with new_database(postgresql) as address:
        yield address


@pytest.fixture
def of_an_address() -> URL:
    return URL.create("postgresql", "u", "s3cret", "db.example.org", 5432, "antiphon")


async def test_a_postgresql_that_may_lose_commits_is_refused(of_postgresql: URL, postgresql: URL) -> None:
    """A setting that somebody made for speed shows at start-up."""
    await administer(postgresql, f"ALTER DATABASE {of_postgresql.database} SET synchronous_commit = off")
    with pytest.raises(StoreUnavailable, match="synchronous_commit=off") as caught:
        await Database.open(of_postgresql, secret=SECRET)
    assert "postgresql.conf" in caught.value.remedy


async def test_postgresql_tells_the_time(of_postgresql: URL) -> None:
    """All machines share one clock, whatever their own says."""
    database = await Database.open(of_postgresql, secret=SECRET)

    async def work(session: Session) -> tuple[datetime, datetime]:
        return session.moment, (await session.execute(text("SELECT clock_timestamp()"))).scalar_one()

    ours, theirs = await database.run("read the time", work)
    await database.close()
    assert timedelta() <= theirs - ours < timedelta(minutes=1)
    assert ours.tzinfo is not None


_IN_THE_MIDDLE = [
    ("between two statements", ""),
    ("in the middle of one", "SELECT 1"),
    ("after the last of several rows", "INSERT INTO pauses (scope, paused_by, at) VALUES ($1, 'x', '2026-01-01')"),
]


@pytest.mark.parametrize("statement", [one for _, one in _IN_THE_MIDDLE], ids=[name for name, _ in _IN_THE_MIDDLE])
async def test_the_locks_of_a_process_that_stands_still_end_with_its_leases(of_postgresql: URL, statement: str) -> None:
    """Wherever it froze or was cut off, in a transaction: the others get the rows, and it can keep nothing."""
    frozen = await Database.open(of_postgresql, secret=SECRET, lease_seconds=4)  # more than a pause of the machine
    other = await Database.open(of_postgresql, secret=SECRET)
    locked, thawed = asyncio.Event(), asyncio.Event()

    async def lock(session: Session) -> None:
        await session.execute(text("LOCK TABLE pauses IN ACCESS EXCLUSIVE MODE"))

    async def stand_still(session: Session) -> None:
        await lock(session)
        connection = (await (await session.connection()).get_raw_connection()).driver_connection
        assert connection is not None
        if statement:
            _send_without_its_end(connection, statement)
        locked.set()
        await thawed.wait()
        await session.execute(text("SELECT 1"))

    standing = asyncio.create_task(frozen.run("stand still", stand_still))
    await locked.wait()
    await other.run("lock", lock)
    thawed.set()
    with pytest.raises(StoreUnavailable):
        await standing
    await frozen.close()
    await other.close()


def _send_without_its_end(connection: asyncpg.Connection, statement: str) -> None:
    """Parse, bind and execute a statement, but never say that this was all: so a frozen process leaves it."""

    def message(kind: bytes, body: bytes) -> bytes:
        return kind + struct.pack("!i", len(body) + 4) + body

    takes = statement.count("$1")
    bind = (
        b"\0\0" + struct.pack("!hh", 0, takes) + b"".join([struct.pack("!i", 1) + b"x"] * takes) + struct.pack("!h", 0)
    )
    parse = message(b"P", b"\0" + statement.encode() + b"\0" + struct.pack("!h", 0))
    execute = message(b"E", b"\0" + struct.pack("!i", 0))
    end = b"" if takes == 0 else message(b"B", bind) + execute
    connection._transport.write(parse + end + message(b"H", b""))


async def test_a_statement_has_no_longer_than_a_lease(of_postgresql: URL) -> None:
    """It is told so; a process without leases has its time."""
    database = await Database.open(of_postgresql, secret=SECRET, lease_seconds=4)

    async def sleep(session: Session) -> None:
        await session.execute(text("SELECT pg_sleep(3600)"))

    with pytest.raises(StoreUnavailable, match="took too long"):
        await database.run("sleep", sleep)
    assert await one_row(database, "SELECT 1") == (1,)
    await database.close()
    free = await Database.open(of_postgresql, secret=SECRET)
    assert await one_row(free, "SHOW statement_timeout") == ("0",)
    await free.close()


async def test_a_postgresql_that_closes_the_connection_is_said_so_and_used_again(
    of_postgresql: URL, postgresql: URL
) -> None:
    """After a restart of the server Antiphon goes on by itself."""
    database = await Database.open(of_postgresql, secret=SECRET)

    async def work(session: Session) -> None:
        await administer(
            postgresql,
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{of_postgresql.database}'",
        )
        await session.execute(text("SELECT 1"))

    with pytest.raises(StoreUnavailable) as caught:
        await database.run("be cut off", work)
    assert "by itself" in caught.value.remedy
    assert await one_row(database, "SELECT 1") == (1,)
    await database.close()


def test_a_connection_that_breaks_in_the_middle_of_an_answer_is_said_so() -> None:
    """The driver's protocol then fails in words of its own, without any SQLSTATE."""
    broken = asyncpg.InternalClientError("cannot switch to state 11; another operation (2) is in progress")
    with pytest.raises(StoreUnavailable, match="the connection broke") as caught, translating():
        raise exc.DBAPIError("SELECT 1", None, broken) from broken
    assert "by itself" in caught.value.remedy


@pytest.mark.parametrize(
    ("change", "message", "remedy"),
    [
        ({"database": "no_such_database"}, "no database of this name", "Create it"),
        ({"query": {"host": "/nowhere"}}, "does not answer", "network"),
    ],
)
async def test_a_wrong_postgresql_address_is_said_so(
    of_postgresql: URL, change: dict[str, str], message: str, remedy: str
) -> None:
    """The first day's mistakes get their own remedies."""
    with pytest.raises(StoreUnavailable, match=message) as caught:
        await Database.open(of_postgresql.set(**change), secret=SECRET, busy_seconds=2)  # type: ignore[arg-type]
    assert remedy in caught.value.remedy


async def test_a_postgresql_standby_is_said_so(of_postgresql: URL, postgresql: URL) -> None:
    """A server that takes no changes is not the one to connect to."""
    database = await Database.open(of_postgresql, secret=SECRET)
    await administer(postgresql, f"ALTER DATABASE {of_postgresql.database} SET default_transaction_read_only = on")
    await database.close()
    with pytest.raises(StoreUnavailable, match="takes no changes") as caught:
        await execute(database, "DELETE FROM pauses")
    await database.close()
    assert "primary" in caught.value.remedy


async def test_rows_that_somebody_else_locks_are_said_so(of_postgresql: URL) -> None:
    """Nobody waits for ever for a lock."""
    database = await Database.open(of_postgresql, secret=SECRET, busy_seconds=1)

    async def hold(_: Session) -> None:
        await _.execute(text("LOCK TABLE pauses"))
        with pytest.raises(StoreUnavailable, match="rows are locked"):
            await execute(database, "DELETE FROM pauses")

    await database.run("hold", hold)
    await database.close()


async def test_of_two_transactions_that_wait_for_each_other_one_is_told_to_try_again(of_postgresql: URL) -> None:
    """PostgreSQL undoes one of them; that is no fault of the database."""
    database = await Database.open(of_postgresql, secret=SECRET)
    first = [asyncio.Event(), asyncio.Event()]

    async def lock(own: int) -> None:
        async def work(session: Session) -> None:
            await session.execute(text(f"SELECT pg_advisory_xact_lock({own})"))
            first[own].set()
            await first[1 - own].wait()
            await session.execute(text(f"SELECT pg_advisory_xact_lock({1 - own})"))

        await database.run("lock", work)

    answers = await asyncio.gather(lock(0), lock(1), return_exceptions=True)
    await database.close()
    assert sorted(type(answer).__name__ for answer in answers) == ["Conflict", "NoneType"]


async def test_a_value_that_postgresql_cannot_keep_is_not_quoted(of_postgresql: URL) -> None:
    """The driver quotes what it refuses; we do not."""
    database = await Database.open(of_postgresql, secret=SECRET)
    for value in (f"{CANARY} \ud83d", f"{CANARY} \0"):

        async def work(session: Session, value: str = value) -> None:
            await session.execute(text("INSERT INTO pauses VALUES (:scope, 'x', now())"), {"scope": value})

        with pytest.raises(NotAllowed) as caught:
            await database.run("keep", work)
        assert CANARY not in all_said(caught.value)
    await database.close()


@pytest.mark.parametrize("query", [{"sslmode": "disable"}, {"sslmode": "prefer"}, {"ssl": "allow"}])
async def test_an_address_may_say_how_to_encrypt(of_postgresql: URL, query: dict[str, str]) -> None:
    """By libpq's name, which hosts of databases hand out, or by the driver's."""
    address = of_postgresql.update_query_dict(query)
    assert read_address(address.render_as_string(hide_password=False)) == address
    database = await Database.open(address, secret=SECRET, busy_seconds=60)
    await database.close()
    assert ssl_options(address) == {"PGSSLMODE": next(iter(query.values()))}


async def test_a_server_that_does_not_encrypt_is_told(of_postgresql: URL) -> None:
    """What asks for encryption is never served without."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(8)  # the protocol's request for encryption, and its "no"
        writer.write(b"N")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        address = URL.create("postgresql", "u", "p", "127.0.0.1", port, "d", {"sslmode": "require"})
        with pytest.raises(StoreUnavailable, match="rejected SSL upgrade") as caught:
            await Database.open(address, secret=SECRET, busy_seconds=60)
    assert "sslmode=disable" in caught.value.remedy


def test_named_authorities_make_the_certificate_count(of_an_address: URL) -> None:
    """As with libpq: those that all trust vouch for names, so that the name is checked, too."""
    for mode in ("require", "verify-ca", "verify-full"):
        named = of_an_address.update_query_dict({"sslmode": mode, "sslrootcert": "system"})
        made = postgresql_parts._encryption(named)["ssl"]
        assert (made.verify_mode, made.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert postgresql_parts._encryption(of_an_address) == {}


@pytest.mark.parametrize(
    ("query", "message", "remedy"),
    [
        ({"sslmode": "on"}, "sslmode that does not exist", "verify-full"),
        ({"channel_binding": "require"}, "does not take: channel_binding", "sslmode"),
        ({"sslmode": "verify-full", "sslrootcert": "/nowhere.pem"}, "cannot be read: No such file", "PEM"),
    ],
)
def test_what_an_address_may_not_ask_for_is_told(
    of_an_address: URL, query: dict[str, str], message: str, remedy: str
) -> None:
    """In our words, before anything is connected; no error repeats the password."""
    asked = of_an_address.update_query_dict(query).render_as_string(hide_password=False)
    with pytest.raises(BadSettings, match=message) as caught:
        _ = Settings(desk=DeskSettings(database_url=SecretStr(asked))).database_place
    assert remedy in caught.value.remedy
    assert "s3cret" not in str(caught.value)
