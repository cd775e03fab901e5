"""Where settings come from, and how a wrong one is named: file, full key, and what to write instead.

Owns the places of config.toml and of secrets.env, the names of the environment's variables, and the check of keys.
``bot.compose.settings`` declares the keys.
"""

from __future__ import annotations

import difflib
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import platformdirs

from core.errors import BadSettings

FILE_NAME: Final = "config.toml"
SECRETS_FILE_NAME: Final = "secrets.env"
SHIPPED: Final = Path(__file__).resolve().parents[3] / FILE_NAME
"""The file beside the code: the repository's, or the one of an installation."""
IS_CLONE: Final = (SHIPPED.parent / "pyproject.toml").is_file()
"""Whether the code is a clone of the repository. The settings of an installation are replaced by the next update."""
CONFIG_VARIABLE: Final = "ANTIPHON_CONFIG"
SEPARATOR: Final = "__"
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SettingsSource:
    """Values as nested tables, and the name of the place that they come from, for people.

    Attributes:
        lines: where in the source each key is, for a source that has lines.
    """

    name: str
    values: Mapping[str, Any]
    lines: Mapping[Key, int] = field(default_factory=dict)

    def label(self, key: Key) -> str:
        """The key as it is written in this source."""
        return ".".join(key)

    def has(self, key: Key) -> bool:
        """Whether this source sets the key, or something below or above it."""
        table: Any = self.values
        for part in key:
            if not isinstance(table, Mapping):
                return True
            if part not in table:
                return False
            table = table[part]
        return True

    def place(self, key: Key) -> str:
        """Where in this source a key is set, for people."""
        return f"{self.name}, line {self.lines[key]}" if key in self.lines else f"{self.name}, {self.label(key)}"


class SettingsFile(SettingsSource):
    """A config.toml."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Parse a file.

        Raises:
            BadSettings: it cannot be read, or is not TOML; the message names line and column.
        """
        text = _text_of(path)
        try:
            return cls(str(path), tomllib.loads(text), dict(_lines_of(text)))
        except tomllib.TOMLDecodeError as err:
            lines = text.split("\n")
            end = f"at line {len(lines)}, column {len(lines[-1]) + 1}"
            reason = str(err).replace("at end of document", end)
            raise BadSettings(f"{path} is not valid TOML: {reason}.", remedy="Correct that line.") from err


class Environment(SettingsSource):
    """Variables such as ANTIPHON__LLM__BASE_URL."""

    def label(self, key: Key) -> str:
        """The variable that sets the key."""
        return variable(key)


class SecretsFile(Environment):
    """A secrets.env: the same variables, one a line as systemd reads them, for its owner's eyes alone."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Parse a file.

        Raises:
            BadSettings: it cannot be read, others may read it, or a line is no variable. No message repeats a value.
        """
        text = _text_of(path)
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise BadSettings(
                f"Other accounts on this machine may read {path}, which holds secrets.",
                remedy=f"Run: chmod 600 {path}. If somebody may have read it, change the secrets.",
            )
        given, lines = dict[str, str](), dict[Key, int]()
        for number, line in enumerate(map(str.strip, text.split("\n")), start=1):
            if not line or line.startswith("#"):
                continue
            name, equals, value = line.partition("=")
            prefix, *key = name.upper().split(SEPARATOR)
            if not equals or prefix != "ANTIPHON" or not key or value[:1] in ("'", '"'):
                raise BadSettings(
                    f"{path}, line {number}, is no setting.",
                    remedy="Write ANTIPHON__SECTION__KEY=value, without quotation marks and without spaces.",
                )
            given[name] = value
            lines[tuple(part.lower() for part in key)] = number
        return cls(str(path), from_environment(given, str(path)).values, lines)


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as err:
        raise BadSettings(f"{path} cannot be read: {err}.", remedy="It must be a UTF-8 text file.") from err


def _lines_of(text: str) -> Iterator[tuple[Key, int]]:
    """The line on which each key of a TOML document is set; the first one of a value of several lines.

    ``tomllib`` tells no places, so that each statement is parsed once more, below the header of its table.
    """
    header, statement, first = "", "", 1
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        first = first if statement else number
        statement += line
        try:
            table = tomllib.loads(header + statement)
        except tomllib.TOMLDecodeError:
            continue  # the statement goes on in the next line
        if statement.lstrip().startswith("["):
            header = statement
        yield from ((key, first) for key in _leaves(table))
        statement = ""


def variable(key: Key) -> str:
    """The name of the environment's variable for a key."""
    return SEPARATOR.join(("ANTIPHON", *key)).upper()


