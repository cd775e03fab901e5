"""Which stereotype a post is routed to: the likeliest of its group, and none where nobody is sure."""

import pytest

from core.engine.cards.bank import load_stereotypes
from core.engine.cards.router import NONE, Router, outputs_of
from core.models import TargetGroup
from tests.fakes.engine.router import FakeRouting, router_to

POST = "Women should never have been given the vote."


def test_the_likeliest_stereotypes_of_the_group_come_first() -> None:
    """What another group's outputs say does not count: the reader of posts told the group."""
    router = Router(FakeRouting({"women/vote": 4.0, "women/office": 3.0, "migrants/vote": 9.0}, limit=0.2))
    found = router.route(POST, "en", TargetGroup.WOMEN)
    assert [one.stereotype.id for one in found] == ["women/vote", "women/office"]
    assert found[0].probability > found[1].probability
    assert [one.stereotype.id for one in router.route(POST, "en", TargetGroup.MIGRANTS)] == ["migrants/vote"]


def test_no_card_is_better_than_a_wrong_one() -> None:
    """Below the limit the router abstains, and so it does where the post claims what the taxonomy lacks."""
    unsure = Router(FakeRouting({"women/vote": 1.0, "women/office": 0.9}, limit=0.6))
    assert unsure.route(POST, "en", TargetGroup.WOMEN) == []
    assert unsure.read(POST, "en", TargetGroup.WOMEN).routes[0].stereotype.id == "women/vote"
    other = Router(FakeRouting({"women/vote": 2.0, f"women/{NONE}": 5.0}))
    assert other.route(POST, "en", TargetGroup.WOMEN) == []


def test_a_group_is_as_likely_as_its_stereotypes_together() -> None:
    """So that a hint which names nobody is known by what it says."""
    router = Router(FakeRouting({"women/vote": 9.0, "women/office": 9.0, "migrants/vote": 9.0}))
    shares = router.groups(POST, "en")
    assert shares.keys() == set(TargetGroup)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares[TargetGroup.WOMEN] == pytest.approx(2 * shares[TargetGroup.MIGRANTS], rel=0.01)
    assert router.groups(POST, "fr") == {}


def test_at_most_two_are_told() -> None:
    """A card of a third one would hardly answer the post."""
    router = Router(FakeRouting({"women/vote": 3.0, "women/office": 3.0, "women/home": 3.0}, limit=0.1))
    assert len(router.route(POST, "en", TargetGroup.WOMEN)) == 2


@pytest.mark.parametrize("language", ["fr", None])
def test_of_an_unknown_language_nothing_is_told(language: str | None) -> None:
    """The network is not even asked."""
    routing = FakeRouting({"women/vote": 9.0})
    assert Router(routing).read(POST, language, TargetGroup.WOMEN).routes == ()
    assert routing.calls == []


def test_a_post_is_read_once() -> None:
    """The reading, the claims and the drafts all ask where it is routed to."""
    routing = FakeRouting({"women/vote": 9.0})
    router = Router(routing)
    for _ in range(3):
        router.route(POST, "en", TargetGroup.WOMEN)
    assert len(routing.calls) == 1


def test_another_network_reads_the_languages_that_it_is_fitted_in() -> None:
    """And no other, with its own limits; what one says of a text is not taken for what the other says of it."""
    at_home = FakeRouting({"women/vote": 9.0}, languages=("en", "es", "eu"), limit=0.9)
    router = Router(at_home, abroad := FakeRouting({"women/office": 9.0}, languages=("es",), limit=0.8))
    found = {language: router.read(POST, language, TargetGroup.WOMEN) for language in ("en", "es", "eu")}
    assert {language: one.routes[0].stereotype.id for language, one in found.items()} == {
        "en": "women/vote",
        "es": "women/office",
        "eu": "women/vote",
    }
    assert {language: one.least for language, one in found.items()} == {"en": 0.9, "es": 0.8, "eu": 0.9}
    assert router.groups(POST, "fr") == {}
    assert len(abroad.calls) == 1


def test_the_outputs_are_the_stereotypes_and_none_of_each_group() -> None:
    """The cards for any post about a group are no stereotype, so that nothing is routed to them."""
    names = outputs_of(load_stereotypes().values())
    assert len(names) == len(set(names)) == len(load_stereotypes())
    assert sum(name.endswith(f"/{NONE}") for name in names) == len(TargetGroup)
    assert not any(name.endswith("/any") for name in names)
    sure = router_to("women/vote").route(POST, "en", TargetGroup.WOMEN)
    assert [one.stereotype.id for one in sure] == ["women/vote"]
