"""What posts accuse groups of, and that neither a fact nor a reply brings up more."""

import pytest

from core.engine.cards.bank import load_cards
from core.engine.wording.accusations import accusations, brought_in, raised_in, said_of, smears
from core.models import TargetGroup
from kb.starter.facts import STARTER_FACTS, load_facts


@pytest.mark.parametrize(
    ("language", "post", "reply", "expected"),
    [
        ("en", "Headscarves on every bus now.", "Muslim women are as clean as all other passengers.", {"dirt"}),
        ("en", "Muslims stink up the bus.", "Muslim women are as clean as all other passengers.", set()),
        ("en", "Roma steal from every shop.", "The tale that Roma steal children is a lie.", {"child stealing"}),
        ("en", "Roma steal children.", "The tale that Roma steal children is a lie.", set()),
        ("en", "They profit from every war.", "It is untrue that Jews leave the fighting to others.", {"shirking"}),
        ("en", "It was quiet before the mosque came.", "Muslims are no terrorists.", {"terror"}),
        ("en", "They blow themselves up.", "Muslims are no terrorists.", set()),
        ("en", "Two mums next door.", "Lesbians are no danger to children.", {"being dangerous", "danger to children"}),
        ("en", "They do not belong here.", "Migrants belong here as much as you do.", set()),
        ("es", "Otra tienda china en la calle.", "Decir que son sucios es un insulto.", {"dirt"}),
        ("es", "Los chinos son unos guarros.", "Decir que son sucios es un insulto.", set()),
        ("it", "Ci tolgono il lavoro.", "Dare del criminale a chi è immigrato è ingiusto.", {"crime"}),
        ("it", "Sono tutti delinquenti.", "Dare del criminale a chi è immigrato è ingiusto.", set()),
        ("eu", "Umerik nahi ez duena berekoia da.", "Emakumeak ez direla argiak gezurra da.", {"stupidity"}),
        ("eu", "Emakumeak tontoak dira.", "Emakumeak ez direla argiak gezurra da.", set()),
        ("fr", "Ils volent.", "Personne ne naît voleur.", set()),
    ],
)
def test_tells_what_a_reply_brings_in(language: str, post: str, reply: str, expected: set[str]) -> None:
    assert brought_in(reply, post, language) == expected


@pytest.mark.parametrize("language", ["en", "es", "it", "eu"])
def test_the_replies_to_a_stereotype_fit_under_posts_that_put_it_forward(language: str) -> None:
    """Protects that the words near a smear are many enough: plain posts come near what their replies speak of."""
    pairs = [
        bool(brought_in(text, post, language))
        for card in load_cards(language)
        for texts in card.replies.values()
        for text in texts
        for post in card.stereotype.wordings.get(language, ())[:4]
    ]
    assert sum(pairs) <= 0.06 * len(pairs)


@pytest.mark.parametrize("language", ["es", "it", "eu"])
def test_the_other_languages_know_what_english_does(language: str) -> None:
    """But for two that none of their replies speaks of."""
    assert smears("en").keys() - smears(language).keys() == {"dress", "young men"}


@pytest.mark.parametrize(
    ("text", "group", "expected"),
    [
        ("Most believers reject terrorism.", TargetGroup.MUSLIMS, {"terrorism"}),
        ("Newcomers commit fewer crimes than others.", TargetGroup.MIGRANTS, {"crime"}),
        ("Los inmigrantes cometen menos delitos.", TargetGroup.MIGRANTS, {"crime"}),
        ("La schiavitù fu un orrore, e gli schiavi erano persone.", TargetGroup.PEOPLE_OF_COLOUR, {"slavery"}),
        ("Inor ez da bortxatzaile jaiotzen.", TargetGroup.MIGRANTS, {"sexual violence"}),
        ("Hate crimes against newcomers went up.", TargetGroup.MIGRANTS, set()),
        ("Most believers reject terrorism.", TargetGroup.WOMEN, set()),
        ("Slavery was a crime against humanity.", TargetGroup.MIGRANTS, set()),
        ("Newcomers work beside us.", TargetGroup.MIGRANTS, set()),
    ],
)
def test_tells_what_a_text_ties_a_group_to(text: str, group: TargetGroup, expected: set[str]) -> None:
    assert said_of(text, group) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("They are all terrorists.", "terrorism"),
        ("They are dangerous.", "crime"),
        ("Son unos delincuentes.", "crime"),
        ("Sono tutti stupratori.", "sexual violence"),
        ("Denak terroristak dira.", "terrorism"),
        ("They were better off as slaves.", "slavery"),
    ],
)
def test_hears_what_a_post_raises(text: str, expected: str) -> None:
    assert expected in raised_in(text)


def test_hears_nothing_in_a_post_that_raises_nothing() -> None:
    assert raised_in("Take the vote away from them.", "They do not fit in here.") == frozenset()


@pytest.mark.parametrize("name", ["terrorism", "crime", "sexual violence", "slavery"])
def test_some_shipped_facts_are_for_posts_that_raise_it_and_some_are_not(name: str) -> None:
    """Protects that the words still find the facts that they were written for, and leave each group others."""
    facts = [fact for fact in load_facts(STARTER_FACTS) if not fact.is_universal]
    for group in accusations()[name].groups - {TargetGroup.OTHER}:
        about = [said_of(fact.text, group) for fact in facts if fact.target_group is group]
        assert sum(not said for said in about) >= 10, group
    assert any(name in said_of(fact.text, fact.target_group) for fact in facts)
