"""Backups that are not made, or cannot be: each is caused, and the doctor says what to do."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import URL

from bot.cli.doctor.database import examine_backups
from bot.compose.desk import SCHEDULED
from bot.settings import Settings, TelegramSettings
from core.desk.database.connection import Database
from core.desk.database.secret import load_secret
from core.desk.upkeep.backups import backup
from tests.fakes.machine.doctor_faults import told
from tests.fakes.machine.installation import flag_in, settings_of
from tests.fakes.machine.postgres import new_database

_LONG_AGO = datetime.now(UTC) - timedelta(days=9)


@pytest.fixture
async def settings(tmp_path: Path) -> Settings:
    """An installation that has run for days."""
    await flag_in(tmp_path, clock=lambda: _LONG_AGO)
    return settings_of(tmp_path / "antiphon.db", tmp_path)


async def test_no_backup_was_ever_made(settings: Settings) -> None:
    """On the first day there need not be one, and none at all where somebody decided so."""
    assert told("no backup", await examine_backups(settings)).detail.startswith("There is no backup in ")
    none = settings.model_copy(update={"desk": settings.desk.model_copy(update={"backup_hours": 0})})
    assert [one.ok for one in await examine_backups(none)] == [True]


async def test_a_young_installation_has_none_yet(tmp_path: Path) -> None:
    await flag_in(tmp_path)
    (found,) = await examine_backups(settings_of(tmp_path / "antiphon.db", tmp_path))
    assert (found.ok, found.detail[:8]) == (True, "none yet")


async def test_the_newest_backup_is_old(settings: Settings) -> None:
    """One that was made by hand counts as one of the schedule does."""
    made = await backup(settings.database_path, settings.backup_folder / SCHEDULED)
    os.utime(made, (_LONG_AGO.timestamp(), _LONG_AGO.timestamp()))
    old = told("a newest backup that is old", await examine_backups(settings))
    assert old.detail.startswith("The newest backup is of ")
    await backup(settings.database_path, settings.backup_folder)
    assert [one.ok for one in await examine_backups(settings)] == [True]


async def test_a_folder_for_backups_that_cannot_be_made(settings: Settings) -> None:
    settings.backup_folder.touch()
    told("a backup folder that cannot be made", await examine_backups(settings))


@pytest.mark.both_databases
async def test_no_tool_for_backups_of_postgresql(
    postgresql: URL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine on which no platform is served, such as a worker's, makes no backups and needs none."""
    async with new_database(postgresql) as place:
        load_secret(tmp_path / "secret")
        worker = settings_of(place, tmp_path)
        await (await Database.open(place, secret=b"any")).close()
        monkeypatch.setenv("PATH", str(tmp_path))
        serving = worker.model_copy(update={"telegram": TelegramSettings(token=SecretStr("7:token"))})
        told("no pg_dump for a PostgreSQL database", await examine_backups(serving))
        assert [one.ok for one in await examine_backups(worker)] == [True]
