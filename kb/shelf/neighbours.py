"""The nearest vectors, by faiss: compared one by one while there are few, through an inverted file for more.

Owns where the exact search ends, and the file beside the library. Vectors are of length 1, compared by inner product.

The library's own file holds every vector, in half precision. From 50,001 on, an inverted file over them (IVF, half
precision) is made in one go, written beside its place, and named in the library once it is whole; the vectors that were
made since are compared one by one. Without that file, or with a damaged one, all of them are.
"""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path
from threading import Lock
from typing import Final

import faiss
import numpy as np
from numpy.typing import NDArray

from core.errors import IndexUnavailable
from core.i18n.sentences import sentence
from kb.library.schema import FILE
from kb.library.store import Store

EXACT_UP_TO: Final = 50_000
"""The largest number of vectors that are compared one by one."""
REPAIR: Final = sentence("Run `{command}`.", command="antiphon kb verify --repair")

Nearest = tuple[NDArray[np.int64], NDArray[np.float32]]
"""Rows, and the inner products of their vectors with the query, best first."""

_PROBES = 64
_POINTS_PER_CELL = 48
_GROWTH = 0.25  # the file is made again once so large a share of its vectors is new
_AT_ONCE = 10_000
_NEVER = (1 << 63) - 1
_LONGEST = 1.02  # of a vector in half precision; a longer one was damaged

_log = logging.getLogger(__name__)


