"""Where settings come from, and how a wrong one is named: file, full key, and what to write instead.

Owns the places of config.toml, the names of the environment's variables, and the check of keys.
``bot.compose.settings`` declares the keys.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import platformdirs

from core.errors import BadSettings

FILE_NAME: Final = "config.toml"
SHIPPED: Final = Path(__file__).resolve().parents[2] / FILE_NAME
"""The file beside the code: the repository's, or the one of an installation."""
IS_CLONE: Final = (SHIPPED.parent / "pyproject.toml").is_file()
"""Whether the code is a clone of the repository. The settings of an installation are replaced by the next update."""
CONFIG_VARIABLE: Final = "ANTIPHON_CONFIG"
SEPARATOR: Final = "__"
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SettingsSource:
    """Values as nested tables, and the name of the place that they come from, for people."""

    name: str
    values: Mapping[str, Any]

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


class SettingsFile(SettingsSource):
    """A config.toml."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Parse a file.

        Raises:
            BadSettings: it cannot be read, or is not TOML; the message names line and column.
        """
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as err:
            raise BadSettings(f"{path} cannot be read: {err}.", remedy="It must be a UTF-8 text file.") from err
        try:
            return cls(str(path), tomllib.loads(text))
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


def from_environment(variables: Mapping[str, str]) -> Environment:
    """The variables whose name starts with ``ANTIPHON__``, in either case.

    Raises:
        BadSettings: a name has a double underscore, but not after ``ANTIPHON``, or two variables contradict.
    """
    values: dict[str, Any] = {}
    for name, text in sorted(variables.items()):
        prefix, *key = name.upper().split(SEPARATOR)
        if prefix.startswith("ANTIPHON_") and key:
            right = SEPARATOR.join(("ANTIPHON", prefix.removeprefix("ANTIPHON_"), *key))
            raise BadSettings(f"the environment: there is no key {name}.", remedy=f"Did you mean {right}?")
        if prefix == "ANTIPHON" and key:
            _put(values, tuple(part.lower() for part in key), text)
    return Environment("the environment", values)


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
                remedy=f"Remove it, change the secret, and set {variable(key)} in the environment.",
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
