"""From queries and a claim to the few passages that bear on them; implements ``core.ports.EvidenceSource``.

Owns how the two rankings are fused, how candidates are reranked to the claim, and what is dropped. It must never
change the words of a passage, nor return one whose figures have expired.

Coarse to fine, as in the RAG paper (section 3) and F2RL (evidence retrieval): many candidates by BM25 and dense vectors
for each query, fused by reciprocal rank, then reranked to the claim, of which three at most are kept.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.models import Evidence, TargetGroup
from core.ports import Embedder, EvidenceQuery
from kb.facts import STARTER_FACTS, Fact, load_facts
from kb.index import KnowledgeIndex, NamedEmbedder
from kb.queries import Asked, LanguageOf, asked

_CANDIDATES = 20  # of each ranking, for each query
_RANK_OFFSET = 60  # reciprocal rank fusion, as published (Cormack 2009)
_SAME_DOCUMENT = 0.95  # the cosine above which two passages say the same
_MIN_SHARED_WORDS = 2  # without vectors, one word in common is chance: "no", "Europa"

# Measured on 80 English posts, 10 for each target group, with the facts that answer them labelled by hand beforehand.
_CLAIM_WEIGHT = 0.3  # people's own replies as claims: above 0.4 the claim leads away from what answers the post
_SAME_GROUP = 0.1  # 0.05 to 0.15 do alike; with no group given the first passage is right less often, 65 % for 73 %
_OTHER_GROUP = -0.15  # a fact about another group must be much closer than a norm that protects everybody
_THRESHOLD = 0.35  # with 0.5 no fact is left for a fifth of the posts; posts of random letters stay below it

_SENTENCE_END = re.compile(  # not after "v.", "No." and initials, as in "Toonen v. Australia"
    r"""(?<=[.!?])(?<!\bv\.)(?<!\bvs\.)(?<!\bNo\.)(?<!\bArt\.)(?<!\bDr\.)(?<!\b[A-Z]\.)\s+(?=["'(]?[A-Z0-9])"""
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A fact and what each ranking gave it; ``None`` where the ranking does not hold it."""

    row: int
    bm25: float | None
    dense: float | None
    fused: float
    claim: float | None = None
    order: float = 0.0


class HybridSearch:
    """Hybrid retrieval over facts; safe to share between tasks.

    Args:
        clock: the time now; facts whose ``valid_until`` has passed are not returned.
        language_of: tells the ISO 639-1 code of a text, or ``None``; without it every text counts as one that the
            embedder knows.

    **Languages.** Of a text in a language that the embedder does not know, a gloss in English is looked up beside it
    (``kb.gloss``). If no query and no claim can be read so, a passage must be of the target group, or a norm that
    protects everybody, and share two words with a query (names, mostly); ``scores`` then has no ``dense`` and no
    ``claim``. If there is none, the answer is the norms nearest to equal rights for that group, such as the
    Universal Declaration of Human Rights: they hold whatever the post says.
    """

    def __init__(
        self,
        facts: Sequence[Fact],
        index: KnowledgeIndex,
        embedder: Embedder,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        language_of: LanguageOf | None = None,
    ) -> None:
        self._facts = tuple(facts)
        self._index = index
        self._embedder = embedder
        self._clock = clock
        self._language_of = language_of

    async def search(self, query: EvidenceQuery) -> list[Evidence]:
        """The passages that bear on the claim, best first, at most ``query.limit``, one for each document.

        ``scores`` holds, rounded to four places, the best ``bm25`` and ``dense`` score over the queries, the
        ``fused`` reciprocal ranks, and ``claim``, the weighted cosine to claim and queries; a ranking that does not
        hold the passage is absent. The order adds to ``claim`` a preference for the target group.

        Raises:
            IndexUnavailable: the index or its embedding model cannot be had.
        """
        return await asyncio.to_thread(self._search, query)

    def _search(self, query: EvidenceQuery) -> list[Evidence]:
        wanted = asked(query, self._embedder.languages, self._language_of)
        if wanted.is_empty:
            return []
        if wanted.known or wanted.claim is not None:
            kept = self._distinct(self._by_claim(wanted, query.target_group), query.limit)
        else:
            kept = self._distinct(self._by_words(wanted.texts, query.target_group), query.limit)
            kept = kept or self._distinct(self._norms(query.target_group), query.limit)
        return [self._evidence(one) for one in kept]

    def _by_claim(self, wanted: Asked, group: TargetGroup | None) -> list[_Candidate]:
        """Candidates of all queries, reranked to the claim; those below the threshold are dropped."""
        claim = wanted.claim
        coarse = list(wanted.known) or ([claim] if claim else [])  # nothing can be read but the claim: it looks itself
        encoded = self._embedder.encode([*coarse, claim] if claim else coarse)
        vectors, claim_vector = list(encoded[: len(coarse)]), encoded[-1] if claim else None
        ranked = []
        for one in self._candidates(wanted.texts, vectors):
            near = self._relevance(one.row, vectors, claim_vector)
            order = near + _preference(self._facts[one.row], group)
            if order >= _THRESHOLD:
                ranked.append(_Candidate(one.row, one.bm25, one.dense, one.fused, near, order))
        return sorted(ranked, key=lambda one: (-one.order, one.row))

    def _candidates(self, queries: Sequence[str], vectors: Sequence[NDArray[np.float32]]) -> list[_Candidate]:
        by_words = [self._index.bm25(text, _CANDIDATES) for text in queries]
        by_vectors = [self._index.dense(vector, _CANDIDATES) for vector in vectors]
        fused = fuse_by_rank([[row for row, _ in ranking] for ranking in (*by_words, *by_vectors)])
        bm25, dense = _best(by_words), _best(by_vectors)
        return [_Candidate(row, bm25.get(row), dense.get(row), score) for row, score in fused.items()]

    def _relevance(
        self, row: int, vectors: Sequence[NDArray[np.float32]], claim_vector: NDArray[np.float32] | None
    ) -> float:
        """Closeness to the claim and to the first query, the post; the other queries only widen the coarse search."""
        to_post = self._index.closeness(vectors[0], row)
        if claim_vector is None:
            return to_post
        return _CLAIM_WEIGHT * self._index.closeness(claim_vector, row) + (1 - _CLAIM_WEIGHT) * to_post

    def _by_words(self, queries: Sequence[str], group: TargetGroup | None) -> list[_Candidate]:
        found = [
            one
            for one in self._candidates(queries, [])
            if _preference(self._facts[one.row], group) >= 0
            and max(self._index.shared_words(text, one.row) for text in queries) >= _MIN_SHARED_WORDS
        ]
        return sorted(found, key=lambda one: (-one.fused, one.row))

    def _norms(self, group: TargetGroup | None) -> list[_Candidate]:
        """What holds whatever the post says: the facts nearest to equal rights for the group."""
        whom = group.value if group and group is not TargetGroup.OTHER else "every human being"
        wanted = self._embedder.encode([f"Equal dignity and equal rights of {whom} under human rights law"])[0]
        rows = [
            row
            for row, fact in enumerate(self._facts)
            if fact.is_universal or (fact.target_group is group and group is not TargetGroup.OTHER)
        ]
        nearest = sorted(rows, key=lambda row: -self._index.closeness(wanted, row))
        return [_Candidate(row, None, None, 0.0) for row in nearest]

    def _distinct(self, ranked: Sequence[_Candidate], limit: int) -> list[_Candidate]:
        """The best ``limit`` that have not expired: one for each document, and none that repeats another."""
        today, kept = self._clock().date(), list[_Candidate]()
        for one in ranked:
            if len(kept) >= limit:
                break
            if not self._facts[one.row].is_expired(today) and not any(self._repeats(one, other) for other in kept):
                kept.append(one)
        return kept

    def _repeats(self, one: _Candidate, other: _Candidate) -> bool:
        if self._facts[one.row].title.casefold() == self._facts[other.row].title.casefold():
            return True
        return float(self._index.text_vector(one.row) @ self._index.text_vector(other.row)) > _SAME_DOCUMENT

    def _evidence(self, one: _Candidate) -> Evidence:
        fact = self._facts[one.row]
        scores = {"bm25": one.bm25, "dense": one.dense, "fused": one.fused, "claim": one.claim}
        return Evidence(
            id=fact.id,
            text=fact.text,
            summary=first_sentences(fact.text, 2),
            source=fact.source,
            scores={name: round(score, 4) for name, score in scores.items() if score is not None},
            target_group=fact.target_group,
            caution=fact.caution,
        )


def open_starter(
    cache_folder: Path,
    embedder: NamedEmbedder,
    *,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    language_of: LanguageOf | None = None,
) -> HybridSearch:
    """A search over the facts that ship with Antiphon; its index is built at the first search and kept in the cache.

    Raises:
        IndexUnavailable: the shipped facts are missing or damaged.
    """
    facts = load_facts(STARTER_FACTS)
    index = KnowledgeIndex(facts, embedder, cache_folder)
    return HybridSearch(facts, index, embedder, clock=clock, language_of=language_of)


def fuse_by_rank(rankings: Sequence[Sequence[int]]) -> dict[int, float]:
    """Reciprocal rank fusion: row to the sum of 1 / (60 + rank) over the rankings that hold it, rank from 1."""
    fused: dict[int, float] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking, start=1):
            fused[row] = fused.get(row, 0.0) + 1 / (_RANK_OFFSET + rank)
    return fused


def first_sentences(text: str, count: int) -> str:
    """The first ``count`` sentences of a passage, unchanged (RAG paper, section 3.2: two-sentence summaries)."""
    ends = [match.start() for match in _SENTENCE_END.finditer(text)]
    return text if len(ends) < count else text[: ends[count - 1]]


def _preference(fact: Fact, group: TargetGroup | None) -> float:
    """What a fact gains or loses for whom it is about; 0 for norms that protect everybody."""
    # "Other" says that the reader of the post could not tell, or that it attacks several: any group may be right.
    if group in (None, TargetGroup.OTHER):
        return 0.0
    if fact.target_group is group:
        return _SAME_GROUP
    return 0.0 if fact.is_universal else _OTHER_GROUP


def _best(rankings: Sequence[Sequence[tuple[int, float]]]) -> dict[int, float]:
    best: dict[int, float] = {}
    for ranking in rankings:
        for row, score in ranking:
            best[row] = max(score, best.get(row, score))
    return best
