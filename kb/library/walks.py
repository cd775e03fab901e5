"""How far a build has come, so that one that was killed continues from there.

Owns the cursors of the listings that a build walks through.
"""

from __future__ import annotations

from kb.library.store import Store


class Walks:
    """The progress of builds; ``walk`` names one: its source and what it collects."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def cursor(self, walk: str, listing: str) -> tuple[str | None, bool]:
        """Where a walk continues in a listing, and whether it has finished it."""
        with self._store.reading() as database:
            row = database.execute(
                "SELECT cursor, is_done FROM walks WHERE walk = ? AND listing = ?", (walk, listing)
            ).fetchone()
        return (row[0], bool(row[1])) if row else (None, False)

    def walked(self, walk: str, listing: str, cursor: str | None) -> None:
        """Note that a page of a listing is done; ``cursor`` is the next page's, ``None`` after the last."""
        with self._store.writing() as database:
            database.execute(
                "INSERT OR REPLACE INTO walks VALUES (?, ?, ?, ?)", (walk, listing, cursor, int(cursor is None))
            )

    def forget(self, walk: str) -> None:
        """End the walk: the next one starts at the beginning."""
        with self._store.writing() as database:
            database.execute("DELETE FROM walks WHERE walk = ?", (walk,))
