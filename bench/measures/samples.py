"""The rows that a benchmark runs on, and the log from which a killed run continues.

The rows are research data of the person who runs the benchmark. They are written only to files that the person names
and to standard output; the configured language model reads them.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import BadInput


@dataclass(frozen=True, slots=True)
class Sample:
    """A hateful post with the reply that a person wrote; ``human_reply`` and ``target_group`` may be empty."""

    id: str
    post: str
    target_group: str = ""
    human_reply: str = ""


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The JSON lines of a data file.

    Raises:
        BadInput: the file cannot be read, holds no rows, or a line is not a JSON object.
    """
    remedy = "Name a UTF-8 file with one JSON object a line."
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        rows = [json.loads(line) for line in lines]
    except (OSError, ValueError) as err:
        raise BadInput(f"{path} cannot be read: {err}.", remedy=remedy) from err
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise BadInput(f"{path} does not hold one JSON object a line.", remedy=remedy)
    return rows


def read_samples(path: Path) -> list[Sample]:
    """The posts of a data file, in its order; a row without an id gets its place in the file as one.

    Raises:
        BadInput: as ``read_rows``, or a row has no ``post``.
    """
    rows = read_rows(path)
    if not all(row.get("post") for row in rows):
        raise BadInput(f"A row of {path} has no post.", remedy="Give every row the field 'post'.")
    return [
        Sample(str(row.get("id", at)), row["post"], row.get("target_group") or "", row.get("human_reply") or "")
        for at, row in enumerate(rows)
    ]


def spread(samples: Sequence[Sample], seed: int) -> list[Sample]:
    """All samples, shuffled by seed and ordered so that every prefix holds the target groups as evenly as possible.

    So a system with fewer posts than another gets the first of the same posts.
    """
    chance = random.Random(seed)  # nosec B311 # noqa: S311 - repeatable, no secret
    hands: dict[str, list[Sample]] = {}
    for sample in chance.sample(samples, len(samples)):
        hands.setdefault(sample.target_group, []).append(sample)
    order = sorted(hands)
    chance.shuffle(order)
    longest = max((len(hand) for hand in hands.values()), default=0)
    return [hands[group][place] for place in range(longest) for group in order if place < len(hands[group])]


class Log:
    """Rows that are appended to a file one by one as JSON lines; the rows of an earlier run are read back.

    The first line says what the run is about, so that a log is never continued by another kind of run.

    Args:
        path: the file; ``None`` keeps the rows in memory only.
        about: the values that must be equal for two runs to share a log.

    Raises:
        BadInput: the file is the log of something else, or holds a line that is not JSON.
    """

    def __init__(self, path: Path | None, about: Mapping[str, object]) -> None:
        self._path = path
        self.rows: list[dict[str, Any]] = []
        if path and path.exists():
            self._read(path, about)
        elif path:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._append({"about": dict(about)})

    def add(self, row: Mapping[str, object]) -> None:
        """Keep one row; it is on the disk when this returns."""
        self.rows.append(dict(row))
        self._append(row)

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row.get("kind") == kind]

    def _append(self, row: Mapping[str, object]) -> None:
        if self._path:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def _read(self, path: Path, about: Mapping[str, object]) -> None:
        text = path.read_text(encoding="utf-8")
        whole, _, torn = text.rpartition("\n")
        if torn:  # the run was killed while it wrote its last line; that row is made again
            path.write_text(whole + "\n" if whole else "", encoding="utf-8")
        try:
            first, *rows = [json.loads(line) for line in whole.split("\n") if line] or [None]
        except ValueError as err:
            raise BadInput(f"{path} holds a line that is not JSON.", remedy="Name a new file to begin again.") from err
        if first is None:
            self._append({"about": dict(about)})
        elif first != {"about": json.loads(json.dumps(dict(about)))}:
            raise BadInput(f"{path} is the log of another run: {first}.", remedy="Name a new file to begin again.")
        self.rows = rows
