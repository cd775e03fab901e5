"""A trained writer on disk: a LoRA adapter as GGUF, and beside it a card that says what it is and what it can do.

Owns the form of the card, and the checks before a file is loaded: it is the one that the card describes, and it was
trained on the weights that run. An adapter on other weights writes nonsense without any error.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib import resources
from math import comb
from pathlib import Path
from typing import Any, Final

from core.errors import ModelUnavailable
from core.llm.backends.weight_files import has_hash
from core.llm.short_prompts import Task

SHIPPED: Final = "shipped"
_FOLDER: Final = "core.llm.writer"
_FILE: Final = "writer.gguf"


MOST_BY_CHANCE: Final = 0.05
"""A writer is preferred where so many held-out pairs speak for it by chance alone at most this often."""
LEAST_READ: Final = 40
LEAST_POSTABLE: Final = 0.6


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What a community's own decisions that were not learnt say of a writer, against the one before it.

    Attributes:
        community: whose decisions.
        pairs: how many pairs of a better and a worse reply.
        better: of how many the writer tells the better reply more clearly from the worse than the one before.
    """

    community: str
    pairs: int
    better: int

    @property
    def chance(self) -> float:
        """How often a coin says at least as much for the writer: the sign test, one-sided."""
        return float(sum(comb(self.pairs, k) for k in range(self.better, self.pairs + 1)) / 2**self.pairs)

    @property
    def is_preferred(self) -> bool:
        """Whether the decisions speak for the writer, and not by chance."""
        return self.chance <= MOST_BY_CHANCE


@dataclass(frozen=True, slots=True)
class ReadBlind:
    """What people said of a writer's replies who did not know whose they were: how many they would post.

    From ``LEAST_POSTABLE`` of ``LEAST_READ`` or more on, its drafts may come before what was prepared.
    """

    replies: int
    postable: int

    @property
    def is_good(self) -> bool:
        """Whether that is enough."""
        return self.replies >= LEAST_READ and self.postable >= LEAST_POSTABLE * self.replies


@dataclass(frozen=True, slots=True)
class TrainedWriter:
    """An adapter that may be loaded: its file, what it was trained for, and by which name people know it.

    ``held_out``: what a community's decisions say of it, where it was trained on such. ``read``: what people say who
    read its replies.
    """

    file: Path
    name: str
    tasks: frozenset[Task]
    held_out: HeldOut | None = None
    read: ReadBlind | None = None

    @property
    def is_vetted(self) -> bool:
        """Whether people would post what it writes."""
        return self.read is not None and self.read.is_good


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
    return _described(file, card)


def describe(file: Path) -> TrainedWriter:
    """What an adapter's card says of it; the adapter itself need not be there.

    Raises:
        ModelUnavailable: the card is missing or damaged.
    """
    return _described(file, _card(file))


def _described(file: Path, card: dict[str, Any]) -> TrainedWriter:
    try:
        tasks = frozenset(Task(task) for task in card["tasks"])
        held_out = HeldOut(**card["held_out"]) if "held_out" in card else None
        read = ReadBlind(**card["read"]) if "read" in card else None
    except (KeyError, TypeError, ValueError) as err:
        raise ModelUnavailable(
            f"The card of {file} says what this version does not know.",
            remedy="Export it again with this version.",
        ) from err
    return TrainedWriter(file, str(card.get("name", file.stem)), tasks, held_out, read)


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
