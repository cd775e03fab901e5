"""What is left out where not all fits."""

from hypothesis import given
from hypothesis import strategies as st

from adapters.common.words.excerpts import Segment, fit, shortened

_SEGMENTS = st.lists(
    st.builds(
        lambda block, importance, sizes: Segment(block, importance, tuple("x" * size for size in sorted(sizes)[::-1])),
        st.sampled_from("abc"),
        st.integers(0, 5),
        st.lists(st.integers(0, 30), min_size=1, max_size=3),
    ),
    max_size=12,
)


@given(_SEGMENTS, st.integers(0, 200))
def test_what_is_chosen_fits_where_the_least_fits(segments: list[Segment], room: int) -> None:
    """Every segment says at least its last form, and all of them together stay in the limit."""
    least = sum(len(segment.forms[-1]) + 1 for segment in segments if segment.forms[-1])
    texts = fit(segments, least + room, len)
    assert sum(len(text) for text in texts.values()) <= least + room


def test_the_least_important_gives_way() -> None:
    """With room for one, the important segment is full and the other short."""
    segments = [Segment("a", 2, ("long one", "short")), Segment("b", 1, ("long two", "short"))]
    assert fit(segments, len("long two") + len("short") + 2, len) == {"a": "short", "b": "long two"}


def test_what_can_be_cut_to_measure_takes_exactly_the_room_that_is_left() -> None:
    """After all that is more important, and whole where it fits."""
    post = Segment("a", 3, ("x" * 40, "x" * 5), lambda room: "x" * room)
    draft = Segment("b", 2, ("the whole draft", "too long"))
    assert fit([post, draft], 16 + 41, len) == {"a": "x" * 40, "b": "the whole draft"}
    assert fit([post, draft], 16 + 31, len) == {"a": "x" * 30, "b": "the whole draft"}
    assert fit([post, draft], 16 + 6, len) == {"a": "x" * 5, "b": "the whole draft"}


def test_a_shortened_text_keeps_its_limit_and_says_that_it_was_cut() -> None:
    """With an ellipsis inside the limit, and without white space before it."""
    assert shortened("short", 5) == "short"
    assert shortened("one two", 5) == "one…"
