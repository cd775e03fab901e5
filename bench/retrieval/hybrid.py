"""The library's index as Antiphon uses it: built, opened and searched, with stored vectors or the real model."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.measuring.children import peak_mib
from bench.retrieval.corpus import Corpus, Vectors
from core.llm.backends.embeddings import SentenceEmbedder
from core.models import TargetGroup
from kb.ranking.fusion import fuse_by_rank
from kb.shelf.index.library_index import EVERYTHING, Filters, LibraryIndex, ParagraphEntry
from kb.shelf.index.table import digest

CANDIDATES = 200
_APPENDED = 1000
TODAY = date(2026, 11, 1)
FILTERED = Filters(today=TODAY, target_groups=frozenset({TargetGroup.WOMEN}), since_year=2010)

_GROUPS = tuple(TargetGroup)


class StoredEmbedder:
    """Gives each paragraph of a corpus its synthetic vector, so that a million can be "embedded" without a model."""

    name = "synthetic"
    languages = frozenset({"en"})

    def __init__(self, corpus: Corpus, vectors: Vectors) -> None:
        self._known = corpus.folder / f"digests-{corpus.size}.npy"
        self._corpus, self._vectors = corpus, vectors
        self.seconds = 0.0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (len(texts), 384)."""
        started = time.perf_counter()
        if not self._known.exists():
            digests = np.array([digest(text) for _, text in self._corpus.all()], dtype=np.uint64)
            order = np.argsort(digests)
            np.save(self._known, np.stack([digests[order], order.astype(np.uint64)]))
        digests, places = np.load(self._known, mmap_mode="r")
        found = places[np.searchsorted(digests, np.array([digest(text) for text in texts], dtype=np.uint64))]
        vectors = self._vectors.stored()[found.astype(np.int64)].astype(np.float32)
        self.seconds += time.perf_counter() - started
        return np.asarray(vectors)


def entry_of(row: int, text: str) -> ParagraphEntry:
    """A paragraph with the values that filters look at, drawn evenly."""
    return ParagraphEntry(
        row=row,
        text=text,
        document=f"{row // 80}",
        source="un",
        publisher="United Nations",
        language="en",
        year=2000 + row * 7 % 26,
        target_groups=frozenset({_GROUPS[row * 5 % 8], _GROUPS[row * 3 % 8]}),
        expires=date(2025, 1, 1) if row % 50 == 0 else None,
    )


def build(place: Path, folder: Path, size: int) -> dict[str, float]:
    """Build the index without the last 1,000 paragraphs, words first, then vectors; add these, then remove one.

    Seconds of each, without those of the embedder.
    """
    corpus, vectors = Corpus(place, size), Vectors(place, size)
    embedder = StoredEmbedder(corpus, vectors)
    embedder.encode([])
    index = LibraryIndex(folder, embedder, corpus.texts)
    most = islice(corpus.all(), size - _APPENDED)
    last = [entry_of(row, corpus.texts([row])[row]) for row in range(size - _APPENDED + 1, size + 1)]
    took = {}
    for step, change in (
        ("words", lambda: index.update(entry_of(row, text) for row, text in most)),
        ("vectors", index.embed),
        ("append", lambda: (index.update(last), index.embed())),
        ("remove", lambda: index.update([], removed=[1])),
    ):
        embedder.seconds, started = 0.0, time.perf_counter()
        change()
        took[step] = time.perf_counter() - started - embedder.seconds
    return {**took, "peak": peak_mib()}


def serve(place: Path, folder: Path, size: int) -> dict[str, Any]:
    """Open the index and ask it: milliseconds of every search by its name, and what memory it takes to serve."""
    corpus, vectors = Corpus(place, size), Vectors(place, size)
    index = LibraryIndex(folder, StoredEmbedder(corpus, vectors), corpus.texts)
    started = time.perf_counter()
    index.open()
    opened = time.perf_counter() - started
    asked, near = corpus.queries(), vectors.queries()

    def hybrid(at: int, filters: Filters = EVERYTHING) -> list[int]:
        by_words = index.bm25(asked[at].text, CANDIDATES, filters)
        by_vectors = index.dense(near[at], CANDIDATES, filters)
        fused = fuse_by_rank([[row for row, _ in by_words], [row for row, _ in by_vectors]])
        return sorted(fused, key=lambda row: -fused[row])[:20]

    known = [query.row in [row for row, _ in index.bm25(query.text, 10)] for query in asked]
    places = vectors.exact() + 1
    recall = [
        np.isin(places[at, :10], [row for row, _ in index.dense(near[at], CANDIDATES)]).mean()
        for at in range(len(near))
    ]
    latencies = {
        "BM25": timed(lambda at: index.bm25(asked[at].text, CANDIDATES), len(asked)),
        "dense": timed(lambda at: index.dense(near[at], CANDIDATES), len(asked)),
        "hybrid": timed(hybrid, len(asked)),
        "hybrid, filtered": timed(lambda at: hybrid(at, FILTERED), len(asked)),
    }
    held = peak_mib()
    model = SentenceEmbedder(bfloat16=True, remembered=0)
    model.encode(["warm"])

    def with_model(at: int) -> list[int]:
        model.encode([asked[at].text])
        return hybrid(at)

    latencies["hybrid, query embedded"] = timed(with_model, len(asked))
    return {
        "open": opened,
        "peak": held,
        "known": float(np.mean(known)),
        "recall": float(np.mean(recall)),
        "latencies": latencies,
    }


def throughput(folder: Path, paragraphs: Sequence[str]) -> dict[str, float]:
    """Paragraphs a second: of the model alone, before and after, and of an index built with it in between."""
    texts = dict(enumerate(paragraphs, start=1))
    alone = []
    for name in ("before", "index", "after"):
        model = SentenceEmbedder(bfloat16=True, remembered=0)
        model.encode(["warm"])
        started = time.perf_counter()
        if name == "index":
            index = LibraryIndex(folder, model, lambda rows: {row: texts[row] for row in rows}, lazy=False)
            index.update(entry_of(row, text) for row, text in texts.items())
            indexed = len(texts) / (time.perf_counter() - started)
        else:
            model.encode(paragraphs)
            alone.append(len(texts) / (time.perf_counter() - started))
    return {"before": alone[0], "after": alone[1], "index": indexed}


def timed(ask: Callable[[int], object], count: int) -> list[float]:
    """The milliseconds of each question, after all were asked once."""
    for at in range(min(count, 50)):
        ask(at)
    took = []
    for at in range(count):
        started = time.perf_counter()
        ask(at)
        took.append((time.perf_counter() - started) * 1000)
    return took
