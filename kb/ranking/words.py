"""BM25 over a few texts, held in memory, by SQLite's FTS5."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from threading import Lock

from kb.ranking.stems import either


class Words:
    """The words of some texts; a text's row is its place among them. Safe to share between threads."""

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute("CREATE VIRTUAL TABLE words USING fts5(stems, content='', tokenize='ascii')")
        self._database.executemany(
            "INSERT INTO words (rowid, stems) VALUES (?, ?)",
            ((row, " ".join(words)) for row, words in enumerate(texts)),
        )
        self._lock = Lock()

    def search(self, words: Sequence[str], k: int) -> list[tuple[int, float]]:
        """The ``k`` rows that share a word with these, by BM25, best first, ties in their order."""
        wanted = either(words)
        if not wanted:
            return []
        with self._lock:
            return self._database.execute(
                "SELECT rowid, -rank FROM words WHERE words MATCH ? ORDER BY rank, rowid LIMIT ?", (wanted, k)
            ).fetchall()
