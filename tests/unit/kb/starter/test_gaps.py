"""The gaps, and which gap a text falls into: none where a fact answers it better."""

from core.models import TargetGroup
from kb.starter.facts import STARTER_FACTS, STARTER_GAPS, Fact, Gap, Gaps, Instead, load_facts, load_gaps
from tests.fakes.engine.embedder import FakeEmbedder


def fact(id: str, group: TargetGroup, *stereotypes: str) -> Fact:
    return Fact(
        id=id,
        target_group=group,
        text="Everybody may park here.",
        stereotypes=stereotypes,
        publisher="Town hall",
        title="Council report",
        year=2024,
        document=None,
        url="https://example.org/report",
        confirmed="publisher",
        caution=None,
        valid_until=None,
    )


FACTS = (fact("women-001", TargetGroup.WOMEN, "cannot lead"), fact("jews-001", TargetGroup.JEWS, "cannot cook soup"))


def gap(group: TargetGroup, stereotype: str) -> Gap:
    return Gap(group, stereotype, "Nobody has counted it.", Instead.QUESTION, ())


# The gap of a text


def test_text_falls_into_its_gap() -> None:
    """Protects that a stereotype without a fact is recognised in other words around it."""
    parking = gap(TargetGroup.WOMEN, "cannot park a car")
    gaps = Gaps([gap(TargetGroup.WOMEN, "dislike chess"), parking], FACTS, FakeEmbedder())
    assert gaps.nearest("Women cannot park their car", TargetGroup.WOMEN) == parking


def test_no_gap_for_another_matter_or_no_words() -> None:
    """Protects that a text about something else falls into no gap, and that no text breaks it."""
    gaps = Gaps([gap(TargetGroup.WOMEN, "cannot park a car")], FACTS, FakeEmbedder())
    for text in ("The bakery opens at seven tomorrow", "", "  ", "...!?"):
        assert gaps.nearest(text, TargetGroup.WOMEN) is None
    assert Gaps([], FACTS, FakeEmbedder()).nearest("Women cannot park", TargetGroup.WOMEN) is None


def test_a_fact_that_answers_better_leaves_no_gap() -> None:
    """Protects facts: a post that a stereotype of a fact is closer to has an answer."""
    parking = gap(TargetGroup.WOMEN, "cannot park a car")
    answered = fact("women-002", TargetGroup.WOMEN, "cannot park a car in the town")
    text = "Women cannot park a car in the town"
    assert Gaps([parking], FACTS, FakeEmbedder()).nearest(text, TargetGroup.WOMEN) == parking
    assert Gaps([parking], (*FACTS, answered), FakeEmbedder()).nearest(text, TargetGroup.WOMEN) is None


def test_group_is_respected() -> None:
    """Protects that gaps and facts of another group do not count, unless the group is unclear."""
    soup = gap(TargetGroup.WOMEN, "cannot cook soup")
    gaps = Gaps([soup], FACTS, FakeEmbedder())
    assert gaps.nearest("Women cannot cook soup", TargetGroup.WOMEN) == soup
    assert gaps.nearest("Women cannot cook soup", TargetGroup.MIGRANTS) is None
    for unclear in (None, TargetGroup.OTHER):
        assert gaps.nearest("Women cannot cook soup", unclear) == soup
        assert gaps.nearest("Jews cannot cook soup", unclear) is None  # a fact answers this one


def test_stereotypes_are_embedded_once() -> None:
    """Protects the time of a post: only the first one waits for the stereotypes."""
    embedder = FakeEmbedder()
    gaps = Gaps([gap(TargetGroup.WOMEN, "cannot park a car")], FACTS, embedder)
    assert embedder.asked == []
    gaps.nearest("first", None)
    asked = len(embedder.asked)
    gaps.nearest("second", None)
    assert embedder.asked[asked:] == ["second"]


# What ships


def test_shipped_gaps_cover_every_group_and_rest_on_lasting_norms() -> None:
    """Protects what the engine falls back on: each group has gaps, and no norm behind one ever expires."""
    facts = {fact.id: fact for fact in load_facts(STARTER_FACTS)}
    gaps = load_gaps(STARTER_GAPS)
    assert len({(gap.target_group, gap.stereotype) for gap in gaps}) == len(gaps)
    assert {gap.target_group for gap in gaps} == set(TargetGroup)
    assert {gap.instead for gap in gaps} == set(Instead)
    assert [norm for gap in gaps for norm in gap.norms if facts[norm].valid_until] == []
    assert [gap for gap in gaps if gap.instead is Instead.NORM and not gap.norms] == []


def test_shipped_gaps_are_no_stereotypes_with_a_fact() -> None:
    """Protects that the two files agree: what a fact answers is no gap."""
    facts = load_facts(STARTER_FACTS)
    answered = {(fact.target_group, words.casefold()) for fact in facts for words in fact.stereotypes}
    gaps = load_gaps(STARTER_GAPS)
    assert [gap for gap in gaps if (gap.target_group, gap.stereotype.casefold()) in answered] == []
