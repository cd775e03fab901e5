"""Vectors of paragraphs on the disk: those that a version holds, and a log of those embedded since.

Owns how vectors are stored (half precision, one row a paragraph) and found by row. A vector belongs to a row and the
hash of its text; a vector of another text is never returned.

The log is a cache that many processes may write, each to its own file. Records that are cut off or damaged are left
out, and their texts are embedded again.
"""

from __future__ import annotations

import hashlib
import logging
import struct
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kb.shelf.index.table import Columns

Halves = NDArray[np.float16]
"""Vectors of shape (paragraphs, dimension)."""

_log = logging.getLogger(__name__)

_HEAD = struct.Struct("<4sII16s")  # mark, paragraphs, dimension, checksum
_MARK = b"AVC1"
_MOST = 1 << 20  # the most paragraphs or dimensions in one record; a damaged head may say anything


@dataclass(frozen=True, slots=True)
class Batch:
    """Vectors, with the rows and the hashes of their texts; all three of the same length."""

    rows: NDArray[np.int64]
    texts: NDArray[np.uint64]
    vectors: Halves


@dataclass(frozen=True, slots=True)
class VectorSet:
    """Vectors in the order of their rows. They are not copied; most are on the disk.

    Attributes:
        rows: of shape (vectors,), without duplicates for the same text; ``texts`` likewise.
        matrices: where the vectors are; the one at ``i`` is ``matrices[matrix[i]][place[i]]``.
    """

    rows: NDArray[np.int64]
    texts: NDArray[np.uint64]
    matrices: tuple[Halves, ...]
    matrix: NDArray[np.int32]
    place: NDArray[np.int32]

    @classmethod
    def of(cls, batches: Sequence[Batch]) -> VectorSet:
        """The vectors of all batches; of two for the same row and text, the first is kept."""
        kept = [batch for batch in (_NO_BATCH, *batches) if len(batch.rows) or batch is _NO_BATCH]
        rows = np.concatenate([batch.rows for batch in kept])
        texts = np.concatenate([batch.texts for batch in kept])
        matrix = np.repeat(np.arange(len(kept), dtype=np.int32), [len(batch.rows) for batch in kept])
        place = np.concatenate([np.arange(len(batch.rows), dtype=np.int32) for batch in kept])
        order = np.lexsort((matrix, texts, rows))
        is_first = np.ones(len(order), dtype=bool)
        is_first[1:] = (np.diff(rows[order]) != 0) | (np.diff(texts[order]) != 0)
        order = order[is_first]
        return cls(rows[order], texts[order], tuple(batch.vectors for batch in kept), matrix[order], place[order])

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def dimension(self) -> int:
        """The vectors' dimension; 0 where there are none."""
        return int(self.matrices[-1].shape[1])

    def take(self, places: NDArray[np.int64]) -> Halves:
        """The vectors at these places of ``rows``, of shape (places, dimension)."""
        taken = np.empty((len(places), self.dimension), dtype=np.float16)
        matrices, inner = self.matrix[places], self.place[places]
        for number in np.unique(matrices).tolist():
            here = matrices == number
            taken[here] = self.matrices[number][inner[here]]
        return taken

    def within(self, columns: Columns) -> VectorSet:
        """Only the vectors of rows in the table with the same text."""
        places = columns.places(self.rows)
        kept = np.flatnonzero(places >= 0)
        kept = kept[columns.texts[places[kept]] == self.texts[kept]]
        return VectorSet(self.rows[kept], self.texts[kept], self.matrices, self.matrix[kept], self.place[kept])


_NO_BATCH = Batch(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64), np.empty((0, 0), dtype=np.float16))


class VectorLog:
    """The vectors of one model that no version holds yet, in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own = folder / f"{uuid.uuid4().hex}.log"

    def append(self, batch: Batch) -> None:
        """Store a batch: all of it, or nothing if the process ends meanwhile. Raises ``OSError``."""
        body = batch.rows.tobytes() + batch.texts.tobytes() + np.ascontiguousarray(batch.vectors).tobytes()
        count, dimension = batch.vectors.shape
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            with self._own.open("ab") as file:
                file.write(_HEAD.pack(_MARK, count, dimension, _checksum(body)) + body)
        except OSError:
            self.turn()  # a part of it must not remain before a later batch
            raise

    def files(self) -> list[Path]:
        """The files of all processes, in a fixed order."""
        return sorted(self._folder.glob("*.log"))

    def turn(self) -> list[Path]:
        """The files of all processes now; later batches of this process go into another file."""
        self._own = self._folder / f"{uuid.uuid4().hex}.log"
        return self.files()

    def batches(self, files: Sequence[Path]) -> list[Batch]:
        """What the files hold, except damaged records. The vectors stay on the disk."""
        return [batch for file in files for batch in _read(file)]

    def forget(self, files: Sequence[Path]) -> None:
        """Delete files whose vectors a version holds now."""
        for file in files:
            file.unlink(missing_ok=True)


def _read(file: Path) -> Iterator[Batch]:
    try:
        data = np.memmap(file, dtype=np.uint8, mode="r") if file.stat().st_size else np.empty(0, dtype=np.uint8)
    except FileNotFoundError:  # another process has just put it into a version
        return
    at = 0
    while at + _HEAD.size <= len(data):
        mark, count, dimension, checksum = _HEAD.unpack(data[at : at + _HEAD.size].tobytes())
        size = count * (16 + 2 * dimension)
        body = data[at + _HEAD.size : at + _HEAD.size + size]
        if mark != _MARK or not 0 < count <= _MOST or not 0 < dimension <= _MOST or len(body) < size:
            break
        if _checksum(body.data) == checksum:
            texts, vectors = count * 8, count * 16
            yield Batch(
                body[:texts].view(np.int64),
                body[texts:vectors].view(np.uint64),
                body[vectors:].view(np.float16).reshape(count, dimension),
            )
        else:
            _log.warning("Some vectors in %s are damaged; they are made again when they are needed.", file.name)
        at += _HEAD.size + size
    if at < len(data):
        _log.warning("%s ends in the middle; what is missing is made again when it is needed.", file.name)


def _checksum(body: bytes | memoryview) -> bytes:
    return hashlib.blake2b(body, digest_size=16).digest()
