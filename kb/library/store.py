"""The SQLite file of the library: its tables, its one connection, and its transactions.

One thread at a time uses the connection, and every write is whole or not made at all. Only the owner of the file may
read it, since a library holds documents that people did not publish.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock

from core.errors import IndexUnavailable
from core.i18n.sentences import sentence


def make_private(folder: Path) -> None:
    """Make a folder and the parents that it lacks, for their owner alone. Raises ``OSError``."""
    for missing in [parent for parent in reversed(folder.parents) if not parent.exists()]:
        missing.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def touch_private(file: Path) -> None:
    """Make a file that is not there, for its owner alone. Raises ``OSError``."""
    with suppress(FileExistsError):  # one that is there is not opened: to close it would end SQLite's locks on it
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDONLY, 0o600))


VERSION = 3
FILE = "library.sqlite"
_BUSY_MILLISECONDS = 30_000
_REMEDY = sentence("Free some space, check that the folder can be written, and try again.")
_DAMAGED = sentence("Put the library back from a copy, or remove its folder and add the documents again.")

_TABLES = """
CREATE TABLE documents (
    id TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    url TEXT NOT NULL,
    page TEXT NOT NULL,
    title TEXT NOT NULL,
    publisher TEXT NOT NULL,
    type TEXT NOT NULL,
    year INTEGER,
    language TEXT,
    target_groups TEXT NOT NULL,
    document TEXT,
    licence TEXT,
    jurisdiction TEXT,
    expires TEXT,
    refused TEXT
) WITHOUT ROWID;
CREATE TABLE revisions (
    revision INTEGER PRIMARY KEY AUTOINCREMENT,
    document TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    state TEXT NOT NULL CHECK (state IN ('quarantined', 'accepted', 'superseded', 'rejected')),
    sha256 TEXT NOT NULL,
    file TEXT NOT NULL,
    media_type TEXT NOT NULL,
    fetched_at TEXT NOT NULL,
    notes TEXT NOT NULL,
    decided_by TEXT,
    says TEXT
);
CREATE UNIQUE INDEX one_accepted ON revisions (document) WHERE state = 'accepted';
CREATE INDEX revisions_by_document ON revisions (document);
CREATE INDEX revisions_by_hash ON revisions (sha256);
CREATE TABLE pages (
    revision INTEGER NOT NULL REFERENCES revisions (revision) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (revision, number)
) WITHOUT ROWID;
CREATE TABLE paragraphs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    revision INTEGER NOT NULL REFERENCES revisions (revision) ON DELETE CASCADE,
    page INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL CHECK (stop > start),
    sha256 TEXT NOT NULL
);
CREATE INDEX paragraphs_by_revision ON paragraphs (revision);
CREATE TABLE walks (
    walk TEXT NOT NULL,
    listing TEXT NOT NULL,
    cursor TEXT,
    is_done INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (walk, listing)
) WITHOUT ROWID;
CREATE TABLE trust (
    source TEXT PRIMARY KEY,
    level TEXT NOT NULL CHECK (level IN ('low', 'normal', 'high'))
) WITHOUT ROWID;
CREATE TABLE folders (
    name TEXT PRIMARY KEY,
    path TEXT NOT NULL UNIQUE
) WITHOUT ROWID;
"""
_INDEX = (
    # Which revisions can be found by their words, and in which language these were cut.
    "CREATE TABLE indexed (revision INTEGER PRIMARY KEY REFERENCES revisions (revision) ON DELETE CASCADE,"
    " language TEXT NOT NULL)",
    "CREATE TABLE entries (row INTEGER PRIMARY KEY REFERENCES paragraphs (id) ON DELETE CASCADE, stems TEXT NOT NULL)",
    "CREATE TABLE vectors (id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " row INTEGER NOT NULL UNIQUE REFERENCES paragraphs (id) ON DELETE CASCADE,"
    " model TEXT NOT NULL, vector BLOB NOT NULL)",
    # The file beside the library with an index of a model's vectors, up to the one with the id `last`.
    "CREATE TABLE neighbours (model TEXT PRIMARY KEY, last INTEGER NOT NULL, vectors INTEGER NOT NULL,"
    " sha256 TEXT NOT NULL) WITHOUT ROWID",
    # `edition` grows with each change of what a search may find; `is_built` is 1 after the first whole build.
    "CREATE TABLE shelf (edition INTEGER NOT NULL, is_built INTEGER NOT NULL)",
    "INSERT INTO shelf VALUES (0, 0)",
    "CREATE TRIGGER edition_document AFTER UPDATE ON documents BEGIN UPDATE shelf SET edition = edition + 1; END",
    "CREATE TRIGGER edition_state AFTER UPDATE OF state ON revisions BEGIN UPDATE shelf SET edition = edition + 1; END",
    "CREATE TRIGGER edition_indexed AFTER INSERT ON indexed BEGIN UPDATE shelf SET edition = edition + 1; END",
    "CREATE TRIGGER edition_forgotten AFTER DELETE ON indexed BEGIN UPDATE shelf SET edition = edition + 1; END",
)
WORDS = (
    "CREATE VIRTUAL TABLE words USING fts5(stems, content='entries', content_rowid='row', tokenize='ascii')",
    "CREATE TRIGGER entry_added AFTER INSERT ON entries BEGIN"
    " INSERT INTO words (rowid, stems) VALUES (new.row, new.stems); END",
    "CREATE TRIGGER entry_removed AFTER DELETE ON entries BEGIN"
    " INSERT INTO words (words, rowid, stems) VALUES ('delete', old.row, old.stems); END",
)
"""The index of the words, which holds what ``entries`` holds."""


def connect(folder: Path) -> sqlite3.Connection:
    """The library's database in ``folder``; autocommit, safe to share under a lock.

    Made if it is not there, for its owner alone.

    Raises:
        IndexUnavailable: it cannot be made or opened, is damaged, or was made by another Antiphon.
    """
    try:
        make_private(folder)
        touch_private(folder / FILE)
        connection = sqlite3.connect(folder / FILE, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        _create_or_check(connection, folder)
    except (OSError, sqlite3.Error) as err:
        is_damaged = isinstance(err, sqlite3.DatabaseError) and not isinstance(err, sqlite3.OperationalError)
        raise IndexUnavailable(
            sentence("The library in {folder} cannot be opened: {why}.", folder=folder, why=err),
            remedy=_DAMAGED if is_damaged else _REMEDY,
        ) from err
    return connection


def _create_or_check(connection: sqlite3.Connection, folder: Path) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            for statement in (*filter(str.strip, _TABLES.split(";\n")), *_INDEX, *WORDS):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    if version not in (0, VERSION):
        connection.close()
        raise IndexUnavailable(
            f"The library in {folder} has the form {version}; this Antiphon reads form {VERSION}.",
            remedy="Install the Antiphon that made it, or name another folder in [kb] folder.",
        )


class Store:
    """The database in a folder. Raises ``IndexUnavailable`` if it cannot be opened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._database = connect(folder)
        self._lock = RLock()

    def close(self) -> None:
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
