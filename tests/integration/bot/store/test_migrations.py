"""Databases of earlier versions: they come to the newest revision whole, or stay as they were."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, MetaData, Table, event, inspect, select
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.store.engine import migrate
from bot.store.engine.database import Database, connected
from bot.store.schema import Base, UtcDateTime
from core.errors import StoreUnavailable
from core.moderation.approval import TRANSITIONS, CaseState
from tests.fakes.desk.audit_log import broken_chains
from tests.fakes.desk.decisions import execute, one_row
from tests.fakes.desk.people import SECRET
from tests.fakes.machine.postgres import new_database
from tools.golden import FOLDER, released

_GOLDEN = FOLDER / "0001.sql"
_NAMES = ("author1", "author9", "mill_pond", "mod_one", "mod_two", "ferry_rower")
Rows = dict[str, list[dict[str, Any]]]


def _load_golden(golden: Path, path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(golden.read_text(encoding="utf-8"))
    connection.close()


def _rows(connection: Connection) -> Rows:
    found: Rows = {}
    for name in sorted(set(inspect(connection).get_table_names()) - {"alembic_version"}):
        table = Table(name, MetaData(), autoload_with=connection)
        found[name] = [dict(row) for row in connection.execute(select(table)).mappings()]
    return found


async def _all_rows(engine: AsyncEngine) -> Rows:
    async with engine.begin() as connection:
        return await connection.run_sync(_rows)


async def _revision(engine: AsyncEngine) -> str | None:
    async with engine.begin() as connection:
        return await connection.run_sync(migrate.revision)


@pytest.fixture
async def old_place(server: URL | None, tmp_path: Path) -> AsyncIterator[Path | URL]:
    """A database of revision 0001 with a case in every state, as version 0.1.0 made it."""
    golden = tmp_path / "golden.sqlite"
    _load_golden(_GOLDEN, golden)
    if server is None:
        yield golden
        return
    async with new_database(server, is_empty=True) as address:
        source, target = connected(golden), connected(address)
        await migrate.upgrade(target, SECRET, to="0001")
        async with source.begin() as connection:
            old = await connection.run_sync(_typed_rows)
        async with target.begin() as connection:
            await connection.run_sync(_load, old)
        await source.dispose()
        await target.dispose()
        yield address


def _typed_rows(connection: Connection) -> Rows:
    """The rows of the SQLite file as Python values, those of times and JSON too."""
    found = _rows(connection)
    for case in found["cases"]:
        case["thread"] = json.loads(case["thread"]) if isinstance(case["thread"], str) else case["thread"]
    return found


def _load(connection: Connection, old: Rows) -> None:
    for name in ("cases", "audit", "claim_choices", "suggestions", "approvals", "outbox"):
        table = Table(name, MetaData(), autoload_with=connection)
        for column in table.columns:
            if column.name.endswith("_at") or column.name in ("at", "not_before"):
                column.type = UtcDateTime()
        rows = [
            {key: _with_zone(value) if isinstance(value, datetime) else value for key, value in row.items()}
            for row in old[name]
        ]
        connection.execute(table.insert(), rows)


def _with_zone(value: datetime) -> datetime:
    """A time of a SQLite row, which has no zone there."""
    return UtcDateTime().process_result_value(value, _SQLITE) or value


_SQLITE = connected(Path("unused")).dialect


async def _cases(engine: AsyncEngine) -> dict[str, tuple[object, ...]]:
    rows = await _all_rows(engine)
    return {row["id"]: (row["state"], row["version"], row["text"], row["message"]) for row in rows["cases"]}


async def test_a_database_of_the_first_version_comes_to_the_newest_whole(old_place: Path | URL) -> None:
    """Every case keeps its state, version and text; the audit log is a whole chain; nothing else is lost (I18)."""
    engine = connected(old_place)
    before, counts = await _cases(engine), {name: len(rows) for name, rows in (await _all_rows(engine)).items()}
    await migrate.upgrade(engine, SECRET)
    after = await _all_rows(engine)
    assert await _cases(engine) == before
    assert {state for state, *_ in before.values()} >= set(CaseState) - {
        CaseState.FOLDED, CaseState.SHADOWED, CaseState.RETRACTED, CaseState.CAPTURED
    }  # fmt: skip
    communities = len(after["communities"])
    assert len(after["audit"]) == counts["audit"] + communities
    for name in ("suggestions", "approvals", "outbox", "claim_choices"):
        assert len(after[name]) == counts[name]
    await engine.dispose()
    database = await Database.open(old_place, secret=SECRET)
    assert await broken_chains(database) == []
    assert await one_row(database, "SELECT count(*) FROM communities WHERE is_posting") == (0,)
    await database.close()


async def test_no_name_is_left_in_plain(old_place: Path | URL) -> None:
    """Whoever reads the database cannot tell who is who, nor in the file's unused pages and log (I15)."""
    engine = connected(old_place)
    await migrate.upgrade(engine, SECRET)
    text = str(await _all_rows(engine))
    await engine.dispose()
    assert [name for name in _NAMES if name in text] == []
    if isinstance(old_place, Path):
        files = [path.read_bytes() for path in old_place.parent.iterdir()]
        assert [name for name in _NAMES if any(name.encode() in content for content in files)] == []


async def test_one_person_is_one_pseudonym_after_the_upgrade(old_place: Path | URL) -> None:
    """Who flagged before and flags again is the same person to the database."""
    engine = connected(old_place)
    flaggers = {row["flagged_by"] for row in (await _all_rows(engine))["cases"]}
    await migrate.upgrade(engine, SECRET)
    rows = await _all_rows(engine)
    await engine.dispose()
    people = {row["id"] for row in rows["persons"]}
    assert {row["author"] for row in rows["cases"]} | {row["flagged_by"] for row in rows["cases"]} <= people
    assert len({row["flagged_by"] for row in rows["cases"]}) == len(flaggers)
    assert {row["moderator"] for row in rows["approvals"]} <= people


