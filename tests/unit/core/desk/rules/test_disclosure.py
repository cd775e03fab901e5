"""The sentence under a reply that says who speaks."""

import pytest

from core.desk.rules.approval import text_hash
from core.desk.rules.policy import footer_in, longest_footer, render
from core.engine.wording.language import NAMES


@pytest.mark.parametrize("language", sorted(NAMES))
def test_every_language_that_is_written_has_a_footer_of_its_own(language: str) -> None:
    """Who reads the reply can read who drafted it."""
    others = [footer_in(other) for other in NAMES if other != language]
    assert "Antiphon" in footer_in(language)
    assert footer_in(language) not in others
    assert len(footer_in(language)) <= longest_footer()


@pytest.mark.parametrize("language", [None, "fr"])
def test_where_the_language_has_none_it_is_english(language: str | None) -> None:
    """No reply goes without."""
    assert footer_in(language) == footer_in("en")


def test_what_is_shown_is_reply_and_footer_and_the_hash_of_both() -> None:
    """The moderator approves the bytes that will be posted, whole."""
    shown = render(" We live here. ", "es", discloses=True)
    assert shown.text == f"We live here.{shown.footer}"
    assert shown.footer == footer_in("es")
    assert shown.sha256 == text_hash(shown.text)


def test_the_hash_is_of_the_quote_too_which_is_no_part_of_the_text() -> None:
    """A platform shows it above the text; whoever approves the one approves the other."""
    shown = render("We live here.", "en", discloses=True, quote="in my street")
    assert (shown.text, shown.quote) == (render("We live here.", "en", discloses=True).text, "in my street")
    assert shown.sha256 == text_hash(shown.text, "in my street")


def test_without_disclosure_only_the_reply_is_posted() -> None:
    """What a manager turned off is not there, not even as white space."""
    shown = render("We live here.", "en", discloses=False)
    assert (shown.text, shown.footer) == ("We live here.", "")
