"""Databases of earlier versions: they come to the newest revision whole, or stay as they were."""

import asyncio
from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import URL, Connection, Engine, MetaData, Table, event, inspect, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.sample import SampleCommunity
from core.desk.database import revisions
from core.desk.database.connection import Database, connected
from core.desk.intake import Intake
from core.desk.rules.approval import TRANSITIONS, CaseState
from core.desk.schema import Base
from core.errors import StoreUnavailable
from tests.fakes.desk.audit_log import broken_chains
from tests.fakes.desk.decisions import execute, one_row
from tests.fakes.desk.people import SECRET
from tests.fakes.later_version import REVISION, become_later
from tests.fakes.machine.postgres import new_database

Rows = dict[str, list[dict[str, Any]]]


def _rows(connection: Connection) -> Rows:
    found: Rows = {}
    for name in sorted(set(inspect(connection).get_table_names()) - {"alembic_version"}):
        table = Table(name, MetaData(), autoload_with=connection)
        found[name] = [dict(row) for row in connection.execute(select(table)).mappings()]
    return found


async def _all_rows(engine: AsyncEngine) -> Rows:
    async with engine.begin() as connection:
        return await connection.run_sync(_rows)


@pytest.fixture
async def empty_place(database_server: URL | None, tmp_path: Path) -> AsyncIterator[Path | URL]:
    """A database without tables."""
    if database_server is None:
        yield tmp_path / "empty.sqlite"
        return
    async with new_database(database_server, is_empty=True) as address:
        yield address


async def test_an_upgrade_keeps_every_row(
    place: Path | URL, database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A later version finds every case and the whole audit log, and makes a table anew that they rest on (I18)."""
    for message in ("101", "103"):
        await Intake(database, campaign_hours=0).flag(SampleCommunity().flag(message, "mill_pond"))
    before = await _all_rows(database.engine)
    become_later(monkeypatch, tmp_path)
    await revisions.upgrade(database.engine)
    after = await _all_rows(database.engine)
    assert {row["name"] for row in after["communities"]} == {"of a later version"}
    assert len(before["cases"]) == 2
    assert {**after, "communities": []} == {**before, "communities": []}
    later = await Database.open(place, secret=SECRET)
    assert await broken_chains(later) == []
    await later.close()


@pytest.mark.parametrize("is_later", [False, True], ids=["the first step", "a later step"])
async def test_an_upgrade_that_fails_anywhere_changes_nothing(
    empty_place: Path | URL, is_later: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A power cut in the middle leaves the database as it was, and the next upgrade brings it to its end."""
    engine = connected(empty_place)
    if is_later:
        await revisions.upgrade(engine)
        become_later(monkeypatch, tmp_path)
    before, revision = await _all_rows(engine), await revisions.revision_of(engine)
    done = last = 0

    def stop(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        nonlocal done
        is_change = statement.lstrip().startswith(("ALTER", "CREATE", "DROP", "INSERT", "UPDATE"))
        done += is_change
        if is_change and done > last:
            raise RuntimeError("stopped here")

    event.listen(Engine, "before_cursor_execute", stop)
    try:
        while await revisions.revision_of(engine) == revision:
            try:
                await revisions.upgrade(engine)
            except RuntimeError:
                assert await revisions.revision_of(engine) == revision
                assert await _all_rows(engine) == before
            done, last = 0, last + (1 if is_later else 7)
    finally:
        event.remove(Engine, "before_cursor_execute", stop)
    assert last > 2
    assert await revisions.revision_of(engine) == (REVISION if is_later else revisions.newest())
    await engine.dispose()


async def test_the_steps_make_the_tables_that_the_code_declares(empty_place: Path | URL) -> None:
    """A column that only one of the two knows would fail on somebody's database."""
    engine = connected(empty_place)
    await revisions.upgrade(engine)

    def compare(connection: Connection) -> list[Any]:
        return list(compare_metadata(MigrationContext.configure(connection), Base.metadata))

    async with engine.begin() as connection:
        assert await connection.run_sync(compare) == []
    await engine.dispose()


async def test_an_upgrade_of_the_newest_revision_does_nothing(database: Database) -> None:
    """It can be run at every start."""
    await execute(database, "INSERT INTO pauses (scope, paused_by, at) VALUES ('*', 'x', '2026-01-01')")
    await revisions.upgrade(database.engine)
    assert await one_row(database, "SELECT count(*) FROM pauses") == (1,)


@pytest.mark.parametrize(("revision", "remedy"), [("9999", "later version"), ("0007", "upgrading.md")])
async def test_a_database_of_an_unknown_version_is_refused(place: Path | URL, revision: str, remedy: str) -> None:
    """A later one, or one older than the first: nobody guesses at its tables."""
    database = await Database.open(place, secret=SECRET)
    await execute(database, f"UPDATE alembic_version SET version_num = '{revision}'")
    await database.close()
    with pytest.raises(StoreUnavailable, match=f"{revision}, which this version does not know") as caught:
        await Database.open(place, secret=SECRET)
    assert remedy in caught.value.remedy


async def test_a_database_of_an_earlier_version_waits_for_its_upgrade(
    place: Path | URL, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Old tables are not guessed at: an operator upgrades them, after a backup."""
    await (await Database.open(place, secret=SECRET)).close()
    earlier = revisions.newest()
    become_later(monkeypatch, tmp_path)
    with pytest.raises(StoreUnavailable, match=f"revision {earlier}; this version needs {REVISION}") as caught:
        await Database.open(place, secret=SECRET)
    assert "antiphon db upgrade" in caught.value.remedy


async def test_two_processes_make_the_tables_of_one_database_once(empty_place: Path | URL) -> None:
    """Everything starts at once after a power cut."""
    opened = await asyncio.gather(*(Database.open(empty_place, secret=SECRET) for _ in range(3)))
    for database in opened:
        assert await one_row(database, "SELECT version_num FROM alembic_version") == (revisions.newest(),)
        await database.close()


_MOVE = text(
    "INSERT INTO audit (stream, seq, from_state, to_state, actor, reason, at, previous, sha256) "
    "VALUES ('x', :seq, :old, :new, 'x', 'x', '2026-01-01 00:00:00', '', '')"
)


async def test_the_database_takes_the_moves_of_the_graph_and_no_other(empty_place: Path | URL) -> None:
    """A state or a move that only one of them knows would be refused in production, or let through."""
    engine = connected(empty_place)
    await revisions.upgrade(engine)
    taken: dict[CaseState, set[CaseState]] = {old: set() for old in CaseState}
    async with engine.begin() as connection:
        for seq, (old, new) in enumerate(product(CaseState, CaseState)):
            try:
                async with connection.begin_nested():
                    await connection.execute(_MOVE, {"seq": seq, "old": str(old), "new": str(new)})
                taken[old].add(new)
            except IntegrityError:
                continue
    await engine.dispose()
    assert taken == {old: set(TRANSITIONS[old]) for old in CaseState}
