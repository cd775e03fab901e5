"""Settings mean what people wrote, or say which file, which key and what to write instead."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.settings import KEYS, SECRETS, Settings, leaves, load_settings, own_file, secrets_file, variable
from core.desk.rules.input_checks import need_in_words
from core.engine.llm.budget import PAPER
from core.errors import BadInput, BadSettings
from core.models import Intent

SHIPPED = Path(__file__).parents[4] / "config.toml"


@pytest.fixture
def load(tmp_path: Path):
    """Reads the given TOML and variables, and nothing of this machine."""

    def load(toml: str = "", **variables: str) -> Settings:
        file = tmp_path / "config.toml"
        file.write_text(toml, "utf-8")
        return load_settings(file, variables)

    return load


def test_shipped_file_documents_every_key():
    """A key that config.toml does not show is a key that nobody finds; a secret is shown by its variable."""
    text = SHIPPED.read_text("utf-8")
    documented = {".".join(key) for key, _ in leaves(tomllib.loads(text))}
    assert documented == {".".join(key) for key in KEYS} - SECRETS
    assert all(variable(tuple(secret.split("."))) in text for secret in SECRETS)


def test_shipped_file_equals_the_defaults(load):
    """People who delete config.toml must get what it says."""
    assert load_settings(SHIPPED, {}).model_dump(exclude={"origin"}) == load().model_dump(exclude={"origin"})


def test_environment_wins_over_file_in_either_case(load):
    """An operator overrides one key of a shared file without editing it, and sees where values come from."""
    settings = load("[llm]\nthreads = 3\nparallel = 2", antiphon__llm__threads="5")
    assert (settings.llm.threads, settings.llm.parallel) == (5, 2)
    assert settings.origin.startswith("the environment over ")


def test_lists_and_nested_tables_from_the_environment(load):
    """Variables can set every kind of key."""
    settings = load(ANTIPHON__COMMUNITY__INTENTS="positive, questioning", ANTIPHON__PROFILES__PAPER__ROUNDS="2")
    assert settings.community.intents == (Intent.POSITIVE, Intent.QUESTIONING)
    assert settings.profiles.paper.rounds == 2
    assert settings.profiles.paper.proposals == PAPER.proposals


@pytest.mark.parametrize(
    "key",
    [
        "llm.base_url", "judge.base_url", "kb.qdrant_url", "kb.un_url", "kb.eurlex_url", "kb.fra_url",
        "telegram.api_url", "mastodon.url",
    ],
)  # fmt: skip
@pytest.mark.parametrize("login", ["user:S3cr3tpw@", "S3cr3tpw@", "user:S3cr3t@pw@", "user:S3/cr3tpw@"])
def test_a_login_in_an_address_is_refused_and_not_repeated(load, key: str, login: str):
    """It would reach logs, cards and errors; a key has a place of its own."""
    table, name = key.split(".")
    with pytest.raises(BadSettings) as caught:
        load(f"[{table}]\n{name} = 'http://{login}127.0.0.1:9/v1'")
    assert key in caught.value.message
    assert "api_key" in caught.value.remedy
    assert "cr3t" not in str(caught.value)


@pytest.mark.parametrize(
    ("toml", "key", "remedy"),
    [
        ("[llm]\nbase_ulr = ''", "llm.base_ulr", "Did you mean llm.base_url?"),
        ("token = 'x'", "token", "Did you mean discord.token?"),
        ("[profiles.standard]\nrounds = 4", "profiles.standard.rounds", "Remove it. Use live;"),
        ("[profiles.live]\nrounds = 0", "profiles.live.rounds", "Remove it. [profiles.live] has deadline_seconds, max"),
        ("[profiles.paper]\nround = 1", "profiles.paper.round", "Did you mean profiles.paper.rounds?"),
        ("[llm.threads]\nx = 1", "llm.threads.x", "Did you mean llm.threads?"),
        ("origin = 'x'", "origin", "The config.toml that ships lists every key."),
    ],
)
def test_unknown_keys_in_a_file(load, tmp_path: Path, toml: str, key: str, remedy: str):
    """A misspelt key must not silently leave the default in force."""
    with pytest.raises(BadSettings) as caught:
        load(toml)
    assert str(tmp_path / "config.toml") in caught.value.message
    assert f"no key {key}." in caught.value.message
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("ANTIPHON__LLM__BASEURL", "ANTIPHON__LLM__BASE_URL"),
        ("ANTIPHON_LLM__BASE_URL", "ANTIPHON__LLM__BASE_URL"),
        ("ANTIPHON__PROFIL", "ANTIPHON__PROFILE"),
        ("ANTIPHON__PROFILES__THOROUGH__ROUNDS", "Remove it. Use live;"),
    ],
)
def test_unknown_keys_in_the_environment(load, name: str, remedy: str):
    """A misspelt variable is refused as a misspelt key is."""
    with pytest.raises(BadSettings, match=f"the environment: there is no key {name}") as caught:
        load(**{name: "x"})
    assert remedy in caught.value.remedy


def test_other_variables_are_left_alone(load):
    """Variables that are no settings, such as a platform's token, are not ours to judge."""
    assert load(ANTIPHON_CONFIG="", ANTIPHON_TOKEN="x", PATH="/bin").llm.threads == 0


