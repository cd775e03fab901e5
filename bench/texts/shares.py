"""Shares with their intervals, in tables by function, kind, group or language. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from bench.measures.output import Row
from bench.measures.significance import wilson

T = TypeVar("T")


def share(hits: Iterable[bool]) -> str:
    """A share with its 95 % interval (Wilson), such as "0.93 [0.90, 0.95]"; "-" where nothing was counted."""
    values = list(hits)
    if not values:
        return "-"
    low, high = wilson(sum(values), len(values))
    return f"{sum(values) / len(values):.3f} [{low:.2f}, {high:.2f}]"


def by(
    rows: Sequence[T], key: Callable[[T], Iterable[str]], columns: Mapping[str, Callable[[T], bool]], name: str
) -> list[Row]:
    """A table: each value of a key, how many rows have it, and in how many of them each column holds.

    Args:
        key: the values of a row; a row with several counts under each.
        name: what the key is called.
    """
    parts = dict[str, list[T]]()
    for row in rows:
        for value in key(row):
            parts.setdefault(value, []).append(row)
    return [
        {name: value, "texts": len(part), **{title: share(map(holds, part)) for title, holds in columns.items()}}
        for value, part in sorted(parts.items())
    ]
