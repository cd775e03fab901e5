"""A SQLite file that is unsafe, full, read-only, held, missing or none is said so, with what to do."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.compose.desk import build_desk
from core.desk.database.connection import Database
from core.desk.rules.approval import CaseState
from core.errors import StoreUnavailable
from core.models import FlaggedPost
from tests.fakes.desk.decisions import one_row
from tests.fakes.desk.people import SECRET
from tests.fakes.desk.traces import all_said
from tests.fakes.machine.clock import FakeClock


async def test_a_sqlite_file_that_cannot_be_durable_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The promise is read back at start-up, not believed."""
    monkeypatch.setattr("core.desk.database.sqlite._REQUIRED_PRAGMAS", {"synchronous": "3"})
    with pytest.raises(StoreUnavailable, match="synchronous=2 where 3 is needed"):
        await Database.open(tmp_path / "antiphon.sqlite", secret=SECRET)


@pytest.fixture
async def on_sqlite(tmp_path: Path) -> AsyncIterator[Database]:
    """A SQLite file that is given up on at once when it is held."""
    database = await Database.open(tmp_path / "antiphon.sqlite", secret=SECRET, clock=FakeClock(), busy_seconds=0)
    yield database
    await database.close()


async def test_a_full_disk_is_said_so(on_sqlite: Database, post: FlaggedPost) -> None:
    """The operator reads what to do; nothing of the change is kept, and the desk works on when there is space."""
    desk = build_desk(on_sqlite)
    await desk.intake.flag(post)
    size = await one_row(on_sqlite, "PRAGMA page_count")
    await one_row(on_sqlite, f"PRAGMA max_page_count = {size[0]}")
    big = replace(post, ref=replace(post.ref, message="1"), text="x" * 100_000)
    with pytest.raises(StoreUnavailable, match="full") as caught:
        await desk.intake.flag(big)
    assert "Free space" in caught.value.remedy
    assert "xxx" not in all_said(caught.value)
    assert len(await desk.queries.cases()) == 1
    await one_row(on_sqlite, "PRAGMA max_page_count = 100000")
    assert (await desk.intake.flag(big)).state is CaseState.QUEUED


async def test_a_missing_folder_and_a_wrong_file_are_said_so(tmp_path: Path) -> None:
    """A wrong path in the settings is refused at start-up, with what to do."""
    with pytest.raises(StoreUnavailable, match="unable to open") as caught:
        await Database.open(tmp_path / "missing" / "antiphon.sqlite", secret=SECRET)
    assert "folder" in caught.value.remedy
    (tmp_path / "notes.txt").write_text("This is not a database. " * 100)
    with pytest.raises(StoreUnavailable, match="not a database") as caught:
        await Database.open(tmp_path / "notes.txt", secret=SECRET)
    assert "restore a backup" in caught.value.remedy
