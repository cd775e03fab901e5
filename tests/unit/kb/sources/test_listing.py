"""The published keyword lists, mended where they need it, and what they tell about a title."""

import tomllib
from importlib import resources

import pytest

from core.models import TargetGroup
from kb.sources.listing import groups_in, groups_of, keywords_for, keywords_of, phrases_of

PUBLISHED = tomllib.loads(resources.files("kb.sources").joinpath("keywords.toml").read_text(encoding="utf-8"))


def test_the_published_lists_are_whole() -> None:
    """Protects the lists of Appendix A against a lost line: their lengths as published, duplicates counted."""
    lengths = {group: len(words) for group, words in PUBLISHED["published"].items()}
    assert lengths == {
        "people of colour": 21, "LGBT persons": 21, "persons with disabilities": 13, "Muslims": 11, "Jews": 17,
        "women": 14, "migrants": 18,
    }  # fmt: skip
    assert {theme: len(words) for theme, words in PUBLISHED["themes"].items()} == {
        "hate speech": 16,
        "human rights and law": 12,
    }


@pytest.mark.parametrize("group", TargetGroup)
def test_every_group_has_keywords_each_once_in_lower_case(group: TargetGroup) -> None:
    keywords = keywords_of(group)
    assert keywords
    assert len(set(keywords)) == len(keywords)
    assert all(keyword == " ".join(keyword.lower().split()) for keyword in keywords)
    assert all(group in groups_of(keyword) for keyword in keywords)


def test_words_that_a_list_holds_twice_are_asked_for_once() -> None:
    assert keywords_of(TargetGroup.WOMEN).count("feminism") == 1
    assert len(keywords_of(TargetGroup.WOMEN)) == 12
    assert len(keywords_of(TargetGroup.MUSLIMS)) == 9


def test_the_misspelt_keyword_is_mended() -> None:
    keywords = keywords_of(TargetGroup.OTHER)
    assert "european charter of human rights" in keywords
    assert not any("rigths" in keyword for keyword in keywords)


def test_typographic_apostrophes_become_plain_ones() -> None:
    assert "women's rights" in keywords_of(TargetGroup.WOMEN)


def test_the_group_other_has_the_themes_and_our_words() -> None:
    assert {"hate speech", "human rights", "roma", "indigenous peoples", "ageism", "poverty"} <= set(
        keywords_of(TargetGroup.OTHER)
    )


def test_keywords_of_several_groups_come_in_the_order_of_the_groups_whatever_is_asked() -> None:
    groups = [TargetGroup.JEWS, TargetGroup.WOMEN]
    assert keywords_for(groups) == keywords_for(reversed(groups))
    assert keywords_for(groups)[: len(keywords_of(TargetGroup.WOMEN))] == keywords_of(TargetGroup.WOMEN)


def test_a_keyword_of_two_sides_asks_for_both() -> None:
    assert phrases_of("hiv/aids & gay/lesbian") == ("hiv/aids", "gay/lesbian")
    assert phrases_of("hate speech") == ("hate speech",)


@pytest.mark.parametrize(
    ("title", "groups"),
    [
        ("Violence against women: a survey", {TargetGroup.WOMEN}),
        ("Refugees at sea", {TargetGroup.MIGRANTS}),
        ("Roma and Travellers in six countries", {TargetGroup.OTHER}),
        ("Antisemitism and Islamophobia compared", {TargetGroup.JEWS, TargetGroup.MUSLIMS}),
        ("Traces of an engaged terrace", set()),
    ],
)
def test_a_title_tells_its_groups_by_whole_words(title: str, groups: set[TargetGroup]) -> None:
    """Protects against "race" in "trace" and "gay" in "engaged"."""
    assert groups_in(title) == groups
