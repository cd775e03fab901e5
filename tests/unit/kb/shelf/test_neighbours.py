"""The nearest vectors: what cells and codes lose against comparing all, and what they are learnt from."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from kb.shelf.index.neighbours import Cells, Exact, Tuning, cells_for, encode, learn_cells, learnt_at, sample_of
from kb.shelf.index.vectors import Batch, VectorSet

DIMENSION = 64
TUNING = Tuning(exact_up_to=1000, probes=24, least=120, scanned=100)


def clustered(count: int, seed: int) -> NDArray[np.float32]:
    """Unit vectors in 60 clusters that overlap: each lies between two of them."""
    centres = np.random.default_rng(0).standard_normal((60, DIMENSION))
    chance = np.random.default_rng(seed)
    share = chance.uniform(0.5, 1, (count, 1))
    vectors = share * centres[chance.integers(60, size=count)] + (1 - share) * centres[chance.integers(60, size=count)]
    vectors += 0.6 * chance.standard_normal((count, DIMENSION))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


@pytest.fixture(scope="module")
def vectors() -> NDArray[np.float32]:
    """4,000 of them, as they are stored."""
    return clustered(4000, 1).astype(np.float16).astype(np.float32)


@pytest.fixture(scope="module")
def cells(vectors: NDArray[np.float32]) -> Cells:
    """The same, in cells, in two parts."""
    halves = vectors.astype(np.float16)
    rows = np.arange(1, 4001)
    stored = VectorSet.of(
        [Batch(rows[half], rows[half].astype(np.uint64), halves[half]) for half in (slice(2000), slice(2000, 4000))]
    )
    step = learnt_at(4000, TUNING)
    centres = learn_cells(vectors[sample_of(step)], cells_for(step))
    return Cells(stored, centres, [encode(halves[:2000], centres), encode(halves[2000:], centres)], TUNING)


@pytest.mark.parametrize("share", [1.0, 0.5, 0.1, 0.01])
def test_cells_find_what_comparing_all_finds(cells: Cells, vectors: NDArray[np.float32], share: float) -> None:
    """Protects the goal for recall, 0.98 of the best ten, filtered or not; and exact scores of what is found."""
    allowed = np.random.default_rng(3).random(4000) < share if share < 1 else None
    exact, found, queries = Exact(vectors), 0, clustered(200, 2)
    for query in queries:
        wanted, scores = exact.search(query, 10, allowed)
        places, near = cells.search(query, 10, allowed)
        assert near == pytest.approx(vectors[places] @ query, abs=1e-3)
        assert (np.diff(near) <= 0).all()
        assert len(places) == len(scores)
        assert allowed is None or allowed[places].all()
        found += len(np.intersect1d(places, wanted))
    assert found / len(queries) >= 9.8


def test_codes_do_not_depend_on_company(cells: Cells, vectors: NDArray[np.float32]) -> None:
    """Protects that an update encodes new vectors as a build from nothing does."""
    centres = learn_cells(vectors, 64)
    assert np.array_equal(centres, learn_cells(vectors, 64))
    halves = vectors.astype(np.float16)
    assert np.array_equal(encode(halves, centres)[:500], encode(halves[:500], centres))


def test_few_more_vectors_leave_the_cells_as_they_are() -> None:
    """Protects updates: cells are learnt anew only when there are a quarter more vectors."""
    before = learnt_at(100_000, Tuning())
    assert 80_000 <= before <= 100_000
    assert before == learnt_at(100_500, Tuning())
    assert before != learnt_at(130_000, Tuning())
    assert learnt_at(50_000, Tuning()) == 0


@pytest.mark.parametrize("count", [1001, 1002, 5000, 123_456])
def test_cells_are_learnt_from_vectors_that_are_there(count: int) -> None:
    """Protects the smallest index that has cells, and others."""
    step = learnt_at(count, TUNING)
    places = sample_of(step)
    assert count / 1.25 <= step <= count
    assert cells_for(step) <= len(places) <= step
    assert (np.diff(places) > 0).all()
    assert (places[0], places[-1] < step) == (0, True)


def test_of_equal_scores_the_first_come_first() -> None:
    """Protects that the same search gives the same answer."""
    same = Exact(np.ones((50, 1), dtype=np.float32))
    assert same.search(np.ones(1, dtype=np.float32), 3)[0].tolist() == [0, 1, 2]
