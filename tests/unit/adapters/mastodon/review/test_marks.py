"""The last line of a status of ours."""

from __future__ import annotations

import pytest

from adapters.mastodon.review.marks import Mark, mark_of, mark_of_text, marked
from tests.fakes.ports.cards import CASE_ID


def test_a_mark_is_read_as_it_was_written() -> None:
    """From the last line alone."""
    assert marked(f"Words.\n\n{mark_of(CASE_ID, 3, is_card=True)}") == Mark("01234567", 3, is_card=True)
    assert marked(mark_of(CASE_ID, 12)) == Mark("01234567", 12)
    assert marked(f"Words.\n{mark_of_text('0123456789abcdef')}\n") == Mark(text="0123456789abcdef")


@pytest.mark.parametrize("text", ["", "[01234567/3] and more", "[01234567/3]\nWords.", "[0123456/3]", "(01234567)"])
def test_anything_else_is_no_mark(text: str) -> None:
    """A mark that others quote stands above ours."""
    assert marked(text) is None
