"""Replies to claims in Spanish, Italian and Basque: names agree in each frame, and posts get what answers them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from core.cards.abroad import LANGUAGES, claims, replies_to, with_answers_abroad
from core.cards.answers import MOST, PLACE, Answer
from core.cards.bank import UNCHANGED, Card, Changes, Facet, general_cards, load_stereotypes, prepared_id
from core.cards.routing import shipped_router
from core.models import Intent, TargetGroup
from core.scoring.gates import MAX_SENTENCES
from core.stages.assessing import with_answers_placed
from core.stages.candidates import Candidate
from core.wording.language import detect
from core.wording.targets.names import Name, named, names_abroad
from core.wording.text import sentences

THIEVES = {
    "es": "Cuidado con los gitanos, que roban todo lo que ven.",
    "it": "Attenti agli zingari, rubano tutto quello che vedono.",
    "eu": "Kontuz ijitoekin, ikusten duten guztia lapurtzen dute.",
}
BREAD = {"es": "El pan era más barato cuando yo era joven.", "it": "Il pane costava meno.", "eu": "Ogia merkeagoa zen."}
LONGEST = 400


def offered(text: str, language: str, changes: Changes = UNCHANGED) -> tuple[Card, list[Facet]]:
    """The first card, and what is offered under a post, the best first."""
    cards = general_cards(TargetGroup.OTHER, language)
    first, *others = with_answers_abroad(cards, text, language, shipped_router(), changes)
    assert others == list(cards[1:])
    return first, [facet for facet in first.facets if facet.is_answer]


def every_reply(language: str) -> Iterator[Answer]:
    """All replies in a language."""
    return (answer for some in replies_to(language).values() for answer in some)


def every_filled(language: str) -> Iterator[tuple[Name, str]]:
    """Each reply and what it answers, with each name that it may meet."""
    for answer in every_reply(language):
        for name in names_abroad(language):
            if name.kinds & answer.kinds:
                yield from ((name, text) for text in answer.called(name))


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_what_ships_holds_together(language: str) -> None:
    """Each claim of stereotypes and kinds that exist, with replies of two whole sentences, each once."""
    replies = list(every_reply(language))
    texts = [answer.text for answer in replies]
    assert replies_to(language).keys() == claims().keys()
    assert len(set(texts)) == len(texts) >= len(claims()) > 100
    assert not [text for text in texts if any(sign in text for sign in '0123456789?!"') or not text.endswith(".")]
    filled = [answer.called(next(n for n in names_abroad(language) if n.kinds & answer.kinds))[0] for answer in replies]
    assert not [text for text in filled if len(sentences(text)) != MAX_SENTENCES or detect(text, language) != language]
    known = {one for claim in claims().values() for some in claim.stereotypes for one in some}
    assert known <= load_stereotypes().keys()
    kinds = {kind for name in names_abroad(language) for kind in name.kinds}
    assert all(claim.kinds <= kinds for claim in claims().values())
    assert not [text for _, text in every_filled(language) if PLACE in text or "  " in text or len(text) > LONGEST]


def test_spanish_names_agree() -> None:
    """A name has its article, and no adjective or participle for both genders stands with it."""
    assert all(name.plural.startswith(("los ", "las ")) for name in names_abroad("es"))
    assert {name.plural.split()[0] for name in names_abroad("es") if "women" in name.kinds} == {"las"}
    both = [answer for answer in every_reply("es") if answer.kinds != {"women"}]
    agreeing = re.compile(rf"{re.escape(PLACE)} (?:son|están|sean|estén|han sido|fueron) (?!personas|menos)\w+[oa]s\b")
    assert not [answer.text for answer in both if agreeing.search(answer.text)]
    assert not [text for _, text in every_filled("es") if re.search(r"\b(?:los|las|el|la) (?:los|las)\b", text)]


def test_italian_names_agree() -> None:
    """A name has the article that its first letters ask for, and no preposition that would join with that article."""
    asks_gli = re.compile(r"(?:h?[aeiou]|s[bcdfgklmnpqrtvz]|z|gn|ps)")
    for name in names_abroad("it"):
        article, rest = name.plural.split(maxsplit=1)
        assert article == "le" or article == ("gli" if asks_gli.match(rest) else "i")
    joined = re.compile(r"\b(?:di|a|ad|da|in|su) (?:i|gli|le)\b|\b(?:i|gli|le|dei|degli|delle) (?:i|gli|le)\b")
    assert not [text for _, text in every_filled("it") if joined.search(text)]
    both = [answer for answer in every_reply("it") if answer.kinds != {"women"}]
    agreeing = re.compile(rf"{re.escape(PLACE)} (?:sono|siano|sono stat\w) \w+(?:at|it|ut)[ie]\b")
    assert not [answer.text for answer in both if agreeing.search(answer.text)]
    assert not [answer.text for answer in both if re.search(r"\b(?:essi|esse|tutti loro|tutte loro)\b", answer.text)]


def test_basque_names_take_their_endings() -> None:
    """An ending of the plural follows each name, which ends as it does before one: no "a", a strong r doubled."""
    endings = re.compile(rf"{re.escape(PLACE)}(?:ak|ek|ei|en|ena|ekin|entzat|ez)\b")
    for answer in every_reply("eu"):
        assert len(endings.findall(answer.text)) == answer.text.count(PLACE), answer.text
        assert len(endings.findall(answer.says)) == answer.says.count(PLACE), answer.says
    assert not [name.plural for name in names_abroad("eu") if name.plural.endswith("a")]
    assert not [name.plural for name in names_abroad("eu") if re.search(r"[^r]r$", name.plural)]


@pytest.mark.parametrize(
    ("text", "language", "people"),
    [
        ("putos moros y feminazis", "es", ["los magrebíes", "las feministas"]),
        ("los sin papeles y los menas", "es", ["las personas sin papeles", "los menores migrantes"]),
        ("gli zingari e le ragazze madri", "it", ["i rom", "le madri single"]),
        ("emakumeei eta mairuek", "eu", ["emakume", "magrebtarr"]),
        ("el pan y la sal", "es", []),
    ],
)
def test_whom_a_post_names(text: str, language: str, people: list[str]) -> None:
    """In a respectful name, in the order of the post."""
    assert [name.plural for name in named(text, language)] == people


@pytest.mark.parametrize(("language", "people"), [("es", "los gitanos"), ("it", "i rom"), ("eu", "ijito")])
def test_a_post_gets_the_replies_to_its_claim(language: str, people: str) -> None:
    """In the people's name; what a community took out makes place, and under talk about bread there is none."""
    card, found = offered(THIEVES[language], language)
    assert 1 <= len(found) <= MOST
    texts = [text for facet in found for _, text in facet.texts]
    written = {answer.text for answer in replies_to(language)["thieves"]}
    assert card.originals[texts[0]] in written
    assert people in found[0].says
    assert [facet.near for facet in found] == sorted((facet.near for facet in found), reverse=True)
    assert all(1 <= facet.near <= 2 for facet in found)
    hidden = Changes(hidden=frozenset(prepared_id(language, text) for text in written))
    left = [
        card.originals.get(text) for facet in offered(THIEVES[language], language, hidden)[1] for _, text in facet.texts
    ]
    assert written.isdisjoint(left)
    assert offered(BREAD[language], language)[1] == []


def test_a_demand_is_answered_with_its_claim() -> None:
    """Both are in the reply; it needs both in the post."""
    both = claims()["criminals-deport"]
    assert both.share({"migrants/crime": 0.5, "migrants/deport": 0.4}) == pytest.approx(0.8)
    assert both.share({"migrants/crime": 0.9}) == 0
    assert claims()["criminals"].share({"migrants/crime": 0.5, "poc/crime": 0.25}) == pytest.approx(0.75)


def test_where_no_chance_is_told_replies_to_the_claim_lead() -> None:
    """Nothing says how a prepared reply suits a post there, and those to a stereotype fit under fewer posts."""
    prepared = Candidate("Prepared.", Intent.DENOUNCING, is_prepared=True)
    near = Candidate("Near.", Intent.DENOUNCING, True, facet=Facet("dice que", (), {}, near=1.9, is_answer=True))
    nearer = Candidate("Nearer.", Intent.DENOUNCING, True, facet=Facet("dice", (), {}, near=1.95, is_answer=True))
    placed = sorted(with_answers_placed([prepared, near, nearer]), key=lambda one: one.order)
    assert [one.text for one in placed] == ["Nearer.", "Near.", "Prepared."]
