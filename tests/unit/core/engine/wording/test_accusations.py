"""What posts accuse groups of, and that neither a fact nor a reply brings up more."""

from __future__ import annotations

import pytest

from core.engine.wording.accusations import accusations, raised_in, said_of
from core.models import TargetGroup
from kb.starter.facts import STARTER_FACTS, load_facts


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
