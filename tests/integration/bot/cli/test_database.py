"""``antiphon db`` and ``antiphon doctor --audit`` as somebody types them."""

import asyncio
import json
import sqlite3
import stat
from pathlib import Path

import pytest
from sqlalchemy import URL
from typer.testing import CliRunner, Result

from adapters.sample import SampleCommunity
from bot.cli.doctor.database import examine_database
from bot.cli.main import app
from bot.settings import load_settings
from core.desk.database.revisions import newest
from tests.fakes.later_version import become_later
from tests.fakes.machine.installation import flag_in
from tests.fakes.machine.postgres import execute


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


@pytest.mark.parametrize(
    ("revision", "code", "said"),
    [("{own}.7", 0, "already"), ("9000", 4, "A later version of Antiphon made it: install that one")],
)
def test_the_tables_of_a_later_version_are_left_alone(
    config: Path, tmp_path: Path, revision: str, code: int, said: str
) -> None:
    """Whether this version may use them or not; nothing is backed up, and nothing fails without a word."""
    asyncio.run(flag_in(tmp_path))
    opened = sqlite3.connect(tmp_path / "antiphon.db")
    opened.execute("UPDATE alembic_version SET version_num = ?", [revision.format(own=newest().partition(".")[0])])
    opened.commit()
    opened.close()
    done = _run(config, "db", "upgrade")
    assert done.exit_code == code, done.output
    assert said in done.output
    assert not (tmp_path / "backups").exists()


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


def test_a_mistyped_folder_is_no_new_database(config: Path, tmp_path: Path) -> None:
    """An empty database would say that nobody is known and all is well; nothing is made, not even the folder."""
    asyncio.run(flag_in(tmp_path))
    config.write_text(config.read_text().replace("antiphon.db", "mistyped/antiphon.db"))
    for words in (
        "community list",
        "community pause --everywhere",
        "erase --platform sample --yes 17",
        "export --community sample/brenmoor --out cases.csv",
        "schedule run-once",
        "db check",
        "db backup",
        "doctor --audit",
    ):
        refused = _run(config, *words.split())
        assert refused.exit_code == 2, (words, refused.output)
        assert f"no database of Antiphon at {tmp_path}/mistyped/antiphon.db" in refused.stderr, words
        assert "desk.database" in refused.stderr
        assert "antiphon db upgrade" in refused.stderr
        assert not (tmp_path / "mistyped").exists()


def test_a_backup_that_is_not_there_is_called_so(config: Path, tmp_path: Path) -> None:
    """Not a wrong kind of file: the path is what must be corrected. A folder and another vendor's are told apart."""
    (tmp_path / "backups").mkdir()
    dump = tmp_path / "antiphon.pgdump"
    dump.touch()
    for given, message, remedy in (
        (tmp_path / "missing.sqlite", "There is no file", "Correct the path"),
        (tmp_path / "backups", "is a folder", "a file that ends with .sqlite"),
        (dump, "is not a backup of a SQLite database", "ANTIPHON__DESK__DATABASE_URL"),
    ):
        refused = _run(config, "db", "restore", str(given))
        assert refused.exit_code == 2, refused.output
        assert message in refused.stderr
        assert remedy in refused.stderr
        assert str(given) in refused.stderr


def test_a_folder_is_no_database(config: Path, tmp_path: Path) -> None:
    """It is called so, and stays as it is; the remedy names a file in it."""
    asyncio.run(flag_in(tmp_path))
    assert _run(config, "db", "backup").exit_code == 0
    (kept,) = (tmp_path / "backups").iterdir()
    folder = tmp_path / "data"
    folder.mkdir()
    config.write_text(config.read_text().replace(f"{tmp_path}/antiphon.db", str(folder)))
    for words in ("community list", "db upgrade", "db check", "db backup", f"db restore --force {kept}"):
        refused = _run(config, *words.split())
        assert refused.exit_code == 2, (words, refused.output)
        assert f"{folder} is a folder, not a database" in refused.stderr, words
        assert f"{folder}/antiphon.db" in refused.stderr
        assert list(folder.iterdir()) == []


