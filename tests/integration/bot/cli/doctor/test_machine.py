"""Settings that cannot be read, and disks: each is broken, and the doctor says what to do."""

import shutil
from pathlib import Path

import pytest

from bot.cli.doctor.checks import examine_machine, examine_platforms
from bot.settings import KbSettings, Settings, load_settings
from core.errors import BadSettings
from tests.fakes.machine.doctor_faults import told


@pytest.mark.parametrize(
    ("toml", "breakage"),
    [
        ("[llm\nthreads = 1", "settings that are not TOML"),
        ("[llm]\nthread = 1", "a key that does not exist"),
        ("[llm]\nthreads = -1", "a value that is not allowed"),
        ("[discord]\ntoken = 'x'", "a secret in config.toml"),
    ],
)
def test_settings_that_say_nothing_usable(config: Path, toml: str, breakage: str) -> None:
    config.write_text(toml, "utf-8")
    with pytest.raises(BadSettings) as caught:
        load_settings(config, {})
    told(breakage, caught.value)


def test_settings_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadSettings) as caught:
        load_settings(tmp_path / "own.toml", {})
    told("a settings file that is not there", caught.value)


def test_secrets_that_others_may_read(config: Path) -> None:
    secrets = config.with_name("secrets.env")
    secrets.touch()
    secrets.chmod(0o644)
    with pytest.raises(BadSettings) as caught:
        load_settings(config, {})
    told("a secrets.env that others may read", caught.value)


async def test_a_platform_that_is_configured_by_half(config: Path) -> None:
    settings = load_settings(config, {"ANTIPHON__DISCORD__READS_MESSAGES": "true"})
    told("a platform that is configured by half", await examine_platforms(settings))


async def test_a_disk_that_is_nearly_full(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As full as this one would be if it had to have one byte more than it has."""
    free = shutil.disk_usage(config.parent).free
    monkeypatch.setattr("bot.cli.doctor.checks.LEAST_FREE_BYTES", 2 * free)
    told("a disk that is nearly full", await examine_machine(load_settings(config, {})))


async def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = Settings(kb=KbSettings(cache_folder=str(tmp_path / "file")))
    told("a cache folder that cannot be made", await examine_machine(settings))
