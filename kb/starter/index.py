"""Where facts are looked up: BM25 in memory, dense vectors kept in the cache.

A damaged file of vectors is made again. If a file cannot be written, the vectors are made at each start.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from uuid import uuid4

import faiss
import numpy as np
from numpy.typing import NDArray

from core.engine.ports import Embedder
from core.engine.wording.word_index import Words, stems, tokens
from kb.starter.facts import Fact, named

_log = logging.getLogger(__name__)
_DIGEST_BYTES = 32
_MAX_QUERY_WORDS = 64  # more words of a post only take more time


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The two rankings. Entries of fact ``row`` are ``starts[row]`` up to ``starts[row + 1]``."""

    words: Words
    vectors: faiss.Index
    starts: NDArray[np.int64]


class KnowledgeIndex:
    """The two rankings over ``facts``; a fact's row is its place in ``facts``.

    Each fact has one dense entry for its text, t, and one for each stereotype s that it answers: the mean of t and s.
    A query's score is its best inner product with an entry, so a hateful post finds the fact that answers it
    although their words differ. For 80 posts that the project labelled (the labels are not kept here), a right fact is
    among the first three for 93 %, against 76 % with the text alone.

    Made on first use; its vectors are kept in the cache, under the facts and the model. Safe to share between threads,
    and between processes that share the cache.
    """

    def __init__(self, facts: Sequence[Fact], embedder: Embedder, cache_folder: Path) -> None:
        self._facts = tuple(facts)
        self._vectors = KeptVectors(embedder, cache_folder)
        self._cache = cache_folder / "kb"
        self._loaded: _Loaded | None = None
        self._lock = Lock()

    def open(self) -> None:
        """Make the index, unless it is there. Blocking; the first time embeds all facts.

        Raises ``IndexUnavailable``: there is no model.
        """
        self._rankings()

    def bm25(self, query: str, k: int) -> list[tuple[int, float]]:
        """The best ``k`` rows by BM25 (English stems, stop words dropped), best first; any text will do."""
        return self._rankings().words.search(stems(query)[:_MAX_QUERY_WORDS], k)

    def dense(self, vector: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
        """The best ``k`` rows by inner product with ``vector``, of shape (dimension,), best first."""
        loaded = self._rankings()
        widest = int(np.diff(loaded.starts).max())
        scores, entries = loaded.vectors.search(vector.reshape(1, -1), min(k * widest, loaded.vectors.ntotal))
        rows = np.searchsorted(loaded.starts, entries[0], side="right") - 1
        best: dict[int, float] = {}
        for row, score in zip(rows.tolist(), scores[0].tolist(), strict=True):
            best.setdefault(row, score)
        return list(best.items())[:k]

    def closeness(self, vector: NDArray[np.float32], row: int) -> float:
        """The dense score of one row for ``vector``, of shape (dimension,)."""
        loaded = self._rankings()
        first, after = loaded.starts[row : row + 2].tolist()
        return float((loaded.vectors.reconstruct_n(first, after - first) @ vector).max())

    def text_vector(self, row: int) -> NDArray[np.float32]:
        """The unit vector, of shape (dimension,), of the row's text without its stereotypes."""
        loaded = self._rankings()
        return np.asarray(loaded.vectors.reconstruct(int(loaded.starts[row])), dtype=np.float32)

    def shared_words(self, query: str, row: int) -> int:
        """How many different stems, stop words aside, the query and the row's searchable text share."""
        return len(set(stems(query)) & set(stems(self._facts[row].searchable)))

    def _rankings(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                entries, starts = self._entries()
                vectors = faiss.IndexFlatIP(entries.shape[1])
                vectors.add(entries)
                self._loaded = _Loaded(Words(tokens(fact.searchable) for fact in self._facts), vectors, starts)
            return self._loaded

    def _entries(self) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The dense entries, of shape (entries, dimension), and where each fact's begin, then their number."""
        texts = [fact.text for fact in self._facts]
        of_facts = [[named(fact.target_group, words) for words in fact.stereotypes] for fact in self._facts]
        encoded = self._vectors.encode([*texts, *(words for of_fact in of_facts for words in of_fact)])
        blocks, starts, used = [], [0], len(texts)
        for row, of_fact in enumerate(of_facts):
            answered = encoded[used : used + len(of_fact)]
            blocks.append(np.vstack([encoded[row : row + 1], (answered + encoded[row]) / 2]))
            used += len(of_fact)
            starts.append(starts[-1] + 1 + len(of_fact))
        return np.vstack(blocks).astype(np.float32), np.array(starts, dtype=np.int64)


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
