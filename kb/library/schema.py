"""The tables of the library, and the opening of its SQLite file.

Owns the schema and its version. One file holds what was listed, what was fetched, the text of every page, the place of
every paragraph, and the index of its words and vectors; the files as they came are beside it.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from core.errors import IndexUnavailable
from core.i18n.sentences import sentence
from kb.library.private import make_private, touch_private

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
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found == 0:
            for statement in (*filter(str.strip, _TABLES.split(";\n")), *_INDEX, *WORDS):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    if found not in (0, VERSION):
        connection.close()
        raise IndexUnavailable(
            f"The library in {folder} has the form {found}; this Antiphon reads form {VERSION}.",
            remedy="Install the Antiphon that made it, or name another folder in [kb] folder.",
        )
