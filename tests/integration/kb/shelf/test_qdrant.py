"""The library on Qdrant: the client's own local mode stands for the server, with a real embedding model."""

from dataclasses import replace
from datetime import date

import pytest
from qdrant_client import QdrantClient

from core.engine.backends.embeddings import SentenceEmbedder
from core.errors import IndexUnavailable
from core.models import TargetGroup
from kb.library.library import Paragraph, Trust
from kb.shelf.qdrant import QdrantShelf
from kb.shelf.search import Filters
from tests.fakes.documents.source import listed

TEXTS = {
    11: "The council found that women lead a third of the region's water boards.",
    12: "Newcomers paid more into the pension fund than they drew from it in that year.",
    15: "The court held that hatred of a religion's believers is not protected speech.",
    19: "A survey of schools found that pupils who use wheelchairs missed more lessons.",
}


def paragraph(row: int, **changes: object) -> Paragraph:
    """One of the texts, in a document of its own."""
    return Paragraph(row, listed(row, **changes), 3, 40, 40 + len(TEXTS[row]), TEXTS[row], Trust.NORMAL)


PARAGRAPHS = [
    paragraph(11),
    paragraph(12, year=2015, target_groups=frozenset({TargetGroup.MIGRANTS}), publisher="Fund"),
    paragraph(15, year=None, target_groups=frozenset({TargetGroup.MUSLIMS}), expires=date(2026, 5, 31)),
    paragraph(19, language="es", target_groups=frozenset({TargetGroup.DISABILITIES})),
]


@pytest.fixture
def shelf(embedder: SentenceEmbedder) -> QdrantShelf:
    made = QdrantShelf(QdrantClient(":memory:"), "antiphon", embedder)
    made.push(PARAGRAPHS, "one")
    return made


def test_what_was_pushed_comes_back(shelf: QdrantShelf, embedder: SentenceEmbedder) -> None:
    assert dict(shelf.paragraphs([11, 15, 99])) == {11: PARAGRAPHS[0], 15: PARAGRAPHS[2]}
    vectors = shelf.vectors([19, 11])
    expected = embedder.encode([TEXTS[19], TEXTS[11]])
    assert vectors == pytest.approx(expected, abs=1e-5)


def test_finds_by_words_and_by_meaning(shelf: QdrantShelf, embedder: SentenceEmbedder) -> None:
    by_words = shelf.bm25("pensions of newcomers", 3, Filters())
    assert by_words[0][0] == 12
    by_meaning = shelf.dense(embedder.encode(["immigrants cost the state money"])[0], 2, Filters())
    assert by_meaning[0][0] == 12
    assert by_meaning[0][1] > by_meaning[1][1]
    assert shelf.bm25("", 3, Filters()) == shelf.bm25("the of and", 3, Filters()) == []


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), {11, 12, 15, 19}),
        (Filters(target_groups=frozenset({TargetGroup.WOMEN, TargetGroup.MUSLIMS})), {11, 15}),
        (Filters(since_year=2016), {11, 19}),
        (Filters(publishers=frozenset({"Fund"})), {12}),
        (Filters(languages=frozenset({"es"})), {19}),
        (Filters(today=date(2026, 5, 31)), {11, 12, 15, 19}),
        (Filters(today=date(2026, 6, 1)), {11, 12, 19}),
    ],
)
def test_narrows_down(shelf: QdrantShelf, embedder: SentenceEmbedder, filters: Filters, expected: set[int]) -> None:
    vector = embedder.encode(["anything"])[0]
    assert {row for row, _ in shelf.dense(vector, 10, filters)} == expected


def test_a_push_leaves_exactly_what_it_pushes(shelf: QdrantShelf) -> None:
    told: list[tuple[int, int]] = []
    shelf.push([PARAGRAPHS[0], replace(PARAGRAPHS[1], text="Other words.")], "two", lambda *at: told.append(at))
    assert shelf.count() == 2
    assert shelf.paragraphs([12])[12].text == "Other words."
    assert told == [(2, 2)]


def test_a_push_that_was_cut_off_sends_only_the_rest(shelf: QdrantShelf) -> None:
    changed = replace(PARAGRAPHS[0], text="Never sent, for this version of it was.")
    shelf.push([changed, *PARAGRAPHS[1:]], "one")
    assert shelf.paragraphs([11])[11] == PARAGRAPHS[0]


def test_what_cannot_be_used_is_an_error_with_a_remedy(embedder: SentenceEmbedder) -> None:
    client = QdrantClient(":memory:")
    with pytest.raises(IndexUnavailable, match="kb push"):
        QdrantShelf(client, "missing", embedder).bm25("women", 3, Filters())
    with pytest.raises(IndexUnavailable, match="qdrant_url"):
        QdrantShelf(
            QdrantClient(url="http://127.0.0.1:9", timeout=2, check_compatibility=False), "antiphon", embedder
        ).count()
    shelf = QdrantShelf(client, "antiphon", embedder)
    shelf.push(PARAGRAPHS, "one")
    client.set_payload("antiphon", {"text": "Words that nobody pushed."}, [11])
    with pytest.raises(IndexUnavailable, match="not what was pushed"):
        shelf.paragraphs([11])
