"""Two versions over one database: one that only lacks additions goes on, any other stops and says what to do."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, inspect

from bot.compose.desk import Desk
from core.desk.database import revisions
from core.desk.database.connection import Database, connected
from core.desk.drafting.queue import DraftQueue
from core.desk.drafting.worker import Worker
from core.desk.rules.approval import CaseState
from core.desk.store.cases import Case
from core.errors import StoreUnavailable
from core.models import FlaggedPost
from tests.fakes.desk.chores import other
from tests.fakes.desk.decisions import one_row, take
from tests.fakes.desk.people import SECRET
from tests.fakes.desk.workers import ToldEngine, state_of
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.later_version import ADDING, EXPANDED, REVISION, become_later
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS, until


@pytest.mark.parametrize(
    ("found", "own", "may"),
    [
        ("0012", "0012", True),
        ("0012.1", "0012", True),
        ("0012.10", "0012.9", True),
        ("0012.9", "0012.10", False),
        ("0012", "0012.1", False),
        ("0013", "0012.4", False),
        ("0011", "0012", False),
        ("0012", "0013", False),
        (None, "0012", False),
    ],
)
def test_the_name_of_a_step_says_who_may_go_on(found: str | None, own: str, may: bool) -> None:
    """A person who lacks only additions of others."""
    assert revisions.may_use(found, own) is may


async def _upgrade_elsewhere(place: Path | URL, folder: Path, **later: str) -> None:
    """Let a process of a later version upgrade the database; this one knows nothing of its steps afterwards."""
    engine = connected(place)
    with pytest.MonkeyPatch.context() as patched:
        become_later(patched, folder, **later)
        await revisions.upgrade(engine)
    await engine.dispose()


async def test_a_worker_drafts_through_an_upgrade_that_only_adds(
    place: Path | URL, tmp_path: Path, worker: Worker, desk: Desk, case: Case, engine: ToldEngine
) -> None:
    """It ends the draft in hand, takes the next, flags what is new, and may be started again; so may the new one."""
    engine.waits = True
    drafting = asyncio.create_task(worker.step())
    await engine.started.wait()
    await _upgrade_elsewhere(place, tmp_path, revision=EXPANDED, step=ADDING)
    engine.go_on.set()
    assert await drafting
    assert await state_of(desk, case) is CaseState.IN_REVIEW
    flagged = await desk.intake.flag(other(case.post, "another"))
    assert await worker.step()
    assert await state_of(desk, flagged) is CaseState.IN_REVIEW
    again = await Database.open(place, secret=SECRET)
    assert await one_row(again, "SELECT version_num FROM alembic_version") == (EXPANDED,)
    await again.close()
    with pytest.MonkeyPatch.context() as patched:
        become_later(patched, tmp_path / "new", revision=EXPANDED, step=ADDING)
        new = await Database.open(place, secret=SECRET)
        assert await one_row(new, "SELECT DISTINCT weight FROM jobs") == (1,)
        await new.close()


async def test_a_worker_stops_at_an_upgrade_that_changes_what_it_uses(
    place: Path | URL,
    tmp_path: Path,
    worker: Worker,
    database: Database,
    desk: Desk,
    case: Case,
    engine: ToldEngine,
    clock: FakeClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It writes nothing more, and says why; the new version takes its case over when the lease is over."""
    engine.waits = True
    drafting = asyncio.create_task(worker.step())
    await engine.started.wait()
    with caplog.at_level(logging.WARNING):
        await _upgrade_elsewhere(place, tmp_path)
        engine.go_on.set()

        async def has_complained() -> bool:
            return "what was drafted waits for the database" in caplog.text

        await until(has_complained)
    drafting.cancel()
    await asyncio.wait({drafting}, timeout=GUARD_SECONDS)
    assert f"upgraded to revision {REVISION}" in caplog.text
    with pytest.raises(StoreUnavailable, match=REVISION) as caught:
        await desk.intake.flag(other(case.post, "another"))
    assert "Start this process again" in caught.value.remedy
    with pytest.raises(StoreUnavailable, match=f"{REVISION}, which this version does not know"):
        await Database.open(place, secret=SECRET)
    with pytest.MonkeyPatch.context() as patched:
        become_later(patched, tmp_path / "new")
        new = await Database.open(place, secret=SECRET, clock=clock)
        queue = DraftQueue(new, "of the new version")
        clock.advance(61)
        assert await queue.put_back_lost() == 1
        clock.advance(61)
        taken = await take(queue)
        await queue.store(taken, suggestion_for(case.post))
        assert await one_row(new, f"SELECT state FROM cases WHERE id = '{case.id}'") == ("in_review",)
        await new.close()


