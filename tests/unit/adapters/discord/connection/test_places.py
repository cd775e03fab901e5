"""Where a post can be read by everybody."""

from adapters.discord.connection.refs import is_private


def test_a_place_that_cannot_be_told_counts_as_private() -> None:
    """Better nothing is captured than what was not meant for everybody."""
    assert is_private(None, "")
    assert is_private(object(), "")
