"""The index of the library: BM25 by tantivy and dense vectors by faiss, for millions of paragraphs.

Owns when versions are made and opened, and when paragraphs are embedded. It must never serve an index that differs from
what was written, and never mix the vectors of two models.

Ingestion needs no model: a paragraph can be found by its words as soon as ``update`` is done. Vectors are made when
they are first wanted, and kept. ``embed`` makes all of them, which may take hours, and continues where it was killed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Lock, RLock
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from core.errors import IndexUnavailable
from core.i18n.sentences import sentence
from core.ports import Embedder
from kb.library.private import make_private
from kb.shelf.index.building import NOTHING, Build, OnProgress, batches_of
from kb.shelf.index.entries import EVERYTHING, Filters, ParagraphEntry
from kb.shelf.index.neighbours import Tuning
from kb.shelf.index.opened import Hits, Opened
from kb.shelf.index.table import Table, changed, table_of
from kb.shelf.index.vectors import Batch, VectorLog, VectorSet
from kb.shelf.index.versions import DamageError, IndexPiece, Versions
from kb.shelf.index.words import Texts, checked_text

__all__ = ["EVERYTHING", "Filters", "LibraryIndex", "OnProgress", "ParagraphEntry", "Tuning"]

_LOCK_SECONDS = 300.0
_WRITING, _EMBEDDING = ".lock", "embedding.lock"
_READ_AT_ONCE = 1000
_BLOCK_BITS = 8  # 256 rows are embedded as one step, always the same ones, so that a kill changes no vector
_TEXTS_AT_ONCE = 32  # so that a search waits for half a second at most until it gets a vector
_FOLD_EVERY = 32_768  # vectors in the log; a search compares each of them
_BUILD = sentence("Run `{command}`.", command="antiphon kb build")
_REPAIR = sentence("Run `{command}`.", command="antiphon kb verify --repair")
_ROOM = sentence("Free some space, check that the folder can be written, and try again.")


def _silent(_: str, __: int, ___: int) -> None:
    """Tells nobody."""


class LibraryIndex:
    """The rankings over the library's paragraphs, each known by its row. Safe to share between threads and processes.

    Args:
        folder: where the index is kept; it should hold nothing else.
        texts: looks up the indexed texts of rows.
        lazy: ``False`` embeds at each update what was added, before it returns.
        tuning: how dense search trades time for recall.

    All methods block: call them in a thread. Each raises ``IndexUnavailable``, with the remedy, if there is no index or
    it is damaged. The index is read and checked in full when it is opened. The same changes make the same version, byte
    for byte, whether or not the process was killed on the way.
    """

    def __init__(
        self, folder: Path, embedder: Embedder, texts: Texts, *, lazy: bool = True, tuning: Tuning | None = None
    ) -> None:
        self._folder, self._embedder, self._texts, self._lazy = folder, embedder, texts, lazy
        self._tuning = tuning or Tuning()
        self._versions = Versions(folder)
        self._vector_log: VectorLog | None = None
        self._open: Opened | None = None
        self._open_lock, self._embedding = RLock(), Lock()

    # Searching

    def open(self) -> None:
        """Open the current version, also when another process has made a new one; cheap if it is open already."""
        with self._open_lock, _translated(self._folder):
            for last_try in (False, True):
                name = self._versions.current_name()
                if name is None:
                    raise IndexUnavailable(sentence("The library was never indexed."), remedy=_BUILD)
                if self._open is not None and self._open.version.name == name:
                    return
                try:
                    self._open = self._load(name)
                except DamageError:
                    if last_try or self._versions.current_name() == name:
                        raise
                else:
                    return

    @property
    def version(self) -> str:
        """The name of the version that is open: a hash of all that it holds."""
        return self._opened().version.name

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows of all its paragraphs, ascending; none before the first ``update``."""
        with _translated(self._folder):
            if self._versions.current_name() is None:
                return np.empty(0, dtype=np.int64)
        return self._opened().columns.rows

    def __len__(self) -> int:
        """How many paragraphs it has."""
        return len(self._opened().columns)

    def embedded(self) -> int:
        """How many paragraphs have a vector; dense search covers these."""
        return int(self._opened().has_vector().sum())

    def embedded_of(self, rows: Sequence[int]) -> frozenset[int]:
        """Those of these rows that have a vector."""
        opened, wanted = self._opened(), np.array(rows, dtype=np.int64)
        places = opened.columns.places(wanted)
        there = (places >= 0) & opened.has_vector()[places]
        return frozenset(wanted[there].tolist())

    def bm25(self, query: str, k: int, filters: Filters = EVERYTHING) -> Hits:
        """The best ``k`` rows by BM25 of the paragraphs that pass, best first; any text will do.

        Stop words are dropped and words stemmed by the language of each paragraph. Scores do not depend on filters,
        except ``languages``, which also selects the stems to search by.
        """
        return self._opened().bm25(query, k, filters)

    def dense(self, vector: NDArray[np.float32], k: int, filters: Filters = EVERYTHING) -> Hits:
        """The best ``k`` rows by inner product with ``vector``, of shape (dimension,), best first, of those embedded.

        Exact for up to ``Tuning.exact_up_to`` vectors.
        """
        return self._opened().dense(np.asarray(vector, dtype=np.float32), k, filters)

    def vectors(self, rows: Sequence[int]) -> NDArray[np.float32]:
        """Unit vectors of shape (len(rows), dimension); missing ones are made now, and kept.

        Raises:
            IndexUnavailable: also if a row is not in the index, its text is not in the library, or there is no model.
        """
        opened, wanted = self._opened(), np.array(rows, dtype=np.int64)
        if (found := opened.take(wanted)) is not None:
            return found
        with self._embedding, _translated(self._folder):
            places = np.unique(opened.columns.places(wanted))
            if places[0] < 0:
                raise IndexUnavailable(sentence("A paragraph is not in the index."), remedy=_BUILD)
            self._embed(opened, opened.without_vector(places))
        found = opened.take(wanted)
        assert found is not None  # nosec B101 # noqa: S101 - all of them were just added
        return found

    # Making versions

    def update(
        self, added: Iterable[ParagraphEntry], removed: Iterable[int] = (), on_progress: OnProgress = _silent
    ) -> str:
        """Make a version with these changes current; returns its name. Running searches continue with their version.

        Vectors that were made since the last version become part of this one, even if nothing is added or removed.

        Args:
            added: in the order of their rows; an entry replaces the one with the same row.
        """
        self._change(added, removed, on_progress)
        if not self._lazy:
            self.embed(on_progress=on_progress)
        return self.version

    def rebuild(self, entries: Iterable[ParagraphEntry], on_progress: OnProgress = _silent) -> str:
        """Make a version of exactly these paragraphs current, whatever is damaged; undamaged pieces are used again.

        Args:
            entries: in the order of their rows.
        """
        with self._alone(_WRITING, _LOCK_SECONDS), _translated(self._folder):
            pieces = self._versions.sound_pieces()
            self._versions.forget_damage()
            self._make(table_of(entries), pieces, NOTHING, on_progress)
        return self.version

    def embed(self, *, limit: int | None = None, on_progress: OnProgress = _silent) -> int:
        """Make at most about ``limit`` of the missing vectors, and a version that holds them; returns how many.

        What was made is kept if the process is killed. Only one process at a time can do this.
        """
        done = 0
        with self._alone(_EMBEDDING, 0), _translated(self._folder):
            while (limit is None or done < limit) and len(blocks := self._missing()):
                opened, total = self._opened(), done + sum(len(block) for block in blocks)
                enough = min(done + _FOLD_EVERY, total if limit is None else limit)
                for block in blocks:
                    self._embed(opened, block)
                    done += len(block)
                    on_progress("vectors", done, total)
                    if done >= enough:
                        break
                self._change((), (), on_progress)
            if not done and self._log().files():  # made by a process that was killed before it made a version of them
                self._change((), (), on_progress)
        return done

    def verify(self) -> list[str]:
        """What is wrong, in words, with the current version's files, and texts that differ from the indexed ones."""
        try:
            with _translated(self._folder):
                name = self._versions.current_name()
                if name is None:
                    return ["The library was never indexed."]
                version = self._versions.read(name)
                return version.faults() or self._faults_of_texts(self._load(name))
        except IndexUnavailable as err:
            return [err.message]

    # How

    def _opened(self) -> Opened:
        with self._open_lock:
            if self._open is not None and not self._open.is_untouched():
                self._open = None
                raise IndexUnavailable(sentence("The library's index was changed while it was open."), remedy=_REPAIR)
            if self._open is None:
                self.open()
            assert self._open is not None  # nosec B101 # noqa: S101 - ``open`` raises otherwise
            return self._open

    def _load(self, name: str) -> Opened:
        log = self._log()
        return Opened(self._versions.read(name), self._embedder.name, log.batches(log.files()), self._tuning)

    def _log(self) -> VectorLog:
        """The log of the model's vectors; each model has one of its own."""
        if self._vector_log is None:
            model = sha256(self._embedder.name.encode()).hexdigest()[:16]
            self._vector_log = VectorLog(self._folder / "embedded" / model)
        return self._vector_log

    def _change(self, added: Iterable[ParagraphEntry], removed: Iterable[int], on_progress: OnProgress) -> None:
        with self._alone(_WRITING, _LOCK_SECONDS), _translated(self._folder):
            if self._versions.current_name() is None:
                self._make(changed(table_of(()), table_of(added), removed), {}, NOTHING, on_progress)
                return
            self.open()
            now = self._opened()
            table, version = changed(now.table(), table_of(added), removed), now.version
            self._make(table, version.pieces, version.header, on_progress)

    def _make(
        self, table: Table, pieces: Mapping[str, IndexPiece], header: Mapping[str, Any], on_progress: OnProgress
    ) -> None:
        """Make a version of this table and all known vectors; it is opened, and so checked, and then made current."""
        log, embedder = self._log(), self._embedder.name
        files = log.turn()
        vectors = VectorSet.of([*batches_of(pieces, embedder), *log.batches(files)])
        build = Build(self._versions, header, pieces, table, vectors, embedder, self._texts, self._tuning, on_progress)
        name = build.run()
        opened = self._load(name)
        self._versions.publish(name)
        log.forget(files)
        with self._open_lock:
            self._open = opened

    def _missing(self) -> list[NDArray[np.int64]]:
        """The places of paragraphs without a vector, in the blocks that they are embedded in."""
        opened = self._opened()
        places = np.flatnonzero(~opened.has_vector())
        blocks = opened.columns.rows[places] >> _BLOCK_BITS
        return np.split(places, np.flatnonzero(np.diff(blocks)) + 1) if len(places) else []

    def _embed(self, opened: Opened, places: NDArray[np.int64]) -> None:
        """Make and keep the vectors of the paragraphs at these places of the table."""
        if not len(places):
            return
        rows, hashes = opened.columns.rows[places], opened.columns.texts[places]
        found = self._texts(rows.tolist())
        texts = [checked_text(found, row, wanted) for row, wanted in zip(rows.tolist(), hashes.tolist(), strict=True)]
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))  # texts of one length need no padding
        parts = [order[first : first + _TEXTS_AT_ONCE] for first in range(0, len(order), _TEXTS_AT_ONCE)]
        vectors = np.concatenate([self._embedder.encode([texts[at] for at in part]) for part in parts])
        batch = Batch(rows[order], hashes[order], vectors.astype(np.float16))
        self._log().append(batch)
        opened.add(batch)

    def _faults_of_texts(self, opened: Opened) -> list[str]:
        wrong = []
        for first in range(0, len(opened.columns), _READ_AT_ONCE):
            rows = opened.columns.rows[first : first + _READ_AT_ONCE].tolist()
            found = self._texts(rows)
            for row, wanted in zip(rows, opened.columns.texts[first : first + _READ_AT_ONCE].tolist(), strict=True):
                try:
                    checked_text(found, row, wanted)
                except IndexUnavailable as err:
                    wrong.append(err.message)
        return wrong

    @contextmanager
    def _alone(self, name: str, timeout_seconds: float) -> Iterator[None]:
        lock = FileLock(self._folder / name, timeout=timeout_seconds)
        try:
            make_private(self._folder)
            lock.acquire()
        except Timeout as err:
            raise IndexUnavailable(
                sentence("Another process works on the library's index."), remedy=sentence("Wait for it.")
            ) from err
        except OSError as err:
            raise _unusable(self._folder, err) from err
        try:
            yield
        finally:
            lock.release()


@contextmanager
def _translated(folder: Path) -> Iterator[None]:
    try:
        yield
    except DamageError as err:
        raise IndexUnavailable(sentence("The library's index is damaged: {why}.", why=err), remedy=_REPAIR) from err
    except (OSError, ValueError, RuntimeError) as err:  # tantivy and faiss raise the latter two
        raise _unusable(folder, err) from err


def _unusable(folder: Path, err: Exception) -> IndexUnavailable:
    return IndexUnavailable(
        sentence("The library's index in {folder} cannot be used: {why}.", folder=folder, why=err), remedy=_ROOM
    )
