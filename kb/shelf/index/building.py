"""The pieces of a version: which ones a table and its vectors need, and how each is made.

Owns the names of the pieces. A name stands for everything that the piece was made from. So a piece of an earlier
version can be used again, and the same paragraphs and vectors make the same version, byte for byte, in whatever order
they came. The cells of dense search are an exception: they stay as they were learnt until there are a quarter more
vectors, since learning them again means encoding everything again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kb.ranking.stems import ANALYZERS
from kb.shelf.index.neighbours import Tuning, cells_for, encode, learn_cells, learnt_at, sample_of
from kb.shelf.index.table import GROUPS, Columns, Table, shards
from kb.shelf.index.vectors import Batch, VectorSet
from kb.shelf.index.versions import IndexPiece, Versions
from kb.shelf.index.words import FOLDER, Texts, write_list, write_segment

FORMAT = [1, *GROUPS, *ANALYZERS]
"""The version of the format; raise it whenever the stored form, the tokens or the records change."""
NOTHING: Mapping[str, Any] = {"cells": None}
"""The header where there is no earlier version."""

OnProgress = Callable[[str, int, int], None]
"""Called with what is being made, how much of it is done, and how much there is."""

_COPIED_AT_ONCE = 16_384


@dataclass
class Build:
    """A build of one version; ``base`` are pieces that can be used again, ``header`` is the earlier version's."""

    versions: Versions
    header: Mapping[str, Any]
    base: Mapping[str, IndexPiece]
    table: Table
    vectors: VectorSet
    embedder: str
    texts: Texts
    tuning: Tuning
    on_progress: OnProgress
    _pieces: dict[str, IndexPiece] = field(default_factory=dict)

    def run(self) -> str:
        """Make what is missing and assemble the version; returns its name. It is not current yet.

        Raises:
            IndexUnavailable: ``texts`` does not give a paragraph as it was indexed.
            OSError, ValueError, RuntimeError: it cannot be written (tantivy and faiss raise the latter two).
        """
        cuts = shards(self.table["row"])
        described = [self._shard(cut) for cut in cuts]
        segments = [(shard["key"], shard["paragraphs"]) for shard in described]
        key = _key(*(f"{name} {size}" for name, size in segments))
        self._make(f"list-{key}", lambda folder: write_list(_inner(folder), segments))
        header = {"format": FORMAT, "shards": described, "cells": self._dense(described, cuts)}
        return self.versions.assemble(header, self._pieces)

    def _make(self, name: str, make: Callable[[Path], None]) -> IndexPiece:
        piece = self.base.get(name) or self.versions.piece(name, make)
        self._pieces[name] = piece
        return piece

    def _shard(self, cut: slice) -> dict[str, Any]:
        records = self.table[cut]
        key = _key(json.dumps(FORMAT), records.tobytes())
        self._make(f"entries-{key}", lambda folder: np.save(folder / f"entries-{key}.npy", records))

        def segment(folder: Path) -> None:
            self.on_progress("words", cut.start, len(self.table))
            write_segment(_inner(folder), key, records, self.texts)

        self._make(f"words-{key}", segment)
        return {"key": key, "paragraphs": len(records), "vectors": None, "codes": None}

    def _dense(self, described: list[dict[str, Any]], cuts: list[slice]) -> dict[str, Any] | None:
        """Add vectors to the shards' descriptions, and codes if there are many; returns their cells."""
        self.vectors = self.vectors.within(Columns(self.table))
        for shard, cut in zip(described, cuts, strict=True):
            first, last = self.table["row"][cut][[0, -1]]
            here = np.arange(*np.searchsorted(self.vectors.rows, [first, last + 1]))
            if len(here):
                shard["vectors"] = self._vectors(here)
        step = learnt_at(len(self.vectors), self.tuning)
        if not step:
            return None
        cells = self._cells(step)
        of_cells = np.load(self._pieces[f"centres-{cells['centres']}"].folder / f"centres-{cells['centres']}.npy")
        for shard in described:
            if shard["vectors"]:
                shard["codes"] = self._codes(shard["vectors"], cells["centres"], of_cells)
        return cells

    def _cells(self, step: int) -> dict[str, Any]:
        """The earlier version's cells if they were learnt from as many vectors of this model; otherwise new ones."""
        made_for = _key(self.embedder, f"{step}")
        if (before := self.header["cells"]) and before["for"] == made_for:
            self._pieces[f"centres-{before['centres']}"] = self.base[f"centres-{before['centres']}"]
            return dict(before)
        sample = self.vectors.take(sample_of(step))
        key = _key(made_for, sample.tobytes())

        def learn(folder: Path) -> None:
            self.on_progress("cells", 0, 1)
            np.save(folder / f"centres-{key}.npy", learn_cells(sample.astype(np.float32), cells_for(step)))

        self._make(f"centres-{key}", learn)
        return {"centres": key, "for": made_for}

    def _vectors(self, places: NDArray[np.int64]) -> str:
        embedded = np.stack([self.vectors.rows[places].view(np.uint64), self.vectors.texts[places]])
        key = _key(self.embedder, embedded.tobytes())

        def write(folder: Path) -> None:
            np.save(folder / f"embedded-{key}.npy", embedded)
            matrix = np.lib.format.open_memmap(
                folder / f"vectors-{key}.npy", mode="w+", dtype=np.float16, shape=(len(places), self.vectors.dimension)
            )
            for first in range(0, len(places), _COPIED_AT_ONCE):
                matrix[first : first + _COPIED_AT_ONCE] = self.vectors.take(places[first : first + _COPIED_AT_ONCE])
            matrix.flush()

        self._make(f"vectors-{key}", write)
        return key

    def _codes(self, vectors: str, centres: str, of_cells: NDArray[np.float32]) -> str:
        piece, file = self._pieces[f"vectors-{vectors}"], f"vectors-{vectors}.npy"
        key = _key(centres, piece.files[file][1])

        def write(folder: Path) -> None:
            self.on_progress("codes", 0, 1)
            np.save(folder / f"codes-{key}.npy", encode(np.load(piece.folder / file, mmap_mode="r"), of_cells))

        self._make(f"codes-{key}", write)
        return key


def batches_of(pieces: Mapping[str, IndexPiece], embedder: str) -> list[Batch]:
    """The vectors by this model in all pieces that hold vectors. They stay on the disk. Raises ``OSError``."""
    batches = []
    for name, piece in pieces.items():
        kind, _, key = name.partition("-")
        if kind == "vectors":
            embedded = np.load(piece.folder / f"embedded-{key}.npy")
            if _key(embedder, embedded.tobytes()) == key:
                vectors = np.load(piece.folder / f"vectors-{key}.npy", mmap_mode="r")
                batches.append(Batch(embedded[0].view(np.int64), embedded[1], vectors))
    return batches


def _inner(folder: Path) -> Path:
    """The folder in which tantivy's files lie together."""
    inner = folder / FOLDER
    inner.mkdir(exist_ok=True)
    return inner


def _key(*parts: str | bytes) -> str:
    """The name of a piece: 32 hexadecimal digits of a hash of what it is made from."""
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "little") + data)
    return hashed.hexdigest()[:32]
