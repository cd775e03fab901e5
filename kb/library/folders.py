"""The folders that documents were taken from, and the name that begins the ids of each one's documents.

Owns these names: two folders may hold files of the same name, and both are kept. The first folder's documents are
``folder:notes.txt``; those of a second one called "Reports" are ``folder/reports:notes.txt``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from kb.documents import Listed
from kb.library.nouns import listed_in
from kb.library.store import Store

FIRST: Final = "folder"
"""The name of the first folder, and of all folders as a source."""

Holds = Callable[[Listed, frozenset[str]], Awaitable[bool]]
"""Whether a folder holds a document with one of these hashes at the place where it was listed."""


class Folders:
    """The names of folders; stored, so that a folder has the same one in each build."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def name_of(self, folder: Path, holds: Holds) -> str:
        """The name of a folder, chosen and stored where it has none.

        A folder that was moved or renamed takes the name that it had: it is known by a document that it still holds. So
        is the folder of a library that an older Antiphon made without these names.
        """
        known = self._known()
        for name, path in known.items():
            if path == str(folder):
                return name
        for name in _free(known):
            documents = self._documents(name)
            if not documents and name not in known:
                return self._named(name, folder)
            for listed, hashes in documents:
                if await holds(listed, hashes):
                    return self._named(name, folder)
        return self._named(_new_name(folder, known), folder)

    def path_of(self, document: str) -> Path | None:
        """The folder that a document was taken from; ``None`` where it came from elsewhere, or nobody noted it."""
        path = self._known().get(document.partition(":")[0])
        return Path(path) if path else None

    def _known(self) -> dict[str, str]:
        with self._store.reading() as database:
            return {row[0]: row[1] for row in database.execute("SELECT name, path FROM folders ORDER BY name")}

    def _documents(self, name: str) -> list[tuple[Listed, frozenset[str]]]:
        with self._store.reading() as database:
            rows = database.execute(
                "SELECT d.*, GROUP_CONCAT(r.sha256) AS hashes FROM documents d JOIN revisions r ON r.document = d.id"
                " WHERE substr(d.id, 1, ?) = ? GROUP BY d.id",
                (len(name) + 1, f"{name}:"),
            ).fetchall()
        return [(listed_in(row), frozenset(row["hashes"].split(","))) for row in rows]

    def _named(self, name: str, folder: Path) -> str:
        with self._store.writing() as database:
            database.execute("INSERT OR REPLACE INTO folders VALUES (?, ?)", (name, str(folder)))
        return name


def _free(known: dict[str, str]) -> list[str]:
    """The names whose folders are no longer there, and the first one where nobody has it."""
    gone = [name for name, path in known.items() if not Path(path).is_dir()]
    return gone if FIRST in known else [FIRST, *gone]


def _new_name(folder: Path, known: dict[str, str]) -> str:
    letters = unicodedata.normalize("NFKD", folder.name).encode("ascii", "ignore").decode().lower()
    word = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")[:40] or "files"
    name, number = f"{FIRST}/{word}", 1
    while name in known:
        number += 1
        name = f"{FIRST}/{word}-{number}"
    return name
