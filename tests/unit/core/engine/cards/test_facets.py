"""Which facet of a stereotype a post is about, and the replies that were written for just that."""

from __future__ import annotations

import random
from dataclasses import replace

from core.engine.cards.bank import Changes, Facet, changed, prepared_id
from core.engine.cards.facets import NEAR, with_facets
from core.engine.writing.first_drafts import compose
from core.models import Intent
from tests.fakes.engine.arguments import card_of
from tests.fakes.engine.brief import brief_of
from tests.fakes.engine.embedder import FakeEmbedder

BROAD = "Taxes come off every wage."
QUEUE = Facet(
    "Newcomers fill the waiting room at the doctor's.",
    ("Newcomers fill our doctor's waiting room, there is no seat left.", "Guess who sat in the waiting room again."),
    {Intent.DENOUNCING: ("Someone ill may sit there too.",), Intent.INFORMATIVE: ("Illness brings people there.",)},
)
FLATS = Facet(
    "Newcomers get the flats first.",
    ("All flats here go to newcomers.", "Funny whose name is on the new bell."),
    {Intent.INFORMATIVE: ("A key ends a long wait for any family.",)},
)
CARD = replace(card_of(replies={Intent.INFORMATIVE: (BROAD,)}), facets=(FLATS, QUEUE))
POST = "There is no seat left in our doctor's waiting room, newcomers fill it."
INTENTS = (Intent.DENOUNCING, Intent.INFORMATIVE)


def about(text: str, language: str = "en") -> list[Facet]:
    """The facets that are left on the card."""
    (card,) = with_facets([CARD], text, language, FakeEmbedder())
    return list(card.facets)


def test_a_post_keeps_the_facet_that_it_is_about() -> None:
    """And says how near it is to it; what is far is left out, and other cards stay as they are."""
    (found,) = about(POST)
    assert (found.says, replace(found, near=0.0)) == (QUEUE.says, QUEUE)
    assert NEAR <= found.near <= 1
    assert about("The bread was cheaper when I was young.") == []
    other = card_of("migrants/any-1")
    assert with_facets([other], POST, "en", FakeEmbedder()) == [other]


def test_one_facet_is_kept_over_all_cards() -> None:
    """The nearest one; a reply to a second one would be a guess."""
    farther = [replace(QUEUE, says=f"{QUEUE.says}{end}") for end in (" Cats purr, dogs bark.", " Cats purr.")]
    cards = [replace(CARD, facets=(farther[0], FLATS)), replace(CARD, id="second", facets=(farther[1], QUEUE))]
    first, second = with_facets(cards, POST, "en", FakeEmbedder())
    assert first.facets == ()
    assert [one.says for one in second.facets] == [QUEUE.says]


def test_in_a_language_that_the_embedder_lacks_nothing_is_near() -> None:
    """A cosine there says nothing."""
    assert about(POST, "eu") == []


def test_replies_to_a_facet_come_first_and_say_how_near_it_is() -> None:
    """Those to the stereotype as a whole follow, in the same intents."""
    cards = with_facets([CARD], POST, "en", FakeEmbedder())
    drafts = compose(brief_of(), cards, INTENTS, random.Random(1))
    assert [draft.text for draft in drafts] == [
        "Someone ill may sit there too.",
        "Illness brings people there.",
        BROAD,
    ]
    (facet,) = cards[0].facets
    assert [draft.facet for draft in drafts] == [facet, facet, None]
    assert all(draft.card == cards[0] for draft in drafts)


def test_a_communitys_own_replies_leave_no_room_for_ours_of_the_intent() -> None:
    """They know their people."""
    (card,) = with_facets([CARD], POST, "en", FakeEmbedder())
    own = replace(card, own={Intent.DENOUNCING: ("Not in our village.",)})
    drafts = compose(brief_of(), [own], INTENTS, random.Random(1))
    assert [draft.text for draft in drafts] == ["Illness brings people there.", "Not in our village.", BROAD]


def test_a_community_takes_out_a_reply_to_a_facet() -> None:
    """By its id, like every other prepared text."""
    (text,) = FLATS.replies[Intent.INFORMATIVE]
    assert (Intent.INFORMATIVE, text) in list(CARD.texts)
    (kept,) = changed([CARD], "en", Changes(hidden=frozenset({prepared_id("en", text)})))
    assert text not in {said for _, said in kept.texts}
    assert "Illness brings people there." in {said for _, said in kept.texts}
