"""A source of evidence that holds what a test gives it."""

from collections.abc import Sequence

from core.engine.ports import EvidenceQuery, SearchResult
from core.errors import IndexUnavailable
from core.models import Evidence


class FakeEvidence:
    """An ``EvidenceSource``: the first ``limit`` passages by the wanted publishers; it notes what it was asked."""

    def __init__(self, passages: Sequence[Evidence] = (), *, is_down: bool = False) -> None:
        self._passages, self._is_down = tuple(passages), is_down
        self.asked: list[EvidenceQuery] = []

    async def search(self, query: EvidenceQuery) -> SearchResult:
        """The passages, in the order given."""
        self.asked.append(query)
        if self._is_down:
            raise IndexUnavailable("The fake index is down.")
        wanted = [one for one in self._passages if not query.publishers or one.source.publisher in query.publishers]
        return SearchResult(tuple(wanted[: query.limit]))
