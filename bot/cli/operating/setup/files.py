"""The two files that setup writes: what stands in them stays, and each is there whole or not at all.

Owns their form. Secrets go into a file that only its owner may read.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit

from bot.compose.settings.loading import Key, variable
from core.errors import BadInput, StoreUnavailable


def with_values(text: str, values: Mapping[Key, Any]) -> str:
    """A config.toml with these values; comments and other keys stay where they are."""
    document = tomlkit.parse(text)
    for (section, name), value in values.items():
        if section not in document:
            document[section] = tomlkit.table()
        table: Any = document[section]
        table[name] = value
    return tomlkit.dumps(document)


def with_secrets(text: str, secrets: Mapping[Key, str]) -> str:
    """A secrets.env with these secrets, each in the line that it had, or in a new one."""
    left = {variable(key): value for key, value in secrets.items()}
    for name, value in left.items():
        if not value.isprintable() or value != value.strip():
            raise BadInput(
                f"The value of {name} holds a character that no secret has.",
                remedy="Nothing was written. Copy it once more, without spaces and line breaks around it.",
            )
    lines = []
    for line in text.removesuffix("\n").split("\n") if text else []:
        name = line.partition("=")[0].strip().upper()
        lines.append(f"{name}={left.pop(name)}" if name in left else line)
    lines += [f"{name}={value}" for name, value in left.items()]
    return "".join(f"{line}\n" for line in lines)


def write_whole(file: Path, text: str) -> None:
    """Put a file in its place at once, for its owner alone, and its folder where that is missing.

    Raises:
        StoreUnavailable: the disk is full, or there is no right to write there.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as writing:
                writing.write(text)
                writing.flush()
                os.fsync(writing.fileno())
            Path(name).replace(file.resolve())
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as err:
        raise StoreUnavailable(
            f"{file} cannot be written: {err.strerror}.", remedy="Make room or give the rights, or name another place."
        ) from err
