"""A version, open for searches: checked in full, and unchanged for as long as it is open.

Owns how filters are applied, and how words, the version's vectors and newer vectors are searched.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from threading import Lock
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from kb.shelf.index.building import FORMAT, batches_of
from kb.shelf.index.entries import Filters
from kb.shelf.index.neighbours import Cells, Exact, Neighbours, Ranked, Tuning, best
from kb.shelf.index.table import Columns, Mask, Table, places_in, table_of
from kb.shelf.index.vectors import Batch, VectorSet
from kb.shelf.index.versions import DamageError, Version
from kb.shelf.index.words import FOLDER, Words

Hits = list[tuple[int, float]]
"""Rows and their scores, best first."""

_BROAD = 0.5  # if a larger share of paragraphs passes a filter, it is quicker to ask for more and drop some
_SPARE = 1.25
_FILTERS = 16  # filters are remembered: searches of one day and community use the same
_LOOKS_EVERY_SECONDS = 1.0
_LEAST_ROOM = 1024


@dataclass(frozen=True, slots=True)
class _PassingFilter:
    """What a filter lets pass: of all paragraphs and of those with a stored vector, and its share; ``None`` is all."""

    paragraphs: Mask | None
    stored: Mask | None
    share: float


class Opened:
    """One version; safe to share between threads.

    Args:
        since: vectors that were made since the version was, of any rows.

    Raises:
        DamageError: a file is not what was written, or the version is of another format.
        OSError, ValueError, RuntimeError: it cannot be read (tantivy and faiss raise the latter two).
    """

    def __init__(self, version: Version, embedder: str, since: Sequence[Batch], tuning: Tuning) -> None:
        if version.header["format"] != FORMAT:
            raise DamageError("it was made by another version of Antiphon")
        self._seen = _seen(version)
        if wrong := version.faults():
            raise DamageError(wrong[0])
        self.version, self._tuning = version, tuning
        self.columns = Columns(self.table())
        self._words = Words(version.folder / FOLDER, self.columns.languages)
        if len(self._words) != len(self.columns):
            raise DamageError("its words are not of its paragraphs")
        self.stored = VectorSet.of(batches_of(version.pieces, embedder))
        self._places = self.columns.places(self.stored.rows)
        self._neighbours = self._near() if len(self.stored) else None
        self._since = _Since()
        for batch in since:
            self.add(batch)
        self._passing_of: OrderedDict[Filters, _PassingFilter] = OrderedDict()
        self._passing_lock = Lock()
        self._looked = monotonic()

    def table(self) -> Table:
        """The records of all paragraphs."""
        shards = self.version.header["shards"]
        parts = [np.load(self._file(f"entries-{shard['key']}.npy"), mmap_mode="r") for shard in shards]
        return np.concatenate(parts) if parts else table_of(())

    def _file(self, name: str) -> Path:
        return self.version.folder / name

    def _near(self) -> Neighbours:
        header = self.version.header
        if header["cells"] is None:
            return Exact(self.stored.take(np.arange(len(self.stored))).astype(np.float32))
        codes = [
            np.load(self._file(f"codes-{shard['codes']}.npy"), mmap_mode="r")
            for shard in header["shards"]
            if shard["codes"]
        ]
        centres = np.load(self._file(f"centres-{header['cells']['centres']}.npy"))
        return Cells(self.stored, centres, codes, self._tuning)

    def is_untouched(self) -> bool:
        """Whether the files are still those that were opened; checked once a second at most.

        A version that was dropped meanwhile is still good: its open files outlive their names.
        """
        if monotonic() - self._looked >= _LOOKS_EVERY_SECONDS and self.version.folder.is_dir():
            self._looked = monotonic()
            return _seen(self.version) == self._seen
        return True

    # Searches

    def bm25(self, query: str, k: int, filters: Filters) -> Hits:
        """The best ``k`` by BM25."""
        passing = self._passing(filters)
        if not passing.share or k < 1 or not len(self.columns):
            return []
        narrow = passing.share < _BROAD

        def ask(limit: int) -> Ranked:
            rows, scores = self._words.search(query, limit, filters, narrow=narrow)
            return self.columns.places(rows), scores

        if narrow or passing.paragraphs is None:
            return self._most(ask, k, k, None, filters.per_document)
        return self._most(ask, k, ceil(k / passing.share * _SPARE), passing.paragraphs, filters.per_document)

    def dense(self, vector: NDArray[np.float32], k: int, filters: Filters) -> Hits:
        """The best ``k`` by inner product, of the paragraphs that have a vector."""
        passing = self._passing(filters)
        if not passing.share or k < 1:
            return []

        def ask(limit: int) -> Ranked:
            return self._nearest(vector, limit, passing)

        return self._most(ask, k, k if filters.per_document is None else 2 * k, None, filters.per_document)

    def _nearest(self, vector: NDArray[np.float32], k: int, passing: _PassingFilter) -> Ranked:
        places, scores = self._since.search(vector, k, passing.paragraphs)
        if self._neighbours is None:
            return places, scores
        found, found_scores = self._neighbours.search(vector, k, passing.stored)
        return best(np.concatenate([self._places[found], places]), np.concatenate([found_scores, scores]), k)

    def _most(
        self, ask: Callable[[int], Ranked], k: int, limit: int, allowed: Mask | None, per_document: int | None
    ) -> Hits:
        """Ask for more until ``k`` are left after dropping, or there is no more."""
        while True:
            places, scores = ask(min(limit, len(self.columns)))
            kept = np.ones(len(places), dtype=bool) if allowed is None else allowed[places]
            if per_document is not None:
                kept[kept] = _is_among_first(self.columns.documents[places[kept]], per_document)
            if kept.sum() >= k or len(places) < limit:
                rows = self.columns.rows[places[kept]][:k]
                return list(zip(rows.tolist(), scores[kept][:k].tolist(), strict=True))
            limit *= 4

    def _passing(self, filters: Filters) -> _PassingFilter:
        key = replace(filters, per_document=None)
        with self._passing_lock:
            if key in self._passing_of:
                self._passing_of.move_to_end(key)
                return self._passing_of[key]
        mask = self.columns.mask(key)
        if mask is None:
            passing = _PassingFilter(None, None, 1.0)
        else:
            passing = _PassingFilter(mask, mask[self._places], np.count_nonzero(mask) / len(mask))
        with self._passing_lock:
            self._passing_of[key] = passing
            if len(self._passing_of) > _FILTERS:
                self._passing_of.popitem(last=False)
        return passing

    # Vectors

    def has_vector(self) -> Mask:
        """Which paragraphs are embedded, of shape (paragraphs,)."""
        has = np.zeros(len(self.columns), dtype=bool)
        has[self._places] = True
        has[self._since.places()] = True
        return has

    def without_vector(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of some paragraphs, given by their places in the table, that are not embedded."""
        missing = places[places_in(self._places, places) < 0]
        return missing[self._since.places_of(missing) < 0]

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.float32] | None:
        """The vectors of rows, of shape (rows, dimension); ``None`` if one is not embedded."""
        stored = places_in(self.stored.rows, rows)
        is_stored = stored >= 0
        if is_stored.all():
            return self.stored.take(stored).astype(np.float32)
        since = self._since.places_of(self.columns.places(rows[~is_stored]))
        if (since < 0).any():
            return None
        others = self._since.take(since)
        vectors = np.empty((len(rows), others.shape[1]), dtype=np.float32)
        vectors[~is_stored] = others
        if is_stored.any():
            vectors[is_stored] = self.stored.take(stored[is_stored])
        return vectors

    def add(self, batch: Batch) -> None:
        """Add vectors that were made since; those of other texts, or known already, are left out."""
        places = self.columns.places(batch.rows)
        fits = (places >= 0) & (places_in(self._places, places) < 0)
        fits[fits] = self.columns.texts[places[fits]] == batch.texts[fits]
        self._since.add(places[fits], batch.vectors[fits])