@pytest.mark.parametrize(
    ("toml", "key", "allowed"),
    [
        ("[llm]\nthreads = 'many'", "llm.threads", "a whole number"),
        ("[llm]\nbackend = 'cloud'", "llm.backend", "'embedded', 'server' or 'none'"),
        ("[llm]\nbackend = 'server'", "llm", "Set llm.base_url"),
        ("[llm]\nbase_url = 'http://localhost:port/v1'", "llm.base_url", "The port of"),
        ("[judge]\nbase_url = 'http://localhost:99999/v1'", "judge.base_url", "from 0 to 65535"),
        ("[llm]\nbase_url = 'http://a/v1,'", "llm.base_url", "Name one address"),
        ("[llm]\nbase_url = ['http://a/v1', 'http://b/v1']", "llm.base_url", "several servers stand behind a balancer"),
        ("[llm]\nbase_url = 3", "llm.base_url", "text"),
        ("[llm]\nbackend = 'server'\nbase_url = 'http://localhost:8000/v1'", "llm", "Set llm.model"),
        ("[judge]\nbase_url = 'http://localhost:8000/v1'", "judge", "localhost:8000/v1/models lists it"),
        ("llm = 3", "llm", "table"),
        ("profile = 'thorough'", "profile", "Use live; paper, the published loop, is there to measure against."),
        ("[profiles.live]\ndeadline_seconds = 0", "profiles.live.deadline_seconds", "more than 0"),
        ("[community]\nintents = ['bold']", "community.intents.0", "'informative'"),
        ("[community]\nintents = []", "community.intents", "at least 1"),
        ("[desk]\nundo_seconds = -1", "desk.undo_seconds", "It must be at least 0."),
        ("[desk]\nhold_minutes = 61", "desk.hold_minutes", "It must be at most 60."),
        ("[desk]\nfollow_ups = 'perhaps'", "desk.follow_ups", "true or false"),
        ("[llm]\nmodel = 3", "llm.model", "a text, in quotation marks"),
        ("[community]\nlanguage = 'English'", "community.language", "two small letters for a language"),
        ("[kb]\nun_url = 'un.org'", "kb.un_url", "begins with http://"),
        ("[desk]\nundo_seconds = nan", "desk.undo_seconds", "finite"),
        ("[desk]\ndatabase = 'postgresql://u:p@h/d'", "desk.database", "ANTIPHON__DESK__DATABASE_URL"),
    ],
)
def test_wrong_values_in_a_file(load, tmp_path: Path, toml: str, key: str, allowed: str):
    """A refusal names the file, the key, and what is allowed."""
    with pytest.raises(BadSettings) as caught:
        load(toml)
    assert caught.value.message == f"{tmp_path / 'config.toml'}: {key} is not allowed."
    assert allowed in caught.value.remedy
    assert not re.search("Value error|Input should|should match|should have", str(caught.value))


