"""What one post asks of the language model: its calls with their sizes, in the order in which the engine made them.

Owns ``demands.json``, the numbers that ``bench.fleet.asked.recording`` counted while the real engine drafted. It holds
no word of a post or an answer.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from statistics import fmean
from typing import Any, Final

from core.errors import BadInput

_FILE: Final = "demands.json"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the language model.

    Attributes:
        after: the calls, by their place in the post's list, that had ended when this one was made.
        pause: seconds from the end of the last of them to this call, in which the engine worked by itself.
        prompt: tokens of the prompt.
        new: those of them that no earlier prompt began with, so that a prefix cache does not hold them.
        written: tokens of all answers together.
        n: how many answers.
    """

    after: tuple[int, ...]
    pause: float
    prompt: int
    new: int
    written: int
    n: int = 1


@dataclass(frozen=True, slots=True)
class Step:
    """Something that the engine told on its way, after so many calls had ended; ``has_draft`` where it was a draft."""

    after: int
    stage: str
    has_draft: bool


@dataclass(frozen=True, slots=True)
class Demand:
    """One post: its calls, what was told meanwhile, seconds of the engine after the last call, and what it stored."""

    calls: tuple[Call, ...]
    steps: tuple[Step, ...]
    tail: float
    document_bytes: int

    @property
    def prompt(self) -> int:
        """Tokens of all prompts."""
        return sum(call.prompt for call in self.calls)

    @property
    def new(self) -> int:
        """Tokens that a prefix cache does not hold."""
        return sum(call.new for call in self.calls)

    @property
    def written(self) -> int:
        """Tokens of all answers."""
        return sum(call.written for call in self.calls)


def demands_of(name: str) -> tuple[Demand, ...]:
    """The posts that were recorded under a name, such as ``live``.

    Raises:
        BadInput: nothing was recorded under that name.
    """
    recorded = read()
    if name not in recorded:
        raise BadInput(f"No calls were counted for {name}.", remedy=f"Take one of {', '.join(recorded)}.")
    return tuple(parsed(each) for each in recorded[name])


@cache
def read() -> dict[str, list[dict[str, Any]]]:
    """What was recorded, by name."""
    found: dict[str, list[dict[str, Any]]] = json.loads(
        resources.files("bench.fleet.asked").joinpath(_FILE).read_text(encoding="utf-8")
    )["posts"]
    return found


def parsed(row: dict[str, Any]) -> Demand:
    """A demand from its JSON."""
    return Demand(
        tuple(Call(tuple(call["after"]), *(call[key] for key in _SIZES)) for call in row["calls"]),
        tuple(Step(step["after"], step["stage"], step["has_draft"]) for step in row["steps"]),
        row["tail"],
        row["document_bytes"],
    )


_SIZES: Final = ("pause", "prompt", "new", "written", "n")


def drawn(demands: Sequence[Demand], count: int, seed: int) -> list[Demand]:
    """So many posts, each one of the recorded ones, by chance."""
    return random.Random(f"demands {seed}").choices(demands, k=count)  # nosec B311 # noqa: S311 - repeatable, no secret


def means(demands: Sequence[Demand]) -> dict[str, float]:
    """What a post asks for on average."""
    return {
        "posts": len(demands),
        "calls": fmean(len(demand.calls) for demand in demands),
        "prompt_tokens": fmean(demand.prompt for demand in demands),
        "new_prompt_tokens": fmean(demand.new for demand in demands),
        "written_tokens": fmean(demand.written for demand in demands),
        "own_seconds": fmean(demand.tail + sum(call.pause for call in demand.calls) for demand in demands),
        "document_bytes": fmean(demand.document_bytes for demand in demands),
    }
