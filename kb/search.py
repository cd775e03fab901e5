"""From queries and a claim to the few passages that bear on them; implements ``core.engine.ports.EvidenceSource``.

Coarse to fine, as in the RAG paper (section 3) and F2RL (evidence retrieval): BM25 and dense vectors find many
candidates for each query; they are fused by reciprocal rank and reranked to the claim; three at most are kept. The
words of a passage are never changed.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from core.engine.ports import Embedder, EvidenceQuery, Reranker, SearchResult
from core.errors import IndexUnavailable, ScorerUnavailable
from core.i18n.sentences import Sentence, sentence
from kb.ranking.fusion import Collection, Norms, RankedPassage, distinct
from kb.ranking.queries import LanguageOf, PreparedQuery, prepared_query
from kb.starter.fact_search import FactSearch, KeptVectors, KnowledgeIndex
from kb.starter.facts import STARTER_FACTS, STARTER_GAPS, Gaps, Instead, load_facts, load_gaps

_EACH_SOURCE = 2  # of three passages, so that no source answers everything
_EACH_DOCUMENT = 3  # of those that are offered; else one
_RERANKED = 20  # a cross-encoder reads some 20 pairs a second on two cores
_LEAST_RELEVANCE = 0.5  # a cross-encoder's score for a passage that may or may not bear on the claim


_GAP_NOTES = {
    Instead.EMPATHY: sentence("evidence: no fact answers this, empathy does ({why})"),
    Instead.QUESTION: sentence("evidence: no fact answers this, a question may ({why})"),
    Instead.NORM: sentence("evidence: no fact answers this, a norm does ({why})"),
}


class HybridSearch:
    """Hybrid retrieval over the parts of the knowledge base; safe to share between tasks.

    Args:
        norms: the part that must be usable.
        parts: the others. One that cannot be used is left out, and ``SearchResult.notes`` says so.
        gaps: the stereotypes that no fact answers. A post with such a stereotype gets the norms named there instead of
            facts about something else, and ``SearchResult.notes`` says so.
        reranker: a cross-encoder that orders the candidates; without one they are ordered by the embedding model's
            closeness.
        language_of: tells the ISO 639-1 code of a text, or ``None``; without it every text counts as one that the
            embedder knows.

    **Languages.** Of a text in a language that the embedder does not know, a gloss in English is looked up beside it
    (``kb.ranking.queries``). If nothing is found, or only that cannot be read, the answer is the norms nearest to equal
    rights for that group, such as the Universal Declaration of Human Rights: they hold whatever the post says.
    """

    def __init__(
        self,
        norms: Norms,
        embedder: Embedder,
        parts: Sequence[Collection] = (),
        *,
        gaps: Gaps | None = None,
        reranker: Reranker | None = None,
        language_of: LanguageOf | None = None,
    ) -> None:
        self._norms = norms
        self._parts = tuple(parts)
        self._gaps = gaps
        self._embedder = embedder
        self._reranker = reranker
        self._language_of = language_of

    def warm(self) -> None:
        """Load what the first search would wait for. Blocking. Raises ``IndexUnavailable``."""
        self._norms.norms(None)
        if self._gaps:
            self._gaps.nearest("warm", None)

    async def search(self, query: EvidenceQuery) -> SearchResult:
        """The passages that bear on the claim, best first, at most ``query.limit``, one for each document.

        ``scores`` holds, rounded to four places, the best ``bm25`` and ``dense`` score over the queries, the
        ``fused`` reciprocal ranks, and ``claim``, the weighted cosine to claim and queries, or, with a cross-encoder,
        what that says; a ranking that does not hold the passage is absent. The order adds a preference for the target
        group; a cross-encoder's order is its own.

        Raises:
            IndexUnavailable: the part with the norms, or its embedding model, cannot be used.
        """
        prepared = prepared_query(query, self._embedder.languages, self._language_of)
        if prepared.is_empty:
            return SearchResult()
        passages, notes = await asyncio.to_thread(self._ranked, prepared, query)
        if self._reranker and (prepared.known or prepared.claim):
            passages, unranked = await self._reranked(passages, prepared, self._reranker, is_offered=query.is_offered)
            notes += unranked
        first = await asyncio.to_thread(self._norms.chosen, prepared, query) if query.named else []
        most_each = (query.limit // 2, _EACH_DOCUMENT) if query.is_offered else (_EACH_SOURCE, 1)
        best = distinct(_joined(first, passages), query.limit, *most_each)
        if not best and not prepared.known and prepared.claim is None:
            norms = await asyncio.to_thread(self._norms.norms, query.target_group)
            best = distinct(norms, query.limit, *most_each)
        return SearchResult(tuple(passage.evidence for passage in best), tuple(notes))

    def _ranked(self, prepared: PreparedQuery, query: EvidenceQuery) -> tuple[list[RankedPassage], list[str]]:
        gap = self._gaps.nearest(prepared.known[0], query.target_group) if self._gaps and prepared.known else None
        norms = self._norms.named(gap.norms) if gap else []
        notes: list[str] = []
        if gap and not query.is_offered:
            passages, notes = norms, [Sentence(_GAP_NOTES[gap.instead].template, {"why": Sentence(gap.why)})]
        else:
            passages = self._norms.ranked(prepared, query)
            ids = {passage.evidence.id for passage in passages}
            passages += [norm for norm in norms if norm.evidence.id not in ids]
        for part in self._parts:
            try:
                passages += part.ranked(prepared, query)
            except IndexUnavailable as err:
                notes.append(sentence("evidence: a part of the knowledge base was left out ({why})", why=err.said))
        return passages, notes

    async def _reranked(
        self, passages: Sequence[RankedPassage], prepared: PreparedQuery, reranker: Reranker, *, is_offered: bool
    ) -> tuple[list[RankedPassage], list[str]]:
        """The best candidates in its order, without those beside the point, unless somebody chooses among them."""
        best = sorted(passages, key=lambda passage: -passage.order)[:_RERANKED]
        claim = prepared.claim or prepared.known[0]
        try:
            relevance = await reranker.relevance([(claim, passage.evidence.text) for passage in best])
        except ScorerUnavailable as err:
            note = sentence(
                "evidence: the reranker could not be used ({why}); the passages are ordered by closeness",
                why=err.message,
            )
            return list(passages), [note]
        return [
            replace(
                passage,
                order=share,
                evidence=replace(passage.evidence, scores={**passage.evidence.scores, "claim": share}),
            )
            for passage, share in zip(best, (round(share, 4) for share in relevance), strict=True)
            if share >= _LEAST_RELEVANCE or is_offered
        ], []


def _joined(first: Sequence[RankedPassage], others: Sequence[RankedPassage]) -> list[RankedPassage]:
    ids = {passage.evidence.id for passage in first}
    return [
        *(replace(passage, order=passage.order + 10) for passage in first),
        *(passage for passage in others if passage.evidence.id not in ids),
    ]


@dataclass(frozen=True)
class LeftOut:
    """A ``Collection`` that could not be opened: each search goes without it, and says why."""

    reason: IndexUnavailable

    def ranked(self, prepared: PreparedQuery, query: EvidenceQuery) -> list[RankedPassage]:
        """Find nothing. Raises ``IndexUnavailable`` with the reason."""
        raise self.reason


def open_starter(
    cache_folder: Path,
    embedder: Embedder,
    *,
    more: Sequence[Collection] = (),
    reranker: Reranker | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    language_of: LanguageOf | None = None,
) -> HybridSearch:
    """A search over the facts that ship with Antiphon; its index is built at the first search and kept in the cache.

    Args:
        more: other parts of the knowledge base.
    """
    facts = load_facts(STARTER_FACTS)
    part = FactSearch(facts, KnowledgeIndex(facts, embedder, cache_folder), embedder, clock=clock)
    gaps = Gaps(load_gaps(STARTER_GAPS), facts, embedder, KeptVectors(embedder, cache_folder).encode)
    return HybridSearch(part, embedder, more, gaps=gaps, reranker=reranker, language_of=language_of)
