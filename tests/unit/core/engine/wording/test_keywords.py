"""Keywords that a community watches for; how they are found in a disguise, ``test_reported_cases`` shows."""

from core.engine.wording.keywords import has_keyword, keyword_in


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
