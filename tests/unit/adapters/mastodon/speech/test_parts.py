"""A long text in parts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adapters.mastodon.speech.private import parts_of

_BLOCKS = st.lists(st.text(alphabet="ab \n", max_size=120), max_size=8)


@given(_BLOCKS, st.integers(5, 60))
def test_no_part_is_too_long_and_no_word_is_lost(blocks: list[str], room: int) -> None:
    """Only white space is left out where a text is cut."""
    parts = parts_of(blocks, room, len)
    assert all(0 < len(part) <= room for part in parts)
    assert "".join("".join(parts).split()) == "".join("".join(blocks).split())


def test_a_block_that_fits_is_kept_whole() -> None:
    """Even if a part of it would fit in with what is before it."""
    assert parts_of(["one two", "three four\n\nfive"], 20, len) == ["one two", "three four\n\nfive"]


def test_a_block_is_cut_between_paragraphs_then_lines_then_words() -> None:
    """Not within a word, unless it is longer than a part."""
    assert parts_of(["aaaa aaaa\n\nbbbb bbbb"], 14, len) == ["aaaa aaaa", "bbbb bbbb"]
    assert parts_of(["aaaa aaaa\nbbbb bbbb"], 14, len) == ["aaaa aaaa", "bbbb bbbb"]
    assert parts_of(["aaaa aaaa bbbb"], 11, len) == ["aaaa aaaa", "bbbb"]
    assert parts_of(["a" * 25], 10, len) == ["a" * 10, "a" * 10, "a" * 5]