def test_an_upgrade_of_postgresql_says_that_it_keeps_no_backup(
    config: Path, tmp_path: Path, postgresql: URL, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And how to make one, without the password."""
    place = postgresql.set(database="of_an_upgrade", password="s3cret")
    asyncio.run(execute(postgresql, "CREATE DATABASE of_an_upgrade"))
    monkeypatch.setenv("ANTIPHON__DESK__DATABASE_URL", place.render_as_string(hide_password=False))
    new = _run(config, "db", "upgrade")
    assert new.exit_code == 0, new.output
    assert "backup" not in new.output
    before = newest()
    become_later(monkeypatch, tmp_path)
    done = _run(config, "db", "upgrade")
    assert done.exit_code == 0, done.output
    assert f"No backup was made: this is a PostgreSQL database, at revision {before}." in done.output
    assert "antiphon db backup" in done.output
    assert "pg_dump --format=custom" in done.output
    assert f"--file=antiphon-{before}.pgdump" in done.output
    assert "--dbname=of_an_upgrade" in done.output
    assert "s3cret" not in done.output


def test_a_mistyped_secret_is_no_new_secret(config: Path, tmp_path: Path) -> None:
    """Under another secret everybody who is in the database would be unknown."""
    asyncio.run(flag_in(tmp_path))
    config.write_text(config.read_text().replace('/secret"', '/secrte"'))
    refused = _run(config, "erase", "--platform", "sample", "--yes", "north_gate_74")
    assert refused.exit_code == 2, refused.output
    assert f"no secret of an installation at {tmp_path}/secrte" in refused.stderr
    assert not (tmp_path / "secrte").exists()


def test_an_empty_file_is_no_database(config: Path, tmp_path: Path) -> None:
    """It is refused like a missing one, and stays empty."""
    asyncio.run(flag_in(tmp_path))
    (tmp_path / "antiphon.db").rename(tmp_path / "kept.db")
    (tmp_path / "antiphon.db").touch()
    refused = _run(config, "community", "list")
    assert refused.exit_code == 2
    assert "no database of Antiphon" in refused.stderr


def test_upgrade_makes_what_is_missing_for_its_owner_alone(config: Path, tmp_path: Path) -> None:
    """The way to a new installation; the log beside the file holds the same words."""
    config.write_text(config.read_text().replace(f"{tmp_path}/", f"{tmp_path}/data/"))
    made = _run(config, "db", "upgrade")
    assert made.exit_code == 0, made.output
    folder = tmp_path / "data"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    opened = sqlite3.connect(folder / "antiphon.db")
    opened.execute("CREATE TABLE kept (text)")
    assert {name: stat.S_IMODE((folder / name).stat().st_mode) for name in ("antiphon.db", "antiphon.db-wal")} == {
        "antiphon.db": 0o600,
        "antiphon.db-wal": 0o600,
    }
    opened.close()
    assert _run(config, "community", "list").exit_code == 0


def test_a_database_that_everybody_may_read_is_told(config: Path, tmp_path: Path) -> None:
    """As earlier versions made it, in a folder that everybody may enter."""
    asyncio.run(flag_in(tmp_path))
    assert "ok    private" in _run(config, "db", "check").output
    (tmp_path / "antiphon.db").chmod(0o644)
    tmp_path.chmod(0o755)
    found = _run(config, "db", "check", "--json")
    assert found.exit_code == 4
    (private,) = [one for one in json.loads(found.stdout) if not one["ok"]]
    assert private["name"] == "private"
    assert f"chmod 600 {tmp_path}/antiphon.db" in private["remedy"]
    (told,) = asyncio.run(examine_database(load_settings(config)))
    assert f"this machine may read {tmp_path}/antiphon.db" in told.detail
    tmp_path.chmod(0o700)
    assert _run(config, "db", "check").exit_code == 0
