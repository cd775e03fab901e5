"""What of a post may stand above a reply: an exact part of it, and nothing that hurts, accuses or names anybody."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.scoring.quotation import LEAST_CHARACTERS, MOST_CHARACTERS, _neutral_words, is_neutral, quote_of
from core.engine.wording.accusations import raised_in
from core.engine.wording.language import NAMES
from core.engine.wording.slurs import _slurs, slurs_in
from core.engine.wording.target_groups import groups_named, words_for_groups

QUOTED = [
    ("en", "They steal. I see it in my street, and nobody stops them.", "I see it in my street, and"),
    ("en", "Every last one of these vermin was at the market yesterday.", "was at the market yesterday"),
    ("en", " in the street", "in the street"),
    ("en", "THE LIBRARY ALSO HAS A WINDOW, they broke it", "THE LIBRARY ALSO HAS A"),
    ("en", "I don’t want Muslims here. It’s the talk of the town.", "It’s the talk of the town"),
    ("es", "Los moros roban. Lo veo en mi calle y en el parque.", "Lo veo en mi calle y en el parque"),
    ("es", "Ayer en el autobús, un gitano de mierda.", "Ayer en el autobús, un"),
    ("it", "Gli zingari rubano, e oggi in questa strada ancora.", "e oggi in questa strada ancora"),
    ("it", "L’ho visto ieri al mercato, quel negro schifoso.", "visto ieri al mercato"),
    ("eu", "Moroak lapurrak dira, gaur goizean kalean ikusi ditut.", "gaur goizean kalean ikusi ditut"),
    ("eu", "Etorkin zikinak! Atzo autobusean entzun dut.", "Atzo autobusean entzun dut"),
]
UNQUOTED = [
    ("en", "They do not belong here."),
    ("en", "They should all go back where they came from, every one of them."),
    ("en", "Send them all home now"),
    ("en", "kike kike kike"),
    ("en", "Muslims are terrorists and rapists"),
    ("en", "gas the j3ws"),
    ("en", "women belong in the kitchen"),
    ("en", "Once and for all: put them on the train."),
    ("en", "Time to get them out"),
    ("en", "yesterday"),
    ("en", "in the\nstreet"),
    ("en", "Rosa Park was 12"),
    ("es", "Pilar Plaza es una ladrona"),
    ("en", "in  the   street"),
    ("en", "@in the street#"),
    ("en", "see bit.ly/in-the-street"),
    ("en", "at-the-market/in_the_street"),
    ("en", ""),
    ("es", "Fuera los moros de España"),
    ("es", "Hay que echarlos a todos, no son personas."),
    ("es", "Las mujeres a la cocina"),
    ("it", "Via gli zingari da casa nostra"),
    ("it", "Prima gli italiani!"),
    ("it", "Sono tutti ladri e stupratori"),
    ("eu", "Kanpora mairuak gure herritik"),
    ("eu", "Denak hil behar dira"),
]
HATEFUL = (
    *("They should all go back where they came from.", "Every last one of these vermin.", "Muslims are terrorists."),
    *("Fuera moros, son todos unos violadores y ladrones.", "Las feminazis de mierda otra vez en la tele."),
    *("Gli zingari rubano ogni giorno in questo quartiere.", "I negri ci portano solo crimine e malattie."),
    *("Ijitoak lapurrak dira, denak kanpora.", "Maritxu horiek nazka ematen didate beti kalean."),
)
LANGUAGES = tuple(NAMES)
_GROUP_NAMES = sorted(
    {"Muslims", "Jews", "women", "gypsies", "moros", "judíos", "zingari", "ebrei", "mairuak", "juduak"}
)
_slur = st.sampled_from(sorted(_slurs())).flatmap(
    lambda slur: st.sampled_from((slur, slur.upper(), slur.replace("i", "1"), " ".join(slur), ".".join(slur)))
)


@st.composite
def _posts(draw: st.DrawFn) -> tuple[str, str]:
    """A language, and a post of neutral words between all that must not be quoted."""
    language = draw(st.sampled_from(LANGUAGES))
    neutral = st.sampled_from(sorted(_neutral_words()[language]))
    other = st.one_of(
        _slur,
        st.sampled_from((*_GROUP_NAMES, *HATEFUL, "@mill_pond", "#out", "https://evil.example/in-the-street", "93%")),
        st.sampled_from(
            ("not", "no", "non", "ez", "terrorists", "violadores", "stupratori", "Ane Etxeberria", "1 in 3")
        ),
        st.text(max_size=6),
    )
    parts = draw(st.lists(st.one_of(neutral, neutral, neutral, other), max_size=12))
    glue = draw(st.lists(st.sampled_from((" ", " ", " ", ", ", ". ", "\n", "", "-")), min_size=12, max_size=12))
    return language, "".join(part + joint for part, joint in zip(parts, glue, strict=False))


@pytest.mark.parametrize(("language", "text", "quote"), QUOTED)
def test_the_longest_neutral_words_are_quoted(language: str, text: str, quote: str) -> None:
    """As they stand in the post, with its own capitals and commas."""
    assert quote_of(text, language) == quote
    assert quote in text


@pytest.mark.parametrize(("language", "text"), UNQUOTED)
def test_where_all_words_belong_to_the_hate_nothing_is_quoted(language: str, text: str) -> None:
    """Nor a single word, parts of words, or what is not on one line with single spaces."""
    assert quote_of(text, language) == ""


@pytest.mark.parametrize("language", [None, "fr", "de"])
def test_in_another_language_nothing_is_quoted(language: str | None) -> None:
    """Nobody listed what is neutral there."""
    assert quote_of("I saw it in the street yesterday.", language) == ""


def test_of_two_runs_the_longer_is_quoted_and_of_two_alike_the_first() -> None:
    """The same post always has the same quote: what a second person approves is what the first one did."""
    assert quote_of("in my town, they say. In this street, they say", "en") == "In this street"
    assert quote_of("in my town! they? in my shop!", "en") == "in my town"


def test_a_long_run_ends_at_a_whole_word() -> None:
    """What is too long is no quote; its beginning is."""
    quote = quote_of("so then " * 20, "en")
    assert quote == "so then so then so then so then so then"
    assert len(quote) <= MOST_CHARACTERS


@settings(database=None, derandomize=True, max_examples=300)
@given(_posts())
def test_a_quote_is_an_exact_part_of_the_post_and_neutral(made: tuple[str, str]) -> None:
    """Whatever the post is made of: whole words on one line, none of them hateful, none that names or counts."""
    language, text = made
    quote = quote_of(text, language)
    if not quote:
        return
    assert quote in text
    assert LEAST_CHARACTERS <= len(quote) <= MOST_CHARACTERS
    assert set(re.split(", | ", quote.casefold().replace("’", "'"))) <= _neutral_words()[language]
    assert slurs_in(quote) == set() == groups_named(quote) | raised_in(quote)
    assert not re.search(r"[\d@#:/.\n]", quote)
    assert re.search(rf"(?<!\w){re.escape(quote)}(?!\w)", text)


@settings(database=None, derandomize=True, max_examples=200)
@given(st.text(max_size=60), st.sampled_from(LANGUAGES), st.text(max_size=60))
def test_words_between_anything_are_quoted_exactly_or_not_at_all(before: str, language: str, after: str) -> None:
    """Also between letters of every script, signs and invisible characters."""
    text = f"{before}in the street de la calle della strada gaur kalean{after}"
    quote = quote_of(text, language)
    assert quote == "" or (quote in text and is_neutral(quote, language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_word_of_the_list_is_neutral(language: str) -> None:
    """A word that a gate refuses would never be quoted, and one that names a group in any language must not be."""
    for word in sorted(_neutral_words()[language]):
        assert word == word.casefold()
        assert is_neutral(word, language), word
        assert not any(found.fullmatch(word) for row in words_for_groups().values() for found in row.values()), word


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_words_of_the_list_make_a_slur(language: str) -> None:
    """However they stand beside each other; the gates look at the whole quote once more."""
    listed = sorted(_neutral_words()[language])
    for one, other in pairwise([*listed, *listed[::2], *listed[::3]]):
        assert slurs_in(f"{one} {other}") == set(), (one, other)
