"""What stages return beside their result: what was dropped, or how a search ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class StageOutcome(NamedTuple, Generic[T]):
    """The result of a stage, and notes for people on how it was reached, in sentences."""

    value: T
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Search(Generic[T]):
    """The result of a search, best first; the number of rounds, and why the search ended."""

    found: list[T]
    rounds: int
    stopped: str
