"""The starter facts in a search: those that bear on the claim, and the norms that hold whatever a post says.

Facts are reranked to the claim (F2RL, section 3.2). Closeness to a fact is the best over its text and the stereotypes
that it answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from core.engine.ports import Embedder, EvidenceQuery
from core.engine.wording.accusations import raised_in, said_of
from core.models import Evidence, TargetGroup
from kb.ranking.fusion import CANDIDATES, THRESHOLD, Hit, RankedPassage, candidates, first_sentences, preference
from kb.ranking.queries import Directions, PreparedQuery
from kb.starter.facts import Fact
from kb.starter.index import KnowledgeIndex

_LANGUAGE = "en"
_MIN_SHARED_WORDS = 2  # without vectors, one word in common is chance: "no", "Europa"


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
