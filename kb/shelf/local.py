"""The library's own index, in its SQLite file: words by FTS5 (BM25), vectors by faiss.

A paragraph that is not served is never found, and the vectors of two models are never mixed. Ingestion needs no model:
a paragraph can be found by its words as soon as ``follow`` is done. Vectors are made when they are first wanted, and
kept. ``embed`` makes all of them, which may take hours, and continues where it was killed. Vectors are compared one by
one while there are few, through an inverted file for more.
"""

import hashlib
import json
import logging
import os
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Final

import faiss
import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from core.engine.ports import Embedder
from core.engine.wording.word_index import ENGLISH, STEMMERS, either, stems, tokens
from core.errors import IndexUnavailable
from core.i18n.sentences import sentence
from kb.documents import ListedDocument
from kb.library.library import Library, Paragraph
from kb.library.store import FILE, WORDS, Store
from kb.shelf.search import EVERYTHING, Filters

EXACT_UP_TO: Final = 50_000
"""The largest number of vectors that are compared one by one."""
REPAIR: Final = sentence("Run `{command}`.", command="antiphon kb verify --repair")

Nearest = tuple[NDArray[np.int64], NDArray[np.float32]]
"""Rows, and the inner products of their vectors with the query, best first."""

_PROBES = 64
_POINTS_PER_CELL = 48
_GROWTH = 0.25  # the file is made again once so large a share of its vectors is new
_AT_ONCE = 10_000
_NEVER = (1 << 63) - 1
_LONGEST = 1.02  # of a vector in half precision; a longer one was damaged

_log = logging.getLogger(__name__)


