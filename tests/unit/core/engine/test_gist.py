"""The gist of a post: a stereotype's words, or none; and the group where the reader of posts is not sure of it."""

from dataclasses import replace
from pathlib import Path

from core.engine.cards.router import Router
from core.engine.readers.probe import Probe
from core.engine.reading.gist import with_gist
from core.engine.reading.signals import Signals
from core.models import Action, Reading, TargetGroup
from tests.fakes.engine.brief import reading_of
from tests.fakes.engine.probes import ABOUT, FakeStates, probe_file
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.router import FakeRouting, router_to

UNSURE = Router(FakeRouting({"women/vote": 0.0, "women/office": -0.5}, limit=0.3, told=0.9))
SIGNALS = Signals("en", 0.9, TargetGroup.MIGRANTS, calls_for_violence=False, notes=(), is_sure=True)


async def gisted(router: Router, meaning: str | None = None) -> Reading:
    signals = replace(SIGNALS, target_group=TargetGroup.WOMEN)
    reading = replace(reading_of(group=TargetGroup.WOMEN), implied_meaning=meaning)
    return await with_gist(reading, "Women should never have been given the vote.", router, signals)


async def test_the_gist_comes_from_the_stereotype() -> None:
    """Not from the model, whose words were wrong in half of the posts tried."""
    found = await gisted(router_to("women/vote"), meaning="It claims that young people are not welcome")
    assert found.stereotypes == ("women/vote",)
    assert found.implied_meaning == "It says that women should not have the vote."


async def test_no_gist_is_better_than_a_wrong_one() -> None:
    """Group and severity are told alone; what may answer the post is looked for all the same."""
    assert (await gisted(router_to(), meaning="It claims that women are weak")).implied_meaning is None
    found = await gisted(UNSURE)
    assert (found.stereotypes, found.implied_meaning) == (("women/vote", "women/office"), None)
    silent = replace(reading_of(), recommended_action=Action.STAY_SILENT)
    post = await with_gist(silent, "Nice bread.", router_to("migrants/jobs"), SIGNALS)
    assert (post.stereotypes, post.implied_meaning) == ((), None)


async def test_the_models_words_count_where_they_are_routed_to_the_same() -> None:
    """Two that agree are surer than one."""
    found = await gisted(UNSURE, meaning="It claims that women should not vote")
    assert found.implied_meaning == "It says that women should not have the vote."


async def test_a_stereotype_settles_a_group_that_the_reader_is_not_sure_of() -> None:
    """A reply that stands up for people in general answers nobody."""
    read = readers_saying(group=TargetGroup.MIGRANTS, sure=0.3).posts.read(["x"], "en")[0]
    signals = replace(SIGNALS, target_group=None, signs=read)
    reading = reading_of(group=TargetGroup.OTHER)
    found = await with_gist(reading, "They eat our bread.", router_to("migrants/benefits"), signals)
    assert (found.target_group, found.stereotypes) == (TargetGroup.MIGRANTS, ("migrants/benefits",))
    sure, likely = replace(signals, target_group=TargetGroup.OTHER), Router(FakeRouting({"migrants/benefits": 3.0}))
    kept = await with_gist(reading, "They eat our bread.", likely, sure)
    assert kept.target_group is TargetGroup.OTHER
    moved = await with_gist(reading, "They eat our bread.", router_to("migrants/benefits"), sure)
    assert moved.target_group is TargetGroup.MIGRANTS, (
        "the router is surer than nine in ten, and the reader often errs then"
    )


async def test_a_group_that_the_router_settles_is_answered_even_if_it_is_a_small_one() -> None:
    """Roma people, atheists, old people: what a model cannot place is no group, but what the router places is."""
    read = readers_saying(group=TargetGroup.WOMEN, sure=0.3).posts.read(["x"], "en")[0]
    signals = replace(SIGNALS, target_group=None, signs=read)
    found = await with_gist(
        reading_of(group=TargetGroup.WOMEN), "They steal.", router_to("other/roma-thieves"), signals
    )
    assert (found.target_group, found.stereotypes) == (TargetGroup.OTHER, ("other/roma-thieves",))


