"""Engines that rank paragraphs by their words, each built and used in the same way.

All get the stems of ``kb.ranking.stems`` without stop words, so that they differ only in speed; tantivy makes the stems
itself, with the same analyzer.
"""

from __future__ import annotations

import json
import pickle  # nosec B403 # see where it is read
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.retrieval.corpus import Corpus
from kb.ranking.stems import stems
from kb.shelf.index.entries import EVERYTHING
from kb.shelf.index.library_index import ParagraphEntry
from kb.shelf.index.table import shards, table_of
from kb.shelf.index.words import Words, write_list, write_segment

K = 100

Ask = Callable[[str], list[int]]
"""The best ``K`` rows for a text, best first."""


@dataclass(frozen=True)
class LexicalEngine:
    """How an engine is built, opened and used; ``most`` is the largest corpus that is worth the wait."""

    build: Callable[[Corpus, Path], None]
    open: Callable[[Corpus, Path], Ask]
    most: int = 10**9
    queries: int = 300


def _build_tantivy(corpus: Corpus, folder: Path) -> None:
    table = table_of(
        ParagraphEntry(row=row, text=text, document="", source="", publisher="", language="en")
        for row, text in corpus.all()
    )
    cuts = shards(table["row"])
    for number, cut in enumerate(cuts):
        write_segment(folder, f"{number:032x}", table[cut], corpus.texts)
    write_list(folder, [(f"{number:032x}", len(table[cut])) for number, cut in enumerate(cuts)])
    np.save(folder.with_suffix(".npy"), np.unique(table["language"]))


def _open_tantivy(_: Corpus, folder: Path) -> Ask:
    words = Words(folder, frozenset(np.load(folder.with_suffix(".npy")).tolist()))
    return lambda text: words.search(text, K, EVERYTHING, narrow=False)[0].tolist()


def _build_bm25s(corpus: Corpus, folder: Path) -> None:
    import bm25s

    numbers: dict[str, int] = {}
    tokens = [
        [numbers.setdefault(stem, len(numbers)) for stem in _tokens(text)]  # repeated ones count
        for _, text in corpus.all()
    ]
    engine = bm25s.BM25(k1=1.2, b=0.75, backend="numba")
    engine.index(bm25s.tokenization.Tokenized(ids=tokens, vocab=numbers), show_progress=False)
    engine.save(str(folder))


def _open_bm25s(corpus: Corpus, folder: Path) -> Ask:
    import bm25s

    engine = bm25s.BM25.load(str(folder), mmap=True)
    engine.backend = "numba"
    engine.activate_numba_scorer()

    def ask(text: str) -> list[int]:
        found = engine.retrieve([stems(text)], k=min(K, corpus.size), show_progress=False, return_as="documents")
        return [int(place) + 1 for place in found[0]]

    return ask


def _build_rank_bm25(corpus: Corpus, folder: Path) -> None:
    from rank_bm25 import BM25Okapi

    engine = BM25Okapi([_tokens(text) for _, text in corpus.all()], k1=1.2)
    (folder / "engine.pickle").write_bytes(pickle.dumps(engine))


def _open_rank_bm25(_: Corpus, folder: Path) -> Ask:
    engine = pickle.loads((folder / "engine.pickle").read_bytes())  # nosec B301 # noqa: S301 - we have just written it

    def ask(text: str) -> list[int]:
        scores = engine.get_scores(stems(text))
        best = np.argpartition(-scores, min(K, len(scores) - 1))[:K]
        return [int(place) + 1 for place in best[np.argsort(-scores[best])]]

    return ask


def _build_fts5(corpus: Corpus, folder: Path) -> None:
    with sqlite3.connect(folder / "words.sqlite") as database:
        # Without ``detail=full`` the order by rank means nothing.
        database.execute("CREATE VIRTUAL TABLE words USING fts5(stems, content='', detail=full, tokenize='ascii')")
        database.executemany(
            "INSERT INTO words (rowid, stems) VALUES (?, ?)",
            ((row, " ".join(_tokens(text))) for row, text in corpus.all()),
        )
        database.execute("INSERT INTO words (words) VALUES ('optimize')")
    database.close()


def _open_fts5(_: Corpus, folder: Path) -> Ask:
    database = sqlite3.connect(folder / "words.sqlite")

    def ask(text: str) -> list[int]:
        either = " OR ".join(json.dumps(stem) for stem in stems(text))
        rows = database.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (either, K))
        return [int(row[0]) for row in rows]

    return ask


def _tokens(text: str) -> list[str]:
    """The stems of a text with their repetitions."""
    from kb.ranking.stems import ANALYZERS, ENGLISH

    return list(ANALYZERS[ENGLISH].analyze(text))


ENGINES: Mapping[str, LexicalEngine] = {
    "tantivy": LexicalEngine(_build_tantivy, _open_tantivy),
    "bm25s (numba)": LexicalEngine(_build_bm25s, _open_bm25s),
    "rank_bm25": LexicalEngine(_build_rank_bm25, _open_rank_bm25, most=100_000, queries=40),
    "SQLite FTS5": LexicalEngine(_build_fts5, _open_fts5, queries=100),
}
