"""The database and its secret: each is broken, and the doctor says what to do."""

import asyncio
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import URL
from sqlalchemy.ext.asyncio import create_async_engine

from bot.cli.doctor.database import examine_database
from bot.settings import Settings
from core.desk.communities.decisions import CommunityDesk
from core.desk.database.connection import Database
from core.desk.database.secret import load_secret
from core.desk.rules.roles import Operator, Person, Role
from tests.fakes.later_version import become_later
from tests.fakes.machine.doctor_faults import told
from tests.fakes.machine.installation import flag_in, settings_of
from tests.fakes.machine.postgres import execute, new_database

_SECRET = "0" * 64


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """An installation with a database and its secret, in a folder that everybody may enter."""
    tmp_path.chmod(0o755)
    asyncio.run(flag_in(tmp_path))
    return settings_of(tmp_path / "antiphon.db", tmp_path)


async def test_all_is_well(settings: Settings) -> None:
    """Before the first run, too, which the doctor does not anticipate."""
    assert [(one.name, one.ok) for one in await examine_database(settings)] == [
        ("database", True), ("secret", True), ("clock", True),
    ]  # fmt: skip
    new = settings_of(settings.database_path.with_name("new.db"), settings.database_path.parent / "new")
    (found,) = await examine_database(new)
    assert (found.ok, "will be made at the first run" in found.detail) == (True, True)
    assert not new.database_path.exists()


async def test_no_database_beside_the_secret_of_one(settings: Settings) -> None:
    settings.database_path.rename(settings.database_path.with_name("kept.db"))
    told("no database beside the secret of one", await examine_database(settings))
    assert not settings.database_path.exists()


async def test_a_folder_in_the_place_of_the_database(settings: Settings) -> None:
    settings.database_path.unlink()
    settings.database_path.mkdir()
    told("a folder in the place of the database", await examine_database(settings))


async def test_a_database_of_another_account(settings: Settings, tmp_path: Path) -> None:
    """Only root can give a file away; another user looks at one of root's."""
    if os.geteuid() == 0:
        os.chown(settings.database_path, 65534, -1)
    else:
        settings = settings_of(Path("/etc/passwd"), tmp_path)
    told("a database of another account", await examine_database(settings))


async def test_a_database_that_others_may_read(settings: Settings) -> None:
    settings.database_path.chmod(0o644)
    told("a database that others may read", await examine_database(settings))


async def test_a_file_that_is_no_database(settings: Settings) -> None:
    settings.database_path.write_bytes(b"cases" * 1000)
    told("a file that is no database", await examine_database(settings))


