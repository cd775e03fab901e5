"""config.toml, secrets.env and the environment, read once into frozen values.

An unknown key is an error with the nearest valid one, in the environment too, where pydantic-settings would ignore it.
Secrets come from the environment and from a secrets.env that only its owner may read, never from config.toml, and no
message shows their values. Nothing else in Antiphon reads settings from the environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bot.compose.settings.kinds import Section
from bot.compose.settings.settings import SECRETS, Settings
from bot.compose.settings.sources import (
    SecretsFile,
    SettingsFile,
    SettingsSource,
    check_keys,
    find_file,
    from_environment,
    merged,
    refusal,
    secrets_file,
)
from core.errors import BadInput
from core.llm.profiles import LIVE, PROFILES, Profile
from core.moderation.input_checks import need_in_words


def load_settings(config: Path | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings; the environment wins over secrets.env, that over the file, and the file over the defaults.

    Args:
        config: the file that the caller names, or ``None`` to look in the usual places (``find_file``).
        environment: the variables to read; the process's own by default.

    Raises:
        BadSettings: a named file is missing, a file is not TOML, a key is unknown, or a value is not allowed.
    """
    return settings_of(read_sources(config, environment))


def read_sources(
    config: Path | None = None, environment: Mapping[str, str] | None = None
) -> tuple[SettingsSource, ...]:
    """What the settings are made of, the source that wins first; the defaults are none. Like ``load_settings``."""
    variables = os.environ if environment is None else environment
    secrets, file = secrets_file(config, variables), find_file(config, variables)
    sources: list[SettingsSource] = [from_environment(variables)]
    sources += [SecretsFile.read(secrets)] if secrets.is_file() else []
    sources += [SettingsFile.read(file)] if file else []
    for source in reversed(sources):
        check_keys(source, valid_keys(), SECRETS)
    return tuple(source for source in sources if source.values)


def settings_of(sources: Sequence[SettingsSource]) -> Settings:
    """The settings out of what was read, the source that wins first. Raises ``BadSettings`` for a value."""
    published = {"profiles": {name.replace("-", "_"): asdict(profile) for name, profile in PROFILES.items()}}
    values = merged(published, *(source.values for source in reversed(sources)))
    values["origin"] = " over ".join(source.name for source in sources) or "built-in defaults"
    try:
        return Settings.model_validate(values)
    except ValidationError as err:
        first = err.errors(include_url=False, include_input=False)[0]
        raise refusal(tuple(map(str, first["loc"])), need_in_words(dict(first)), sources) from err
    except BadInput as err:  # a profile's own rule; its message begins with the full key
        raise refusal(tuple(err.message.split()[0].split(".")), err.remedy, sources) from err


def valid_keys() -> dict[str, Any]:
    """Every key that a file or the environment may set, as nested tables with ``None`` for a value."""
    tables = {name: field.annotation for name, field in Settings.model_fields.items() if name != "origin"}
    return {name: _keys_of(annotation) for name, annotation in tables.items()}


def _keys_of(annotation: object) -> dict[str, Any] | None:
    if annotation is Profile:
        return {name: None for name in asdict(LIVE) if name != "name"}
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return {name: _keys_of(field.annotation) for name, field in annotation.model_fields.items()}
    return None
