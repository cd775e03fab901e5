"""Slurs and insults are found under their disguises, and ordinary words are left alone."""

import pytest

from core.engine.cards.bank import LANGUAGES, load_cards
from core.engine.wording.slurs import _slurs, slurs_in

DISGUISED = {
    "as it stands": ["idiot", "IDIOT", "(idiot)", "#idiot", "idiot's", "idiot-like"],
    "digits and signs": ["1diot", "id10t", "1d1ot", "id!ot", "id|ot", "!d!0t"],
    "other alphabets": ["іdіоt", "ıdıot", "іԁiоt", "ιdιοτ"],
    "other letter forms": ["ｉｄｉｏｔ", "𝒾𝒹𝒾ℴ𝓉", "ⓘⓓⓘⓞⓣ"],
    "accents": ["ïdïöt", "ídiot", "idiot\u0301", "i\u0336d\u0336i\u0336o\u0336t\u0336"],
    "unseen characters": ["idi\u200bot", "i\u2060d\u200di\u00adot", "id\u202eiot", "idi\u3164ot"],
    "letters apart": ["i d i o t", "i.d.i.o.t", "i-d-i-o-t", "i_d_i_o_t", "i/d/i/o/t", "i, d, i, o, t"],
    "marks inside": ["id.iot", "idi-ot", "id_iot"],
    "repeated letters": ["idiiiiot", "iiidiot", "idiottttt"],
    "stars": ["id*ot", "i***t", "id**t", "idio*", "idi**"],
    "several at once": ["1.D.1.0.T", "ï d 1 0 t", "IIID10T"],
}

ORDINARY = (
    "Scunthorpe Penistone Essex cockpit assassin assess classic passion grape grapes landscape shiitake raccoon tycoon "
    "cocoon spice spicy auspicious despicable conspicuous homogeneous homosexual homonym homes cucumber scumble "
    "crippling "
    "japan japanese snigger niggle denigrate Niger Nigeria Nigerian Montenegro puttanesca amputation computation "
    "reputation dispute Moroccan Morocco amoroso troika Detroit Mongolia Pakistan Pakistani retardant invade invasion "
    "Yiddish spectacles idiom idiosyncratic bastion perverse bitcoin Dickens Prague vermicelli parasitic parasitology "
    "buck shift shirt Matsushita Hitchcock arsenal basement analyse therapist Cummings mass"
).split()

ORDINARY_TEXTS = (
    "Our café is open from 5 to 7, and a coffee costs $2.50.",
    "I am a 1st-year student, e.g. in the U.K. or the U.S.A.",
    "The hotel has 5* rooms and **bold** prices*.",
    "It's 2 * 3 * 4, and a / b is what they said.",
    "Wow!great and no|pipes are typing mistakes.",
    "Sooooo good to have you here, mooore of this!",
    "The co-op on the corner re-opened, and the well-being of all grew.",
    "Gracias a todos por estar aquí con vuestros niños.",
    "È una città bellissima, e ci vivono persone di ogni età.",
    "Ongi etorri gure auzora, lagunok! Jende asko dago hemen.",
    "A spoof is no proof, and I thought of a wool coat.",
)

IN_FOUR_LANGUAGES = {
    "en": "downies asshole libtards spaz rapefugees sodomites illegals",
    "es": "negratas subnormales maricas travelos panchitos",
    "it": "froci culattoni ricchioni terroni zoccola",
    "eu": "maritxu marikoi mongoliko",
}


@pytest.mark.parametrize(("how", "text"), [(how, text) for how, texts in DISGUISED.items() for text in texts])
def test_a_disguise_is_undone(how: str, text: str) -> None:
    """A slur stays one however it is spelled."""
    assert slurs_in(f"Only an {text} would say so."), how


@pytest.mark.parametrize(
    ("language", "slur"), [(language, slur) for language, all_ in IN_FOUR_LANGUAGES.items() for slur in all_.split()]
)
def test_slurs_of_each_language_are_known(language: str, slur: str) -> None:
    """In a text of their language as in one whose language nobody could tell."""
    assert slurs_in(f"«{slur}», 123.", language) == slurs_in(slur) == {slur}


def test_the_slur_is_named() -> None:
    """What is found is the word of the list, so that the count can be checked."""
    assert slurs_in("What an 1d1ot, what m0r0ns!") == {"idiot", "morons"}


@pytest.mark.parametrize("word", ORDINARY)
def test_an_ordinary_word_is_left_alone(word: str) -> None:
    """A slur inside another word is none."""
    assert slurs_in(f"We spoke of {word} today.") == set()
    assert slurs_in(word.upper()) == set()


@pytest.mark.parametrize("text", ORDINARY_TEXTS)
def test_an_ordinary_text_is_left_alone(text: str) -> None:
    """Digits, stars, stretched words and abbreviations are no disguise by themselves."""
    assert slurs_in(text) == set()


def test_a_word_may_be_ordinary_in_one_language() -> None:
    """What is a slur in English may be a colour or an animal elsewhere; where the language is unknown it is found."""
    exempt = {language: _slurs() - _slurs(language) for language in LANGUAGES}
    assert exempt["en"] == set()
    for language in ("es", "it", "eu"):
        assert exempt[language]
        for word in exempt[language]:
            assert slurs_in(f"({word})") == slurs_in(f"({word})", "en") == {word}
            assert slurs_in(f"({word})", language) == set()


def test_every_listed_word_is_found() -> None:
    """Each word of the list can be matched at all: folded, and one word."""
    assert {slur for slur in _slurs() if slur not in slurs_in(f"so {slur} then")} == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_prepared_bank_has_none(language: str) -> None:
    """No list of slurs may silently empty the bank, and nobody attacked reads a slur once more in the reply."""
    texts = [text for card in load_cards(language) for _, text in card.texts]
    assert [text for text in texts if slurs_in(text, language)] == []


def test_no_text_has_no_slur() -> None:
    """Nothing, white space and signs are harmless."""
    assert slurs_in("") == slurs_in(" \n\t") == slurs_in("*** !!! ...") == set()
