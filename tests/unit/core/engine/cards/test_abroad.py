"""Replies in Spanish, Italian and Basque: names stand as each language has them, and posts get what answers them."""

import re
from collections.abc import Iterator

import numpy as np
import pytest

from core.engine.cards.abroad import (
    LANGUAGES,
    MATRICES,
    chance_of_card,
    chances_in,
    file_of,
    shipped,
    with_answers,
)
from core.engine.cards.answers import MOST, PLACE, Answer, answers, shipped_vectors
from core.engine.cards.bank import UNCHANGED, ArgumentCard, Changes, cards_on, general_cards, prepared_id
from core.engine.cards.router import shipped_router
from core.engine.wording.accusations import brought_in
from core.engine.wording.target_groups import named, unnamed
from core.engine.wording.text import sentences
from core.models import Intent, TargetGroup

POSTS = {
    "es": "Los rumanos son todos unos ladrones.",
    "it": "I rumeni sono tutti ladri.",
    "eu": "Errumaniar guztiak lapurrak dira.",
}
ANSWERED = POSTS | {"eu": "Feministek gizonak gorroto dituzte, berdintasuna aitzakia da."}
"""Such posts to which there is a likely reply."""
NAMED = {"es": "los rumanos", "it": "i rumeni", "eu": "errumaniarr"}
BREAD = {"es": "El pan estaba más barato.", "it": "Il pane costava meno.", "eu": "Ogia merkeagoa zen."}
NAMES = {
    "es": "rumanos, gitanas, mujeres, judío, sordos",
    "it": "rumeni, l'albanese, donne, ebreo, sordi",
    "eu": "errumaniarrak, emakumeek, judua, gorrak",
}
LONGEST = 430


def offered(
    text: str, language: str, changes: Changes = UNCHANGED, intents: tuple[Intent, ...] = tuple(Intent)
) -> ArgumentCard:
    """The first card, with what is offered under a post."""
    cards = general_cards(TargetGroup.OTHER, language)
    first, *others = with_answers(cards, text, language, shipped_router(), changes, intents)
    assert others == list(cards[1:])
    return first


def every_filled(language: str) -> Iterator[tuple[Answer, str]]:
    """Each reply and what it answers, with each name of a text that it may meet."""
    names = named(NAMES[language], language)
    for answer in answers(file_of(language)):
        for name in names:
            if name.kinds & answer.kinds:
                yield from ((answer, text) for text in answer.called(name))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_ships_holds_together(language: str) -> None:
    """A place for a name only where kinds say of whom the reply is true; vectors for each; chances that fall."""
    every, vectors = answers(file_of(language)), shipped(language)
    texts = [answer.text for answer in every]
    assert len(set(texts)) == len(texts) > 500
    assert all((PLACE in answer.text) == bool(answer.kinds) and not (answer.kinds and answer.who) for answer in every)
    assert not [text for text in texts if not text.endswith(".") or re.search(r'[0-9"“]', text)]
    assert not [text for text in texts if len(text) > LONGEST or len(sentences(text)) > 3]
    assert all(vectors.held[name].shape == (len(every), vectors.shorter[name].shape[1]) for name in MATRICES)
    assert vectors.rates.shape == (len(every),)
    shares = [limit.publishable for limit in vectors.limits]
    assert shares == sorted(shares, reverse=True)
    assert not [text for _, text in every_filled(language) if PLACE in text or "  " in text]


def test_basque_names_take_their_endings() -> None:
    """An ending of the plural follows each place for a name."""
    endings = re.compile(rf"{re.escape(PLACE)}(?:ak|ek|ei|en|ena|ekin|entzat|engan|engatik|ez)\b")
    for answer in answers(file_of("eu")):
        assert len(endings.findall(answer.text)) == answer.text.count(PLACE), answer.text
        assert len(endings.findall(answer.says)) == answer.says.count(PLACE), answer.says


