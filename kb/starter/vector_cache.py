"""Vectors of texts that ship with Antiphon, kept in the cache.

A damaged file is made again. If a file cannot be written, the vectors are made at each start.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from core.engine.ports import Embedder

_log = logging.getLogger(__name__)
_DIGEST_BYTES = 32


class KeptVectors:
    """An embedder's vectors in ``<cache>/kb``, a file for each list of texts; safe to share."""

    def __init__(self, embedder: Embedder, cache_folder: Path) -> None:
        self._embedder = embedder
        self._root = cache_folder / "kb"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (len(texts), dimension), each of length 1. Blocking. Raises ``IndexUnavailable``."""
        key = hashlib.sha256(repr((self._embedder.name, tuple(texts))).encode()).hexdigest()[:32]
        file = self._root / f"{key}.vectors"
        vectors = _read(file, len(texts))
        if vectors is None:
            vectors = self._embedder.encode(texts)
            _write(file, vectors)
        return vectors


def _read(file: Path, count: int) -> NDArray[np.float32] | None:
    try:
        data = file.read_bytes()
    except OSError:
        return None  # not made yet
    body = data[_DIGEST_BYTES:]
    if not body or hashlib.sha256(body).digest() != data[:_DIGEST_BYTES]:
        return None
    return np.frombuffer(body, dtype=np.float32).reshape(count, -1)


def _write(file: Path, vectors: NDArray[np.float32]) -> None:
    """Write a file beside its place and move it there, so that nobody reads half a file."""
    body = np.ascontiguousarray(vectors, dtype=np.float32).tobytes()
    writing = file.with_name(f".{uuid4().hex}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        writing.write_bytes(hashlib.sha256(body).digest() + body)
        writing.replace(file)
    except OSError as err:
        _log.info("Vectors could not be kept in %s (%s); the next start makes them again.", file.parent, err)
