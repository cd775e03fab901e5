"""How each part of the knowledge base fuses its rankings, and which passages of all parts are kept.

A passage about the right group gets a bonus, and a passage that repeats another is left out. Facts and documents are
unknown here: their parts of a search know them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.engine.ports import EvidenceQuery
from core.engine.wording.text import sentence_spans
from core.models import Evidence, TargetGroup
from kb.ranking.queries import PreparedQuery

CANDIDATES = 20
"""How many passages of each ranking are looked at, for each query."""

_RANK_OFFSET = 60  # reciprocal rank fusion, as published (Cormack 2009)
_SAME_WORDS = 0.95  # the cosine above which two passages say the same

# Measured on 80 English posts, 10 for each target group, which the project had labelled with the facts that answer them
# (those labels are not kept here).
# 0.05 to 0.15 do equally well; without a group the first passage is right for 65 % of the posts instead of 73 %
_SAME_GROUP = 0.1
_OTHER_GROUP = -0.15  # a fact about another group must be much closer than a norm that protects everybody
THRESHOLD = 0.35  # with 0.5 no fact is left for a fifth of the posts; posts of random letters stay below it

Ranking = Sequence[tuple[int, float]]
"""Rows with their scores, best first."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A row and its score in each ranking; ``None`` where the ranking does not hold it."""

    row: int
    bm25: float | None
    dense: float | None
    fused: float

    def scores(self, claim: float | None = None) -> dict[str, float]:
        """What ``Evidence.scores`` shows, rounded to four places; ``claim`` is the closeness to claim and post."""
        scores = {"bm25": self.bm25, "dense": self.dense, "fused": self.fused, "claim": claim}
        return {name: round(score, 4) for name, score in scores.items() if score is not None}


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage and its place among others.

    Attributes:
        order: higher is better; comparable between parts.
        vector: of the passage's text, of length 1 and shape (dimension,), or ``None`` where the model cannot read it.
        document: its document, which must not come twice.
        source: where it comes from, if that must not answer everything; "" where there is no limit.
    """

    evidence: Evidence
    order: float
    vector: NDArray[np.float32] | None
    document: str
    source: str = ""


class Collection(Protocol):
    """One collection of the knowledge base. Its methods block: call them in a thread."""

    def ranked(self, prepared: PreparedQuery, query: EvidenceQuery) -> list[RankedPassage]:
        """The passages that bear on the claim, best first. Raises ``IndexUnavailable``."""
        ...


class Norms(Collection, Protocol):
    """The part with the norms, which hold whatever a post says."""

    def norms(self, group: TargetGroup | None) -> list[RankedPassage]:
        """The norms that hold whatever a post says about the group, best first. Raises ``IndexUnavailable``."""
        ...

    def named(self, ids: Sequence[str]) -> list[RankedPassage]:
        """The passages of these ids that can be used today, in this order. Raises ``IndexUnavailable``."""
        ...

    def chosen(self, prepared: PreparedQuery, query: EvidenceQuery) -> list[RankedPassage]:
        """The passages that the query names, as far as its filters and what the post speaks of allow them.

        Raises ``IndexUnavailable``.
        """
        ...


def candidates(by_words: Sequence[Ranking], by_vectors: Sequence[Ranking]) -> list[Hit]:
    """Every row of the rankings, the best first by the sum of 1 / (60 + rank) over those that hold it."""
    fused: dict[int, float] = {}
    for ranking in (*by_words, *by_vectors):
        for rank, (row, _) in enumerate(ranking, start=1):
            fused[row] = fused.get(row, 0.0) + 1 / (_RANK_OFFSET + rank)
    bm25, dense = _best(by_words), _best(by_vectors)
    hits = [Hit(row, bm25.get(row), dense.get(row), score) for row, score in fused.items()]
    return sorted(hits, key=lambda hit: (-hit.fused, hit.row))


def preference(groups: frozenset[TargetGroup], group: TargetGroup | None, *, is_universal: bool) -> float:
    """The bonus or malus of a passage for the group that it is about; 0 for norms that protect everybody."""
    # "Other" means that the group was not known, or that the post attacks several: any group may be right.
    if group in (None, TargetGroup.OTHER):
        return 0.0
    if group in groups:
        return _SAME_GROUP
    return 0.0 if is_universal else _OTHER_GROUP


def distinct(
    ranked: Sequence[RankedPassage], limit: int, each_source: int, each_document: int = 1
) -> list[RankedPassage]:
    """The best ``limit``: none that repeats another, and so many at most of one source and of one document."""
    best: list[RankedPassage] = []
    for passage in sorted(ranked, key=lambda passage: -passage.order):
        if len(best) >= limit:
            break
        of_source = sum(bool(passage.source) and other.source == passage.source for other in best)
        of_document = sum(other.document == passage.document for other in best)
        is_free = of_source < each_source and of_document < each_document
        if is_free and not any(_repeats(passage, other) for other in best):
            best.append(passage)
    return best


def first_sentences(text: str, count: int) -> str:
    """The first ``count`` sentences of a passage, unchanged (RAG paper, section 3.2: two-sentence summaries)."""
    spans = sentence_spans(text)
    return text if len(spans) <= count else text[: spans[count - 1][1]]


def _repeats(first: RankedPassage, second: RankedPassage) -> bool:
    return first.vector is not None and second.vector is not None and float(first.vector @ second.vector) > _SAME_WORDS


def _best(rankings: Sequence[Ranking]) -> dict[int, float]:
    best: dict[int, float] = {}
    for ranking in rankings:
        for row, score in ranking:
            best[row] = max(score, best.get(row, score))
    return best
