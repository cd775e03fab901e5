"""Which prepared reply comes first: what each way to choose would have had readers post."""

from __future__ import annotations

import pytest

from bench.retrieval.prepared import Choice, shares
from core.models import Intent


def test_each_way_is_told_by_the_reply_that_it_puts_first() -> None:
    """Of two posts: the sum is right under one, closeness under the other, both added under both, a facet under one."""
    first = [
        Choice(Intent.DENOUNCING, is_postable=True, total=9.0, cosine=0.1, about=0.9, near=0.0, points=False),
        Choice(Intent.DENOUNCING, is_postable=False, total=8.0, cosine=0.3, about=0.2, near=0.5, points=False),
        Choice(Intent.POSITIVE, is_postable=True, total=9.5, cosine=0.9, about=0.9, near=0.0, points=False),
    ]
    second = [
        Choice(Intent.DENOUNCING, is_postable=False, total=9.0, cosine=0.1, about=0.6, near=0.0, points=True),
        Choice(Intent.DENOUNCING, is_postable=True, total=8.0, cosine=0.6, about=0.5, near=0.5, points=False),
    ]
    told = {row["first by"]: row["postable"] for row in shares([first, second], frozenset({Intent.DENOUNCING}))}
    assert told == {
        "chance": pytest.approx(0.5),
        "sum of the rewards": 0.5,
        "closeness": 0.5,
        "about the post": 0.5,
        "closeness + about the post": 1.0,
        "these, less what points at the post": 1.0,
        "the facet's first, then so": 0.5,
        "the best that there is": 1.0,
    }
