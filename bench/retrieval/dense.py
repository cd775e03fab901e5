"""Ways to find the nearest vectors, each built and used alike; ours is ``kb.shelf.index.neighbours``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from bench.retrieval.corpus import Vectors
from kb.shelf.index.neighbours import Cells, Exact, Tuning, cells_for, encode, learn_cells, learnt_at, sample_of
from kb.shelf.index.vectors import Batch, VectorSet

K = 100

Ask = Callable[[NDArray[np.float32]], NDArray[np.int64]]
"""The best ``K`` places for a vector, best first."""

_SAMPLE_PER_CELL = 48
_TUNING = Tuning(exact_up_to=0)


@dataclass(frozen=True)
class Variant:
    """How an index is built and opened."""

    build: Callable[[Vectors, Path], None]
    open: Callable[[Vectors, Path], Ask]


def _build_nothing(_: Vectors, __: Path) -> None:
    """The vectors themselves are the index."""


def _open_exact(vectors: Vectors, _: Path) -> Ask:
    exact = Exact(vectors.loaded())
    return lambda query: exact.search(query, K)[0]


def _build_ours(vectors: Vectors, folder: Path) -> None:
    stored = vectors.stored()
    step = learnt_at(vectors.size, _TUNING)
    centres = learn_cells(stored[sample_of(step)].astype(np.float32), cells_for(step))
    np.save(folder / "centres.npy", centres)
    np.save(folder / "codes.npy", encode(stored, centres))


def _open_ours(vectors: Vectors, folder: Path) -> Ask:
    rows = np.arange(1, vectors.size + 1)
    stored = VectorSet.of([Batch(rows, rows.astype(np.uint64), vectors.stored())])
    codes = np.load(folder / "codes.npy", mmap_mode="r")
    cells = Cells(stored, np.load(folder / "centres.npy"), [codes], _TUNING)
    return lambda query: cells.search(query, K)[0]


def _faiss(recipe: str, **settings: int) -> Variant:
    """An index by faiss's factory; ``settings`` are those of a search."""

    def build(vectors: Vectors, folder: Path) -> None:
        made = recipe.format(cells=cells_for(vectors.size))
        index = faiss.index_factory(vectors.stored().shape[1], made, faiss.METRIC_INNER_PRODUCT)
        loaded = vectors.loaded()
        if not index.is_trained:
            sample = min(vectors.size, _SAMPLE_PER_CELL * cells_for(vectors.size))
            index.train(loaded[np.arange(sample) * vectors.size // sample])
        index.add(loaded)
        faiss.write_index(index, str(folder / "index.faiss"))

    def open_(_: Vectors, folder: Path) -> Ask:
        index = faiss.read_index(str(folder / "index.faiss"))
        for name, value in settings.items():
            faiss.ParameterSpace().set_index_parameter(index, name, value)
        return lambda query: np.asarray(index.search(query.reshape(1, -1), K)[1][0])

    return Variant(build, open_)


VARIANTS: Mapping[str, Variant] = {
    "flat, exact (numpy)": Variant(_build_nothing, _open_exact),
    "HNSW32, ef 200": _faiss("HNSW32", efSearch=200),
    "HNSW32 + SQ8, ef 200": _faiss("HNSW32_SQ8", efSearch=200),
    "IVF + SQ8, 64 probes": _faiss("IVF{cells},SQ8", nprobe=64),
    "IVF + PQ48 + fp16 refine x4, 64 probes": _faiss("IVF{cells},PQ48,Refine(SQfp16)", nprobe=64, k_factor_rf=4),
    "IVF + RaBitQ + mapped fp16 (ours)": Variant(_build_ours, _open_ours),
}
