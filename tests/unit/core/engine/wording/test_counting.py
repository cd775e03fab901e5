"""A number and its noun."""

import pytest

from core.engine.wording.text import counted


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (counted(1, "passage"), "1 passage"),
        (counted(0, "passage"), "0 passages"),
        (counted(1_204_567, "passage"), "1,204,567 passages"),
        (counted(0.5, "minute"), "0.5 minutes"),
        (counted(1.0, "minute"), "1 minute"),
        (counted(2, "reply", "replies"), "2 replies"),
        (counted(1, "person", "people"), "1 person"),
    ],
)
def test_one_and_many(said: str, expected: str) -> None:
    """Whatever the size, and where the plural is not an s."""
    assert said == expected
