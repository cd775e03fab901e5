"""``antiphon config``: each value with its origin, and no secret."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.cli.config import shown
from bot.cli.main import app
from bot.settings import SECRETS, KbSettings, Settings

_DATABASE = "postgresql://desk:canary@db.example/desk"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Settings, and secrets beside them."""
    file = tmp_path / "own.toml"
    file.write_text("# mine\n[llm]\nthreads = 3\nparallel = 2\n[judge]\nbase_url = 'http://judge.example/v1'\n")
    secrets = tmp_path / "secrets.env"
    secrets.touch(0o600)
    secrets.write_text("\nANTIPHON__DISCORD__TOKEN=canary\n")
    return file


def _config(*words: str, **variables: str) -> Result:
    given = {"ANTIPHON__JUDGE__MODEL": "m", "COLUMNS": "40"} | variables
    return CliRunner().invoke(app, ["config", *words], env=given)


def test_each_origin_is_told_and_no_secret(files: Path) -> None:
    """A file, the environment's variable, and the default; what is secret is set or not."""
    done = _config(
        "show", "--json", "--config", str(files), ANTIPHON__LLM__THREADS="5", ANTIPHON__DESK__DATABASE_URL=_DATABASE
    )
    assert done.exit_code == 0, done.output
    assert "canary" not in done.output
    found = {one["key"]: (one["value"], one["origin"]) for one in json.loads(done.stdout)["settings"]}
    secrets = files.with_name("secrets.env")
    assert found["llm.threads"] == (5, "the environment, ANTIPHON__LLM__THREADS")
    assert found["llm.parallel"] == (2, str(files))
    assert found["llm.backend"] == ("embedded", "default")
    assert found["profiles.live.max_tokens"][1] == "default"
    assert found["judge.base_url"] == ("http://judge.example/v1", str(files))
    assert found["discord.token"] == ("set", f"{secrets}, ANTIPHON__DISCORD__TOKEN")
    assert found["desk.database_url"] == ("set", "the environment, ANTIPHON__DESK__DATABASE_URL")
    assert {key: value for key, (value, _) in found.items() if key in SECRETS and value} == {
        "discord.token": "set",
        "desk.database_url": "set",
    }
    assert not [key for key in found if key.endswith(".name")]


@pytest.mark.parametrize("login", ["me:canary@more", "me:a/canary", "me:a@b/canary", "canary:", "me:canary:b//c@d"])
def test_a_login_is_masked_whatever_its_password_holds(login: str) -> None:
    """Also with an @ or a / in it, which an address should have escaped; host and path stay readable."""
    address = f"http://{login}@judge.example/v1"
    settings = Settings(kb=KbSettings(folder=address))
    told = {one.key: one.value for one in shown(settings, ())}["kb.folder"]
    assert told == "http://***@judge.example/v1"


def test_one_table_one_key_and_what_was_changed(files: Path) -> None:
    """Lines that can be copied whole, however narrow the terminal is."""
    at = ("--config", str(files))
    assert _config("show", "llm.threads", *at).stdout == f"llm.threads = 3  # {files}\n"
    told = _config("show", "discord", *at).stdout.splitlines()
    assert [line.partition(" = ")[0] for line in told] == ["discord.token", "discord.reads_messages"]
    assert told[0].startswith("discord.token = set  # ")
    changed = [line.partition(" = ")[0] for line in _config("show", "--changed", *at).stdout.splitlines()]
    assert changed == ["llm.parallel", "llm.threads", "judge.base_url", "judge.model", "discord.token"]
    unknown = _config("show", "llm.thread", *at)
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert "There is no setting llm.thread." in unknown.stderr


def test_path_is_that_of_the_file_that_is_read(files: Path, tmp_path: Path) -> None:
    """One line that a script can use; where secrets are is said beside it."""
    named = _config("path", "--config", str(files))
    assert named.stdout == f"{files}\n"
    assert f"{tmp_path}/secrets.env (read)" in named.stderr
    home = tmp_path / "home"
    own = home / "antiphon" / "config.toml"
    own.parent.mkdir(parents=True)
    own.touch()
    found = json.loads(_config("path", "--json", XDG_CONFIG_HOME=str(home)).stdout)
    assert found == {"settings": str(own), "secrets": None, "own": str(own)}
