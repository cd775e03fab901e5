"""A small file beside the database with what a chat platform was told about our commands.

Implements ``adapters.discord.manage.CommandMemory``. If the file is lost, the platform is told again at the next start.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from core.errors import StoreUnavailable


class CommandFile:
    """Short texts by their keys, in one JSON file that is replaced whole."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, key: str) -> str | None:
        """The text kept under a key; ``None`` if there is none, or the file cannot be read."""
        return self._read().get(key)

    def set(self, key: str, value: str) -> None:
        """Keep a text; ``StoreUnavailable`` if the file cannot be written."""
        self._write(self._read() | {key: value})

    def known(self) -> Collection[str]:
        """The keys of all texts that are kept."""
        return self._read().keys()

    def forget(self, key: str) -> None:
        """Delete a text; ``StoreUnavailable`` if the file cannot be written."""
        self._write({known: value for known, value in self._read().items() if known != key})

    def _write(self, kept: dict[str, str]) -> None:
        draft = self._path.with_suffix(".tmp")
        try:
            draft.write_text(json.dumps(kept, indent=1), "utf-8")
            draft.replace(self._path)
        except OSError as err:
            raise StoreUnavailable(
                f"{self._path} cannot be written.", remedy="Let the user that runs Antiphon write its folder."
            ) from err

    def _read(self) -> dict[str, str]:
        try:
            kept = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(kept, dict):
            return {}
        return {key: value for key, value in kept.items() if isinstance(value, str)}
