"""A prepared reply speaks of the people whom the post names."""

from __future__ import annotations

import re

import pytest

from core.engine.cards.bank import ArgumentCard, Stereotype, load_cards, prepared_id, prepared_in
from core.engine.cards.names import with_names
from core.engine.wording.target_groups import named
from core.models import Intent, TargetGroup

_NAMED = (
    "Pakistanis", "Poles", "deaf people", "gays", "trans people", "trans women", "Black women", "Muslim women",
    "refugees",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Pakistanis are all the same.", ["Pakistani people"]),
        ("those paki kids again", ["Pakistani children"]),
        ("Muslim women should not be seen.", ["Muslim women"]),
        ("Downies cannot learn anything.", ["people with Down syndrome"]),
        ("Jews hate Muslims.", ["Jews", "Muslims"]),
        ("They should stay where they came from.", []),
        ("AFRICAN  AMERICANS", ["African Americans"]),
        ("the black lads and the gypsy's horse", ["Black men", "Roma people"]),
    ],
)
def test_people_get_a_respectful_name(text: str, names: list[str]) -> None:
    """A slur becomes the name, and two words of which one stands before the other are one name."""
    assert [name.plural for name in named(text)] == names


def card_with(text: str, group: TargetGroup) -> ArgumentCard:
    """A card with one reply."""
    one = Stereotype("a/b", group, {"en": "they are loud"}, {}, (), is_violent=False)
    replies: dict[Intent, tuple[str, ...]] = dict.fromkeys(Intent, ())
    replies[Intent.POSITIVE] = (text,)
    return ArgumentCard("a/b-1", one, "Claim.", "Claim.", None, "needs none", None, replies)


def said(text: str, post: str, group: TargetGroup) -> str:
    """The reply under a post."""
    (card,) = with_names([card_with(text, group)], post, group)
    (found,) = card.replies[Intent.POSITIVE]
    return found


@pytest.mark.parametrize(
    ("text", "post", "group", "found"),
    [
        (
            "People of colour live here. We like people of colour.",
            "Somalis again.",
            TargetGroup.PEOPLE_OF_COLOUR,
            "Somali people live here. We like Somali people.",
        ),
        (
            "Nobody asked. LGBT people are fine.",
            "gays everywhere",
            TargetGroup.LGBT,
            "Nobody asked. Gay people are fine.",
        ),
        ("Gay people marry.", "Gay men cheat.", TargetGroup.LGBT, "Gay men marry."),
        ("Women vote.", "Black women vote wrong.", TargetGroup.WOMEN, "Black women vote."),
        ("Muslims pray.", "Muslim immigrants pray.", TargetGroup.MUSLIMS, "Muslim immigrants pray."),
    ],
)
def test_a_reply_calls_people_as_the_post_does(text: str, post: str, group: TargetGroup, found: str) -> None:
    """Where the post names a part of the group, with a capital only where a sentence begins."""
    assert said(text, post, group) == found


@pytest.mark.parametrize(
    ("text", "post", "group"),
    [
        ("People of colour live here.", "That lot again.", TargetGroup.PEOPLE_OF_COLOUR),
        ("People of colour live here.", "Somalis and Nigerians.", TargetGroup.PEOPLE_OF_COLOUR),
        ("People of colour are judged by their skin.", "Chinese students again.", TargetGroup.PEOPLE_OF_COLOUR),
        ("Disabled people need a ramp.", "Deaf people again.", TargetGroup.DISABILITIES),
        ("Whom LGBT people love is up to them.", "Trans people again.", TargetGroup.LGBT),
        ("Migrants wait for their papers.", "Poles again.", TargetGroup.MIGRANTS),
        ("Migrants' children learn.", "Poles again.", TargetGroup.MIGRANTS),
        ("Muslims pray.", "Pakistanis again.", TargetGroup.MUSLIMS),
        ("Women vote.", "Feminists vote.", TargetGroup.WOMEN),
        ("Jews vote.", "Jews vote.", TargetGroup.JEWS),
        ("Trans women are at home here.", "Trans women again.", TargetGroup.LGBT),
        ("Trans women are at home here.", "Muslim women again.", TargetGroup.WOMEN),
    ],
)
def test_a_reply_keeps_its_words_where_they_may_be_true_of_the_whole_group_alone(
    text: str, post: str, group: TargetGroup
) -> None:
    """And where the post names nobody, two peoples, or people of whom the reply does not speak."""
    assert said(text, post, group) == text


def test_a_reply_is_known_by_what_was_prepared() -> None:
    """A community takes it out, or reviews it, by the id that it has whatever the post says."""
    card = card_with("Migrants are welcome.", TargetGroup.MIGRANTS)
    (shown,) = with_names([card], "Poles again.", TargetGroup.MIGRANTS)
    (text,) = prepared_in("Polish people are welcome.", [shown])
    assert prepared_id("en", shown.originals[text]) == prepared_id("en", "Migrants are welcome.")


def test_every_name_fits_into_the_replies_of_its_group() -> None:
    """No name leaves a sentence without its capital, twice the same word, or a slur of the list."""
    for group in TargetGroup:
        cards = [card for card in load_cards("en") if card.target_group is group]
        for post in _NAMED:
            for card in with_names(cards, post, group):
                for text in card.originals:
                    assert text[0].isupper() or not text[0].isalpha(), text
                    assert not re.search(r"\b(\w+) \1\b", text, re.IGNORECASE), text