async def test_an_upgrade_waits_for_transactions_under_way_and_holds_new_ones_back(
    place: Path | URL, tmp_path: Path, database: Database, post: FlaggedPost, desk: Desk
) -> None:
    """A transaction that began over the old tables is over before the first step, so that neither breaks the other."""
    order, begun, go_on = list[str](), asyncio.Event(), asyncio.Event()

    async def slowly(session: Any) -> None:
        begun.set()
        await go_on.wait()
        order.append("old transaction")

    transaction = asyncio.create_task(database.run("take some time", slowly))
    await begun.wait()

    async def upgraded() -> None:
        await _upgrade_elsewhere(place, tmp_path, revision=EXPANDED, step=ADDING)
        order.append("upgrade")

    upgrading = asyncio.create_task(upgraded())
    await asyncio.sleep(0.3)
    go_on.set()
    await asyncio.gather(transaction, upgrading)
    await desk.intake.flag(post)
    assert order == ["old transaction", "upgrade"]


Columns = dict[str, dict[str, tuple[str, bool, bool]]]


def _tables(connection: Connection) -> Columns:
    """Each column by table: its type, whether it may be empty, and whether the database fills it."""
    found = inspect(connection)
    return {
        name: {
            column["name"]: (str(column["type"]), bool(column["nullable"]), column["default"] is not None)
            for column in found.get_columns(name)
        }
        for name in found.get_table_names()
    }


def _changes(before: Columns, after: Columns) -> list[str]:
    """What a version that knows only the first tables would miss in the second ones."""
    missed = [
        f"{table}.{name}"
        for table, columns in before.items()
        for name, column in columns.items()
        if after.get(table, {}).get(name) != column
    ]
    unfilled = [
        f"{table}.{name}"
        for table in before.keys() & after.keys()
        for name, (_, may_be_empty, has_default) in after[table].items()
        if name not in before[table] and not may_be_empty and not has_default
    ]
    return sorted(missed + unfilled)


async def _changes_of(place: Path | URL, revision: str, before: str) -> list[str]:
    engine = connected(place)
    try:
        async with engine.begin() as connection:
            await connection.run_sync(lambda sync: command.upgrade(revisions.config(sync), before))
            old = await connection.run_sync(_tables)
            await connection.run_sync(lambda sync: command.upgrade(revisions.config(sync), revision))
            return _changes(old, await connection.run_sync(_tables))
    finally:
        await engine.dispose()


async def test_a_step_whose_name_has_a_point_only_adds(tmp_path: Path) -> None:
    """Every such step that ships; and the check sees one that does more."""
    for own in ScriptDirectory.from_config(revisions.config()).walk_revisions():
        if own.down_revision and "." in own.revision:
            assert await _changes_of(tmp_path / own.revision, own.revision, str(own.down_revision)) == []
    newest = revisions.newest()
    for name, step, missed in (
        ("good", ADDING, []),
        ("unfilled", ADDING.replace(', server_default="1"', ""), ["jobs.weight"]),
        ("dropped", ADDING + '    op.drop_column("jobs", "progress")\n', ["jobs.progress"]),
    ):
        with pytest.MonkeyPatch.context() as patched:
            become_later(patched, tmp_path / name, revision=EXPANDED, step=step)
            assert await _changes_of(tmp_path / name / "database", EXPANDED, newest) == missed
