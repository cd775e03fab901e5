"""A SQLite file that is unsafe, missing or none is said so, with what to do."""

from pathlib import Path

import pytest

from core.desk.database.connection import Database
from core.errors import StoreUnavailable
from tests.fakes.desk.people import SECRET


async def test_a_sqlite_file_that_cannot_be_durable_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The promise is read back at start-up, not believed."""
    monkeypatch.setattr("core.desk.database.sqlite._REQUIRED_PRAGMAS", {"synchronous": "3"})
    with pytest.raises(StoreUnavailable, match="synchronous=2 where 3 is needed"):
        await Database.open(tmp_path / "antiphon.sqlite", secret=SECRET)


async def test_a_missing_folder_and_a_wrong_file_are_said_so(tmp_path: Path) -> None:
    """A wrong path in the settings is refused at start-up, with what to do."""
    with pytest.raises(StoreUnavailable, match="unable to open") as caught:
        await Database.open(tmp_path / "missing" / "antiphon.sqlite", secret=SECRET)
    assert "folder" in caught.value.remedy
    (tmp_path / "notes.txt").write_text("This is not a database. " * 100)
    with pytest.raises(StoreUnavailable, match="not a database") as caught:
        await Database.open(tmp_path / "notes.txt", secret=SECRET)
    assert "restore a backup" in caught.value.remedy
