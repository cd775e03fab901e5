"""The benchmark of retrieval, small: its paragraphs and vectors, and that every engine in it finds what is there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.retrieval.corpus import QUERIES, Corpus, Vectors
from bench.retrieval.dense import VARIANTS
from bench.retrieval.hybrid import StoredEmbedder, build
from bench.retrieval.lexical import ENGINES
from bench.retrieval.retrieval import ask_dense, ask_lexical, build_dense, build_lexical
from kb.shelf.index.library_index import LibraryIndex

SIZE = 1200


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 1,200 paragraphs and as many vectors."""
    place = tmp_path_factory.mktemp("place")
    Corpus(place, SIZE).write()
    Vectors(place, SIZE).write()
    return place


def test_paragraphs_are_the_same_each_time_and_smaller_sets_are_their_beginning(place: Path, tmp_path: Path) -> None:
    """Protects that figures of two runs, and of two sizes, are about the same paragraphs."""
    again = Corpus(tmp_path, 150)
    again.write()
    wanted = Corpus(place, SIZE).texts([1, 77, 150])
    assert again.texts([1, 77, 150]) == wanted
    assert dict(again.all())[77] == wanted[77]
    assert len({*dict(Corpus(place, SIZE).all()).values()}) == SIZE


def test_exact_answers_are_exact(place: Path) -> None:
    """Protects recall: it is counted against the nearest of all vectors."""
    vectors = Vectors(place, SIZE)
    scores = vectors.queries()[5] @ vectors.loaded().T
    assert vectors.exact()[5].tolist() == np.argsort(-scores, kind="stable")[:100].tolist()
    assert np.linalg.norm(vectors.loaded(), axis=1) == pytest.approx(np.ones(SIZE), abs=1e-2)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_finds_the_paragraph_that_the_query_was_made_of(place: Path, tmp_path: Path, engine: str) -> None:
    """Protects the comparison: an engine that is fast because it does not rank shows here."""
    (tmp_path / "index").mkdir()
    build_lexical(place, tmp_path / "index", SIZE, engine)
    asked = ask_lexical(place, tmp_path / "index", SIZE, engine)
    assert asked["known"] > 0.98
    assert len(asked["latencies"]) == ENGINES[engine].queries


@pytest.mark.parametrize("variant", [name for name in VARIANTS if "PQ48" not in name])  # minutes to learn
def test_every_variant_finds_nearly_the_nearest(place: Path, tmp_path: Path, variant: str) -> None:
    """Protects the comparison: rows and places are not mixed up."""
    (tmp_path / "index").mkdir()
    build_dense(place, tmp_path / "index", SIZE, variant)
    asked = ask_dense(place, tmp_path / "index", SIZE, variant)
    assert asked["recall"]["10"] > 0.95
    assert len(asked["latencies"]) == QUERIES


def test_the_index_is_built_from_the_same_paragraphs_and_vectors(place: Path, tmp_path: Path) -> None:
    """Protects the figures of the library's index."""
    took = build(place, tmp_path / "index", SIZE)
    assert set(took) == {"words", "vectors", "append", "remove", "peak"}
    corpus, vectors = Corpus(place, SIZE), Vectors(place, SIZE)
    index = LibraryIndex(tmp_path / "index", StoredEmbedder(corpus, vectors), corpus.texts)
    assert (len(index.rows), index.embedded()) == (SIZE - 1, SIZE - 1)
    nearest = vectors.exact()[3] + 1
    assert [row for row, _ in index.dense(vectors.queries()[3], 20)] == [row for row in nearest if row != 1][:20]