class _Since:
    """Vectors in memory that grow in number; places are those of the table."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._at: dict[int, int] = {}
        self._of = np.empty(0, dtype=np.int64)
        self._vectors = np.empty((0, 0), dtype=np.float32)

    def places(self) -> NDArray[np.int64]:
        with self._lock:
            return self._of[: len(self._at)]

    def add(self, places: NDArray[np.int64], vectors: NDArray[np.float16]) -> None:
        with self._lock:
            for place, vector in zip(places.tolist(), vectors, strict=True):
                if place not in self._at:
                    self._make_room(len(vector))
                    self._of[len(self._at)], self._vectors[len(self._at)] = place, vector
                    self._at[place] = len(self._at)

    def _make_room(self, dimension: int) -> None:
        if len(self._at) == len(self._of):  # twice as much, so that growing costs little; readers keep their arrays
            room = max(2 * len(self._of), _LEAST_ROOM)
            of, vectors = np.empty(room, dtype=np.int64), np.empty((room, dimension), dtype=np.float32)
            of[: len(self._of)] = self._of
            vectors[: len(self._of)] = self._vectors if len(self._of) else 0
            self._of, self._vectors = of, vectors

    def search(self, vector: NDArray[np.float32], k: int, allowed: Mask | None) -> Ranked:
        with self._lock:
            places, vectors = self._of[: len(self._at)], self._vectors[: len(self._at)]
        if not len(places):
            return places, np.empty(0, dtype=np.float32)
        found, scores = Exact(vectors).search(vector, k, None if allowed is None else allowed[places])
        return places[found], scores

    def places_of(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each place the index of its vector; -1 where there is none."""
        return np.array([self._at.get(place, -1) for place in places.tolist()], dtype=np.int64)

    def take(self, at: NDArray[np.int64]) -> NDArray[np.float32]:
        with self._lock:
            return self._vectors[at]


def _is_among_first(documents: NDArray[np.uint64], most: int) -> Mask:
    """For each hit, whether it is one of the first ``most`` of its document."""
    seen: dict[int, int] = {}
    among = np.zeros(len(documents), dtype=bool)
    for at, document in enumerate(documents.tolist()):
        seen[document] = seen.get(document, 0) + 1
        among[at] = seen[document] <= most
    return among


def _seen(version: Version) -> list[tuple[int, int, int]]:
    """A mark by which a changed or replaced file is noticed. Raises ``DamageError``."""
    try:
        stats = [(version.folder / name).stat() for name in version.files]
    except OSError as err:
        raise DamageError(f"a file cannot be read: {err.strerror}") from err
    return [(stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats]
