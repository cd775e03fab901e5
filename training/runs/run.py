"""The folder of one run: what it was started with, each step, and whether another start may go on with it.

Owns ``values.json`` and ``log.jsonl``. A run that was killed goes on in the same folder; with other values, other texts
or another base it would give a mixture that nobody asked for, so that is refused.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from core.errors import BadInput

VALUES: Final = "values.json"
LOG: Final = "log.jsonl"
_LIBRARIES: Final = ("torch", "transformers", "peft", "trl", "sentence-transformers")


@dataclass(frozen=True, slots=True)
class Started:
    """What a run depends on.

    Attributes:
        stage: which stage of training.
        recipe: ``coarl``, ``f2rl`` or ``own``.
        values: every value, by its name.
        base: the model that is trained, and its hash or commit.
        data: the texts: how many, from where, and a hash of them all.
    """

    stage: str
    recipe: str
    values: Mapping[str, Any]
    base: Mapping[str, str]
    data: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """As ``values.json`` holds it."""
        plain: dict[str, Any] = json.loads(
            json.dumps(
                {
                    "stage": self.stage,
                    "recipe": self.recipe,
                    "values": dict(self.values),
                    "base": dict(self.base),
                    "data": dict(self.data),
                }
            )
        )
        return plain


class Run:
    """A run in its folder.

    Raises:
        BadInput: the folder holds another run.
    """

    def __init__(self, folder: Path, started: Started) -> None:
        self.folder: Final = folder
        self.started: Final = started
        folder.mkdir(parents=True, exist_ok=True)
        wanted, file = started.as_json(), folder / VALUES
        if file.exists():
            found = json.loads(file.read_text(encoding="utf-8"))
            found.pop("versions", None)
            if found != wanted:
                differs = [name for name in wanted if found.get(name) != wanted[name]]
                raise BadInput(
                    f"{folder} holds a run with other {', '.join(differs)}.",
                    remedy="Give the options that it was begun with (--most, --also, --set, --base ...), name another "
                    "folder, or remove this one to begin anew.",
                )
        else:
            versions = {name: metadata.version(name) for name in _LIBRARIES if _is_there(name)}
            written = json.dumps({**wanted, "versions": versions}, indent=2)
            file.write_text(written + "\n", encoding="utf-8")
        self._begun = time.monotonic()

    def note(self, entry: Mapping[str, Any]) -> None:
        """Add a line to the log, with the seconds since this start."""
        line = {**entry, "seconds": round(time.monotonic() - self._begun, 1)}
        with (self.folder / LOG).open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")

    def log(self) -> list[dict[str, Any]]:
        """All lines, of this start and of earlier ones."""
        file = self.folder / LOG
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def hash_of(texts: Iterable[str]) -> str:
    """One hash of many texts, in their order."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode())
        digest.update(b"\0")
    return digest.hexdigest()


def _is_there(library: str) -> bool:
    try:
        metadata.version(library)
    except metadata.PackageNotFoundError:
        return False
    return True
