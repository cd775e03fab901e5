"""``antiphon serve``, before it has anything to serve."""

from tests.e2e.conftest import Antiphon


def test_without_a_token_it_says_where_to_get_one(antiphon: Antiphon):
    """At once, and before a model is loaded."""
    result = antiphon("serve")
    assert (result.code, result.out) == (2, "")
    assert "No chat platform is configured." in result.err
    assert "ANTIPHON__DISCORD__TOKEN" in result.err


def test_a_wrong_profile_is_named(antiphon: Antiphon):
    """Before anything else is looked at."""
    result = antiphon("serve", "--profile", "fastest")
    assert (result.code, result.out) == (2, "")
    assert "There is no profile 'fastest'." in result.err
