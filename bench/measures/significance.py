"""Whether a difference between systems is more than chance, and how sure a figure is, also in tables of shares."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from statistics import median
from typing import TypeVar

from scipy.stats import binomtest, friedmanchisquare, wilcoxon

from bench.measures.output import Row

T = TypeVar("T")
Column = Mapping[str, float]
"""One system's figure for each post, by the post's id."""


def percentile(values: Sequence[float], share: float) -> float | None:
    """The least value that at least ``share`` of the values do not exceed (nearest rank); ``None`` without values."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else None


def compare(measure: str, columns: Mapping[str, Column], against: str | None = None) -> list[Row]:
    """Friedman's test over all systems, and Wilcoxon's signed-rank test of pairs with Bonferroni's correction.

    Friedman's test sees the posts that every system answered, a pair those that both did.

    Args:
        against: compare every other system with this one only; ``None`` for all pairs.
    """
    names = [name for name, column in columns.items() if column]
    rows: list[Row] = []
    shared = _shared([columns[name] for name in names])
    if len(names) > 2 and len(shared) > 1:
        result = friedmanchisquare(*([columns[name][post] for post in shared] for name in names))
        rows.append(_row(measure, "Friedman", " ".join(names), len(shared), None, _number(result.pvalue)))
    pairs = [pair for pair in combinations(names, 2) if against is None or against in pair]
    for left, right in pairs:
        posts = _shared([columns[left], columns[right]])
        if posts:
            gaps = [columns[left][post] - columns[right][post] for post in posts]
            p = signed_rank(gaps)
            corrected = None if p is None else min(1.0, p * len(pairs))
            rows.append(_row(measure, "Wilcoxon", f"{left} - {right}", len(posts), median(gaps), corrected))
    return rows


def wilson(hits: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927); from 0 to 1 where nothing was counted."""
    if not count:
        return 0.0, 1.0
    found = binomtest(hits, count).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


def signed_rank(gaps: Sequence[float]) -> float | None:
    """Wilcoxon's two-sided p for gaps that are centred at 0; 1 where all are 0, ``None`` without gaps."""
    if not any(gaps):
        return 1.0 if gaps else None
    return _number(wilcoxon(gaps).pvalue)


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


def _shared(columns: Sequence[Column]) -> list[str]:
    return [post for post in columns[0] if all(post in column for column in columns)] if columns else []


def _row(measure: str, test: str, systems: str, posts: int, gap: float | None, p: float | None) -> Row:
    return {"measure": measure, "test": test, "systems": systems, "posts": posts, "median gap": gap, "p": p}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