async def test_an_upgrade_that_fails_anywhere_changes_nothing(old_place: Path | URL) -> None:
    """A power cut in the middle leaves the old database, which the next upgrade brings to its end."""
    engine = connected(old_place)
    before, statements = await _all_rows(engine), 0

    def stop(at: int) -> Any:
        def listener(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            nonlocal statements
            statements += statement.lstrip().startswith(("CREATE", "DROP", "INSERT", "UPDATE"))
            if statements == at:
                raise RuntimeError("stopped here")

        return listener

    async def upgrade_until(at: int) -> None:
        nonlocal statements
        statements = 0
        listener = stop(at)
        event.listen(Engine, "before_cursor_execute", listener)
        try:
            await migrate.upgrade(engine, SECRET)
        finally:
            event.remove(Engine, "before_cursor_execute", listener)

    at = 2
    while True:
        try:
            await upgrade_until(at)
        except RuntimeError:
            assert await _revision(engine) == "0001"
            assert await _all_rows(engine) == before
            at += 7
        else:
            break
    assert at > 40
    assert await _revision(engine) == migrate.newest()
    await engine.dispose()


async def test_the_steps_make_the_tables_that_the_code_declares(server: URL | None, tmp_path: Path) -> None:
    """A column that only one of the two knows would fail on somebody's database."""

    async def differences(place: Path | URL) -> list[Any]:
        engine = connected(place)
        await migrate.upgrade(engine, SECRET)

        def compare(connection: Connection) -> list[Any]:
            return list(compare_metadata(MigrationContext.configure(connection), Base.metadata))

        async with engine.begin() as connection:
            found = await connection.run_sync(compare)
        await engine.dispose()
        return found

    if server is None:
        assert await differences(tmp_path / "new.sqlite") == []
        return
    async with new_database(server, is_empty=True) as address:
        assert await differences(address) == []


async def test_an_upgrade_of_the_newest_revision_does_nothing(place: Path | URL, database: Database) -> None:
    """It can be run at every start."""
    await execute(database, "INSERT INTO pauses (scope, paused_by, at) VALUES ('*', 'x', '2026-01-01')")
    await migrate.upgrade(database.engine, SECRET)
    assert await one_row(database, "SELECT count(*) FROM pauses") == (1,)


async def test_a_database_of_another_version_is_refused(place: Path | URL, old_place: Path | URL) -> None:
    """Old tables are not guessed at, and those of a later version are not touched."""
    with pytest.raises(StoreUnavailable, match="revision 0001; this version needs") as caught:
        await Database.open(old_place, secret=SECRET)
    assert "antiphon db upgrade" in caught.value.remedy
    database = await Database.open(place, secret=SECRET)
    await execute(database, "UPDATE alembic_version SET version_num = '9999'")
    await database.close()
    with pytest.raises(StoreUnavailable, match="9999, which this version does not know") as caught:
        await Database.open(place, secret=SECRET)
    assert "later version" in caught.value.remedy


async def test_two_processes_make_the_tables_of_one_database_once(server: URL | None, tmp_path: Path) -> None:
    """Everything starts at once after a power cut."""

    async def both(place: Path | URL) -> None:
        opened = await asyncio.gather(*(Database.open(place, secret=SECRET) for _ in range(3)))
        for database in opened:
            await database.close()

    if server is None:
        await both(tmp_path / "new.sqlite")
        return
    async with new_database(server, is_empty=True) as address:
        await both(address)


def test_the_graph_the_tables_and_the_step_say_the_same() -> None:
    """A state or a move that only one of them knows would be refused in production, or let through."""
    declared = {
        constraint.name: str(constraint.sqltext)  # type: ignore[attr-defined]
        for constraint in Base.metadata.tables["audit"].constraints
        if constraint.name == "declared_move"
    }["declared_move"]
    step = ScriptDirectory.from_config(migrate.config()).get_revision("0002").module

    def words(text: str) -> list[str]:
        return sorted(part.strip(" ()\n") for part in text.replace("\n", " ").split(" OR "))

    assert words(declared) == words(step.DECLARED)
    for old in CaseState:
        line = next((part for part in words(declared) if part.startswith(f"from_state = '{old}'")), "")
        assert {new for new in CaseState if f"'{new}'" in line.partition("AND")[2]} == TRANSITIONS[old]
    assert [str(state) for state in CaseState] == step.STATES


def test_every_released_revision_has_a_golden_database() -> None:
    """An upgrade from a version that people have must be tried on its database (``python -m tools.golden``)."""
    steps = ScriptDirectory.from_config(migrate.config())
    revisions = [step.revision for step in steps.walk_revisions()]
    assert set(released()) >= set(revisions) - {migrate.newest()}, "only the newest revision may be unreleased"
    assert [name for name in released() if not (FOLDER / f"{name}.sql").exists()] == []


@pytest.mark.parametrize("golden", sorted(FOLDER.glob("*.sql")), ids=lambda path: path.stem)
async def test_every_golden_database_comes_to_the_newest_revision(golden: Path, tmp_path: Path) -> None:
    """Whatever version somebody comes from."""
    path = tmp_path / "old.sqlite"
    _load_golden(golden, path)
    engine = connected(path)
    await migrate.upgrade(engine, SECRET)
    await engine.dispose()
    database = await Database.open(path, secret=SECRET)
    assert await broken_chains(database) == []
    await database.close()
