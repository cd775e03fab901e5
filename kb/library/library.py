"""The library: every document with its revisions, the text of their pages, and the place of every paragraph.

A new or changed document waits in quarantine until a person accepts it, and the revision before it is served until
then. Documents of a trusted source need no acceptance (``kb.ingest``). The files are kept as they came. A paragraph's
words are cut from its page and checked against their hash each time they are read.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import tempfile
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from difflib import unified_diff
from enum import StrEnum
from pathlib import Path
from typing import Final

from core.errors import BadInput, IndexUnavailable
from core.i18n.sentences import sentence
from core.models import TargetGroup
from kb.documents import FetchedFile, ListedDocument, Page, ParsedFile, Span
from kb.library.store import Store, make_private

FIRST: Final = "folder"
"""The name of the first folder, and of all folders as a source."""
Holds = Callable[[ListedDocument, frozenset[str]], Awaitable[bool]]
"""Whether a folder holds a document with one of these hashes at the place where it was listed."""
_FILES = "files"
_AT_ONCE = 500  # SQLite takes 32,766 variables in a statement; fewer keep the lock short
_NO_DOCUMENT = "`antiphon kb stats` counts what there is; `antiphon kb export` lists it."


class Trust(StrEnum):
    """How far a source is trusted: documents of ``HIGH`` need no acceptance, passages of ``LOW`` rank lower."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


class State(StrEnum):
    """What became of a revision."""

    QUARANTINED = "quarantined"
    ACCEPTED = "accepted"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Says:
    """What a file says about itself, or what was found out about it: its language.

    ``labels`` are the numbers that its pages bear in print, by the page's place in the file, where they differ.
    """

    title: str | None = None
    author: str | None = None
    year: int | None = None
    language: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Revision:
    """One version of a document's file, which is at ``file`` below the folder.

    ``decided_by`` names the person who accepted or rejected it; ``None`` where its source is trusted, or nobody decided
    yet. ``says`` is what the file says about itself.
    """

    revision: int
    document: str
    state: State
    sha256: str
    file: str
    media_type: str
    fetched_at: datetime
    notes: tuple[str, ...]
    decided_by: str | None
    says: Says = Says()


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph with its document; ``text`` is ``page[start:end]`` of the accepted revision.

    ``label`` is the number that the page bears in print, where the file says another than ``page``.
    """

    id: int
    document: ListedDocument
    page: int
    start: int
    end: int
    text: str
    trust: Trust
    label: str = ""


def groups_in(stored: str) -> frozenset[TargetGroup]:
    return frozenset(TargetGroup(group) for group in json.loads(stored))


def listed_in(row: sqlite3.Row) -> ListedDocument:
    return ListedDocument(
        id=row["id"],
        source=row["source"],
        url=row["url"],
        page=row["page"],
        title=row["title"],
        publisher=row["publisher"],
        type=row["type"],
        year=row["year"],
        language=row["language"],
        target_groups=groups_in(row["target_groups"]),
        document=row["document"],
        licence=row["licence"],
        jurisdiction=row["jurisdiction"],
        expires=date.fromisoformat(row["expires"]) if row["expires"] else None,
    )


def revision_in(row: sqlite3.Row) -> Revision:
    return Revision(
        revision=row["revision"],
        document=row["document"],
        state=State(row["state"]),
        sha256=row["sha256"],
        file=row["file"],
        media_type=row["media_type"],
        fetched_at=datetime.fromisoformat(row["fetched_at"]),
        notes=tuple(json.loads(row["notes"])),
        decided_by=row["decided_by"],
        says=Says(**json.loads(row["says"] or "{}")),
    )


def changes(library: Library, document: str) -> list[str]:
    """The paragraphs that a document's waiting revision adds ("+ ") and drops ("- "), with a neighbour of each change.

    For a new document every paragraph is added. If no revision waits, there are no changes.
    """
    revisions = library.revisions(document)
    waiting = next((revision for revision in revisions if revision.state is State.QUARANTINED), None)
    served = next((revision for revision in revisions if revision.state is State.ACCEPTED), None)
    if waiting is None:
        return []
    before = library.texts(served.revision) if served else []
    lines = list(unified_diff(before, library.texts(waiting.revision), lineterm="", n=1))
    return [f"{line[0]} {line[1:]}" for line in lines[2:] if not line.startswith("@@")]


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


class Folders:
    """The names of folders; stored, so that a folder has the same one in each build."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def name_of(self, folder: Path, holds: Holds) -> str:
        """The name of a folder, chosen and stored where it has none.

        A folder that was moved or renamed takes the name that it had: it is known by a document that it still holds.
        """
        paths = self._paths()
        for name, path in paths.items():
            if path == str(folder):
                return name
        for name in _free(paths):
            documents = self._documents(name)
            if not documents and name not in paths:
                return self._store_name(name, folder)
            for listed, hashes in documents:
                if await holds(listed, hashes):
                    return self._store_name(name, folder)
        return self._store_name(_new_name(folder, paths), folder)

    def path_of(self, document: str) -> Path | None:
        """The folder that a document was taken from; ``None`` where it came from elsewhere, or nobody noted it."""
        path = self._paths().get(document.partition(":")[0])
        return Path(path) if path else None

    def _paths(self) -> dict[str, str]:
        with self._store.reading() as database:
            return {row[0]: row[1] for row in database.execute("SELECT name, path FROM folders ORDER BY name")}

    def _documents(self, name: str) -> list[tuple[ListedDocument, frozenset[str]]]:
        with self._store.reading() as database:
            rows = database.execute(
                "SELECT d.*, GROUP_CONCAT(r.sha256) AS hashes FROM documents d JOIN revisions r ON r.document = d.id"
                " WHERE substr(d.id, 1, ?) = ? GROUP BY d.id",
                (len(name) + 1, f"{name}:"),
            ).fetchall()
        return [(listed_in(row), frozenset(row["hashes"].split(","))) for row in rows]

    def _store_name(self, name: str, folder: Path) -> str:
        with self._store.writing() as database:
            database.execute("INSERT OR REPLACE INTO folders VALUES (?, ?)", (name, str(folder)))
        return name


