"""The language of a post: told where it can be, and never guessed."""

from __future__ import annotations

import pytest

from core.cards.bank import LANGUAGES
from core.wording import language
from core.wording.language import NAMES, detect, name_of


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Our neighbours deserve a friendly word from all of us.", "en"),
        ("Nuestros vecinos merecen una palabra amable de todos nosotros.", "es"),
        ("I nostri vicini meritano una parola gentile da tutti noi.", "it"),
        ("Gure auzokideek hitz atsegin bat merezi dute guztiongandik.", "eu"),
        ("Unsere Nachbarn verdienen ein freundliches Wort von uns allen.", "de"),
        ("Nos voisins méritent un mot gentil de nous tous.", "fr"),
    ],
)
def test_a_sentence_is_told(text: str, told: str) -> None:
    """A whole sentence has its language, also one that Antiphon does not write."""
    assert detect(text, "en") == told
    assert detect(text, "eu") == told


@pytest.mark.parametrize("text", ["", "12 345", "!!! ...", "\U0001f600\U0001f600"])
def test_without_words_there_is_no_language(text: str) -> None:
    """Signs and numbers are of no language, and nobody's expectation makes them so."""
    assert detect(text, "en") is None


def test_an_unclear_word_is_of_the_community() -> None:
    """A word of several languages is taken for the community's, if it could be one of its words."""
    assert detect("no", "es") == "es"
    assert detect("no", "it") in {"it", None}
    assert detect("no", "eu") != "eu"


def test_a_clear_text_needs_no_large_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the start of every command: what the small detector is sure of costs no four seconds."""
    monkeypatch.setattr(language, "_thorough", lambda: pytest.fail("the large detector was asked"))
    assert detect("These people take our flats and our jobs, and nobody dares to say it.", "en") == "en"
    assert detect("Estas personas nos quitan los pisos y el trabajo, y nadie se atreve a decirlo.", "en") == "es"


@pytest.mark.parametrize("text", ["Send them back", "Pest control needed", "No more mosques here"])
def test_a_short_text_is_told_by_the_large_detector(text: str) -> None:
    """Of two of these the small one thinks that they are Swedish and Dutch."""
    assert detect(text, "en") == "en"


def test_names() -> None:
    """A language is called by its name where Antiphon writes it, by its code elsewhere; each has a bank."""
    assert name_of("eu") == "Basque"
    assert name_of("fr") == "fr"
    assert tuple(NAMES) == LANGUAGES