def test_every_form_that_a_setting_asks_for_is_told_in_words():
    """A pattern is no sentence, and a new key with one must not bring it back."""

    def patterns(part: Any) -> Iterator[str]:
        if isinstance(part, Mapping):
            for name, value in part.items():
                yield from [value] if name == "pattern" and isinstance(value, str) else patterns(value)
        elif isinstance(part, list):
            for one in part:
                yield from patterns(one)

    found = set(patterns(Settings.model_json_schema()))
    assert found
    for pattern in found:
        fault = {"type": "string_pattern_mismatch", "ctx": {"pattern": pattern}, "msg": "should match"}
        assert need_in_words(fault).startswith("It must be ")


def test_wrong_value_in_the_environment_is_named_by_its_variable(load):
    """The message names the place that is wrong, not the file that is right."""
    with pytest.raises(BadSettings, match="the environment: ANTIPHON__LLM__THREADS is not allowed"):
        load("[llm]\nthreads = 2", ANTIPHON__LLM__THREADS="many")


def test_contradicting_variables(load):
    """A variable below another one's value cannot be obeyed."""
    with pytest.raises(BadSettings, match="ANTIPHON__LLM is not allowed"):
        load(ANTIPHON__LLM="x", ANTIPHON__LLM__THREADS="2")
    with pytest.raises(BadSettings, match="no key ANTIPHON__LLM__THREADS__X"):
        load(ANTIPHON__LLM__THREADS="2", ANTIPHON__LLM__THREADS__X="2")


@pytest.mark.parametrize(("toml", "place"), [("a = 1\nb = ?", "line 2, column 5"), ("a = 1\nb = [", "end of document")])
def test_broken_toml_names_the_place(load, toml: str, place: str):
    """A person finds the typing error at once, at the end of the file too."""
    with pytest.raises(BadSettings, match=place):
        load(toml)


def test_file_that_is_no_text(tmp_path: Path):
    """A picture named as the settings file is an error in words."""
    file = tmp_path / "config.toml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadSettings, match="cannot be read"):
        load_settings(file, {})


def test_secret_in_a_file_is_refused_and_not_repeated(load):
    """A secret in a file ends up in a repository; the message must not carry it into a log."""
    with pytest.raises(BadSettings, match=r"secret llm\.api_key") as caught:
        load("[llm]\napi_key = 'sk-canary'")
    assert "ANTIPHON__LLM__API_KEY" in caught.value.remedy
    assert "canary" not in repr(caught.value.__dict__)


def test_secret_from_the_environment_is_not_shown(load):
    """Printing the settings is safe."""
    settings = load(ANTIPHON__LLM__API_KEY="sk-canary")
    assert settings.llm.api_key.get_secret_value() == "sk-canary"
    assert "canary" not in f"{settings} {settings!r}"


