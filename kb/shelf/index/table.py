"""The paragraphs as a table of numbers: one record a paragraph, in the order of their rows, and cut into shards.

Owns the form of a record, which records a filter lets pass, and where shards begin. A shard depends only on its rows,
so that two libraries with the same paragraphs have the same shards, whatever their history.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.errors import BadInput
from core.models import TargetGroup
from kb.shelf.index.entries import Filters, ParagraphEntry

RECORD = np.dtype(
    [
        ("row", "<i8"),
        ("text", "<u8"),  # texts and names are told apart by 64 bits of a hash
        ("document", "<u8"),
        ("source", "<u8"),
        ("publisher", "<u8"),
        ("language", "<u8"),
        ("expires", "<i4"),  # a day number
        ("year", "<i4"),
        ("groups", "<u2"),  # one bit for each target group
    ]
)
GROUPS = tuple(TargetGroup)
NEVER = date.max.toordinal()
NO_YEAR = -1

_SHARD_BITS = (18, 16, 14, 12)  # shards of 262,144 rows, then smaller ones, so that new rows change few shards
_AT_ONCE = 10_000

Table = NDArray[np.void]
"""Records of dtype ``RECORD``, with ascending rows and without duplicates."""
Mask = NDArray[np.bool_]


def digest(text: str) -> int:
    """64 bits of a text's hash; never 0, which means that there is none."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") or 1


def table_of(entries: Iterable[ParagraphEntry]) -> Table:
    """The records of entries.

    Raises:
        BadInput: the rows do not ascend from 1.
    """
    blocks = [np.array(block, dtype=RECORD) for block in _batches(entries)]
    table = np.concatenate(blocks) if blocks else np.empty(0, dtype=RECORD)
    if len(table) and (table["row"][0] < 1 or not (np.diff(table["row"]) > 0).all()):
        raise BadInput("Entries must come in the order of their rows, from 1, none twice.", remedy="Sort them by row.")
    return table


def _batches(entries: Iterable[ParagraphEntry]) -> Iterator[list[tuple[int, ...]]]:
    names: dict[str, int] = {}

    def known(name: str) -> int:
        return names[name] if name in names else names.setdefault(name, digest(name))

    batch: list[tuple[int, ...]] = []
    for entry in entries:
        batch.append(
            (
                entry.row,
                digest(entry.text),
                known(entry.document),
                known(entry.source),
                known(entry.publisher),
                known(entry.language or "en"),
                NEVER if entry.expires is None else entry.expires.toordinal(),
                NO_YEAR if entry.year is None else entry.year,
                group_bits(entry.target_groups),
            )
        )
        if len(batch) == _AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def group_bits(groups: frozenset[TargetGroup]) -> int:
    """One bit for each group."""
    return sum(1 << GROUPS.index(group) for group in groups)


def changed(table: Table, added: Table, removed: Iterable[int]) -> Table:
    """The table without the removed rows and with the added records, which replace those with the same rows."""
    gone = np.concatenate([added["row"], np.fromiter(removed, dtype=np.int64)])
    both = np.concatenate([table[~np.isin(table["row"], gone)], added])
    return both[np.argsort(both["row"], kind="stable")]


def shards(rows: NDArray[np.int64]) -> list[slice]:
    """Where each shard is in a table with these rows; none is empty.

    A shard holds the rows of one aligned range: the largest ranges that the last row completes, then smaller ones.
    """
    if not len(rows):
        return []
    after, edges, start = int(rows[-1]) + 1, list[int](), 0
    for bits in _SHARD_BITS:
        size = 1 << bits
        edges += range(start + size, after // size * size + 1, size)
        start = edges[-1] if edges else 0
    places = [0, *np.searchsorted(rows, edges).tolist(), len(rows)]
    return [slice(first, last) for first, last in pairwise(places) if first < last]


def places_in(ordered: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the wanted numbers are in an ascending array; -1 for one that is not there."""
    if not len(ordered):
        return np.full(len(wanted), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return np.where(ordered[places] == wanted, places, -1)


class Columns:
    """The columns of a table, ready to be filtered: about 50 bytes a paragraph in memory."""

    def __init__(self, table: Table) -> None:
        self._of = {name: np.ascontiguousarray(table[name]) for name in RECORD.names or ()}
        self.rows: NDArray[np.int64] = self._of["row"]
        self.texts: NDArray[np.uint64] = self._of["text"]
        self.documents: NDArray[np.uint64] = self._of["document"]
        self.languages: frozenset[int] = frozenset(np.unique(self._of["language"]).tolist())

    def __len__(self) -> int:
        return len(self.rows)

    def places(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the rows are in the table; -1 for a row that is not there."""
        return places_in(self.rows, rows)

    def mask(self, filters: Filters) -> Mask | None:
        """Which paragraphs pass, of shape (paragraphs,); ``None`` if all do. ``per_document`` is ignored."""
        parts = [part for part in self._parts(filters) if not part.all()]
        return np.logical_and.reduce(parts) if parts else None

    def _parts(self, filters: Filters) -> Iterator[Mask]:
        if filters.target_groups:
            yield (self._of["groups"] & group_bits(filters.target_groups)) != 0
        if filters.since_year is not None:
            yield self._of["year"] >= max(filters.since_year, 0)
        if filters.until_year is not None:
            yield (self._of["year"] <= filters.until_year) & (self._of["year"] != NO_YEAR)
        for column, wanted in (
            ("publisher", filters.publishers),
            ("source", filters.sources),
            ("language", filters.languages),
        ):
            if wanted:
                yield np.isin(self._of[column], np.array([digest(name) for name in wanted], dtype=np.uint64))
        if filters.today is not None:
            yield self._of["expires"] >= filters.today.toordinal()
