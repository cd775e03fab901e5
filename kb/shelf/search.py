"""The library's part of a search: paragraphs of accepted documents that bear on the claim.

The words of a passage are exactly its stored span, which is checked against its hash when it is read; a passage carries
its place in the document.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from core.engine.ports import Embedder, EvidenceQuery
from core.engine.wording.text import content_stems
from core.models import Evidence, TargetGroup
from kb.documents import citation
from kb.library.library import Paragraph, Trust
from kb.ranking import fusion
from kb.ranking.queries import Directions, PreparedQuery

_CANDIDATES = 200  # of BM25, for each query: paragraphs without a vector must be found by their words
_EMBEDDED_NOW = 48  # of these at most: 56 paragraphs a second on two cores, each kept for the next search
_EACH_DOCUMENT = 3  # of the candidates: one document cannot fill them all
_DISTRUSTED = -0.1  # the malus of a source of low trust, nearly that of a passage about another group
_LEAST_SHARED = 3  # stems that a passage in a language without vectors must share with a query
_EACH_SHARED, _MOST_SHARED = 0.03, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which paragraphs a search may return; what is left out does not narrow it.

    Attributes:
        target_groups: those about one of these.
        since_year: those of this year or later, never one without a year.
        languages: ISO 639-1 codes; a document without one counts as English.
        today: those that have not expired on that day.
        per_document: the most paragraphs of one document.
    """

    target_groups: frozenset[TargetGroup] = frozenset()
    since_year: int | None = None
    publishers: frozenset[str] = frozenset()
    languages: frozenset[str] = frozenset()
    today: date | None = None
    per_document: int | None = None


EVERYTHING: Final = Filters()
"""No filter at all."""


class Shelf(Protocol):
    """Where paragraphs are found and read: the library with its local index, or a server. Blocking.

    Raises:
        IndexUnavailable: it cannot be reached, or is damaged.
    """

    def bm25(self, query: str, k: int, filters: Filters) -> list[tuple[int, float]]:
        """The best ``k`` rows by BM25, best first; any text will do."""
        ...

    def dense(self, vector: NDArray[np.float32], k: int, filters: Filters) -> list[tuple[int, float]]:
        """The best ``k`` embedded rows by inner product with ``vector``, of shape (dimension,), best first."""
        ...

    def vectors(self, rows: Sequence[int]) -> NDArray[np.float32]:
        """The unit vectors of these rows, of shape (len(rows), dimension); embedded now where they are not yet."""
        ...

    def embedded(self, rows: Sequence[int]) -> frozenset[int]:
        """Those of these rows that have vectors already."""
        ...

    def paragraphs(self, rows: Sequence[int]) -> Mapping[int, Paragraph]: ...