def find_file(config: Path | None, variables: Mapping[str, str]) -> Path | None:
    """The file to read: ``config``, $ANTIPHON_CONFIG, the user's own, the one beside the code, or none.

    Raises:
        BadSettings: a named file is not there.
    """
    named = config or (Path(variables[CONFIG_VARIABLE]) if variables.get(CONFIG_VARIABLE) else None)
    if named is not None:
        if not named.expanduser().is_file():
            by = "--config" if config else CONFIG_VARIABLE
            raise BadSettings(f"There is no settings file {named}.", remedy=f"Correct {by}, or leave it out.")
        return named.expanduser()
    return next((file for file in (own_file(variables), SHIPPED) if file.is_file()), None)


def own_file(variables: Mapping[str, str]) -> Path:
    """Where the user's own settings belong."""
    home = variables.get("XDG_CONFIG_HOME")
    return (Path(home) / "antiphon" if home else platformdirs.user_config_path("antiphon")) / FILE_NAME


def secrets_file(config: Path | None, variables: Mapping[str, str]) -> Path:
    """Where secrets belong: beside the settings that are named, otherwise beside the user's own.

    They are never looked for beside the settings that ship, which may lie in a folder that is shared.
    """
    named = config or (Path(variables[CONFIG_VARIABLE]) if variables.get(CONFIG_VARIABLE) else own_file(variables))
    return named.expanduser().with_name(SECRETS_FILE_NAME)


def from_environment(variables: Mapping[str, str], name: str = "the environment") -> Environment:
    """The variables whose name starts with ``ANTIPHON__``, in either case.

    Args:
        name: what the place of the variables is called.

    Raises:
        BadSettings: a name has a double underscore, but not after ``ANTIPHON``, or two variables contradict.
    """
    values: dict[str, Any] = {}
    for given, text in sorted(variables.items()):
        prefix, *key = given.upper().split(SEPARATOR)
        if prefix.startswith("ANTIPHON_") and key:
            right = SEPARATOR.join(("ANTIPHON", prefix.removeprefix("ANTIPHON_"), *key))
            raise BadSettings(f"{name}: there is no key {given}.", remedy=f"Did you mean {right}?")
        if prefix == "ANTIPHON" and key:
            _put(values, tuple(part.lower() for part in key), text)
    return Environment(name, values)


def _put(values: dict[str, Any], key: Key, text: str) -> None:
    table = values
    for part in key[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise BadSettings(f"{variable(key)} sets a key of what is one value.", remedy="Unset one of the two.")
    table[key[-1]] = text


def merged(*tables: Mapping[str, Any]) -> dict[str, Any]:
    """One table out of several; later ones win, key by key."""
    result: dict[str, Any] = {}
    for table in tables:
        for key, value in table.items():
            both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
            result[key] = merged(result[key], value) if both else value
    return result


def check_keys(source: SettingsSource, valid: Mapping[str, Any], secrets: frozenset[str]) -> None:
    """Refuse keys that do not exist, and secrets in a file.

    Raises:
        BadSettings: it names the source, the full key and the nearest valid one.
    """
    for key in _leaves(source.values):
        table: Any = valid
        for depth, part in enumerate(key):
            if not isinstance(table, Mapping) or part not in table:
                raise _unknown(source, key[: depth + 1], table if isinstance(table, Mapping) else {}, valid)
            table = table[part]
        if ".".join(key) in secrets and isinstance(source, SettingsFile):
            raise BadSettings(
                f"{source.name} holds the secret {'.'.join(key)}, which does not belong in a file.",
                remedy=f"Remove it, change the secret, and set {variable(key)} in the environment, or in a "
                f"{SECRETS_FILE_NAME} beside that file.",
            )


def refusal(key: Key, reason: str, sources: Sequence[SettingsSource]) -> BadSettings:
    """The error for a value that is not allowed, named as its source names it."""
    source = next((source for source in sources if source.has(key)), None)
    where = f"{source.name}: {source.label(key)}" if source else ".".join(key)
    return BadSettings(f"{where} is not allowed.", remedy=f"{reason.rstrip('.')}.")


def _unknown(source: SettingsSource, key: Key, siblings: Mapping[str, Any], valid: Mapping[str, Any]) -> BadSettings:
    """Name what was probably meant: first a misspelt name, then a right name in the wrong table."""
    last = difflib.get_close_matches(key[-1], siblings, n=1)
    elsewhere = [known for known in _leaves(valid) if known[-1] == key[-1]]
    if last:
        remedy = f"Did you mean {source.label((*key[:-1], last[0]))}?"
    elif elsewhere:
        remedy = f"Did you mean {source.label(elsewhere[0])}?"
    elif siblings:
        remedy = f"The valid keys there are: {', '.join(siblings)}."
    else:
        remedy = f"{source.label(key[:-1])} is one value, not a table."
    return BadSettings(f"{source.name}: there is no key {source.label(key)}.", remedy=remedy)


def _leaves(table: Mapping[str, Any], above: Key = ()) -> Iterator[Key]:
    for name, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, (*above, name))
        else:
            yield (*above, name)
