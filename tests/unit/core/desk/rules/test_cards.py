"""What a community may write as a card of its own: each refusal says which card, why, and what to do."""

from typing import Any

import pytest

from core.desk.rules.own_cards import WrittenCard, checked_card, restored
from core.engine.cards.bank import load_stereotypes
from core.errors import BadInput
from core.models import Intent, TargetGroup

FACTS = frozenset({"migrants-001"})
CARD: dict[str, Any] = {
    "id": "jobs-here",
    "language": "en",
    "stereotype": "migrants/jobs",
    "argument": "Work that somebody takes up is work that somebody needed done.",
    "no_fact": "needs none",
    "replies": {"positive": ["Whoever works  beside us is one of us."]},
}
OWN: dict[str, Any] = {
    "group": "migrants",
    "gist": "the families on the hill take the water of the town.",
    "wordings": ["No water since they came.", "They drink our wells dry.", "Our water goes up the hill."],
}


def checked(**changes: object) -> WrittenCard:
    """The card with some fields changed; ``None`` leaves one out."""
    row = {name: value for name, value in (CARD | changes).items() if value is not None}
    return checked_card(row, FACTS)


def of_own(**changes: object) -> WrittenCard:
    return checked(stereotype=None, own_stereotype=OWN | changes)


def test_a_card_is_kept_as_drafts_use_it() -> None:
    """Its replies are the community's own, on single lines, and its argument is a claim in its language."""
    made = checked().as_card()
    assert made.card.stereotype is load_stereotypes()["migrants/jobs"]
    assert made.card.own[Intent.POSITIVE] == ("Whoever works beside us is one of us.",)
    assert not any(made.card.replies.values())
    assert (made.language, made.card.claim, made.card.is_translated) == ("en", CARD["argument"], True)


def test_a_stored_card_is_the_same_card() -> None:
    """Its version would otherwise change without an edit, and its review be lost."""
    for card in (checked(), of_own(), checked(fact="migrants-001", no_fact=None, caution="Ask who is meant.")):
        again = restored(card.document)
        assert (again, again.digest) == (card, card.digest)
    assert checked().digest != checked(caution="Ask who is meant.").digest


def test_an_own_stereotype_is_told_in_the_communitys_words() -> None:
    """Without the full stop that the sentence brings; two cards with the same gist answer the same one."""
    one, other = of_own().answered, of_own(wordings=["Hill water.", "Well water.", "Town water."]).answered
    assert one.told == "the families on the hill take the water of the town"
    assert (one.id, one.target_group) == (other.id, TargetGroup.MIGRANTS)
    assert of_own(gist="they take our wells").answered.id != one.id


def test_a_card_on_a_stereotype_that_is_gone_is_still_shown() -> None:
    """A later version may have dropped it; the community's words are not lost."""
    gone = restored(CARD | {"stereotype": "migrants/of-old"}).as_card().card
    assert (gone.stereotype.told, gone.stereotype.wordings) == ("migrants/of-old", {})


@pytest.mark.parametrize(
    ("changes", "why", "remedy"),
    [
        ({"id": "Jobs here"}, "Card Jobs here: id is not allowed", "small letters"),
        ({"language": "fr"}, "does not write 'fr'", "en, es, it, eu"),
        ({"stereotype": "migrants/no-such"}, "no stereotype migrants/no-such", "one of the list"),
        ({"stereotype": None}, "form is not allowed", "describe one as own_stereotype"),
        ({"own_stereotype": OWN}, "form is not allowed", "name either a stereotype"),
        ({"fact": "migrants-001"}, "form is not allowed", "name either a fact"),
        ({"no_fact": "perhaps"}, "no_fact is not allowed", "needs none"),
        ({"no_fact": None, "fact": "migrants-999"}, "no fact migrants-999", "no_fact"),
        ({"argument": "They work. They live here."}, "more than one sentence", "in one"),
        ({"argument": "Nine in ten of our neighbours work."}, "argument states something", "from the evidence"),
        ({"argument": "No retard lives here."}, "argument cannot be added: slur", "no draft may hold it"),
        ({"replies": {}}, "replies is not allowed", "at least 1"),
        ({"replies": {"angry": ["We like them."]}}, "is not allowed", "positive"),
        ({"replies": {"questioning": ["We like them."]}}, "asks nothing", "Ask a question"),
        ({"replies": {"positive": ["Read example.org/a today."]}}, "links to example.org/a", "Take the link out"),
        (
            {"replies": {"positive": ["Ask our neighbour Helen Garrow about it."]}},
            "names a person: Helen Garrow",
            "Leave the name",
        ),
        ({"replies": {"positive": ["Nos alegramos de tener aquí a nuestros vecinos."]}}, "read as English", "language"),
        ({"caution": "very " * 60}, "The caution has 299 characters", "280"),
        ({"extra": "x"}, "extra is not allowed", "leave it out"),
    ],
)
def test_what_may_not_be_said_is_refused(changes: dict[str, object], why: str, remedy: str) -> None:
    """Before anybody reviews it."""
    with pytest.raises(BadInput) as refused:
        checked(**changes)
    assert why in str(refused.value)
    assert remedy in refused.value.remedy


@pytest.mark.parametrize(
    ("changes", "why", "remedy"),
    [
        ({"wordings": ["They drink our wells dry."]}, "own_stereotype.wordings is not allowed", "at least 3"),
        ({"wordings": ["One well.", "one well.", "Two wells."]}, "are the same", "different ones"),
        ({"wordings": ["No well.", "Dry well.", "Helen Garrow took our water."]}, "names a person", "write one like"),
        ({"wordings": ["No well.", "Dry well.", "See https://example.org/a"]}, "holds a link", "Leave it out"),
        ({"wordings": ["No well.", "Dry well.", "w" * 501]}, "501 characters", "500 at most"),
        ({"gist": "they came. They took the water"}, "more than one sentence", "It says that"),
        ({"gist": "retards take the water"}, "slur", "neutrally"),
        ({"gist": "w" * 121}, "121 characters", "120"),
        ({"group": "hill people"}, "own_stereotype.group is not allowed", "migrants"),
    ],
)
def test_an_own_stereotype_leads_to_nobody(changes: dict[str, object], why: str, remedy: str) -> None:
    """Its wordings are kept, and no erasure would find the people in them."""
    with pytest.raises(BadInput) as refused:
        of_own(**changes)
    assert why in str(refused.value)
    assert remedy in refused.value.remedy


def test_a_named_fact_lets_a_card_state_something() -> None:
    """It is the fact that a reader can check then."""
    said = checked(fact="migrants-001", no_fact=None, argument="Nine in ten of our neighbours work.")
    assert said.fact == "migrants-001"
