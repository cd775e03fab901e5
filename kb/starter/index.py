"""Where passages are looked up: BM25 by tantivy, dense vectors by faiss, kept on the disk.

Owns the two indexes of one set of facts, their cache and its checksums. It must never serve an index that does not
match its facts, its embedding model or its checksums. It does not know posts or claims.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import faiss
import numpy as np
import tantivy
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from core.errors import IndexUnavailable
from core.i18n.sentences import sentence
from core.ports import Embedder
from kb.files import checksums
from kb.ranking.stems import ANALYZERS, ENGLISH, stems
from kb.starter.facts import Fact, named

_log = logging.getLogger(__name__)

_FORMAT = 1  # raise this whenever the stored form, the tokens or the entries change
_WORDS, _VECTORS, _STARTS, _MANIFEST = "words", "vectors.faiss", "starts.json", "manifest.json"
_BUILDING = ".building-"
_LOCK_SECONDS = 300.0  # a first build takes seconds, but another process may be building on a slow machine
_WRITER_BYTES = 15_000_000  # the least that tantivy's writer takes
_MAX_QUERY_WORDS = 64  # more words of a post only take more time
_REMEDY = sentence("Free some space, check that the cache folder can be written, and try again.")


class _DamageError(Exception):
    """The stored index is not what was written."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The open indexes. Entries of fact ``row`` are ``starts[row]`` up to ``starts[row + 1]``."""

    searcher: tantivy.Searcher
    vectors: faiss.Index
    starts: NDArray[np.int64]


