"""What a component of Discord carries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.common.cards.controls import Act, Target
from adapters.discord.review.items import custom_id, target_of


@given(
    st.sampled_from(Act),
    st.text("0123456789abcdef", min_size=32, max_size=32),
    st.integers(0, 10**9),
    st.sampled_from(["", "1", "0123456789abcdef"]),
)
def test_a_custom_id_says_what_it_was_made_of(act: Act, case_id: str, version: int, extra: str) -> None:
    """It is all that is left after a restart, and fits into what Discord keeps."""
    target = Target(act, case_id, version, extra)
    assert target_of(custom_id(target)) == target
    assert len(custom_id(target)) <= 100


@pytest.mark.parametrize(
    "raw", ["", "antiphon:claim", "antiphon:fly:" + "0" * 32 + ":1", "other:claim:" + "0" * 32 + ":1"]
)
def test_what_is_none_of_ours_is_left_alone(raw: str) -> None:
    """Other parts have buttons of their own."""
    assert target_of(raw) is None
