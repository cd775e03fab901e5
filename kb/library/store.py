"""The library's one connection, and its transactions.

Owns the access to the database: one thread at a time, and every write is whole or not made at all.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

from core.errors import IndexUnavailable
from core.i18n.sentences import sentence
from kb.library.schema import connect


class Store:
    """The database in a folder. Raises ``IndexUnavailable`` if it cannot be opened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._database = connect(folder)
        self._lock = RLock()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, for this thread only; its errors become ``IndexUnavailable``."""
        with self._lock:
            try:
                yield self._database
            except sqlite3.Error as err:
                raise IndexUnavailable(
                    sentence("The library in {folder} cannot be read: {why}.", folder=self.folder, why=err),
                    remedy=sentence("Run `{command}`.", command="antiphon kb verify"),
                ) from err

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing."""
        with self.reading() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")
