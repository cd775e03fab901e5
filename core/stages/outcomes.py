"""What stages give back beside their result: what was lost on the way, or how a search ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Noted(NamedTuple, Generic[T]):
    """What a stage found, and what a person should know of how it came about, in sentences."""

    value: T
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Search(Generic[T]):
    """What a search found, best first; the rounds that were run, and what ended it."""

    found: list[T]
    rounds: int
    stopped: str