async def test_a_call_for_violence_is_told_only_where_the_reading_finds_one() -> None:
    """Nobody is told that lives are precious who only said something mild."""
    post, router = "They should feel what it is like.", router_to("migrants/violence")
    mild = await with_gist(reading_of(), post, router, SIGNALS)
    assert (mild.stereotypes, mild.implied_meaning) == ((), None)
    grave = await with_gist(replace(reading_of(), severity=5), post, router, SIGNALS)
    assert grave.stereotypes == ("migrants/violence",)


async def test_nobody_is_answered_about_a_group_that_was_only_guessed() -> None:
    """A reply about Roma people under a post that is not about them harms both."""
    reading = reading_of(group=TargetGroup.OTHER)
    unsure = replace(SIGNALS, target_group=None, signs=None)
    found = await with_gist(reading, "They all lie.", router_to("other/roma-thieves"), unsure)
    assert (found.stereotypes, found.implied_meaning) == ((), None)


async def test_where_no_stereotype_is_sure_the_two_likeliest_are_guesses() -> None:
    """From a quarter up; none beside one that is sure, and none where silence is advised."""
    odds = {"women/vote": 1.0, "women/office": 0.6, "women/obey": 0.5, "women/home": -4.0}
    unsure = Router(FakeRouting(odds, limit=0.9, told=0.95))
    found = await gisted(unsure)
    assert (found.stereotypes, found.guesses) == ((), ("women/vote", "women/office"))
    likely = Router(FakeRouting({"women/vote": 2.0, "women/office": 0.0}, limit=0.9, told=0.95))
    assert (await gisted(likely)).guesses == ("women/vote",)
    assert (await gisted(router_to("women/vote"))).guesses == ()
    silent = replace(reading_of(), recommended_action=Action.STAY_SILENT)
    assert (await with_gist(silent, "Nice bread.", unsure, SIGNALS)).guesses == ()


async def test_where_the_small_reader_knows_no_language_the_group_is_told_by_what_is_said(tmp_path: Path) -> None:
    """As soon as the probe read the post; before, whatever the model called it counted alone."""
    text = "Nunca debieron darles el voto."
    about = {**ABOUT, "stereotypes": {"es": ABOUT["stereotypes"]["en"]}}
    probe = Probe(FakeStates({text: (3.0, 6.0)}), probe_file(tmp_path / "probe.safetensors", about=about))
    router, said = Router(FakeRouting({}, languages=("es",))), await probe.read(text, "es", 5)
    reading = reading_of(group=TargetGroup.MIGRANTS, language="es")
    for probed, group in ((said, TargetGroup.WOMEN), (None, TargetGroup.MIGRANTS)):
        signals = Signals("es", 0.9, None, calls_for_violence=False, notes=(), probed=probed)
        found = await with_gist(reading, text, router, signals)
        assert found.target_group is group
        assert (found.stereotypes == ("women/vote",)) is (probed is not None)


async def test_where_no_reader_speaks_words_name_the_group_and_a_probe_without_limits_names_none(
    tmp_path: Path,
) -> None:
    """However sure the probe is of another one; the first post is Spanish, the second one Basque."""
    text = "Emakumeek ez lukete botorik izan behar."
    fitted = {"weight": 2.0, "calibration": [1.0, 0.0], "scale": 5.0}
    for least, named in (([0.6, 0.8], TargetGroup.MIGRANTS), ([1.0, 1.0], None)):
        about = {**ABOUT, "stereotypes": {"es": {**fitted, "limits": least}}}
        probe = Probe(FakeStates({text: (3.0, 8.0)}), probe_file(tmp_path / "probe.safetensors", about=about))
        said = await probe.read(text, "es", 5)
        signals = Signals("es", 0.9, named, calls_for_violence=False, notes=(), probed=said)
        reading = replace(reading_of(group=TargetGroup.MIGRANTS), language="es")
        found = await with_gist(reading, text, Router(FakeRouting({}, languages=("es",))), signals)
        assert found.target_group is TargetGroup.MIGRANTS, least
