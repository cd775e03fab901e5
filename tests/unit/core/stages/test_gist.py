"""The gist of a post: a stereotype's words, or none; and the group where the reader of posts is not sure of it."""

from __future__ import annotations

from dataclasses import replace

from core.cards.routing import Router
from core.models import Action, Reading, TargetGroup
from core.stages.reading import with_gist
from core.stages.signals import Signals
from tests.fakes.engine.brief import reading_of
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.router import FakeRouting, router_to

SIGNALS = Signals("en", 0.9, TargetGroup.MIGRANTS, calls_for_violence=False, notes=(), is_sure=True)


def gisted(router: Router, meaning: str | None = None, **signs: object) -> Reading:
    """The reading of a post on women, with its gist."""
    signals = replace(SIGNALS, target_group=TargetGroup.WOMEN, **signs)  # type: ignore[arg-type]
    reading = replace(reading_of(group=TargetGroup.WOMEN), implied_meaning=meaning)
    return with_gist(reading, "Women should never have been given the vote.", router, signals)


def test_the_gist_comes_from_the_stereotype() -> None:
    """Not from the model, whose words were wrong in half of the posts tried."""
    found = gisted(router_to("women/vote"), "It claims that young people are not welcome")
    assert found.stereotypes == ("women/vote",)
    assert found.implied_meaning == "It says that women should not have the vote."


def test_no_gist_is_better_than_a_wrong_one() -> None:
    """Group and severity are told alone; what may answer the post is looked for all the same."""
    assert gisted(router_to(), "It claims that women are weak").implied_meaning is None
    unsure = Router(FakeRouting({"women/vote": 0.0, "women/office": -0.5}, limit=0.3, told=0.9))
    assert (gisted(unsure).stereotypes, gisted(unsure).implied_meaning) == (("women/vote", "women/office"), None)


def test_the_models_words_count_where_they_are_routed_to_the_same() -> None:
    """Two that agree are surer than one."""
    unsure = Router(FakeRouting({"women/vote": 0.0, "women/office": -0.5}, limit=0.3, told=0.9))
    assert gisted(unsure, "It claims that women should not vote").implied_meaning is not None
    post = with_gist(
        replace(reading_of(), recommended_action=Action.STAY_SILENT), "Nice bread.", router_to("migrants/jobs"), SIGNALS
    )
    assert (post.stereotypes, post.implied_meaning) == ((), None)


def test_a_stereotype_settles_a_group_that_the_reader_is_not_sure_of() -> None:
    """A reply that stands up for people in general answers nobody."""
    read = readers_saying(group=TargetGroup.MIGRANTS, sure=0.3).posts.read(["x"], "en")[0]
    signals = replace(SIGNALS, target_group=None, signs=read)
    reading = reading_of(group=TargetGroup.OTHER)
    found = with_gist(reading, "They eat our bread.", router_to("migrants/benefits"), signals)
    assert (found.target_group, found.stereotypes) == (TargetGroup.MIGRANTS, ("migrants/benefits",))
    sure = replace(signals, target_group=TargetGroup.OTHER)
    assert with_gist(reading, "They eat our bread.", router_to("migrants/benefits"), sure).target_group == "other"


def test_a_call_for_violence_is_told_only_where_the_reading_finds_one() -> None:
    """Nobody is told that lives are precious who only said something mild."""
    post, router = "They should feel what it is like.", router_to("migrants/violence")
    mild = with_gist(reading_of(), post, router, SIGNALS)
    assert (mild.stereotypes, mild.implied_meaning) == ((), None)
    assert with_gist(replace(reading_of(), severity=5), post, router, SIGNALS).stereotypes == ("migrants/violence",)


def test_nobody_is_answered_about_a_group_that_was_only_guessed() -> None:
    """A reply about Roma people under a post that is not about them harms both."""
    reading = reading_of(group=TargetGroup.OTHER)
    unsure = replace(SIGNALS, target_group=None, signs=None)
    found = with_gist(reading, "They all lie.", router_to("other/roma-thieves"), unsure)
    assert (found.stereotypes, found.implied_meaning) == ((), None)
