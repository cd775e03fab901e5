"""``antiphon db`` and ``antiphon doctor --audit`` as somebody types them."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from adapters.sample.community import SampleCommunity
from bot.cli.main import app
from tests.fakes.later_version import become_later
from tests.fakes.machine.installation import flag_in


def _run(config: Path, *words: str) -> Result:
    return CliRunner().invoke(app, [*words, "--config", str(config)])


def _cases(folder: Path) -> int:
    opened = sqlite3.connect(folder / "antiphon.db")
    try:
        return int(opened.execute("SELECT count(*) FROM cases").fetchone()[0])
    finally:
        opened.close()


def test_an_old_database_is_upgraded_after_a_backup(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who starts a new version on old tables is told the command, and it keeps every case."""
    for message in ("103", "105"):
        asyncio.run(flag_in(tmp_path, message))
    become_later(monkeypatch, tmp_path)
    refused = _run(config, "community", "list")
    assert refused.exit_code == 4
    assert "antiphon db upgrade" in refused.output
    done = _run(config, "db", "upgrade")
    assert done.exit_code == 0, done.output
    assert "Kept a backup" in done.output
    assert len(list((tmp_path / "backups").iterdir())) == 1
    assert _cases(tmp_path) == 2
    assert "already" in _run(config, "db", "upgrade").output
    assert _run(config, "db", "check").exit_code == 0


def test_a_backup_brings_back_what_there_was(config: Path, tmp_path: Path) -> None:
    """Never over a database that stands there, unless somebody says so; then that one is kept aside."""
    asyncio.run(flag_in(tmp_path))
    made = _run(config, "db", "backup")
    assert made.exit_code == 0, made.output
    (kept,) = (tmp_path / "backups").iterdir()
    asyncio.run(flag_in(tmp_path, "105"))
    assert _run(config, "db", "restore", str(kept)).exit_code == 2
    assert _cases(tmp_path) == 2
    done = _run(config, "db", "restore", "--force", str(kept))
    assert done.exit_code == 0, done.output
    assert _cases(tmp_path) == 1


def test_an_audit_asks_for_every_promise(config: Path, tmp_path: Path) -> None:
    """A healthy database keeps all 18; one that somebody meddled with is found, without a word of a post."""
    asyncio.run(flag_in(tmp_path))
    healthy = _run(config, "doctor", "--audit", "--json")
    assert healthy.exit_code == 0, healthy.output
    document = json.loads(healthy.stdout)
    assert (document["ok"], len(document["checks"])) == (True, 18)
    opened = sqlite3.connect(tmp_path / "antiphon.db")
    opened.execute("UPDATE cases SET state = 'posted'")
    opened.commit()
    opened.close()
    found = _run(config, "doctor", "--audit")
    assert found.exit_code == 4
    assert "BAD I11" in found.output
    assert SampleCommunity().flag("103", "x").text not in found.output
