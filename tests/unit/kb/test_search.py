"""One search over several parts: what is kept of each, and what happens where one fails."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from core.engine.ports import EvidenceQuery
from core.errors import IndexUnavailable, ScorerUnavailable
from core.i18n.catalogs import translated
from core.models import Evidence, Source, TargetGroup
from kb.ranking.fusion import RankedPassage
from kb.ranking.queries import PreparedQuery
from kb.search import HybridSearch
from kb.starter.facts import Gap, Gaps, Instead
from tests.fakes.engine.embedder import FakeEmbedder

WHY = "What a culture is worth cannot be counted."
"""What one of the shipped gaps says to a moderator."""

ASKED = EvidenceQuery(("They take our jobs.",), "Newcomers start firms.", TargetGroup.MIGRANTS)


def ranked(name: str, order: float, *, document: str = "", source: str = "", direction: int = 0) -> RankedPassage:
    """A passage; those of one ``direction`` (above 0) say the same."""
    vector = np.zeros(8, dtype=np.float32)
    vector[direction] = 1.0
    evidence = Evidence(name, f"Text of {name}.", "", Source("P", name, 2020, None, "https://example.org"))
    return RankedPassage(evidence, order, vector if direction else None, document or name, source)


class Part:
    def __init__(
        self, found: Sequence[RankedPassage] = (), norms: Sequence[RankedPassage] = (), *, is_down: bool = False
    ) -> None:
        self.found, self._norms, self.is_down = list(found), list(norms), is_down

    def ranked(self, prepared: PreparedQuery, query: EvidenceQuery) -> list[RankedPassage]:
        if self.is_down:
            raise IndexUnavailable("The part is damaged.", remedy="Mend it.")
        return self.found

    def norms(self, group: TargetGroup | None) -> list[RankedPassage]:
        return self._norms

    def named(self, ids: Sequence[str]) -> list[RankedPassage]:
        return [one for one in self._norms if one.evidence.id in ids]

    def chosen(self, prepared: PreparedQuery, query: EvidenceQuery) -> list[RankedPassage]:
        return self.named(query.named)


class Reranker:
    """Says how relevant each passage is by its text."""

    def __init__(self, shares: dict[str, float] | None) -> None:
        self.shares = shares
        self.asked: list[tuple[str, str]] = []

    async def relevance(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.asked += pairs
        if self.shares is None:
            raise ScorerUnavailable("it is not there")
        return [self.shares[text.removeprefix("Text of ").removesuffix(".")] for _, text in pairs]


async def names(search: HybridSearch, query: EvidenceQuery = ASKED) -> list[str]:
    return [passage.id for passage in (await search.search(query)).passages]


async def test_the_best_of_all_parts_come_first() -> None:
    facts = Part([ranked("a", 0.9), ranked("b", 0.5)])
    library = Part([ranked("c", 0.7, source="un"), ranked("d", 0.4, source="un")])
    search = HybridSearch(facts, FakeEmbedder(), [library])
    assert await names(search) == ["a", "c", "b"]
    assert (await search.search(ASKED)).notes == ()


async def test_no_source_and_no_document_answers_everything() -> None:
    library = Part([ranked(name, 0.9 - n / 10, source="un") for n, name in enumerate("abc")])
    more = Part([ranked("d", 0.3, source="fra"), ranked("e", 0.2, source="fra", document="d")])
    search = HybridSearch(Part(), FakeEmbedder(), [library, more])
    assert await names(search) == ["a", "b", "d"]


async def test_what_says_the_same_is_shown_once() -> None:
    library = Part([ranked("b", 0.8, direction=1), ranked("c", 0.7, direction=2)])
    search = HybridSearch(Part([ranked("a", 0.9, direction=1)]), FakeEmbedder(), [library])
    assert await names(search) == ["a", "c"]


async def test_a_damaged_part_is_left_out_and_said() -> None:
    library = Part(is_down=True)
    search = HybridSearch(Part([ranked("a", 0.9)]), FakeEmbedder(), [library])
    found = await search.search(ASKED)
    assert [passage.id for passage in found.passages] == ["a"]
    assert found.notes == ("evidence: a part of the knowledge base was left out (The part is damaged. Mend it.)",)
    library.is_down = False
    assert (await search.search(ASKED)).notes == ()


async def test_without_the_first_part_there_is_no_evidence() -> None:
    with pytest.raises(IndexUnavailable, match="damaged"):
        await names(HybridSearch(Part(is_down=True), FakeEmbedder(), [Part([ranked("a", 0.9)])]))


async def test_a_cross_encoder_puts_the_passages_in_order() -> None:
    reranker = Reranker({"a": 0.6, "b": 0.95, "c": 0.1})
    search = HybridSearch(Part([ranked(name, 0.5) for name in "abc"]), FakeEmbedder(), reranker=reranker)
    found = await search.search(ASKED)
    assert [(passage.id, passage.scores["claim"]) for passage in found.passages] == [("b", 0.95), ("a", 0.6)]
    assert reranker.asked[0] == ("Newcomers start firms.", "Text of a.")


async def test_without_the_cross_encoder_closeness_orders() -> None:
    search = HybridSearch(Part([ranked("a", 0.9)]), FakeEmbedder(), reranker=Reranker(None))
    assert await names(search) == ["a"]
    assert (await search.search(ASKED)).notes == (
        "evidence: the reranker could not be used (it is not there); the passages are ordered by closeness",
    )


async def test_norms_answer_where_nothing_can_be_read() -> None:
    part = Part(norms=[ranked("norm", 0.2)])
    search = HybridSearch(part, FakeEmbedder(), language_of=lambda _: "fi")
    assert await names(search) == ["norm"]
    assert await names(HybridSearch(part, FakeEmbedder())) == []


async def test_a_post_that_no_fact_answers_gets_the_norms_of_its_gap() -> None:
    """Facts about something else are left out, the library is searched all the same, and a person is told why."""
    gap = Gap(TargetGroup.MIGRANTS, "They take our jobs.", WHY, Instead.QUESTION, ("norm",))
    part = Part([ranked("beside the point", 0.9)], norms=[ranked("norm", 0.2), ranked("another", 0.1)])
    library = Part([ranked("a", 0.5)])
    embedder = FakeEmbedder()
    search = HybridSearch(part, embedder, [library], gaps=Gaps([gap], [], embedder))
    search.warm()
    found = await search.search(replace(ASKED, queries=("migrants: They take our jobs.",)))
    assert [passage.id for passage in found.passages] == ["a", "norm"]
    assert found.notes == (f"evidence: no fact answers this, a question may ({WHY})",)
    assert translated(found.notes[0], "it") == (
        "prove: nessun dato risponde a questo, una domanda forse (Quanto vale una cultura non si può contare.)"
    )