def test_what_the_library_tells_of_its_sources_is_not_logged(
    load, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """It would hold every secret in plain."""
    monkeypatch.setenv("PYDANTIC_SETTINGS_DEBUG", "1")
    with caplog.at_level("DEBUG", logger="pydantic_settings"):
        load(ANTIPHON__LLM__API_KEY="sk-canary")
    assert caplog.records == []


def test_named_file_must_exist(tmp_path: Path):
    """A person who names a file must not run with the defaults."""
    with pytest.raises(BadSettings, match="no settings file") as caught:
        load_settings(tmp_path / "missing.toml", {})
    assert "--config" in caught.value.remedy
    with pytest.raises(BadSettings, match="no settings file") as caught:
        load_settings(None, {"ANTIPHON_CONFIG": str(tmp_path / "missing.toml")})
    assert "ANTIPHON_CONFIG" in caught.value.remedy


def test_first_file_found_wins(tmp_path: Path):
    """The caller's file, then $ANTIPHON_CONFIG, then the user's own, then the one beside the code."""
    own = tmp_path / "antiphon" / "config.toml"
    own.parent.mkdir()
    own.write_text("[llm]\nthreads = 1", "utf-8")
    named = tmp_path / "named.toml"
    named.write_text("[llm]\nthreads = 2", "utf-8")
    variables = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert own_file(variables) == own
    assert load_settings(None, variables).llm.threads == 1
    assert load_settings(None, {**variables, "ANTIPHON_CONFIG": str(named)}).llm.threads == 2
    assert load_settings(own, {**variables, "ANTIPHON_CONFIG": str(named)}).origin == str(own)
    assert load_settings(None, {"XDG_CONFIG_HOME": str(tmp_path / "empty")}).origin == str(SHIPPED)


def test_paths_and_profiles(load, tmp_path: Path):
    """Empty paths are the user's folders; a profile is had by name, and the default without one."""
    settings = load(f"profile = 'paper'\n[kb]\ncache_folder = '{tmp_path}'")
    assert settings.cache_folder == tmp_path
    assert settings.database_path.name == "antiphon.db"
    assert settings.model_path is None
    assert (settings.profile_named().name, settings.profile_named("live").name) == ("paper", "live")
    with pytest.raises(BadInput, match="no profile 'fast'"):
        settings.profile_named("fast")


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    """A secrets.env beside the settings of the test."""
    file = tmp_path / "secrets.env"
    file.touch(0o600)
    return file


def test_secrets_are_read_from_their_own_file(load, secrets: Path):
    """After the environment and before the settings; no message shows one."""
    secrets.write_text("# the bot\n\nANTIPHON__DISCORD__TOKEN=of-the-file\nANTIPHON__LLM__THREADS=4\n", "utf-8")
    settings = load("[llm]\nthreads = 3", ANTIPHON__TELEGRAM__TOKEN="of-the-environment")
    assert settings.discord.token.get_secret_value() == "of-the-file"
    assert settings.llm.threads == 4
    assert settings.origin == f"the environment over {secrets} over {secrets.with_name('config.toml')}"
    assert load(ANTIPHON__DISCORD__TOKEN="newer").discord.token.get_secret_value() == "newer"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("export ANTIPHON__DISCORD__TOKEN=canary", "line 2, is no setting"),
        ("ANTIPHON__DISCORD__TOKEN='canary'", "line 2, is no setting"),
        ("ANTIPHON__DISCORD__TOKEN", "line 2, is no setting"),
        ("ANTIPHON__DISCORD__TOKN=canary", "there is no key ANTIPHON__DISCORD__TOKN. Did you mean"),
    ],
)
def test_line_of_secrets_that_says_nothing(load, secrets: Path, line: str, said: str):
    """For systemd would read it otherwise, or not at all; the value is repeated nowhere."""
    secrets.write_text(f"# secrets\n{line}\n", "utf-8")
    with pytest.raises(BadSettings, match=re.escape(said)) as caught:
        load()
    assert "canary" not in str(caught.value)


def test_secrets_that_others_may_read_are_refused(load, secrets: Path):
    """Who is told must also be told that they may be known already."""
    secrets.write_text("ANTIPHON__DISCORD__TOKEN=canary\n", "utf-8")
    secrets.chmod(0o640)
    with pytest.raises(BadSettings, match="chmod 600") as caught:
        load()
    assert "change the secrets" in caught.value.remedy


def test_secrets_lie_beside_what_is_named_or_beside_the_users_own(tmp_path: Path):
    """Never beside the settings that ship: a clone is shared."""
    home = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert secrets_file(None, home) == tmp_path / "antiphon" / "secrets.env"
    assert secrets_file(None, home | {"ANTIPHON_CONFIG": "/x/own.toml"}) == Path("/x/secrets.env")
    assert secrets_file(Path("/y/own.toml"), home) == Path("/y/secrets.env")