class Neighbours:
    """The vectors of one model in a library. Blocking; safe to share between threads and processes."""

    def __init__(self, store: Store, model: str, exact_up_to: int = EXACT_UP_TO) -> None:
        self._store, self._model, self._exact_up_to = store, model, exact_up_to
        self._lock = Lock()
        self._cells: faiss.Index | None = None
        self._since: faiss.Index | None = None
        self._last = -1  # the newest vector that is loaded; -1 before the first search

    def search(self, vector: NDArray[np.float32], k: int, allowed: NDArray[np.uint8]) -> Nearest:
        """The best ``k`` rows for ``vector``, of shape (dimension,).

        Args:
            allowed: a bit for each row, the first one in the lowest bit: whether it may be found.
        """
        with self._lock:
            self._load()
            cells, since = self._cells, self._since
            found = [self._found(one, vector, k, allowed) for one in (cells, since) if one is not None]
        rows = np.concatenate([np.empty(0, dtype=np.int64), *(one[0] for one in found)])
        scores = np.concatenate([np.empty(0, dtype=np.float32), *(one[1] for one in found)])
        order = np.lexsort((rows, -scores))
        _, first = np.unique(rows[order], return_index=True)  # a vector that was made again is in both
        order = order[np.sort(first)][:k]
        return rows[order], scores[order]

    def save(self) -> None:
        """Make the inverted file, if there are enough vectors and enough of them are new.

        Whoever searches meanwhile uses the file before; a kill at any moment leaves that one.

        Raises:
            IndexUnavailable: it cannot be written.
        """
        with self._store.reading() as database:
            count, last = database.execute(
                "SELECT COUNT(*), MAX(id) FROM vectors WHERE model = ?", (self._model,)
            ).fetchone()
        kept = self._kept()
        if count <= self._exact_up_to or (kept is not None and count - kept[1] <= _GROWTH * kept[1]):
            return
        rows, vectors, _ = self._read(0, last)
        try:
            sha256 = self._write(rows, vectors)
        except (OSError, RuntimeError) as err:  # faiss raises the latter
            raise IndexUnavailable(
                sentence(
                    "The index of the library cannot be kept in {folder}: {why}.", folder=self._store.folder, why=err
                ),
                remedy=sentence("Free some space, check that the folder can be written, and try again."),
            ) from err
        with self._store.writing() as database:
            database.execute(
                "INSERT OR REPLACE INTO neighbours VALUES (?, ?, ?, ?)", (self._model, last, len(rows), sha256)
            )
            named = {self._file(row[0]) for row in database.execute("SELECT sha256 FROM neighbours")}
        for file in self._store.folder.glob(f"{FILE}-neighbours-*"):
            if file not in named:
                file.unlink(missing_ok=True)

    def faults(self) -> list[str]:
        """What is wrong with the vectors and with the inverted file, in words."""
        wrong = []
        try:
            self._read(0)
        except IndexUnavailable as err:
            wrong.append(err.message)
        if (kept := self._kept()) and not self._is_sound(kept[2]):
            wrong.append(f"{self._file(kept[2]).name} is missing or not what was written.")
        return wrong

    def forget_damage(self) -> None:
        """Drop damaged vectors, so that they are made again, and a damaged inverted file."""
        kept = self._kept()
        is_sound = kept is None or self._is_sound(kept[2])
        with self._store.writing() as database:
            rows = database.execute("SELECT id, vector FROM vectors WHERE model = ?", (self._model,))
            sizes = database.execute(
                "SELECT length(vector) FROM vectors WHERE model = ? GROUP BY 1 ORDER BY COUNT(*) DESC", (self._model,)
            ).fetchone()
            damaged = [(one,) for one, data in rows if len(data) != sizes[0] or not _is_unit(halves([data]))]
            database.executemany("DELETE FROM vectors WHERE id = ?", damaged)
            if damaged or not is_sound:
                database.execute("DELETE FROM neighbours WHERE model = ?", (self._model,))
        with self._lock:
            self._cells = self._since = None
            self._last = -1

    def _kept(self) -> tuple[int, int, str] | None:
        """Up to which vector the inverted file goes, how many it has, and its checksum."""
        with self._store.reading() as database:
            row = database.execute(
                "SELECT last, vectors, sha256 FROM neighbours WHERE model = ?", (self._model,)
            ).fetchone()
        return tuple(row) if row else None

    def _file(self, sha256: str) -> Path:
        return self._store.folder / f"{FILE}-neighbours-{sha256[:16]}"

    def _is_sound(self, sha256: str) -> bool:
        try:
            return _sha256_of(self._file(sha256)) == sha256
        except OSError:
            return False

    def _load(self) -> None:
        """Bring what is in memory up to the library."""
        if self._last < 0:
            self._last = 0
            kept = self._kept()
            if kept is not None and not self._is_sound(kept[2]):
                kept = self._kept()  # another process may have replaced it just now
            if kept is not None and self._is_sound(kept[2]):
                self._cells = faiss.read_index(str(self._file(kept[2])))
                self._last = kept[0]
            elif kept is not None:
                _log.warning(
                    "The file of the library's vectors is damaged; until `kb verify --repair` all are compared."
                )
        rows, vectors, self._last = self._read(self._last)
        if len(rows):
            if self._since is None:
                self._since = faiss.IndexIDMap(faiss.IndexFlatIP(vectors.shape[1]))
            self._since.add_with_ids(vectors.astype(np.float32), rows)

    def _read(self, after: int, last: int = _NEVER) -> tuple[NDArray[np.int64], NDArray[np.float16], int]:
        """The rows and vectors with an id above ``after``, up to ``last``, and the highest such id."""
        blocks, rows, newest = list[NDArray[np.float16]](), list[int](), after
        with self._store.reading() as database:
            found = database.execute(
                "SELECT id, row, vector FROM vectors WHERE id > ? AND id <= ? AND model = ? ORDER BY id",
                (after, last, self._model),
            )
            while some := found.fetchmany(_AT_ONCE):
                block = halves([one[2] for one in some])
                if not _is_unit(block) or (blocks and block.shape[1] != blocks[0].shape[1]):
                    raise IndexUnavailable(sentence("Vectors in the library's index are damaged."), remedy=REPAIR)
                blocks.append(block)
                rows += [one[1] for one in some]
                newest = some[-1][0]
        vectors = np.concatenate(blocks) if blocks else np.empty((0, 0), dtype=np.float16)
        return np.array(rows, dtype=np.int64), vectors, newest

    def _found(self, index: faiss.Index, vector: NDArray[np.float32], k: int, allowed: NDArray[np.uint8]) -> Nearest:
        how = faiss.SearchParameters()
        if isinstance(index, faiss.IndexIVF):
            share = int(np.bitwise_count(allowed).sum()) / max(index.ntotal, 1)
            how = faiss.SearchParametersIVF()
            how.nprobe = min(index.nlist, int(_PROBES / max(min(share, 1.0), 1e-9)))  # the fewer pass, the more cells
        how.sel = selector = faiss.IDSelectorBitmap(len(allowed), faiss.swig_ptr(allowed))
        scores, rows = index.search(vector.reshape(1, -1), min(k, index.ntotal), params=how)
        del selector  # faiss does not keep it alive
        kept = rows[0] >= 0
        return rows[0][kept], scores[0][kept]

    def _write(self, rows: NDArray[np.int64], vectors: NDArray[np.float16]) -> str:
        """Write the inverted file, and move it to the place that its checksum names."""
        cells = int(2 ** round(np.log2(4 * np.sqrt(len(rows)))))
        index = faiss.index_factory(vectors.shape[1], f"IVF{cells},SQfp16", faiss.METRIC_INNER_PRODUCT)
        sample = min(len(rows), _POINTS_PER_CELL * cells)
        index.train(vectors[np.arange(sample) * len(rows) // sample].astype(np.float32))
        for first in range(0, len(rows), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            index.add_with_ids(vectors[some].astype(np.float32), rows[some])
        writing = self._store.folder / f"{FILE}-neighbours-writing"
        faiss.write_index(index, str(writing))
        writing.chmod(0o600)
        _sync(writing)
        sha256 = _sha256_of(writing)
        writing.replace(self._file(sha256))
        _sync(self._store.folder)
        return sha256


def halves(vectors: list[bytes]) -> NDArray[np.float16]:
    """Vectors of shape (vectors, dimension); of shape (vectors, 0) where their lengths differ."""
    if len({len(one) for one in vectors}) != 1 or len(vectors[0]) % 2:
        return np.empty((len(vectors), 0), dtype=np.float16)
    return np.frombuffer(b"".join(vectors), dtype=np.float16).reshape(len(vectors), -1)


def _is_unit(vectors: NDArray[np.float16]) -> bool:
    """Whether all are finite, and none is longer than one of length 1 can become by rounding."""
    lengths = np.linalg.norm(vectors.astype(np.float32), axis=1)
    return bool(vectors.shape[1] and np.isfinite(lengths).all() and (lengths <= _LONGEST).all())


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Force a file's bytes, or a folder's list of names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
