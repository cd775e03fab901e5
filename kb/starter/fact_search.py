"""The starter facts in a search: those that bear on the claim, and the norms that hold whatever a post says.

Facts are looked up by BM25 in memory and by dense vectors, which are kept in the cache. They are reranked to the claim
(F2RL, section 3.2). Closeness to a fact is the best over its text and the stereotypes that it answers.
"""

import hashlib
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from uuid import uuid4

import faiss
import numpy as np
from numpy.typing import NDArray

from core.engine.ports import Embedder, EvidenceQuery
from core.engine.wording.accusations import raised_in, said_of
from core.engine.wording.word_index import Words, stems, tokens
from core.models import Evidence, TargetGroup
from kb.ranking.fusion import CANDIDATES, THRESHOLD, Hit, RankedPassage, candidates, first_sentences, preference
from kb.ranking.queries import Directions, PreparedQuery
from kb.starter.facts import Fact, named

_log = logging.getLogger(__name__)
_DIGEST_BYTES = 32
_MAX_QUERY_WORDS = 64  # more words of a post only take more time
_LANGUAGE = "en"
_MIN_SHARED_WORDS = 2  # without vectors, one word in common is chance: "no", "Europa"


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The two rankings. Entries of fact ``row`` are ``starts[row]`` up to ``starts[row + 1]``."""

    words: Words
    vectors: faiss.Index
    starts: NDArray[np.int64]


class KnowledgeIndex:
    """The two rankings over ``facts``; a fact's row is its place in ``facts``.

    Each fact has one dense entry for its text, t, and one for each stereotype s that it answers: the mean of t and s.
    A query's score is its best inner product with an entry, so a hateful post finds the fact that answers it
    although their words differ. For 80 posts that the project labelled (the labels are not kept here), a right fact is
    among the first three for 93 %, against 76 % with the text alone.

    Made on first use; its vectors are kept in the cache, under the facts and the model. Safe to share between threads,
    and between processes that share the cache.
    """

    def __init__(self, facts: Sequence[Fact], embedder: Embedder, cache_folder: Path) -> None:
        self._facts = tuple(facts)
        self._vectors = KeptVectors(embedder, cache_folder)
        self._loaded: _Loaded | None = None
        self._lock = Lock()

    def open(self) -> None:
        """Make the index, unless it is there. Blocking; the first time embeds all facts.

        Raises ``IndexUnavailable``: there is no model.
        """
        self._rankings()

    def bm25(self, query: str, k: int) -> list[tuple[int, float]]:
        """The best ``k`` rows by BM25 (English stems, stop words dropped), best first; any text will do."""
        return self._rankings().words.search(stems(query)[:_MAX_QUERY_WORDS], k)

    def dense(self, vector: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
        loaded = self._rankings()
        widest = int(np.diff(loaded.starts).max())
        scores, entries = loaded.vectors.search(vector.reshape(1, -1), min(k * widest, loaded.vectors.ntotal))
        rows = np.searchsorted(loaded.starts, entries[0], side="right") - 1
        best: dict[int, float] = {}
        for row, score in zip(rows.tolist(), scores[0].tolist(), strict=True):
            best.setdefault(row, score)
        return list(best.items())[:k]

    def closeness(self, vector: NDArray[np.float32], row: int) -> float:
        """The dense score of one row for ``vector``, of shape (dimension,)."""
        loaded = self._rankings()
        first, after = loaded.starts[row : row + 2].tolist()
        return float((loaded.vectors.reconstruct_n(first, after - first) @ vector).max())

    def text_vector(self, row: int) -> NDArray[np.float32]:
        """The unit vector, of shape (dimension,), of the row's text without its stereotypes."""
        loaded = self._rankings()
        return np.asarray(loaded.vectors.reconstruct(int(loaded.starts[row])), dtype=np.float32)

    def shared_words(self, query: str, row: int) -> int:
        """How many different stems, stop words aside, the query and the row's searchable text share."""
        return len(set(stems(query)) & set(stems(self._facts[row].searchable)))

    def _rankings(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                entries, starts = self._entries()
                vectors = faiss.IndexFlatIP(entries.shape[1])
                vectors.add(entries)
                self._loaded = _Loaded(Words(tokens(fact.searchable) for fact in self._facts), vectors, starts)
            return self._loaded

    def _entries(self) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The dense entries, of shape (entries, dimension), and where each fact's begin, then their number."""
        texts = [fact.text for fact in self._facts]
        of_facts = [[named(fact.target_group, words) for words in fact.stereotypes] for fact in self._facts]
        encoded = self._vectors.encode([*texts, *(words for of_fact in of_facts for words in of_fact)])
        blocks, starts, used = [], [0], len(texts)
        for row, of_fact in enumerate(of_facts):
            answered = encoded[used : used + len(of_fact)]
            blocks.append(np.vstack([encoded[row : row + 1], (answered + encoded[row]) / 2]))
            used += len(of_fact)
            starts.append(starts[-1] + 1 + len(of_fact))
        return np.vstack(blocks).astype(np.float32), np.array(starts, dtype=np.int64)


class KeptVectors:
    """An embedder's vectors in ``<cache>/kb``, a file for each list of texts; safe to share."""

    def __init__(self, embedder: Embedder, cache_folder: Path) -> None:
        self._embedder = embedder
        self._root = cache_folder / "kb"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (len(texts), dimension), each of length 1. Blocking. Raises ``IndexUnavailable``."""
        key = hashlib.sha256(repr((self._embedder.name, tuple(texts))).encode()).hexdigest()[:32]
        file = self._root / f"{key}.vectors"
        vectors = _read(file, len(texts))
        if vectors is None:
            vectors = self._embedder.encode(texts)
            _write(file, vectors)
        return vectors


def _read(file: Path, count: int) -> NDArray[np.float32] | None:
    try:
        data = file.read_bytes()
    except OSError:
        return None  # not made yet
    body = data[_DIGEST_BYTES:]
    if not body or hashlib.sha256(body).digest() != data[:_DIGEST_BYTES]:
        return None
    return np.frombuffer(body, dtype=np.float32).reshape(count, -1)


def _write(file: Path, vectors: NDArray[np.float32]) -> None:
    """Write a file beside its place and move it there, so that nobody reads half a file."""
    body = np.ascontiguousarray(vectors, dtype=np.float32).tobytes()
    writing = file.with_name(f".{uuid4().hex}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        writing.write_bytes(hashlib.sha256(body).digest() + body)
        writing.replace(file)
    except OSError as err:
        _log.info("Vectors could not be kept in %s (%s); the next start makes them again.", file.parent, err)


class FactSearch:
    """A ``Part`` over facts; safe to share between threads.

    Args:
        clock: the time now; facts whose ``valid_until`` has passed are not returned.

    If neither a query nor the claim can be read, a fact must be about the target group, or be a norm that protects
    everybody, and share two words with a query (mostly names). ``scores`` then has no ``dense`` and no ``claim``.
    """

    def __init__(
        self,
        facts: Sequence[Fact],
        index: KnowledgeIndex,
        embedder: Embedder,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._facts = tuple(facts)
        self._says = [frozenset() if fact.is_universal else said_of(fact.text, fact.target_group) for fact in facts]
        self._index = index
        self._embedder = embedder
        self._clock = clock

    def ranked(self, prepared: PreparedQuery, query: EvidenceQuery) -> list[RankedPassage]:
        """The facts that bear on the claim, best first, without accusations that neither post nor claim speaks of.

        Raises ``IndexUnavailable``.
        """
        directions, allowed = prepared.directions(self._embedder), self._accusations(prepared, query)
        if directions is None:
            return self._by_words(prepared.texts, query, allowed)
        by_words = [self._index.bm25(text, CANDIDATES) for text in prepared.texts]
        by_vectors = [self._index.dense(vector, CANDIDATES) for vector in directions.queries]
        hits = []
        for hit in candidates(by_words, by_vectors):
            if not _is_wanted(self._facts[hit.row], query) or not self._says[hit.row] <= allowed:
                continue
            near = self._nearness(hit.row, directions)
            closeness = self._offered_closeness(hit.row, directions) if query.is_offered else near
            order = closeness + self._preference(hit.row, query.target_group)
            if query.is_offered or order >= THRESHOLD:
                hits.append((hit, near, order))
        return self._of_today(sorted(hits, key=lambda part: (-part[2], part[0].row)))

    def norms(self, group: TargetGroup | None) -> list[RankedPassage]:
        """The facts nearest to equal rights for the group. Raises ``IndexUnavailable``."""
        whom = group.value if group and group is not TargetGroup.OTHER else "every human being"
        direction = self._embedder.encode([f"Equal dignity and equal rights of {whom} under human rights law"])[0]
        rows = [
            row
            for row, fact in enumerate(self._facts)
            if fact.is_universal or (fact.target_group is group and group is not TargetGroup.OTHER)
        ]
        near = sorted(
            ((self._index.closeness(direction, row), row) for row in rows), key=lambda pair: (-pair[0], pair[1])
        )
        return self._of_today((Hit(row, None, None, 0.0), None, closeness) for closeness, row in near)

    def named(self, ids: Sequence[str]) -> list[RankedPassage]:
        """The facts of these ids that have not expired, in this order. Raises ``IndexUnavailable``."""
        rows = {fact.id: row for row, fact in enumerate(self._facts)}
        return self._of_today((Hit(rows[name], None, None, 0.0), None, 1.0 - at / 10) for at, name in enumerate(ids))

    def chosen(self, prepared: PreparedQuery, query: EvidenceQuery) -> list[RankedPassage]:
        """The facts that the query names, without those that its filters stop, and without accusations as above."""
        allowed, rows = self._accusations(prepared, query), {fact.id: row for row, fact in enumerate(self._facts)}
        fit = [
            name
            for name in query.named
            if name in rows and _is_wanted(self._facts[rows[name]], query) and self._says[rows[name]] <= allowed
        ]
        return self.named(fit)

    def _by_words(self, queries: Sequence[str], query: EvidenceQuery, allowed: frozenset[str]) -> list[RankedPassage]:
        hits = [
            hit
            for hit in candidates([self._index.bm25(text, CANDIDATES) for text in queries], [])
            if _is_wanted(self._facts[hit.row], query)
            and self._says[hit.row] <= allowed
            and self._preference(hit.row, query.target_group) >= 0
            and max(self._index.shared_words(text, hit.row) for text in queries) >= _MIN_SHARED_WORDS
        ]
        return self._of_today((hit, None, hit.fused) for hit in hits)

    def _accusations(self, prepared: PreparedQuery, query: EvidenceQuery) -> frozenset[str]:
        """The accusations that facts may speak of: those that the post (the first query) raises or the claim names.

        Where passages are offered, also those that the other queries raise: a reader said that the post means them.
        """
        accusations = said_of(prepared.claim or "", query.target_group)
        if query.is_offered:
            return accusations | raised_in(*prepared.texts)
        return accusations | raised_in(*query.queries[:1], *prepared.known[:1])

    def _nearness(self, row: int, directions: Directions) -> float:
        claim = directions.claim
        to_claim = None if claim is None else self._index.closeness(claim, row)
        return directions.nearness(self._index.closeness(directions.queries[0], row), to_claim)

    def _offered_closeness(self, row: int, directions: Directions) -> float:
        to_post, *to_others = (self._index.closeness(vector, row) for vector in directions.queries)
        return directions.offered(to_post, to_others)

    def _preference(self, row: int, group: TargetGroup | None) -> float:
        fact = self._facts[row]
        return preference(frozenset({fact.target_group}), group, is_universal=fact.is_universal)

    def _of_today(self, hits: Iterable[tuple[Hit, float | None, float]]) -> list[RankedPassage]:
        """The facts that have not expired, each with its closeness to the claim, if known, and its order."""
        today = self._clock().date()
        return [
            RankedPassage(
                self._evidence(hit, near),
                order,
                self._index.text_vector(hit.row),
                self._facts[hit.row].title.casefold(),
            )
            for hit, near, order in hits
            if not self._facts[hit.row].is_expired(today)
        ]

    def _evidence(self, hit: Hit, near: float | None) -> Evidence:
        fact = self._facts[hit.row]
        return Evidence(
            id=fact.id,
            text=fact.text,
            summary=first_sentences(fact.text, 2),
            source=fact.source,
            scores=hit.scores(near),
            target_group=fact.target_group,
            caution=fact.caution,
            confirmed=fact.confirmed,
        )


def _is_wanted(fact: Fact, query: EvidenceQuery) -> bool:
    """Whether the query's filters let a fact pass; the shipped facts are in English."""
    return (
        (not query.groups or fact.target_group in query.groups)
        and (query.since is None or (fact.year is not None and fact.year >= query.since))
        and (not query.publishers or fact.publisher in query.publishers)
        and (not query.languages or _LANGUAGE in query.languages)
    )
