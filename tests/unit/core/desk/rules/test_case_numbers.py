"""Short numbers of cases: as they are shown, and as people type them."""

from uuid import uuid4

import pytest

from core.desk.rules.case_cards import beginning_of_id, short_number


def test_what_is_shown_is_found_again_when_it_is_typed() -> None:
    for case_id in (uuid4().hex for _ in range(50)):
        shown = short_number(case_id)
        assert len(shown) == 5
        for typed in (shown, f"#{shown}", f" {shown.lower()} ", case_id):
            begun = beginning_of_id(typed)
            assert begun and case_id.startswith(begun)


@pytest.mark.parametrize("typed", ["", "#", "abc", "ab12cz", "ab 12c", "_____", "%", "a" * 33, "١٢٣٤٥"])
def test_what_can_be_no_number_begins_no_id(typed: str) -> None:
    """Nothing of it reaches the database."""
    assert beginning_of_id(typed) == ""
