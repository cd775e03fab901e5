"""The library with its local index, which finds the accepted documents and no others.

Owns how the index follows the library.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.ports import Embedder
from kb.documents import Listed
from kb.library.library import Library, Paragraph
from kb.shelf.index.library_index import Filters, LibraryIndex, OnProgress, ParagraphEntry

_FOLDER = "index"


def _silent(_: str, __: int, ___: int) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """What an update of the index changed, in paragraphs; ``version`` is the index's new name."""

    added: int
    removed: int
    version: str


class LocalShelf:
    """A ``Shelf`` over a library and the index in its folder; blocking, safe to share between threads."""

    def __init__(self, library: Library, embedder: Embedder) -> None:
        self.library = library
        self.index = LibraryIndex(library.folder / _FOLDER, embedder, self._texts)

    def bm25(self, query: str, k: int, filters: Filters) -> list[tuple[int, float]]:
        """The best ``k`` rows by BM25, best first; any text will do."""
        return self.index.bm25(query, k, filters)

    def dense(self, vector: NDArray[np.float32], k: int, filters: Filters) -> list[tuple[int, float]]:
        """The best ``k`` embedded rows by inner product with ``vector``, of shape (dimension,), best first."""
        return self.index.dense(vector, k, filters)

    def vectors(self, rows: Sequence[int]) -> NDArray[np.float32]:
        """The unit vectors of these rows, of shape (len(rows), dimension); embedded now where they are not yet."""
        return self.index.vectors(rows)

    def embedded(self, rows: Sequence[int]) -> frozenset[int]:
        """Those of these rows that have vectors already."""
        return self.index.embedded_of(rows)

    def paragraphs(self, rows: Sequence[int]) -> Mapping[int, Paragraph]:
        """The paragraphs of these rows that are served."""
        return self.library.paragraphs(rows)

    def follow(self, on_progress: OnProgress = _silent) -> Indexed:
        """Make the index hold what the library serves, and nothing else, by a new version that becomes current.

        The index's own rows say what it holds, so that after a crash only some work is done again.

        Raises:
            IndexUnavailable: no space, no permission, or the index is damaged.
        """
        served = self.library.served()
        fresh, removed, is_empty = self._differing(served)
        if fresh or removed or is_empty:
            self.index.update(self._entries([served[one] for one in fresh]), removed, on_progress)
            self.library.note_indexed(_kept(served))
        return Indexed(sum(len(served[one][1]) for one in fresh), len(removed), self.index.version)

    def behind(self) -> int:
        """How many documents the index does not hold as the library serves them, or holds although it does not.

        Raises:
            IndexUnavailable: the index is damaged.
        """
        fresh, removed, _ = self._differing(self.library.served())
        return len(fresh) + bool(removed)

    def _differing(self, served: Mapping[int, tuple[Listed, range]]) -> tuple[list[int], list[int], bool]:
        """The revisions to index, the rows to take out, and whether the index holds nothing at all."""
        there, before, kept = set(self.index.rows.tolist()), self.library.indexed(), _kept(served)
        fresh = [one for one, (_, rows) in served.items() if rows.start not in there or before.get(one) != kept[one]]
        return fresh, sorted(there.difference(*(rows for _, rows in served.values()))), not there

    def rebuild(self, on_progress: OnProgress = _silent) -> None:
        """Build the index again from what the library serves. Raises ``IndexUnavailable``."""
        served = self.library.served()
        self.index.rebuild(self._entries(list(served.values())), on_progress)
        self.library.note_indexed(_kept(served))

    def _entries(self, served: Sequence[tuple[Listed, range]]) -> Iterator[ParagraphEntry]:
        for listed, rows in served:
            for row, paragraph in sorted(self.library.paragraphs(rows).items()):
                yield ParagraphEntry(
                    row=row,
                    text=paragraph.text,
                    document=listed.id,
                    source=listed.source,
                    publisher=listed.publisher,
                    language=listed.language,
                    year=listed.year,
                    target_groups=listed.target_groups,
                    expires=listed.expires,
                )

    def _texts(self, rows: Sequence[int]) -> Mapping[int, str]:
        return {row: paragraph.text for row, paragraph in self.library.paragraphs(rows).items()}


def _kept(served: Mapping[int, tuple[Listed, range]]) -> dict[int, str]:
    return {revision: _kept_of(listed) for revision, (listed, _) in served.items()}


def _kept_of(listed: Listed) -> str:
    kept = [
        listed.publisher, listed.language, listed.year, sorted(listed.target_groups),
        listed.expires and listed.expires.isoformat(),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(kept).encode()).hexdigest()[:16]