class KnowledgeIndex:
    """The two rankings over ``facts``; a fact's row is its place in ``facts``.

    Each fact has one dense entry for its text, t, and one for each stereotype s that it answers: the mean of t and s.
    A query's score is its best inner product with an entry, so a hateful post finds the fact that answers it
    although their words differ. For 80 posts that the project labelled (the labels are not kept here), a right fact is
    among the first three for 93 %, against 76 % with the text alone.

    Built on first use and kept in ``<cache>/kb/<key>``, the key made of facts, model and format. Safe to share
    between threads, and between processes that share the cache.
    """

    def __init__(self, facts: Sequence[Fact], embedder: Embedder, cache_folder: Path) -> None:
        self._facts = tuple(facts)
        self._embedder = embedder
        self._root = cache_folder / "kb"
        self._loaded: _Loaded | None = None
        self._lock = Lock()

    @property
    def folder(self) -> Path:
        """Where this index is, or will be, kept."""
        return self._root / _key(self._facts, self._embedder.name)

    def open(self) -> None:
        """Load the index, or build it if missing or damaged. Blocking; the first build embeds all facts.

        Raises ``IndexUnavailable``: no space, no permission, no model, or another process keeps the lock too long.
        """
        self._opened()

    def bm25(self, query: str, k: int) -> list[tuple[int, float]]:
        """The best ``k`` rows by BM25 (English stems, stop words dropped), best first; any text will do."""
        loaded = self._opened()
        terms = [tantivy.Query.term_query(_SCHEMA, "text", word) for word in stems(query)[:_MAX_QUERY_WORDS]]
        if not terms:
            return []
        either = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
        hits = loaded.searcher.search(either, k, count=False).hits
        return [(int(loaded.searcher.doc(address)["row"][0]), float(score)) for score, address in hits]

    def dense(self, vector: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
        """The best ``k`` rows by inner product with ``vector``, of shape (dimension,), best first."""
        loaded = self._opened()
        widest = int(np.diff(loaded.starts).max())
        scores, entries = loaded.vectors.search(vector.reshape(1, -1), min(k * widest, loaded.vectors.ntotal))
        rows = np.searchsorted(loaded.starts, entries[0], side="right") - 1
        best: dict[int, float] = {}
        for row, score in zip(rows.tolist(), scores[0].tolist(), strict=True):
            best.setdefault(row, score)
        return list(best.items())[:k]

    def closeness(self, vector: NDArray[np.float32], row: int) -> float:
        """The dense score of one row for ``vector``, of shape (dimension,)."""
        loaded = self._opened()
        first, after = loaded.starts[row : row + 2].tolist()
        return float((loaded.vectors.reconstruct_n(first, after - first) @ vector).max())

    def text_vector(self, row: int) -> NDArray[np.float32]:
        """The unit vector, of shape (dimension,), of the row's text without its stereotypes."""
        loaded = self._opened()
        return np.asarray(loaded.vectors.reconstruct(int(loaded.starts[row])), dtype=np.float32)

    def shared_words(self, query: str, row: int) -> int:
        """How many different stems, stop words aside, the query and the row's searchable text share."""
        return len(set(stems(query)) & set(stems(self._facts[row].searchable)))

    def _opened(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load_or_build()
            return self._loaded

    def _load_or_build(self) -> _Loaded:
        folder = self.folder
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            with FileLock(self._root / ".lock", timeout=_LOCK_SECONDS):
                if folder.exists():
                    try:
                        return _load(folder)
                    except _DamageError as err:
                        _log.warning("The search index %s is damaged (%s); it is built again.", folder.name, err)
                self._build(folder)
                return _load(folder)
        except Timeout as err:
            raise IndexUnavailable(
                sentence("Another process is still building the search index."), remedy=_REMEDY
            ) from err
        except (OSError, ValueError, RuntimeError, _DamageError) as err:  # tantivy and faiss raise the latter two
            raise IndexUnavailable(
                sentence("The search index cannot be kept in {folder}: {why}.", folder=self._root, why=err),
                remedy=_REMEDY,
            ) from err

    def _build(self, folder: Path) -> None:
        """Write a new index beside ``folder``, move it into place, and delete all others. Needs the lock."""
        building = Path(tempfile.mkdtemp(prefix=_BUILDING, dir=self._root))
        try:
            _write_words(building, self._facts)  # first, so that a full disk is found before the work of embedding
            _write_vectors(building, *_entries(self._facts, self._embedder))
            if folder.exists():
                shutil.rmtree(folder)
            building.replace(folder)
        except BaseException:
            shutil.rmtree(building, ignore_errors=True)  # the error that is being raised says more than a second one
            raise
        for other in self._root.iterdir():
            if other.is_dir() and other != folder:
                shutil.rmtree(other)


_SCHEMA = (
    tantivy.SchemaBuilder()
    .add_text_field("text", stored=False, tokenizer_name=ENGLISH)
    .add_integer_field("row", stored=True)  # not unsigned: tantivy-py panics on a Python int there
    .build()
)


def _key(facts: Sequence[Fact], embedder_name: str) -> str:
    return hashlib.sha256(repr((_FORMAT, embedder_name, tuple(facts))).encode()).hexdigest()[:32]


def _entries(facts: Sequence[Fact], embedder: Embedder) -> tuple[NDArray[np.float32], list[int]]:
    """The dense entries, of shape (entries, dimension), and where each fact's begin, with their number at the end."""
    texts = embedder.encode([fact.text for fact in facts])
    of_facts = [[named(fact.target_group, words) for words in fact.stereotypes] for fact in facts]
    stereotypes = embedder.encode([words for of_fact in of_facts for words in of_fact])
    blocks, starts, used = [], [0], 0
    for row, of_fact in enumerate(of_facts):
        answered = stereotypes[used : used + len(of_fact)]
        blocks.append(np.vstack([texts[row : row + 1], (answered + texts[row]) / 2]))
        used += len(of_fact)
        starts.append(starts[-1] + 1 + len(of_fact))
    return np.vstack(blocks).astype(np.float32), starts


def _write_words(folder: Path, facts: Sequence[Fact]) -> None:
    (folder / _WORDS).mkdir()
    index = tantivy.Index(_SCHEMA, path=str(folder / _WORDS))
    index.register_tokenizer(ENGLISH, ANALYZERS[ENGLISH])
    writer = index.writer(_WRITER_BYTES, 1)
    for row, fact in enumerate(facts):
        document = tantivy.Document()
        document.add_text("text", fact.searchable)
        document.add_integer("row", row)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()


def _write_vectors(folder: Path, entries: NDArray[np.float32], starts: list[int]) -> None:
    vectors = faiss.IndexFlatIP(entries.shape[1])
    vectors.add(entries)
    (folder / _VECTORS).write_bytes(faiss.serialize_index(vectors).tobytes())
    (folder / _STARTS).write_text(json.dumps(starts))
    (folder / _MANIFEST).write_text(json.dumps(_checksums(folder), indent=1, sort_keys=True))


def _checksums(folder: Path) -> dict[str, str]:
    """The sha256 of every file by its name, except the manifest and tantivy's hidden locks and lists."""
    kept = (path for path in folder.rglob("[!.]*") if path.is_file() and path.name != _MANIFEST)
    return checksums(folder, (path.relative_to(folder).as_posix() for path in kept))


def _load(folder: Path) -> _Loaded:
    """Open a stored index. Raises ``_DamageError`` if a file differs from what was written."""
    try:
        if json.loads((folder / _MANIFEST).read_text()) != _checksums(folder):
            raise _DamageError("a checksum differs")
        index = tantivy.Index.open(str(folder / _WORDS))
        index.register_tokenizer(ENGLISH, ANALYZERS[ENGLISH])
        vectors = faiss.deserialize_index(np.frombuffer((folder / _VECTORS).read_bytes(), dtype=np.uint8))
        starts = np.array(json.loads((folder / _STARTS).read_text()), dtype=np.int64)
    except (OSError, ValueError, RuntimeError) as err:
        raise _DamageError(type(err).__name__) from err
    return _Loaded(index.searcher(), vectors, starts)
