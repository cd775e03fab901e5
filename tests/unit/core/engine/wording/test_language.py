"""The language of a post: told where it can be, and never guessed."""

import pytest
from lingua import ConfidenceValue, Language

from core.engine.cards.bank import LANGUAGES
from core.engine.wording import language
from core.engine.wording.language import NAMES, detect, language_of_post, name_of


class _Sure:
    """A detector that names one language, with one confidence."""

    def __init__(self, name: str, confidence: float) -> None:
        self._found = ConfidenceValue(getattr(Language, name.upper()), confidence)

    def compute_language_confidence_values(self, _: str) -> list[ConfidenceValue]:
        return [self._found]


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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Das ist ja wohl das Letzte, diese Ausländer nehmen uns die Arbeitsplätze weg.", "de"),
        ("Les étrangers ne viennent ici que pour vivre de nos impôts.", "fr"),
        ("Imigranci przyjeżdżają tu tylko po zasiłki.", "pl"),
        ("Мигранты приезжают сюда только ради пособий.", "ru"),
    ],
)
def test_a_clearly_foreign_post_needs_no_large_detector(monkeypatch: pytest.MonkeyPatch, text: str, told: str) -> None:
    """It is refused within a second, since nothing large is loaded for it."""
    monkeypatch.setattr(language, "_thorough", lambda: pytest.fail("the large detector was asked"))
    assert language_of_post(text, "en") == told


@pytest.mark.parametrize("text", ["Feminism is crap.", "Immigrant", "fuera moros"])
def test_a_post_that_only_looks_foreign_is_still_looked_at_twice(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """What the small detector merely believes, or a word alone, does not settle that nobody here can answer."""
    asked = list[str]()

    class Thorough:
        def compute_language_confidence_values(self, said: str) -> list[object]:
            asked.append(said)
            return []

    monkeypatch.setattr(language, "_thorough", Thorough)
    monkeypatch.setattr(language, "_quick", lambda: _Sure("french", 0.998))
    assert language_of_post(text, "en") is None
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Islam is a cancer on our civilisation.", "en"),
        ("They should ban their religion.", "en"),
        ("J'ai vu hier au cinéma le film Their Finest avec ma sœur et mes cousins de Lyon.", "fr"),
        ("I gay sono malati.", "it"),
    ],
)
def test_words_that_one_language_alone_has_tell_it(text: str, told: str) -> None:
    """Long loanwords make a short English post look French; a title in a foreign post makes it no English one."""
    assert language_of_post(text, "en") == told


@pytest.mark.parametrize("text", ["Send them back", "Pest control needed", "No more mosques here"])
def test_a_short_text_is_told_by_the_large_detector(text: str) -> None:
    """Of two of these the small one thinks that they are Swedish and Dutch."""
    assert detect(text, "en") == "en"


def test_names() -> None:
    """A language is called by its name, by its code where it has none; each that Antiphon writes has a bank."""
    assert name_of("eu") == "Basque"
    assert name_of("fr") == "French"
    assert name_of("qq") == "qq"
    assert tuple(NAMES) == LANGUAGES
