"""A person may argue what they choose, within reason, and is told what the engine would have thought of it."""

import pytest

from core.desk.drafting.request import checked_claim, warning_about
from core.errors import BadInput

POST = "Migrants only come here to live off our welfare."


def test_a_claim_becomes_one_plain_line() -> None:
    """What cannot be seen, and lines of its own, have no place in a prompt."""
    assert checked_claim("  Newcomers\u202e work\n\nhere. ") == "Newcomers work here."


@pytest.mark.parametrize("length", [300, 301])
def test_a_claim_has_300_characters_at_most(length: int) -> None:
    """Longer is no claim but a reply; the message says how long it is."""
    if length <= 300:
        assert checked_claim("x" * length) == "x" * length
    else:
        with pytest.raises(BadInput, match="301 characters; 300 at most") as caught:
            checked_claim("x" * length)
        assert caught.value.remedy


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\u202e"])
def test_an_empty_claim_is_refused(text: str) -> None:
    """There is nothing to argue."""
    with pytest.raises(BadInput, match="empty"):
        checked_claim(text)


@pytest.mark.parametrize(
    ("claim", "fault"),
    [
        ("Newcomers always help their neighbours.", "overstates"),
        ("Taxes.", "not one plain sentence"),
    ],
)
def test_a_claim_that_would_have_lost_is_named_so(claim: str, fault: str) -> None:
    """In words that say why, and that it is argued all the same."""
    warning = warning_about(claim, "en")
    assert warning is not None
    assert fault in warning
    assert "since you chose it" in warning


def test_a_good_claim_has_no_warning() -> None:
    """Or nobody would read the next one."""
    assert warning_about("Our neighbours from abroad work and pay taxes.", "en") is None