@pytest.mark.parametrize(
    ("language", "text", "called"),
    [
        (
            "es",
            "{people} trabajan. La vida de {people} es suya.",
            "Los rumanos trabajan. La vida de los rumanos es suya.",
        ),
        ("it", "{people} lavorano. La vita di {people} è loro.", "I rumeni lavorano. La vita dei rumeni è loro."),
        ("it", "A {people} si deve rispetto.", "Ai rumeni si deve rispetto."),
        ("eu", "{people}ek lan egiten dute.", "Errumaniarrek lan egiten dute."),
    ],
)
def test_a_name_stands_as_its_language_has_it(language: str, text: str, called: str) -> None:
    """With its article, contracted in Italian, or before its ending; with a capital where a sentence begins."""
    (name,) = named(POSTS[language], language)
    assert (name.plural, name.said) == ("Romanian people", NAMED[language])
    answer = Answer(text, "", Intent.DENOUNCING, TargetGroup.MIGRANTS, kinds=name.kinds)
    assert answer.called(name)[0] == called


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_are_found_in_their_forms(language: str) -> None:
    """Masculine and feminine, singular and plural, behind an apostrophe, and not inside of another word."""
    assert len(named(NAMES[language], language)) == len(NAMES[language].split(","))
    assert named(BREAD[language], language) == []
    assert unnamed(POSTS[language], language) not in {POSTS[language], POSTS[language].lower()}
    (english,) = {name.plural for name in named(POSTS[language], language)}
    assert english in {name.plural for name in named("romanians")}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_post_gets_the_replies_that_are_likeliest(language: str) -> None:
    """In the people's name, of the wanted intents, without what a community took out; under talk about bread none."""
    first = offered(ANSWERED[language], language)
    chances = [one.chance for one in first.answers]
    assert 1 <= len(chances) <= MOST
    assert chances == sorted(chances, reverse=True)
    assert min(chances) >= shipped(language).least
    assert not [one for one in first.answers if brought_in(one.text, ANSWERED[language], language)]
    said = first.originals[first.answers[0].text]
    without = offered(ANSWERED[language], language, Changes(hidden=frozenset({prepared_id(language, said)})))
    assert said not in without.originals.values()
    intent = first.answers[0].intent
    others = tuple(one for one in Intent if one is not intent)
    assert intent not in {one.intent for one in offered(ANSWERED[language], language, intents=others).answers}
    assert offered(BREAD[language], language).answers == ()


def test_nobody_is_called_by_another_name() -> None:
    """A reply about people whom the post does not name is not offered where it names somebody."""
    for language in LANGUAGES:
        names = named(ANSWERED[language], language)
        for one in offered(ANSWERED[language], language).answers:
            answer = next(
                answer
                for answer in answers(file_of(language))
                if one.text in {answer.text, *(answer.called(name)[0] for name in names)}
            )
            assert not answer.who or answer.of(names)


def test_chances_are_those_of_the_language() -> None:
    """A card's line for any post about a group is hardly ever right; of English cards another model tells."""
    assert chances_in("es") is shipped("es")
    assert chances_in("en") is chances_in("fi") is chances_in(None) is shipped_vectors()
    (general, *_), (on_it, *_) = general_cards(TargetGroup.MIGRANTS, "es"), cards_on("migrants/crime", "es")
    post = "Los inmigrantes son unos ladrones."
    of_any, of_one = (chance_of_card(card.stereotype, post, "es") for card in (general, on_it))
    assert of_any < of_one < 1
    assert chance_of_card(on_it.stereotype, POSTS["es"].replace("rumanos", "vecinos"), "es") == of_any
    assert of_any < shipped("es").least


def test_features_tell_who_is_meant() -> None:
    """Whose name the reply holds, and that a post names nobody, stand beside the cosines."""
    of_named, of_none = (
        shipped("es").features(text, "es", named(text, "es"), shipped_router()) for text in (POSTS["es"], BREAD["es"])
    )
    assert of_named.shape == (len(answers(file_of("es"))), 8)
    assert (np.abs(of_named[:, :4]) <= 1.01).all()
    assert of_named[:, 5].any()
    assert not of_none[:, 5].any()
    assert of_none[:, 6].all()
