"""The table behind the library's index: its order, its shards and what filters let pass."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kb.shelf.index.entries import EVERYTHING, Filters
from kb.shelf.index.table import Columns, changed, shards, table_of
from tests.fakes.documents.paragraphs import entries

ROWS = st.sets(st.integers(1, 600_000), max_size=40)


@given(ROWS)
def test_shards_hold_every_row_once_in_ranges_that_are_aligned(rows: set[int]) -> None:
    """Protects the table: no row is lost or twice, and no shard is longer than the longest."""
    ordered = np.array(sorted(rows), dtype=np.int64)
    cuts = shards(ordered)
    assert np.concatenate([ordered[cut] for cut in cuts] or [ordered]).tolist() == ordered.tolist()
    for cut in cuts:
        first, last = int(ordered[cut][0]), int(ordered[cut][-1])
        assert any(first >> bits == last >> bits for bits in (18, 16, 14, 12))


@given(ROWS, ROWS)
def test_rows_at_the_end_leave_full_shards_alone(rows: set[int], more: set[int]) -> None:
    """Protects updates: what lies in a full range of 262,144 rows is not made again."""
    ordered = np.array(sorted(rows), dtype=np.int64)
    after = 600_001 + np.array(sorted(more), dtype=np.int64)
    full = [cut for cut in shards(ordered) if ordered[cut][-1] >> 18 < int(ordered[-1] + 1) >> 18]
    assert shards(np.concatenate([ordered, after]))[: len(full)] == full


@given(ROWS, ROWS, ROWS)
def test_a_change_is_the_same_as_beginning_with_the_result(one: set[int], two: set[int], gone: set[int]) -> None:
    """Protects that the table forgets how it came to be."""
    table = changed(table_of(entries(sorted(one))), table_of(entries(sorted(two))), gone)
    assert np.array_equal(table, table_of(entries(sorted((one - gone) | two))))


def test_without_filters_there_is_nothing_to_look_up() -> None:
    """Protects the common search: a filter that lets all pass costs nothing."""
    columns = Columns(table_of(entries(range(1, 30))))
    assert columns.mask(EVERYTHING) is None
    assert columns.mask(Filters(languages=frozenset({"en"}))) is None
    assert columns.places(np.array([0, 1, 29, 30])).tolist() == [-1, 0, 28, -1]
