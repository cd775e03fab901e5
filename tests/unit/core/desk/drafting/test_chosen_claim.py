"""A person may argue what they choose, within reason, and is told what the engine would have thought of it."""

import pytest

from core.desk.drafting.request import checked_claim, warning_about
from core.errors import BadInput


def test_a_claim_becomes_one_plain_line_of_300_characters_at_most() -> None:
    """What cannot be seen, and lines of its own, have no place in a prompt; longer is no claim but a reply."""
    assert checked_claim("  Newcomers\u202e work\n\nhere. ") == "Newcomers work here."
    assert checked_claim("x" * 300) == "x" * 300
    with pytest.raises(BadInput, match="301 characters; 300 at most"):
        checked_claim("x" * 301)


def test_a_claim_that_would_have_lost_is_named_so() -> None:
    """In words that say why, and that it is argued all the same; of a good one nothing is said."""
    wrong = {"Newcomers always help their neighbours.": "overstates", "Taxes.": "not one plain sentence"}
    for claim, fault in wrong.items():
        warning = warning_about(claim, "en")
        assert warning is not None
        assert fault in warning and "since you chose it" in warning
    assert warning_about("Our neighbours from abroad work and pay taxes.", "en") is None