async def test_a_database_that_another_program_holds(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.cli.doctor.database.BUSY_SECONDS", 0.05)
    with closing(sqlite3.connect(settings.database_path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        told("a database that another program holds", await examine_database(settings))


async def test_tables_of_another_version(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This version is older than the tables, or newer."""
    with monkeypatch.context() as later:
        become_later(later, tmp_path)
        told("tables of an older version", await examine_database(settings))
    with closing(sqlite3.connect(settings.database_path)) as opened:
        opened.execute("UPDATE alembic_version SET version_num = '9000'")
        opened.commit()
    told("tables of a later version", await examine_database(settings))


@pytest.mark.parametrize(
    ("breakage", "content", "mode"),
    [
        ("no secret beside a database", None, 0o600),
        ("a secret that is cut short", _SECRET[:32], 0o600),
        ("a secret that cannot be read", "not a number", 0o600),
        ("a secret that others may read", _SECRET, 0o640),
        ("the secret of another installation", _SECRET, 0o600),
    ],
)
async def test_a_secret_that_does_not_serve(settings: Settings, breakage: str, content: str | None, mode: int) -> None:
    """Under another one nobody's cases are found; somebody must have a role for it to be noticed."""
    database = await Database.open(settings.database_path, secret=load_secret(settings.secret_file))
    desk = CommunityDesk(database)
    place = await desk.known("sample", "brenmoor")
    await desk.grant(place, Person("sample", "mill_pond", "Mill"), Role.MODERATOR, Operator("ana"))
    await database.close()
    settings.secret_file.unlink()
    if content is not None:
        settings.secret_file.write_text(content)
        settings.secret_file.chmod(mode)
    told(breakage, await examine_database(settings))


async def test_a_clock_that_was_put_back(tmp_path: Path) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    await flag_in(tmp_path, clock=lambda: tomorrow)
    told("a clock that was put back", await examine_database(settings_of(tmp_path / "antiphon.db", tmp_path)))


# PostgreSQL


@pytest.fixture
def own(tmp_path: Path) -> Settings:
    """An installation on PostgreSQL is another; its secret is there."""
    load_secret(tmp_path / "secret")
    return settings_of(tmp_path / "unused.db", tmp_path)


@contextmanager
def _asks_for_passwords(server: URL, role: str) -> Iterator[URL]:
    """The server's address for a role of which it asks the password, unlike of all others."""
    hba = Path(asyncio.run(_setting(server, "hba_file")))
    before = hba.read_text()
    asyncio.run(execute(server, f"CREATE ROLE {role} LOGIN PASSWORD 'right'"))
    try:
        hba.write_text(f"local all {role} scram-sha-256\nhost all {role} 127.0.0.1/32 scram-sha-256\n{before}")
        asyncio.run(execute(server, "SELECT pg_reload_conf()"))
        yield server.set(username=role)
    finally:
        hba.write_text(before)
        asyncio.run(execute(server, "SELECT pg_reload_conf()"))
        asyncio.run(execute(server, f"DROP ROLE {role}"))


async def _setting(server: URL, name: str) -> str:
    engine = create_async_engine(server)
    try:
        async with engine.connect() as connection:
            return str((await connection.exec_driver_sql(f"SHOW {name}")).scalar_one())
    finally:
        await engine.dispose()


async def test_an_address_that_leads_to_no_database(postgresql: URL, tmp_path: Path) -> None:
    for breakage, address in (
        ("a PostgreSQL server that does not answer", postgresql.set(host="127.0.0.1", port=9, query={})),
        ("a PostgreSQL database that is not there", postgresql.set(database="no")),
        ("an option of the address that is not taken", postgresql.update_query_dict({"channel_binding": "require"})),
        ("an address of another vendor's database", URL.create("mysql", host="db.example", database="desk")),
    ):
        told(breakage, await examine_database(settings_of(address, tmp_path)))


def test_a_wrong_password(postgresql: URL, tmp_path: Path) -> None:
    with _asks_for_passwords(postgresql, "asked_role") as place:
        wrong, right = (settings_of(place.set(password=word), tmp_path) for word in ("wrong", "right"))
        told("a PostgreSQL password that is refused", asyncio.run(examine_database(wrong)))
        assert asyncio.run(examine_database(right))[0].ok


async def test_a_server_that_may_lose_commits(postgresql: URL, own: Settings, tmp_path: Path) -> None:
    async with new_database(postgresql) as place:
        settings = settings_of(place, tmp_path)
        assert all(one.ok for one in await examine_database(settings))
        await execute(place, f"ALTER DATABASE {place.database} SET synchronous_commit = off")
        told("a PostgreSQL database that may lose commits", await examine_database(settings))


async def test_clocks_that_are_apart(postgresql: URL, own: Settings, tmp_path: Path) -> None:
    """The database answers for its clock by a function; another one of this name is found first."""
    async with new_database(postgresql) as place:
        await execute(
            place,
            "CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql "
            "AS 'SELECT pg_catalog.clock_timestamp() + interval ''5 minutes'''",
        )
        await execute(place, f"ALTER DATABASE {place.database} SET search_path = public, pg_catalog")
        told("clocks that are apart", await examine_database(settings_of(place, tmp_path)))