def _free(paths: dict[str, str]) -> list[str]:
    """The names whose folders are no longer there, and the first one where nobody has it."""
    gone = [name for name, path in paths.items() if not Path(path).is_dir()]
    return gone if FIRST in paths else [FIRST, *gone]


def _new_name(folder: Path, paths: dict[str, str]) -> str:
    letters = unicodedata.normalize("NFKD", folder.name).encode("ascii", "ignore").decode().lower()
    word = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")[:40] or "files"
    name, number = f"{FIRST}/{word}", 1
    while name in paths:
        number += 1
        name = f"{FIRST}/{word}-{number}"
    return name


class Library:
    """The documents in one folder. Blocking: call it in a thread. Safe to share between threads and processes.

    Raises:
        IndexUnavailable: the folder cannot be used, or the database is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(folder)
        self.walks = Walks(self.store)
        self.folders = Folders(self.store)

    def close(self) -> None:
        self.store.close()

    # What a build writes

    def note(self, listed: ListedDocument) -> None:
        """Store how a source lists a document; the groups of an earlier listing stay."""
        with self.store.writing() as database:
            row = database.execute("SELECT target_groups FROM documents WHERE id = ?", (listed.id,)).fetchone()
            groups = listed.target_groups | (groups_in(row[0]) if row else frozenset())
            database.execute(
                "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL) ON CONFLICT (id)"
                " DO UPDATE SET url = excluded.url, page = excluded.page, title = excluded.title,"
                " year = excluded.year, publisher = excluded.publisher, type = excluded.type,"
                " language = excluded.language, target_groups = excluded.target_groups,"
                " document = excluded.document, licence = excluded.licence,"
                " jurisdiction = excluded.jurisdiction, expires = excluded.expires",
                (
                    listed.id, listed.source, listed.url, listed.page, listed.title, listed.publisher, listed.type,
                    listed.year, listed.language, json.dumps(sorted(groups)), listed.document, listed.licence,
                    listed.jurisdiction, listed.expires and listed.expires.isoformat(),
                ),
            )  # fmt: skip

    def is_settled(self, document: str) -> bool:
        """Whether a document was fetched or refused before, so that a build need not ask for it again."""
        with self.store.reading() as database:
            row = database.execute(
                "SELECT refused IS NOT NULL OR EXISTS (SELECT 1 FROM revisions WHERE document = id)"
                " FROM documents WHERE id = ?",
                (document,),
            ).fetchone()
        return bool(row and row[0])

    def refuse(self, document: str, reason: str | None) -> None:
        """Note why a document cannot be used, or with ``None`` that it can be used again."""
        with self.store.writing() as database:
            database.execute("UPDATE documents SET refused = ? WHERE id = ?", (reason, document))

    def holder_of(self, sha256: str) -> str | None:
        """The document that the same bytes were first fetched for, or ``None``."""
        with self.store.reading() as database:
            row = database.execute(
                "SELECT document FROM revisions WHERE sha256 = ? ORDER BY revision LIMIT 1", (sha256,)
            ).fetchone()
        return str(row[0]) if row else None

    def add(self, document: str, fetched: FetchedFile, parsed: ParsedFile, spans: Sequence[Span], state: State) -> int:
        """A new revision with its pages and paragraphs, all or nothing; the file is on the disk before the row.

        An accepted revision takes the place of the one accepted before.
        """
        file = self._keep(fetched)
        pages = {page.number: page.text for page in parsed.pages}
        with self.store.writing() as database:
            if state is State.ACCEPTED:
                _supersede(database, document)
            cursor = database.execute(
                "INSERT INTO revisions (document, state, sha256, file, media_type, fetched_at, notes, says)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (document, state, fetched.sha256, file, fetched.media_type, fetched.at.isoformat(),
                 json.dumps(parsed.notes), json.dumps(asdict(_says(parsed)))),
            )  # fmt: skip
            revision = int(cursor.lastrowid or 0)
            database.executemany(
                "INSERT INTO pages VALUES (?, ?, ?)", [(revision, number, text) for number, text in pages.items()]
            )
            database.executemany(
                "INSERT INTO paragraphs (revision, page, start, stop, sha256) VALUES (?, ?, ?, ?, ?)",
                [
                    (revision, span.page, span.start, span.end, _hash(pages[span.page][span.start : span.end]))
                    for span in spans
                ],
            )
            database.execute("UPDATE documents SET refused = NULL WHERE id = ?", (document,))
        return revision

    def _keep(self, fetched: FetchedFile) -> str:
        """Store the file under its hash; written beside its place and then moved, so that no half file appears."""
        name = f"{_FILES}/{fetched.sha256[:2]}/{fetched.sha256}"
        place = self.folder / name
        if place.exists():
            return name
        try:
            make_private(place.parent)
            with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".writing-", delete=False) as writing:
                writing.write(fetched.data)
                writing.flush()
                os.fsync(writing.fileno())
            Path(writing.name).replace(place)
        except OSError as err:
            raise IndexUnavailable(
                f"A document cannot be kept in {self.folder}: {err}.", remedy="Free some space and build again."
            ) from err
        return name

    # What people decide

    def decide(self, revision: int, state: State, by: str) -> None:
        """Accept or reject a revision that waits in quarantine.

        Raises:
            BadInput: it does not wait in quarantine.
        """
        with self.store.writing() as database:
            row = database.execute("SELECT document, state FROM revisions WHERE revision = ?", (revision,)).fetchone()
            if row is None or row["state"] != State.QUARANTINED:
                raise BadInput(f"Revision {revision} does not wait in quarantine.", remedy="See `antiphon kb waiting`.")
            if state is State.ACCEPTED:
                _supersede(database, row["document"])
            database.execute("UPDATE revisions SET state = ?, decided_by = ? WHERE revision = ?", (state, by, revision))

    def waiting(self, source: str | None = None) -> list[Revision]:
        """The revisions in quarantine, the oldest first."""
        with self.store.reading() as database:
            rows = database.execute(
                "SELECT r.* FROM revisions r JOIN documents d ON d.id = r.document"
                " WHERE r.state = 'quarantined' AND (?1 IS NULL OR d.source = ?1) ORDER BY r.revision",
                (source,),
            ).fetchall()
        return [revision_in(row) for row in rows]

    def remove(self, document: str) -> None:
        """Remove a document, its text and the files that no other document needs.

        Raises:
            BadInput: there is no such document.
        """
        with self.store.writing() as database:
            files = database.execute("SELECT DISTINCT file FROM revisions WHERE document = ?", (document,)).fetchall()
            if not database.execute("DELETE FROM documents WHERE id = ?", (document,)).rowcount:
                raise BadInput(f"There is no document {document!r}.", remedy=_NO_DOCUMENT)
            still_used = {row[0] for row in database.execute("SELECT DISTINCT file FROM revisions")}
        for (file,) in files:
            if file not in still_used:
                (self.folder / file).unlink(missing_ok=True)

    def set_trust(self, source: str, level: Trust) -> None:
        """Set how far a source is trusted from now on; what was accepted stays accepted."""
        with self.store.writing() as database:
            database.execute("INSERT OR REPLACE INTO trust VALUES (?, ?)", (source, level))

    def trust_in(self, source: str) -> Trust:
        """How far a source is trusted; ``NORMAL`` where nobody said."""
        with self.store.reading() as database:
            row = database.execute("SELECT level FROM trust WHERE source = ?", (source,)).fetchone()
        return Trust(row[0]) if row else Trust.NORMAL

    # What is read

    def document(self, document: str) -> tuple[ListedDocument, str | None]:
        """A document, and why it was refused if it was.

        Raises:
            BadInput: there is no such document.
        """
        with self.store.reading() as database:
            row = database.execute("SELECT * FROM documents WHERE id = ?", (document,)).fetchone()
        if row is None:
            raise BadInput(f"There is no document {document!r}.", remedy=_NO_DOCUMENT)
        return listed_in(row), row["refused"]

    def has(self, document: str) -> bool:
        with self.store.reading() as database:
            return database.execute("SELECT 1 FROM documents WHERE id = ?", (document,)).fetchone() is not None

    def documents(self) -> Iterator[tuple[ListedDocument, str | None]]:
        """Every document by id, and why it was refused if it was."""
        with self.store.reading() as database:
            rows = database.execute("SELECT * FROM documents ORDER BY id").fetchall()
        return ((listed_in(row), row["refused"]) for row in rows)

    def revisions(self, document: str) -> list[Revision]:
        """All revisions of a document, the newest first."""
        with self.store.reading() as database:
            rows = database.execute(
                "SELECT * FROM revisions WHERE document = ? ORDER BY revision DESC", (document,)
            ).fetchall()
        return [revision_in(row) for row in rows]

    def revision(self, number: int) -> Revision | None:
        with self.store.reading() as database:
            row = database.execute("SELECT * FROM revisions WHERE revision = ?", (number,)).fetchone()
        return revision_in(row) if row else None

    def served(self) -> dict[int, tuple[ListedDocument, range]]:
        """The revisions that are served: their documents and the numbers of their paragraphs."""
        with self.store.reading() as database:
            rows = database.execute(
                "SELECT d.*, r.revision, MIN(p.id) AS first, MAX(p.id) AS last FROM revisions r"
                " JOIN documents d ON d.id = r.document JOIN paragraphs p USING (revision)"
                " WHERE r.state = 'accepted' GROUP BY r.revision ORDER BY r.revision"
            ).fetchall()
        return {row["revision"]: (listed_in(row), range(row["first"], row["last"] + 1)) for row in rows}

    def serves_anything(self) -> bool:
        """Whether any document is accepted."""
        with self.store.reading() as database:
            return database.execute("SELECT 1 FROM revisions WHERE state = 'accepted' LIMIT 1").fetchone() is not None

    def pages(self, revision: int) -> tuple[Page, ...]:
        with self.store.reading() as database:
            rows = database.execute(
                "SELECT number, text FROM pages WHERE revision = ? ORDER BY number", (revision,)
            ).fetchall()
        return tuple(Page(int(row[0]), str(row[1])) for row in rows)

    def paragraphs(self, ids: Iterable[int]) -> dict[int, Paragraph]:
        """The paragraphs of these ids that are served.

        Raises:
            IndexUnavailable: the words of one are not those that were stored.
        """
        paragraphs: dict[int, Paragraph] = {}
        distinct = list(dict.fromkeys(ids))
        for first in range(0, len(distinct), _AT_ONCE):
            chunk = distinct[first : first + _AT_ONCE]
            marks = ",".join("?" * len(chunk))
            with self.store.reading() as database:
                rows = database.execute(
                    "SELECT d.*, p.id AS paragraph, p.page AS at_page, p.start, p.stop, p.sha256,"  # nosec B608 # noqa: S608 - marks
                    " substr(t.text, p.start + 1, p.stop - p.start) AS words, COALESCE(u.level, 'normal') AS level,"
                    " COALESCE(json_extract(r.says, '$.labels.\"' || p.page || '\"'), '') AS label"
                    " FROM paragraphs p JOIN revisions r USING (revision)"
                    " JOIN documents d ON d.id = r.document"
                    " JOIN pages t ON t.revision = r.revision AND t.number = p.page"
                    " LEFT JOIN trust u ON u.source = d.source"
                    f" WHERE r.state = 'accepted' AND p.id IN ({marks})",
                    chunk,
                ).fetchall()
            for row in rows:
                if _hash(row["words"]) != row["sha256"]:
                    raise IndexUnavailable(
                        sentence("A paragraph of {document} is not what was stored.", document=row["id"]),
                        remedy=sentence("Run `{command}`.", command="antiphon kb verify"),
                    )
                paragraphs[row["paragraph"]] = Paragraph(
                    row["paragraph"], listed_in(row), row["at_page"], row["start"], row["stop"], row["words"],
                    Trust(row["level"]), row["label"],
                )  # fmt: skip
        return paragraphs

    def texts(self, revision: int) -> list[str]:
        """The paragraphs of a revision in their order, accepted or not."""
        with self.store.reading() as database:
            rows = database.execute(
                "SELECT substr(t.text, p.start + 1, p.stop - p.start) FROM paragraphs p"
                " JOIN pages t ON t.revision = p.revision AND t.number = p.page WHERE p.revision = ? ORDER BY p.id",
                (revision,),
            )
            return [str(row[0]) for row in rows]

    def counts(self) -> dict[str, dict[str, int]]:
        """For each source: documents, refused ones, revisions by state, and paragraphs that are served."""
        with self.store.reading() as database:
            counts: dict[str, dict[str, int]] = {}
            for source, documents, refused in database.execute(
                "SELECT source, COUNT(*), COUNT(refused) FROM documents GROUP BY source ORDER BY source"
            ):
                states = {state.value: 0 for state in State}
                counts[source] = {"documents": documents, "refused": refused, **states, "paragraphs": 0}
            for source, state, number in database.execute(
                "SELECT d.source, r.state, COUNT(*) FROM revisions r"
                " JOIN documents d ON d.id = r.document GROUP BY d.source, r.state"
            ):
                counts[source][state] = number
            for source, number in database.execute(
                "SELECT d.source, COUNT(*) FROM paragraphs p JOIN revisions r USING (revision)"
                " JOIN documents d ON d.id = r.document WHERE r.state = 'accepted' GROUP BY d.source"
            ):
                counts[source]["paragraphs"] = number
        return counts

    def faults(self) -> list[str]:
        """What is wrong with the library, by the database's own check and the hashes of all spans and files."""
        with self.store.reading() as database:
            try:
                wrong = [str(row[0]) for row in database.execute("PRAGMA integrity_check") if row[0] != "ok"]
                files = list(database.execute("SELECT file, sha256, MIN(document) FROM revisions GROUP BY file"))
                rows = database.execute(
                    "SELECT r.document, p.id, p.sha256, substr(t.text, p.start + 1, p.stop - p.start) FROM paragraphs p"
                    " JOIN revisions r USING (revision)"
                    " LEFT JOIN pages t ON t.revision = p.revision AND t.number = p.page"
                )
                wrong += [
                    f"{row[0]}: paragraph {row[1]} is not what was stored" for row in rows if _hash(row[3]) != row[2]
                ]
            except sqlite3.DatabaseError as err:
                return [f"the database is damaged: {err}"]
        for file, sha256, document in files:
            place = self.folder / file
            if not place.is_file():
                wrong.append(f"{document}: its file, {file}, is missing")
            elif hashlib.sha256(place.read_bytes()).hexdigest() != sha256:
                wrong.append(f"{document}: its file, {file}, is not what was fetched")
        return wrong


def _says(parsed: ParsedFile) -> Says:
    labels = {str(page.number): page.label for page in parsed.pages if page.label not in ("", str(page.number))}
    return Says(parsed.title, parsed.author, parsed.year, parsed.language, labels)


def _supersede(database: sqlite3.Connection, document: str) -> None:
    database.execute("UPDATE revisions SET state = 'superseded' WHERE document = ? AND state = 'accepted'", (document,))


def _hash(text: str | None) -> str:
    return hashlib.sha256((text or "").encode()).hexdigest()
