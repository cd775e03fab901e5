"""config.toml, secrets.env and the environment, read once into frozen values by pydantic-settings.

An unknown key is an error with the nearest valid one, in the environment too, where pydantic-settings would ignore it.
Secrets come from the environment and from a secrets.env that only its owner may read, never from config.toml, and no
message shows their values.
"""

from __future__ import annotations

import difflib
import logging
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import platformdirs
from pydantic import SecretStr, ValidationError
from pydantic_settings import EnvSettingsSource, InitSettingsSource

from bot.settings.settings import ProfilesSettings, Settings
from core.desk.rules.input_checks import need_in_words
from core.errors import BadInput, BadSettings

Key = tuple[str, ...]
FILE_NAME: Final = "config.toml"
SECRETS_FILE_NAME: Final = "secrets.env"
SHIPPED: Final = Path(__file__).resolve().parents[2] / FILE_NAME
"""The file beside the code: the repository's, or the one of an installation."""
IS_CLONE: Final = (SHIPPED.parent / "pyproject.toml").is_file()
"""Whether the code is a clone of the repository. The settings of an installation are replaced by the next update."""
_CONFIG_VARIABLE: Final = "ANTIPHON_CONFIG"
_SEPARATOR: Final = "__"
_SECRET: Final = re.compile(r"(ANTIPHON__\w+)=(?!['\"])(.*)", re.IGNORECASE)
logging.getLogger("pydantic_settings").disabled = True  # with PYDANTIC_SETTINGS_DEBUG it would write secrets


def leaves(table: Mapping[str, Any], above: Key = ()) -> Iterator[tuple[Key, Any]]:
    """Every value of nested tables with its key, in their order."""
    for name, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, (*above, name))
        else:
            yield (*above, name), value


def values_of(settings: Settings, **more: Any) -> dict[Key, Any]:
    """Every key that may be set, with its value. A profile's name is no key of its own."""
    names = {profile: {"name"} for profile in ProfilesSettings.model_fields}
    return dict(leaves(settings.model_dump(exclude={"profiles": names}, **more)))


def variable(key: Key) -> str:
    """The name of the environment's variable for a key."""
    return _SEPARATOR.join(("ANTIPHON", *key)).upper()


_DEFAULTS: Final = values_of(Settings())
KEYS: Final = tuple(_DEFAULTS)
SECRETS: Final = frozenset(".".join(key) for key, value in _DEFAULTS.items() if isinstance(value, SecretStr))
"""The keys that no message and no command may show."""


class SettingsFile(InitSettingsSource):
    """A config.toml. Raises ``BadSettings`` for what is not TOML, an unknown key and a secret."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as err:
            raise BadSettings(f"{name} is not valid TOML: {err}.", remedy="Correct that line.") from err
        for key, _ in leaves(values):
            _check(self, key, self.label(key))
            if self.label(key) in SECRETS:
                raise BadSettings(
                    f"{name} holds the secret {self.label(key)}, which does not belong in a file.",
                    remedy=f"Remove it, change the secret, and set {variable(key)} in the environment, or in a "
                    f"{SECRETS_FILE_NAME} beside that file.",
                )
        super().__init__(Settings, values)

    def label(self, key: Key) -> str:
        """The key as it is written in this source."""
        return ".".join(key)


class Variables(EnvSettingsSource):
    """Variables such as ANTIPHON__LLM__BASE_URL, in either case. Raises ``BadSettings`` for one that sets no key."""

    def __init__(self, name: str, variables: Mapping[str, str]) -> None:
        super().__init__(Settings)
        self.name = name
        self.env_vars = {each.lower(): value for each, value in variables.items()}
        for variable in sorted(variables):
            prefix, *key = variable.lower().split(_SEPARATOR)
            if key and prefix.startswith("antiphon"):
                near = prefix.removeprefix("antiphon").strip("_")
                _check(self, (near, *key) if near else tuple(key), variable.upper())

    def label(self, key: Key) -> str:
        """The variable that sets the key."""
        return variable(key)


Source = SettingsFile | Variables


def _check(source: Source, key: Key, written: str) -> None:
    """Refuse a key that does not exist, and name the nearest one, or one of the same name in another table."""
    if written == source.label(key) and any(each[: len(key)] == key for each in KEYS):
        return  # of a table, Settings say what it must hold
    names = {".".join(path): path for path in KEYS}
    same = [name for name in names if name.endswith(f".{key[-1]}")]
    near = difflib.get_close_matches(".".join(key), names, n=1) or same
    remedy = f"Did you mean {source.label(names[near[0]])}?" if near else f"The {FILE_NAME} that ships lists every key."
    raise BadSettings(f"{source.name}: there is no key {written}.", remedy=remedy)


def load_settings(config: Path | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings; the environment wins over secrets.env, that over the file, and the file over the defaults.

    Args:
        config: the file that the caller names, or ``None`` to look in the usual places (``find_file``).
        environment: the variables to read; the process's own by default.

    Raises:
        BadSettings: a named file is missing, a file is not TOML, a key is unknown, or a value is not allowed.
    """
    return settings_of(read_sources(config, environment))


