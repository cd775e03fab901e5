"""A trained writer on disk: a LoRA adapter as GGUF, and beside it a card that says what it is and what it can do.

Owns the form of the card, and the checks before a file is loaded: it is the one that the card describes, and it was
trained on the weights that run. An adapter on other weights writes nonsense without any error.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final

from core.errors import ModelUnavailable
from core.llm.backends.weight_files import has_hash
from core.llm.short_prompts import Task

SHIPPED: Final = "shipped"
_FOLDER: Final = "core.llm.writer"
_FILE: Final = "writer.gguf"


@dataclass(frozen=True, slots=True)
class TrainedWriter:
    """An adapter that may be loaded: its file, what it was trained for, and by which name people know it."""

    file: Path
    name: str
    tasks: frozenset[Task]


def find_writer(wanted: str, weights: Path, folder: Path) -> TrainedWriter:
    """The adapter that a setting names, checked.

    Args:
        wanted: ``shipped``, or the path of a GGUF file that ``antiphon train export`` wrote.
        weights: those that it will run with.
        folder: where it is remembered which file was hashed.

    Raises:
        ModelUnavailable: file or card is missing or damaged, or it was trained on other weights.
    """
    file = Path(str(resources.files(_FOLDER).joinpath(_FILE))) if wanted == SHIPPED else Path(wanted).expanduser()
    card = _card(file)
    if _sha256(file) != card.get("sha256"):
        raise ModelUnavailable(
            f"The adapter {file} is not the file that its card describes.",
            remedy="Export it again, or copy both files again.",
        )
    base = str(card.get("base_sha256"))
    if not has_hash(weights, base, folder):
        raise ModelUnavailable(
            f"The adapter {file} was trained on other weights ({base[:12]}) than those that run.",
            remedy='Set llm.adapter to "", or llm.model_path to the weights that it was trained on.',
        )
    try:
        tasks = frozenset(Task(task) for task in card["tasks"])
    except (KeyError, TypeError, ValueError) as err:
        raise ModelUnavailable(
            f"The card of {file} names tasks that this version does not know.",
            remedy="Export it again with this version.",
        ) from err
    return TrainedWriter(file, str(card.get("name", file.stem)), tasks)


def card_of(file: Path) -> Path:
    """Where the card of an adapter stands."""
    return file.with_suffix(".json")


def _card(file: Path) -> dict[str, Any]:
    try:
        card = json.loads(card_of(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as err:
        raise ModelUnavailable(
            f"The adapter {file} has no card that can be read.",
            remedy=f"`antiphon train export` writes {card_of(file).name} beside it.",
        ) from err
    if not isinstance(card, dict):
        raise ModelUnavailable(f"The card of {file} is no table.", remedy="Export it again.")
    return card


def _sha256(file: Path) -> str:
    try:
        with file.open("rb") as stored:
            return hashlib.file_digest(stored, "sha256").hexdigest()
    except OSError as err:
        raise ModelUnavailable(f"{file} cannot be read.", remedy="Check the path and its rights.") from err
