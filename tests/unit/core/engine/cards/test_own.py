"""A community's own cards and stereotypes: which posts they answer, and that they come first."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from core.engine.cards.bank import ArgumentCard, cards_on, general_cards, load_stereotypes
from core.engine.cards.own import (
    OwnCard,
    in_need_of_source,
    own_stereotype,
    put_forward,
    with_own_cards,
    with_own_stereotypes,
)
from core.models import Action, Intent, Reading, TargetGroup
from tests.fakes.engine.brief import reading_of
from tests.fakes.engine.embedder import FakeEmbedder

GIST = "the families on the hill take the water"
WORDINGS = (
    "Since the hill people came there is no water left in our wells.",
    "Up there on the hill they drink our wells dry.",
    "Our water runs up the hill to strangers.",
)
HILL = own_stereotype("en", TargetGroup.MIGRANTS, GIST, WORDINGS)
CLOSE_POST = "No water left in our wells since the hill people came!"
FAR_POST = "The bread was cheaper when I was young."


def own_card(stereotype: str = "", language: str = "en", **changes: object) -> OwnCard:
    """A community's card, on its own stereotype or on one of ours."""
    own = MappingProxyType({intent: ("Neighbours share.",) if intent is Intent.POSITIVE else () for intent in Intent})
    card = ArgumentCard(
        id="water",
        stereotype=load_stereotypes()[stereotype] if stereotype else HILL,
        argument="The water is for everybody.",
        claim="The water is for everybody.",
        fact=None,
        no_fact="needs none",
        caution=None,
        replies=dict.fromkeys(Intent, ()),
        own=own,
    )
    return OwnCard(language, replace(card, **changes))  # type: ignore[arg-type]


def routed(text: str, reading: Reading, *groups: TargetGroup) -> Reading:
    """The reading of a post where a community has a card on its own stereotype."""
    return with_own_stereotypes(reading, text, [own_card()], FakeEmbedder(), groups)


def test_a_post_close_to_the_wordings_is_told_in_the_communitys_words() -> None:
    """It comes before what the router found, and settles the group."""
    reading = replace(reading_of(), stereotypes=("migrants/jobs",))
    found = routed(CLOSE_POST, reading)
    assert found.stereotypes == (HILL.id, "migrants/jobs")
    assert found.implied_meaning == f"It says that {GIST}."
    unsure = routed(CLOSE_POST, replace(reading_of(group=TargetGroup.OTHER), stereotypes=("other/roma-thieves",)))
    assert (unsure.target_group, unsure.stereotypes) == (TargetGroup.MIGRANTS, (HILL.id,))


def test_a_post_that_is_not_close_stays_as_it_was_read() -> None:
    """No card is better than a wrong one; nor is anything asked of the embedder where nobody wrote a card."""
    reading = replace(reading_of(), stereotypes=("migrants/jobs",))
    assert routed(FAR_POST, reading) == reading
    assert routed(CLOSE_POST, reading, TargetGroup.WOMEN) == reading
    embedder = FakeEmbedder()
    assert with_own_stereotypes(reading, CLOSE_POST, [own_card("migrants/jobs")], embedder) == reading
    assert embedder.asked == []


def test_a_shipped_stereotype_that_is_as_close_keeps_the_post() -> None:
    """A few wordings lie near much that is said of a group; only what is clearly nearer counts."""
    wording = load_stereotypes()["migrants/jobs"].wordings["en"][0]
    rival = own_stereotype("en", TargetGroup.MIGRANTS, "they take work", (f"{wording} Really really.", *WORDINGS))
    assert put_forward(f"Well then: {wording}", "en", [rival], FakeEmbedder()) == []
    assert put_forward(CLOSE_POST, "en", [rival], FakeEmbedder()) == [rival]


def test_no_gist_is_told_where_silence_is_advised() -> None:
    """Who objects to a stereotype writes much like those who repeat it."""
    silent = replace(reading_of(), recommended_action=Action.STAY_SILENT, implied_meaning=None)
    found = routed(CLOSE_POST, silent)
    assert (found.stereotypes, found.implied_meaning) == ((HILL.id,), None)


def test_in_a_language_that_the_embedder_lacks_only_a_copy_counts() -> None:
    """Its vectors mean nothing there. A raid repeats a post with small changes, whatever its group is taken for."""
    wording = "Desde que llegaron los de la colina no queda agua en el pueblo para nadie más."
    hill = own_stereotype("es", TargetGroup.MIGRANTS, "los de la colina se llevan el agua", (wording,) * 3)
    embedder = FakeEmbedder()
    copy = f"{wording.upper()}!!!"
    assert put_forward(copy, "es", [hill], embedder, [TargetGroup.WOMEN]) == [hill]
    assert put_forward("Los de la colina no dejan agua en el pueblo.", "es", [hill], embedder) == []
    assert put_forward(copy, "en", [hill], embedder) == []
    assert embedder.asked == []


def test_the_cards_of_one_stereotype_share_their_wordings() -> None:
    """Two people of a community may each have collected some."""
    others = own_stereotype("en", TargetGroup.MIGRANTS, GIST, WORDINGS[1:2] * 3)
    cards = [OwnCard("en", replace(own_card().card, stereotype=others, id="more")), own_card()]
    found = with_own_stereotypes(reading_of(), CLOSE_POST, cards, FakeEmbedder())
    assert found.stereotypes == (HILL.id,)


def test_the_communitys_cards_come_before_ours() -> None:
    """On each stereotype, in the language of the draft; the cards for any post about the group stay last."""
    ours = [*cards_on("migrants/jobs", "en"), *general_cards(TargetGroup.MIGRANTS, "en")]
    own = [
        own_card("migrants/any", id="any"),
        own_card("migrants/jobs", id="jobs"),
        own_card(),
        own_card("migrants/crime", id="crime"),
        own_card("migrants/jobs", "es", id="empleo"),
    ]
    found = [card.id for card in with_own_cards(ours, own, [HILL.id, "migrants/jobs"], "en")]
    jobs = [card.id for card in cards_on("migrants/jobs", "en")]
    general = [card.id for card in general_cards(TargetGroup.MIGRANTS, "en")]
    assert found == ["water", "jobs", *jobs, "any", *general]


@pytest.mark.parametrize("fact", [None, "migrants-001"])
def test_what_a_card_states_by_its_fact_needs_a_receipt(fact: str | None) -> None:
    """The people who read the draft see whether the evidence bears it out."""
    stated = "Nine in ten of our neighbours work."
    card = own_card(fact=fact, claim=stated).card
    assert in_need_of_source([card], "en") == (frozenset({stated}) if fact else frozenset())
