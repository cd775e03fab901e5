"""The nearest vectors: an exact search while there are few, and a search by cells and short codes for more.

Owns where the exact search ends, how the cells are learnt, and how far a search looks. Vectors are of length 1 and
compared by inner product.

Many vectors are in an inverted file (Jegou 2011) with RaBitQ codes of one bit a dimension (Gao and Long 2024). A search
looks into the cells nearest to the query. By their codes it picks several times as many candidates as are wanted, and
ranks these by their vectors in half precision, which stay on the disk. Only the codes, 60 bytes a vector, are held in
memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import faiss
import numpy as np
from numpy.typing import NDArray

from kb.shelf.index.table import Mask
from kb.shelf.index.vectors import Halves, VectorSet

Ranked = tuple[NDArray[np.int64], NDArray[np.float32]]
"""Places of vectors, and their inner products with the query, best first."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """How dense search trades time for recall; ``bench.retrieval.retrieval`` measures it with these defaults.

    Attributes:
        exact_up_to: the largest number of vectors that are compared one by one.
        probes: how many cells a search looks into.
        candidates: how many vectors are compared after the codes, for each one that is wanted.
        least: the least number of vectors that are compared after the codes.
        scanned: if a filter lets at most this many vectors pass, these are compared one by one.
    """

    exact_up_to: int = 50_000
    probes: int = 64
    candidates: int = 4
    least: int = 400
    scanned: int = 3_000


_GROWTH = 1.25  # cells are learnt again when there are a quarter more vectors than when they were learnt
_POINTS_PER_CELL = 48
_ROUNDS = 8
_SEED = 1
_QUERY_BITS = 8
_ENCODED_AT_ONCE = 8192
_SCAN_AT_ONCE = 16_384


def learnt_at(count: int, tuning: Tuning) -> int:
    """How many of ``count`` vectors, from the first on, the cells are learnt from; 0 where the search is exact.

    The number grows in steps of a quarter, so that a few new vectors at the end do not change it.
    """
    if count <= tuning.exact_up_to:
        return 0
    step = tuning.exact_up_to + 1
    while (longer := max(int(step * _GROWTH), step + 1)) <= count:
        step = longer
    return step


def sample_of(step: int) -> NDArray[np.int64]:
    """The places of the vectors that cells are learnt from, spread evenly over the first ``step``."""
    size = min(step, _POINTS_PER_CELL * cells_for(step))
    return np.arange(size, dtype=np.int64) * step // size


def cells_for(count: int) -> int:
    """The number of cells: the power of two next to four times the square root of the number of vectors."""
    return int(2 ** round(np.log2(4 * np.sqrt(max(count, 1)))))


def learn_cells(sample: NDArray[np.float32], cells: int) -> NDArray[np.float32]:
    """The centres of the cells, of shape (cells, dimension): k-means on the sphere, the same for the same sample."""
    means = faiss.Kmeans(
        sample.shape[1],
        cells,
        niter=_ROUNDS,
        seed=_SEED,
        spherical=True,
        min_points_per_centroid=1,
        max_points_per_centroid=len(sample),
    )
    means.train(sample)
    return np.asarray(means.centroids, dtype=np.float32).reshape(cells, -1)


def encode(vectors: Halves, centres: NDArray[np.float32]) -> NDArray[np.uint8]:
    """The cell and the code of each vector, of shape (vectors, bytes)."""
    index = _empty_index(centres)
    codes = np.empty((len(vectors), index.sa_code_size()), dtype=np.uint8)
    for first in range(0, len(vectors), _ENCODED_AT_ONCE):
        block = np.ascontiguousarray(vectors[first : first + _ENCODED_AT_ONCE], dtype=np.float32)
        index.sa_encode(block, codes[first : first + _ENCODED_AT_ONCE])
    return codes


def _empty_index(centres: NDArray[np.float32]) -> faiss.IndexIVFRaBitQ:
    cells, dimension = centres.shape
    quantizer = faiss.IndexFlatIP(dimension)
    quantizer.add(centres)
    index = faiss.IndexIVFRaBitQ(quantizer, dimension, cells, faiss.METRIC_INNER_PRODUCT)
    index.is_trained = True  # the codes need only the centres
    return index


class Neighbours(Protocol):
    """Finds the nearest of a set of vectors."""

    def search(self, vector: NDArray[np.float32], k: int, allowed: Mask | None = None) -> Ranked:
        """The best ``k`` of the allowed places for a vector of shape (dimension,)."""
        ...


class Exact:
    """Compares all of them, in memory."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self._vectors = vectors

    def search(self, vector: NDArray[np.float32], k: int, allowed: Mask | None = None) -> Ranked:
        """The best ``k`` of the allowed places."""
        scores = self._vectors @ vector
        if allowed is None:
            return best(np.arange(len(scores)), scores, k)
        places = np.flatnonzero(allowed)
        return best(places, scores[places], k)


class Cells:
    """Looks into the nearest cells. Only the codes are in memory; the vectors stay on the disk.

    Args:
        codes: of all vectors, in their order, in parts.
    """

    def __init__(
        self, vectors: VectorSet, centres: NDArray[np.float32], codes: Sequence[NDArray[np.uint8]], tuning: Tuning
    ) -> None:
        self._vectors, self._tuning = vectors, tuning
        self._index = _empty_index(centres)
        start = 0
        for part in codes:
            self._index.add_sa_codes(np.ascontiguousarray(part), np.arange(start, start + len(part), dtype=np.int64))
            start += len(part)

    def search(self, vector: NDArray[np.float32], k: int, allowed: Mask | None = None) -> Ranked:
        """The best ``k`` of the allowed places; the fewer are allowed, the more cells are searched."""
        probes, selector, bits = self._tuning.probes, None, None
        if allowed is not None:
            count = int(np.count_nonzero(allowed))
            if count <= max(self._tuning.scanned, k):
                return self._compared(np.flatnonzero(allowed), vector, k)
            bits = np.packbits(allowed, bitorder="little")
            selector = faiss.IDSelectorBitmap(len(allowed), faiss.swig_ptr(bits))
            probes = min(self._index.nlist, int(probes * len(allowed) / count))
        how = faiss.IVFRaBitQSearchParameters()
        how.nprobe, how.sel, how.qb, how.centered = probes, selector, _QUERY_BITS, False
        wanted = max(k * self._tuning.candidates, self._tuning.least)
        _, found = self._index.search(vector.reshape(1, -1), min(wanted, len(self._vectors)), params=how)
        return self._compared(np.sort(found[0][found[0] >= 0]), vector, k)

    def _compared(self, places: NDArray[np.int64], vector: NDArray[np.float32], k: int) -> Ranked:
        blocks = [
            self._vectors.take(places[first : first + _SCAN_AT_ONCE]).astype(np.float32) @ vector
            for first in range(0, len(places), _SCAN_AT_ONCE)
        ]
        return best(places, np.concatenate(blocks) if blocks else np.empty(0, dtype=np.float32), k)


def best(places: NDArray[np.int64], scores: NDArray[np.float32], k: int) -> Ranked:
    """The ``k`` places with the highest scores, best first; among equal scores, the first places."""
    if k < len(scores):
        least = -np.partition(-scores, k - 1)[k - 1] if k else np.inf
        kept = np.flatnonzero(scores >= least)
        places, scores = places[kept], scores[kept]
    order = np.argsort(-scores, kind="stable")[:k]
    return places[order], scores[order]
