"""Keywords that a community watches for: whole words, however they are disguised."""

import pytest

from core.engine.wording.keywords import has_keyword, keyword_in


@pytest.mark.parametrize(
    "text",
    [
        "They are VERMIN, all of them",
        "such v\u200bermin",
        "such ｖｅｒｍｉｎ",
        "such vеrmin",  # with a Cyrillic letter
        "go  back\nhome now",
    ],
)
def test_a_keyword_is_found_however_it_is_disguised(text: str) -> None:
    """Case, hidden characters, wide letters, lookalikes and line ends make no difference."""
    assert has_keyword(text, ("Vermin", "go back home"))


@pytest.mark.parametrize("text", ["vermination", "subvermin", "go back to home", ""])
def test_a_keyword_is_a_whole_word(text: str) -> None:
    """A part of another word flags nobody."""
    assert not has_keyword(text, ("vermin", "go back home"))


def test_no_keywords_flag_nothing() -> None:
    """An empty list matches no text, and neither does a keyword that shows nothing."""
    assert not has_keyword("anything", ())
    assert not has_keyword("anything", ("\u200b",))


def test_the_first_keyword_of_the_list_that_a_text_holds_is_named() -> None:
    """As it stands in the list; nothing where the text holds none."""
    listed = ("scrubwort", "Vermin", "go back home", "\u200b")
    assert keyword_in("such v3rmin, go back home", listed) == "Vermin"
    assert keyword_in("vermination", listed) is None
    assert keyword_in("vermin", ()) is None
