"""The folder of one run: what it was started with, each step, and whether another start may go on with it.

``values.json`` and ``log.jsonl`` stand there. A run that was killed goes on in the same folder; with other values,
other texts or another base it would give a mixture that nobody asked for, so that is refused. Steps after its last
checkpoint are done again, and their new lines replace the old ones.
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
_OF_EVERY_LINE: Final = frozenset({"phase", "step", "epoch", "seconds"})
_LIBRARIES: Final = ("torch", "transformers", "peft", "trl", "sentence-transformers")


@dataclass(frozen=True, slots=True)
class RunStart:
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

    def __init__(self, folder: Path, started: RunStart) -> None:
        self.folder: Final = folder
        self.started: Final = started
        folder.mkdir(parents=True, exist_ok=True)
        values, file = started.as_json(), folder / VALUES
        if file.exists():
            stored = json.loads(file.read_text(encoding="utf-8"))
            stored.pop("versions", None)
            if stored != values:
                differs = [name for name in values if stored.get(name) != values[name]]
                raise BadInput(
                    f"{folder} holds a run with other {', '.join(differs)}.",
                    remedy="Give the options that it was begun with (--most, --also, --set, --base ...), name another "
                    "folder, or remove this one to begin anew.",
                )
        else:
            versions = {name: metadata.version(name) for name in _LIBRARIES if _is_there(name)}
            text = json.dumps({**values, "versions": versions}, indent=2)
            file.write_text(text + "\n", encoding="utf-8")
        self._begun = time.monotonic()
        self._noted = set[str]()

    def note(self, entry: Mapping[str, Any], phase: str = "") -> None:
        """Add a line to the log, with the seconds since this start, and the phase where a stage has several."""
        line = {**({"phase": phase} if phase else {}), **entry, "seconds": round(time.monotonic() - self._begun, 1)}
        if phase not in self._noted:
            self._noted.add(phase)
            self._forget_what_is_said_again(line)
        with (self.folder / LOG).open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")

    def _forget_what_is_said_again(self, first: Mapping[str, Any]) -> None:
        """Drop what this phase said from the line on that this start, whose first line is given, says again."""
        lines = self.log()
        begins = next((at for at, line in enumerate(lines) if _is_said_again(line, first)), len(lines))
        remaining = lines[:begins] + [line for line in lines[begins:] if line.get("phase") != first.get("phase")]
        if len(remaining) < len(lines):
            beside = self.folder / f"{LOG}.new"
            beside.write_text("".join(f"{json.dumps(line)}\n" for line in remaining), encoding="utf-8")
            beside.replace(self.folder / LOG)

    def log(self) -> list[dict[str, Any]]:
        """All lines, of this start and of earlier ones."""
        file = self.folder / LOG
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def _is_said_again(line: Mapping[str, Any], first: Mapping[str, Any]) -> bool:
    """Whether an earlier start's line is of a later step, or says of the same step what ``first`` does."""
    if line.get("phase") != first.get("phase") or "step" not in line or "step" not in first:
        return False
    says_the_same = (line.keys() & first.keys()) - _OF_EVERY_LINE
    return bool(line["step"] > first["step"] or (line["step"] == first["step"] and says_the_same))


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