class LibrarySearch:
    """A ``Part`` over a shelf; safe to share between threads.

    Args:
        clock: the time now; paragraphs of documents that have expired are not returned.
    """

    def __init__(
        self, shelf: Shelf, embedder: Embedder, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._shelf = shelf
        self._embedder = embedder
        self._clock = clock

    def ranked(self, prepared: PreparedQuery, query: EvidenceQuery) -> list[fusion.RankedPassage]:
        directions = prepared.directions(self._embedder)
        pool = self._pool(fusion.candidates(*self._rankings(prepared, directions, self._filters(query))))
        paragraphs = self._shelf.paragraphs([hit.row for hit in pool])
        pool = [hit for hit in pool if hit.row in paragraphs]
        vectors = self._vectors(pool, paragraphs) if directions else {}
        passages = []
        for hit in pool:
            paragraph, vector = paragraphs[hit.row], vectors.get(hit.row)
            if directions is not None and vector is not None:
                near: float | None = _nearness(vector, directions)
                order = _offered(vector, directions) if query.is_offered else near or 0.0
            else:
                near, order = None, _by_words(paragraph, prepared)
            order += _worth(paragraph, query.target_group)
            if order >= fusion.THRESHOLD or (query.is_offered and near is not None):
                passages.append(_ranked(hit, paragraph, vector, near, order, query.target_group))
        return sorted(passages, key=lambda passage: -passage.order)

    def _filters(self, query: EvidenceQuery) -> Filters:
        return Filters(
            target_groups=frozenset(query.groups),
            since_year=query.since,
            publishers=frozenset(query.publishers),
            languages=frozenset(query.languages),
            today=self._clock().date(),
            per_document=_EACH_DOCUMENT,
        )

    def _pool(self, hits: Sequence[fusion.Hit]) -> list[fusion.Hit]:
        """The best candidates; of those without a vector only as many as a search can wait for."""
        best = hits[:_CANDIDATES]
        embedded = self._shelf.embedded([hit.row for hit in best])
        now = [hit.row for hit in best if hit.row not in embedded][:_EMBEDDED_NOW]
        return [hit for hit in best if hit.row in embedded or hit.row in now]

    def _rankings(
        self, prepared: PreparedQuery, directions: Directions | None, filters: Filters
    ) -> tuple[list[fusion.Ranking], list[fusion.Ranking]]:
        by_words: list[fusion.Ranking] = [self._shelf.bm25(text, _CANDIDATES, filters) for text in prepared.texts]
        vectors = directions.queries if directions else ()
        return by_words, [self._shelf.dense(vector, fusion.CANDIDATES, filters) for vector in vectors]

    def _vectors(
        self, pool: Sequence[fusion.Hit], paragraphs: Mapping[int, Paragraph]
    ) -> dict[int, NDArray[np.float32]]:
        """Of the paragraphs in languages that the embedding model knows; one of unknown language counts as known."""
        languages = {hit.row: paragraphs[hit.row].document.language for hit in pool}
        rows = [row for row, language in languages.items() if language is None or language in self._embedder.languages]
        return dict(zip(rows, self._shelf.vectors(rows), strict=True)) if rows else {}


def _offered(vector: NDArray[np.float32], directions: Directions) -> float:
    to_post, *to_others = (float(vector @ query) for query in directions.queries)
    return directions.offered(to_post, to_others)


def _nearness(vector: NDArray[np.float32], directions: Directions) -> float:
    to_claim = None if directions.claim is None else float(vector @ directions.claim)
    return directions.nearness(float(vector @ directions.queries[0]), to_claim)


def _by_words(paragraph: Paragraph, prepared: PreparedQuery) -> float:
    """The closeness without vectors: a little for each word shared with a query, if enough are shared."""
    language = paragraph.document.language
    own = set(content_stems(paragraph.text, language))
    shared = max((len(own & set(content_stems(text, language))) for text in prepared.texts), default=0)
    return fusion.THRESHOLD + _EACH_SHARED * min(shared, _MOST_SHARED) if shared >= _LEAST_SHARED else 0.0


def _worth(paragraph: Paragraph, group: TargetGroup | None) -> float:
    groups = paragraph.document.target_groups
    whom = fusion.preference(groups, group, is_universal=not groups or TargetGroup.OTHER in groups)
    return whom + (_DISTRUSTED if paragraph.trust is Trust.LOW else 0.0)


def _ranked(
    hit: fusion.Hit,
    paragraph: Paragraph,
    vector: NDArray[np.float32] | None,
    near: float | None,
    order: float,
    group: TargetGroup | None,
) -> fusion.RankedPassage:
    document = paragraph.document
    evidence = Evidence(
        id=f"{document.id}#{paragraph.id}",
        text=paragraph.text,
        summary=fusion.first_sentences(paragraph.text, 2),
        source=citation(document, paragraph.page, paragraph.label),
        scores=hit.scores(near),
        target_group=group if group in document.target_groups else min(document.target_groups, default=None),
        caution=f"It holds in: {document.jurisdiction}." if document.jurisdiction else None,
    )
    return fusion.RankedPassage(evidence, order, vector, document.id, document.source)