class Neighbours:
    """The vectors of one model in a library. Blocking; safe to share between threads and processes."""

    def __init__(self, store: Store, model: str, exact_up_to: int = EXACT_UP_TO) -> None:
        self._store, self._model, self._exact_up_to = store, model, exact_up_to
        self._lock = Lock()
        self._cells: faiss.Index | None = None
        self._since: faiss.Index | None = None
        self._last = -1  # the newest vector that is loaded; -1 before the first search

    def search(self, vector: NDArray[np.float32], k: int, allowed: NDArray[np.uint8]) -> Nearest:
        """The best ``k`` rows for ``vector``, of shape (dimension,).

        Args:
            allowed: a bit for each row, the first one in the lowest bit: whether it may be found.
        """
        with self._lock:
            self._load()
            cells, since = self._cells, self._since
            nearest = [self._nearest_in(index, vector, k, allowed) for index in (cells, since) if index is not None]
        rows = np.concatenate([np.empty(0, dtype=np.int64), *(rows for rows, _ in nearest)])
        scores = np.concatenate([np.empty(0, dtype=np.float32), *(scores for _, scores in nearest)])
        order = np.lexsort((rows, -scores))
        _, first = np.unique(rows[order], return_index=True)  # a vector that was made again is in both
        order = order[np.sort(first)][:k]
        return rows[order], scores[order]

    def save(self) -> None:
        """Make the inverted file, if there are enough vectors and enough of them are new.

        Whoever searches meanwhile uses the file before; a kill at any moment leaves that one.

        Raises:
            IndexUnavailable: it cannot be written.
        """
        with self._store.reading() as database:
            count, last = database.execute(
                "SELECT COUNT(*), MAX(id) FROM vectors WHERE model = ?", (self._model,)
            ).fetchone()
        newest = self._newest_file()
        if count <= self._exact_up_to or (newest is not None and count - newest[1] <= _GROWTH * newest[1]):
            return
        rows, vectors, _ = self._read(0, last)
        try:
            sha256 = self._write(rows, vectors)
        except (OSError, RuntimeError) as err:  # faiss raises the latter
            raise IndexUnavailable(
                sentence(
                    "The index of the library cannot be kept in {folder}: {why}.", folder=self._store.folder, why=err
                ),
                remedy=sentence("Free some space, check that the folder can be written, and try again."),
            ) from err
        with self._store.writing() as database:
            database.execute(
                "INSERT OR REPLACE INTO neighbours VALUES (?, ?, ?, ?)", (self._model, last, len(rows), sha256)
            )
            files = {self._file(row[0]) for row in database.execute("SELECT sha256 FROM neighbours")}
        for file in self._store.folder.glob(f"{FILE}-neighbours-*"):
            if file not in files:
                file.unlink(missing_ok=True)

    def faults(self) -> list[str]:
        """What is wrong with the vectors and with the inverted file, in words."""
        wrong = []
        try:
            self._read(0)
        except IndexUnavailable as err:
            wrong.append(err.message)
        if (newest := self._newest_file()) and not self._is_sound(newest[2]):
            wrong.append(f"{self._file(newest[2]).name} is missing or not what was written.")
        return wrong

    def forget_damage(self) -> None:
        """Drop damaged vectors, so that they are made again, and a damaged inverted file."""
        newest = self._newest_file()
        is_sound = newest is None or self._is_sound(newest[2])
        with self._store.writing() as database:
            rows = database.execute("SELECT id, vector FROM vectors WHERE model = ?", (self._model,))
            sizes = database.execute(
                "SELECT length(vector) FROM vectors WHERE model = ? GROUP BY 1 ORDER BY COUNT(*) DESC", (self._model,)
            ).fetchone()
            damaged = [(name,) for name, data in rows if len(data) != sizes[0] or not _is_unit(halves([data]))]
            database.executemany("DELETE FROM vectors WHERE id = ?", damaged)
            if damaged or not is_sound:
                database.execute("DELETE FROM neighbours WHERE model = ?", (self._model,))
        with self._lock:
            self._cells = self._since = None
            self._last = -1

    def _newest_file(self) -> tuple[int, int, str] | None:
        """Up to which vector the inverted file goes, how many it has, and its checksum."""
        with self._store.reading() as database:
            row = database.execute(
                "SELECT last, vectors, sha256 FROM neighbours WHERE model = ?", (self._model,)
            ).fetchone()
        return tuple(row) if row else None

    def _file(self, sha256: str) -> Path:
        return self._store.folder / f"{FILE}-neighbours-{sha256[:16]}"

    def _is_sound(self, sha256: str) -> bool:
        try:
            return _sha256_of(self._file(sha256)) == sha256
        except OSError:
            return False

    def _load(self) -> None:
        """Bring what is in memory up to the library."""
        if self._last < 0:
            self._last = 0
            newest = self._newest_file()
            if newest is not None and not self._is_sound(newest[2]):
                newest = self._newest_file()  # another process may have replaced it just now
            if newest is not None and self._is_sound(newest[2]):
                self._cells = faiss.read_index(str(self._file(newest[2])))
                self._last = newest[0]
            elif newest is not None:
                _log.warning(
                    "The file of the library's vectors is damaged; until `kb verify --repair` all are compared."
                )
        rows, vectors, self._last = self._read(self._last)
        if len(rows):
            if self._since is None:
                self._since = faiss.IndexIDMap(faiss.IndexFlatIP(vectors.shape[1]))
            self._since.add_with_ids(vectors.astype(np.float32), rows)

    def _read(self, after: int, last: int = _NEVER) -> tuple[NDArray[np.int64], NDArray[np.float16], int]:
        """The rows and vectors with an id above ``after``, up to ``last``, and the highest such id."""
        blocks, rows, newest = list[NDArray[np.float16]](), list[int](), after
        with self._store.reading() as database:
            cursor = database.execute(
                "SELECT id, row, vector FROM vectors WHERE id > ? AND id <= ? AND model = ? ORDER BY id",
                (after, last, self._model),
            )
            while chunk := cursor.fetchmany(_AT_ONCE):
                block = halves([row[2] for row in chunk])
                if not _is_unit(block) or (blocks and block.shape[1] != blocks[0].shape[1]):
                    raise IndexUnavailable(sentence("Vectors in the library's index are damaged."), remedy=REPAIR)
                blocks.append(block)
                rows += [row[1] for row in chunk]
                newest = chunk[-1][0]
        vectors = np.concatenate(blocks) if blocks else np.empty((0, 0), dtype=np.float16)
        return np.array(rows, dtype=np.int64), vectors, newest

    def _nearest_in(
        self, index: faiss.Index, vector: NDArray[np.float32], k: int, allowed: NDArray[np.uint8]
    ) -> Nearest:
        how = faiss.SearchParameters()
        if isinstance(index, faiss.IndexIVF):
            share = int(np.bitwise_count(allowed).sum()) / max(index.ntotal, 1)
            how = faiss.SearchParametersIVF()
            how.nprobe = min(index.nlist, int(_PROBES / max(min(share, 1.0), 1e-9)))  # the fewer pass, the more cells
        how.sel = selector = faiss.IDSelectorBitmap(len(allowed), faiss.swig_ptr(allowed))
        scores, rows = index.search(vector.reshape(1, -1), min(k, index.ntotal), params=how)
        del selector  # faiss does not keep it alive
        is_hit = rows[0] >= 0
        return rows[0][is_hit], scores[0][is_hit]

    def _write(self, rows: NDArray[np.int64], vectors: NDArray[np.float16]) -> str:
        """Write the inverted file, and move it to the place that its checksum names."""
        cells = int(2 ** round(np.log2(4 * np.sqrt(len(rows)))))
        index = faiss.index_factory(vectors.shape[1], f"IVF{cells},SQfp16", faiss.METRIC_INNER_PRODUCT)
        sample = min(len(rows), _POINTS_PER_CELL * cells)
        index.train(vectors[np.arange(sample) * len(rows) // sample].astype(np.float32))
        for first in range(0, len(rows), _AT_ONCE):
            chunk = slice(first, first + _AT_ONCE)
            index.add_with_ids(vectors[chunk].astype(np.float32), rows[chunk])
        writing = self._store.folder / f"{FILE}-neighbours-writing"
        faiss.write_index(index, str(writing))
        writing.chmod(0o600)
        _sync(writing)
        sha256 = _sha256_of(writing)
        writing.replace(self._file(sha256))
        _sync(self._store.folder)
        return sha256


def halves(vectors: list[bytes]) -> NDArray[np.float16]:
    """Vectors of shape (vectors, dimension); of shape (vectors, 0) where their lengths differ."""
    if len({len(vector) for vector in vectors}) != 1 or len(vectors[0]) % 2:
        return np.empty((len(vectors), 0), dtype=np.float16)
    return np.frombuffer(b"".join(vectors), dtype=np.float16).reshape(len(vectors), -1)


def _is_unit(vectors: NDArray[np.float16]) -> bool:
    """Whether all are finite, and none is longer than one of length 1 can become by rounding."""
    lengths = np.linalg.norm(vectors.astype(np.float32), axis=1)
    return bool(vectors.shape[1] and np.isfinite(lengths).all() and (lengths <= _LONGEST).all())


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Force a file's bytes, or a folder's list of names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


OnProgress = Callable[[str, int, int], None]
"""Called at each step: what is made, how many paragraphs are done, and how many there are."""

_LOCK: Final = ".embedding.lock"
_NO_STEMMER: Final = "xx"
_MAX_QUERY_STEMS = 64  # more words of a post only take more time
_PARAGRAPHS_AT_ONCE = 1000  # so many enter the index in one transaction
_EMBEDDED_AT_ONCE = 256
_TEXTS_AT_ONCE = 32  # so that a search waits for half a second at most until it gets a vector
_ROWS_AT_ONCE = 500
_FILTERS = 16  # filters are remembered: searches of one day and community use the same


def _silent(_: str, __: int, ___: int) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True)
class IndexUpdate:
    """What an update of the index changed, in paragraphs; ``version`` names what the library serves now."""

    added: int
    removed: int
    version: str


@dataclass(frozen=True, slots=True)
class _Passing:
    """The paragraphs that pass a filter.

    Attributes:
        documents: for each row a number of its document, 0 where the row does not pass.
        bits: the same as a bit for each row, the first in the lowest.
    """

    documents: NDArray[np.int64]
    bits: NDArray[np.uint8]


class LocalShelf:
    """A ``Shelf`` over a library and the index in its file; blocking, safe to share between threads and processes.

    Args:
        exact_up_to: the largest number of vectors that are compared one by one.

    Searches raise ``IndexUnavailable``, with the remedy, if the index was never built or is damaged.
    """

    def __init__(self, library: Library, embedder: Embedder, *, exact_up_to: int = EXACT_UP_TO) -> None:
        self.library, self._store, self._embedder = library, library.store, embedder
        self._neighbours = Neighbours(self._store, embedder.name, exact_up_to)
        self._passing_of: OrderedDict[Filters, _Passing] = OrderedDict()
        self._languages: tuple[str, ...] = ()
        self._edition = -1
        self._lock = Lock()

    # Searching

    def bm25(self, query: str, k: int, filters: Filters = EVERYTHING) -> list[tuple[int, float]]:
        """The best ``k`` rows by BM25, best first; any text will do.

        Stop words are dropped and words cut to their stem by the language of each paragraph. Scores do not depend on
        filters, except ``languages``, which also selects the stems to search by.
        """
        passing = self._passing(filters)
        languages = [language for language in self._languages if not filters.languages or language in filters.languages]
        pattern = either(
            dict.fromkeys(
                _prefix(language) + stem for language in languages for stem in stems(query, language)[:_MAX_QUERY_STEMS]
            )
        )
        if not pattern:
            return []
        with self._store.reading() as database:
            cursor = database.execute("SELECT rowid, -rank FROM words WHERE words MATCH ? ORDER BY rank", (pattern,))
            hits = _best(((row, score) for row, score in cursor), k, passing, filters.per_document)
            cursor.close()
        return hits

    def dense(self, vector: NDArray[np.float32], k: int, filters: Filters = EVERYTHING) -> list[tuple[int, float]]:
        """The best ``k`` embedded rows by inner product with ``vector``, of shape (dimension,), best first.

        Exact for up to ``exact_up_to`` vectors.
        """
        passing = self._passing(filters)
        limit = k if filters.per_document is None else 2 * k
        while True:
            rows, scores = self._neighbours.search(np.asarray(vector, dtype=np.float32), limit, passing.bits)
            hits = _best(zip(rows.tolist(), scores.tolist(), strict=True), k, passing, filters.per_document)
            if len(hits) >= k or len(rows) < limit:
                return hits
            limit *= 4

    def vectors(self, rows: Sequence[int]) -> NDArray[np.float32]:
        """The unit vectors of these rows, of shape (len(rows), dimension); those that are missing are made and kept.

        Raises:
            IndexUnavailable: also if a row is not served, or there is no model.
        """
        stored = self._stored_vectors(rows)
        if missing := [row for row in dict.fromkeys(rows) if row not in stored]:
            self._embed(missing)
            stored |= self._stored_vectors(missing)
        if any(row not in stored for row in rows):
            raise IndexUnavailable(sentence("A paragraph is not in the index."), remedy=REPAIR)
        vectors = halves([stored[row] for row in rows]) if rows else np.empty((0, 0), dtype=np.float16)
        return vectors.astype(np.float32)

    def embedded(self, rows: Sequence[int]) -> frozenset[int]:
        return frozenset(self._stored_vectors(rows))

    def paragraphs(self, rows: Sequence[int]) -> Mapping[int, Paragraph]:
        return self.library.paragraphs(rows)

    # Following the library

    def follow(self, on_progress: OnProgress = _silent) -> IndexUpdate:
        """Make the index hold what the library serves, and nothing else.

        Each step is one transaction: searches go on with what was there, and a kill costs the last step at most.

        Raises:
            IndexUnavailable: no space, no permission, or the index is damaged.
        """
        served = self.library.served()
        fresh, gone = self._changes(served)
        total, count = sum(len(served[revision][1]) for revision in fresh), 0
        step: list[tuple[int, str, list[tuple[int, str]]]] = []
        for revision in fresh:
            listed, rows = served[revision]
            language = listed.language or ENGLISH
            texts = self.library.paragraphs(rows)
            cut = [(row, _cut(texts[row].text, language)) for row in sorted(texts)]
            step.append((revision, language, cut))
            if sum(len(entry[2]) for entry in step) >= _PARAGRAPHS_AT_ONCE:
                count += self._index(step)
                step = []
                on_progress("words", count, total)
        if step:
            on_progress("words", count + self._index(step), total)
        removed = 0
        with self._store.writing() as database:
            for revision in gone:
                removed += database.execute(_FORGET, (revision,)).rowcount
                database.execute("DELETE FROM indexed WHERE revision = ?", (revision,))
            if not database.execute("SELECT is_built FROM shelf").fetchone()[0]:
                database.execute("UPDATE shelf SET is_built = 1, edition = edition + 1")
        return IndexUpdate(total, removed, self._version(served))

    def behind(self) -> int:
        """How many documents the index does not hold as the library serves them, or holds although it does not."""
        fresh, gone = self._changes(self.library.served())
        return len(fresh) + bool(gone)

    def embed(self, *, limit: int | None = None, on_progress: OnProgress = _silent) -> int:
        """Make at most ``limit`` of the missing vectors; returns how many. Only one process at a time can do this.

        What was made is kept if the process is killed.
        """
        with self._alone():
            missing = self._missing()[:limit]
            for first in range(0, len(missing), _EMBEDDED_AT_ONCE):
                self._embed(missing[first : first + _EMBEDDED_AT_ONCE])
                on_progress("vectors", min(first + _EMBEDDED_AT_ONCE, len(missing)), len(missing))
            self._neighbours.save()
        return len(missing)

    def count(self) -> tuple[int, int]:
        """How many paragraphs the index has, and how many of them have a vector."""
        passing = self._passing(EVERYTHING)
        paragraphs = int((passing.documents > 0).sum())
        return paragraphs, paragraphs - len(self._missing())

    def faults(self) -> list[str]:
        """What is wrong with the index, in words. Reads all of it, and cuts every paragraph's words again."""
        try:
            with self._store.reading() as database:
                if not database.execute("SELECT is_built FROM shelf").fetchone()[0]:
                    return ["The library was never indexed."]
                wrong = [f"Paragraph {row} is another one in the index." for row, _ in self._wrong_entries()]
            if damage := self.damage_of_words():
                wrong.append(f"The index of the words is damaged: {damage}.")
        except IndexUnavailable as err:
            return [err.message]
        if behind := self.behind():
            wrong.append(f"The index is older than the library, by {behind} of its documents.")
        return [*wrong, *self._neighbours.faults()]

    def damage_of_words(self) -> str:
        """What SQLite finds wrong with the index of the words, without reading the paragraphs; "" for nothing."""
        with self._store.reading() as database:
            try:
                database.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
            except sqlite3.DatabaseError as err:
                return str(err)
        return ""

    def rebuild(self, on_progress: OnProgress = _silent) -> None:
        """Build again what is damaged; searches go on with what was there. Raises ``IndexUnavailable``."""
        wrong = self._wrong_entries()
        with self._store.writing() as database:
            for name in ("TRIGGER entry_added", "TRIGGER entry_removed", "TABLE words"):
                database.execute(f"DROP {name}")
            database.executemany("UPDATE entries SET stems = ? WHERE row = ?", [(cut, row) for row, cut in wrong])
            for statement in WORDS:
                database.execute(statement)
            database.execute("INSERT INTO words (words) VALUES ('rebuild')")
        self._neighbours.forget_damage()
        self.follow(on_progress)
        with self._alone():
            self._neighbours.save()

    # How

    def _passing(self, filters: Filters) -> _Passing:
        with self._lock, self._store.reading() as database:
            edition, is_built = database.execute("SELECT edition, is_built FROM shelf").fetchone()
            if not is_built:
                raise IndexUnavailable(sentence("The library was never indexed."), remedy=REPAIR)
            if edition != self._edition:
                self._passing_of.clear()
                rows = database.execute("SELECT DISTINCT language FROM indexed ORDER BY language")
                self._languages, self._edition = tuple(row[0] for row in rows), edition
            key = replace(filters, per_document=None)
            if key not in self._passing_of:
                self._passing_of[key] = _passing_in(database, key)
                if len(self._passing_of) > _FILTERS:
                    self._passing_of.popitem(last=False)
            self._passing_of.move_to_end(key)
            return self._passing_of[key]

    def _changes(self, served: Mapping[int, tuple[ListedDocument, range]]) -> tuple[list[int], list[int]]:
        """The revisions to index, and those to take out."""
        with self._store.reading() as database:
            there = {row[0]: row[1] for row in database.execute("SELECT revision, language FROM indexed")}
        fresh = [
            revision for revision, (listed, _) in served.items() if there.get(revision) != (listed.language or ENGLISH)
        ]
        return fresh, [revision for revision in there if revision not in served]

    def _index(self, step: Sequence[tuple[int, str, Sequence[tuple[int, str]]]]) -> int:
        """Index revisions, each with its language and the stems of its paragraphs, unless somebody removed them."""
        with self._store.writing() as database:
            for revision, language, cut in step:
                database.execute(_FORGET, (revision,))
                database.execute("DELETE FROM indexed WHERE revision = ?", (revision,))
                database.executemany("INSERT INTO entries SELECT id, ?2 FROM paragraphs WHERE id = ?1", cut)
                database.execute(
                    "INSERT INTO indexed SELECT revision, ?2 FROM revisions WHERE revision = ?1", (revision, language)
                )
        return sum(len(cut) for _, _, cut in step)

    def _wrong_entries(self) -> list[tuple[int, str]]:
        """The rows whose stems are not those of their paragraph, with the right ones."""
        wrong: list[tuple[int, str]] = []
        served = self.library.served()
        with self._store.reading() as database:
            there = [(row[0], row[1]) for row in database.execute("SELECT revision, language FROM indexed")]
        for revision, language in there:
            if revision in served:
                rows = served[revision][1]
                with self._store.reading() as database:
                    stems_of = dict(
                        tuple(row)
                        for row in database.execute(
                            "SELECT row, stems FROM entries WHERE row BETWEEN ? AND ?", (rows.start, rows.stop - 1)
                        )
                    )
                for row, paragraph in self.library.paragraphs(rows).items():
                    cut = _cut(paragraph.text, language)
                    if stems_of.get(row) != cut:
                        wrong.append((row, cut))
        return wrong

    def _missing(self) -> list[int]:
        """The rows of the index without a vector of the model, in order."""
        with self._store.reading() as database:
            rows = database.execute(
                "SELECT p.id FROM indexed JOIN revisions r USING (revision) JOIN paragraphs p USING (revision)"
                " LEFT JOIN vectors v ON v.row = p.id AND v.model = ?"
                " WHERE r.state = 'accepted' AND v.row IS NULL ORDER BY p.id",
                (self._embedder.name,),
            )
            return [row[0] for row in rows]

    def _stored_vectors(self, rows: Sequence[int]) -> dict[int, bytes]:
        vectors: dict[int, bytes] = {}
        for chunk in _parts(rows, _ROWS_AT_ONCE):
            marks = ",".join("?" * len(chunk))
            with self._store.reading() as database:
                vectors |= {
                    row[0]: row[1]
                    for row in database.execute(
                        f"SELECT row, vector FROM vectors WHERE model = ? AND row IN ({marks})",  # nosec B608 # noqa: S608 - marks
                        (self._embedder.name, *chunk),
                    )
                }
        return vectors

    def _embed(self, rows: Sequence[int]) -> None:
        """Make and keep the vectors of these rows, as far as they are served."""
        texts = {row: paragraph.text for row, paragraph in self.library.paragraphs(rows).items()}
        order = sorted(texts, key=lambda row: (len(texts[row]), row))  # texts of one length need no padding
        for chunk in _parts(order, _TEXTS_AT_ONCE):
            vectors = self._embedder.encode([texts[row] for row in chunk]).astype(np.float16)
            with self._store.writing() as database:
                database.executemany(
                    "INSERT OR REPLACE INTO vectors (row, model, vector)"
                    " SELECT id, ?2, ?3 FROM paragraphs WHERE id = ?1",
                    [(row, self._embedder.name, vector.tobytes()) for row, vector in zip(chunk, vectors, strict=True)],
                )

    @staticmethod
    def _version(served: Mapping[int, tuple[ListedDocument, range]]) -> str:
        state = [(revision, _listed(listed)) for revision, (listed, _) in sorted(served.items())]
        return hashlib.sha256(json.dumps(state).encode()).hexdigest()[:32]

    @contextmanager
    def _alone(self) -> Iterator[None]:
        lock = FileLock(self.library.folder / _LOCK, timeout=0)
        try:
            lock.acquire()
        except Timeout as err:
            raise IndexUnavailable(
                sentence("Another process works on the library's index."), remedy=sentence("Wait for it.")
            ) from err
        try:
            yield
        finally:
            lock.release()


_FORGET = "DELETE FROM entries WHERE row IN (SELECT id FROM paragraphs WHERE revision = ?)"


def _parts(rows: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (rows[first : first + size] for first in range(0, len(rows), size))


def _prefix(language: str) -> str:
    """What stands before each stem, so that languages do not share any."""
    return language if language in STEMMERS else _NO_STEMMER


def _cut(text: str, language: str) -> str:
    prefix = _prefix(language)
    return " ".join(prefix + stem for stem in tokens(text, language))


def _best(
    ranking: Iterable[tuple[int, float]], k: int, passing: _Passing, per_document: int | None
) -> list[tuple[int, float]]:
    """The first ``k`` that pass, at most ``per_document`` of each document."""
    hits, of_document = list[tuple[int, float]](), dict[int, int]()
    for row, score in ranking:
        if len(hits) >= k:
            break
        document = int(passing.documents[row]) if row < len(passing.documents) else 0
        of_document[document] = of_document.get(document, 0) + 1
        if document and (per_document is None or of_document[document] <= per_document):
            hits.append((row, score))
    return hits


def _passing_in(database: sqlite3.Connection, filters: Filters) -> _Passing:
    conditions, values = ["r.state = 'accepted'"], list[str | int]()
    for condition, names in (
        ("EXISTS (SELECT 1 FROM json_each(d.target_groups) WHERE value IN ({}))", filters.target_groups),
        ("d.publisher IN ({})", filters.publishers),
        ("COALESCE(d.language, 'en') IN ({})", filters.languages),
    ):
        if names:
            conditions.append(condition.format(",".join("?" * len(names))))
            values += [str(name) for name in names]
    if filters.since_year is not None:
        conditions.append("d.year >= ?")
        values.append(filters.since_year)
    if filters.today is not None:
        conditions.append("(d.expires IS NULL OR d.expires >= ?)")
        values.append(filters.today.isoformat())
    rows = database.execute(
        "SELECT p.id, p.revision FROM indexed JOIN revisions r USING (revision) JOIN documents d ON d.id = r.document"  # nosec B608 # noqa: S608 - marks
        f" JOIN paragraphs p USING (revision) WHERE {' AND '.join(conditions)}",
        values,
    ).fetchall()
    pairs = np.array([tuple(row) for row in rows], dtype=np.int64).reshape(-1, 2)
    documents = np.zeros(int(pairs[:, 0].max(initial=0)) + 1, dtype=np.int64)
    documents[pairs[:, 0]] = pairs[:, 1]
    return _Passing(documents, np.packbits(documents > 0, bitorder="little"))


def _listed(listed: ListedDocument) -> list[object]:
    return [
        listed.publisher, listed.language, listed.year, sorted(listed.target_groups),
        listed.expires and listed.expires.isoformat(),
    ]  # fmt: skip
