"""What a reply brings in: a smear that nothing in the post comes near."""

from __future__ import annotations

import pytest

from core.engine.cards.bank import load_cards
from core.engine.wording.smears import brought_in, smears


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