def read_sources(config: Path | None = None, environment: Mapping[str, str] | None = None) -> list[Source]:
    """What the settings are made of, the source that wins first; the defaults are none. Like ``load_settings``."""
    variables = os.environ if environment is None else environment
    secrets, file = secrets_file(config, variables), find_file(config, variables)
    sources: list[Source] = [SettingsFile(str(file), text_of(file))] if file else []
    if secrets.is_file():
        sources.insert(0, Variables(str(secrets), secrets_in(secrets, text_of(secrets))))
    sources.insert(0, Variables("the environment", variables))
    return [source for source in sources if source()]


def settings_of(sources: Sequence[Source]) -> Settings:
    """The settings out of what was read, the source that wins first. Raises ``BadSettings`` for a value."""
    published = ProfilesSettings().model_dump()  # of which a file may change one key
    origin = {"origin": " over ".join(source.name for source in sources)} if sources else {}
    rest = InitSettingsSource(Settings, {"profiles": published, **origin})
    try:
        return Settings(_build_sources=((*sources, rest), {}))
    except ValidationError as err:
        first = err.errors(include_url=False, include_input=False)[0]
        key, need = tuple(map(str, first["loc"])), need_in_words(dict(first))
    except BadInput as err:  # a profile's own rule; its message begins with the full key
        key, need = tuple(err.message.split()[0].replace("-", "_").split(".")), err.remedy
    source = source_of(key, sources)
    where = f"{source.name}: {source.label(key)}" if source else ".".join(key)
    raise BadSettings(f"{where} is not allowed.", remedy=f"{need.rstrip('.')}.")


def source_of(key: Key, sources: Sequence[Source]) -> Source | None:
    """The first source that sets a key, or something below or above it."""
    for source in sources:
        if any(key[: len(leaf)] == leaf[: len(key)] for leaf, _ in leaves(source())):
            return source
    return None


def find_file(config: Path | None, variables: Mapping[str, str]) -> Path | None:
    """The file to read: ``config``, $ANTIPHON_CONFIG, the user's own, the one beside the code, or none.

    Raises:
        BadSettings: a named file is not there.
    """
    named = named_file(config, variables)
    if named and not named.is_file():
        by = "--config" if config else _CONFIG_VARIABLE
        raise BadSettings(f"There is no settings file {named}.", remedy=f"Correct {by}, or leave it out.")
    return named or next((file for file in (own_file(variables), SHIPPED) if file.is_file()), None)


def named_file(config: Path | None, variables: Mapping[str, str]) -> Path | None:
    """``config``, otherwise $ANTIPHON_CONFIG; ``None`` where neither is given."""
    file = config or variables.get(_CONFIG_VARIABLE)
    return Path(file).expanduser() if file else None


def own_file(variables: Mapping[str, str]) -> Path:
    """Where the user's own settings belong."""
    home = variables.get("XDG_CONFIG_HOME")
    return (Path(home) / "antiphon" if home else platformdirs.user_config_path("antiphon")) / FILE_NAME


def secrets_file(config: Path | None, variables: Mapping[str, str]) -> Path:
    """Where secrets belong: beside the settings that are named, otherwise beside the user's own.

    They are never looked for beside the settings that ship, which may lie in a folder that is shared.
    """
    return (named_file(config, variables) or own_file(variables)).with_name(SECRETS_FILE_NAME)


def text_of(path: Path) -> str:
    """What stands in a file. Raises ``BadSettings`` for what is no text, and for secrets that others may read."""
    try:
        text, mode = path.read_text("utf-8"), path.stat().st_mode
    except (OSError, UnicodeDecodeError) as err:
        raise BadSettings(f"{path} cannot be read: {err}.", remedy="It must be a UTF-8 text file.") from err
    if path.name == SECRETS_FILE_NAME and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise BadSettings(
            f"Other accounts on this machine may read {path}, which holds secrets.",
            remedy=f"Run: chmod 600 {path}. If somebody may have read it, change the secrets.",
        )
    return text


def secrets_in(path: Path, text: str) -> dict[str, str]:
    """The variables in a secrets.env, one a line as systemd reads them.

    Raises:
        BadSettings: a line is no variable. The message does not repeat it.
    """
    secrets = dict[str, str]()
    for number, line in enumerate(map(str.strip, text.split("\n")), start=1):
        match = _SECRET.fullmatch(line)
        if match:
            secrets[match[1]] = match[2]
        elif line and not line.startswith("#"):
            raise BadSettings(
                f"{path}, line {number}, is no setting.",
                remedy="Write ANTIPHON__SECTION__KEY=value, without quotation marks and without spaces.",
            )
    return secrets
