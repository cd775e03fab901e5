"""The groups that a text names, and which of them it attacks."""

import tomllib
from importlib import resources

import pytest

from core.engine.reading.signals import attacked_group
from core.engine.wording.language import NAMES
from core.engine.wording.target_groups import groups_named, named, undisguised, words_for_groups
from core.engine.wording.text import MAX_POST_CHARACTERS
from core.models import TargetGroup


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Trans people are everywhere now.", "en", {TargetGroup.LGBT}),
        ("Africans should be sent home.", "en", {TargetGroup.PEOPLE_OF_COLOUR}),
        ("Somebody in a wheelchair has no place on stage.", "en", {TargetGroup.DISABILITIES}),
        ("Los inmigrantes nos quitan el trabajo.", "es", {TargetGroup.MIGRANTS}),
        ("Le moschee vanno chiuse.", "it", {TargetGroup.MUSLIMS}),
        ("Emakumeek etxean egon behar dute.", "eu", {TargetGroup.WOMEN}),
        ("Muslim women are oppressed.", "en", {TargetGroup.MUSLIMS, TargetGroup.WOMEN}),
        ("You are born a man or a woman, and that is that.", "en", {TargetGroup.LGBT}),
        ("Se nace hombre o se nace mujer.", "es", {TargetGroup.LGBT}),
        ("Si nasce uomo o donna, e basta.", "it", {TargetGroup.LGBT}),
        ("Gizon edo emakume jaiotzen gara.", "eu", {TargetGroup.LGBT}),
        ("Black women run this town.", "en", {TargetGroup.PEOPLE_OF_COLOUR}),
        ("The bus was late again.", "en", set()),
        ("The transport is bad and the jewel is blue.", "en", set()),
        ("Los judíos.", None, {TargetGroup.JEWS}),
    ],
)
def test_names_groups(text: str, language: str | None, expected: set[TargetGroup]) -> None:
    assert groups_named(text, language) == expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Pakistanis are all the same.", ["Pakistani people"]),
        ("those paki kids again", ["Pakistani children"]),
        ("Muslim women should not be seen.", ["Muslim women"]),
        ("Downies cannot learn anything.", ["people with Down syndrome"]),
        ("Jews hate Muslims.", ["Jews", "Muslims"]),
        ("They should stay where they came from.", []),
        ("boys with nail polish, and French fries on a black belt", []),
        ("my nail polish, and Polish builders", ["Polish workers"]),
        ("the Chinese black market, a 'blind' man", ["Chinese people", "blind people"]),
        ("the Chinese black market women", ["Chinese people", "women"]),
        ("no more people with epilepsy here", ["people with epilepsy"]),
        ("AFRICAN  AMERICANS", ["African Americans"]),
        ("the black lads and the gypsy's horse", ["Black men", "Roma people"]),
    ],
)
def test_people_get_a_respectful_name(text: str, names: list[str]) -> None:
    """A slur becomes the name, and two words of which one stands before the other are one name."""
    assert [name.plural for name in named(text)] == names


def test_the_list_of_names_holds_together() -> None:
    """Each form is of one name and begins with a word; whom people are part of stands in the list."""
    table = tomllib.loads(resources.files("core.engine.wording").joinpath("data/names.toml").read_text())
    forms = [form for row in table["name"] for form in (row["plural"].casefold(), *row["forms"])]
    assert len(forms) == len(set(forms)) > 7_000
    assert not [form for form in (*forms, *table["things"]) if not form[0].isalnum()]
    assert set(table["things"]).isdisjoint(forms)
    plurals = {row["plural"] for row in table["name"]}
    assert not [row["plural"] for row in table["name"] if not plurals.issuperset(row.get("within", ()))]


@pytest.mark.parametrize(
    ("text", "language", "plain"),
    [
        ("They are led by the J*ws.", "en", "They are led by the Jews."),
        ("the m*slims and the musl1ms", "en", "the muslims and the muslims"),
        ("bl@cks, w0men, g@ys", "en", "blacks, women, gays"),
        ("los jud*os", "es", "los judíos"),
        ("gli ebr3i e i m*sulmani", "it", "gli ebrei e i musulmani"),
        ("emak*meak", "eu", "emakumeak"),
        ("les musulm4ns, the J*ws", None, "les musulmans, the Jews"),
    ],
)
def test_a_disguised_name_is_spelled_out(text: str, language: str | None, plain: str) -> None:
    """Stars, digits and signs stand for letters; what follows the known part of a name stays."""
    assert undisguised(text, language) == plain


@pytest.mark.parametrize(
    "text",
    [
        "COVID19 and 5G",
        "a 5* hotel, 2 * 3",
        "what the f*ck",
        "j**",
        "A1B2@example.org",
        "x" * 40 + "*",
        "**bold** text",
    ],
)
def test_what_hides_no_group_is_left_as_it_stands(text: str) -> None:
    assert undisguised(text, "en") == text


def test_takes_a_known_language_at_its_word() -> None:
    assert groups_named("Ho visto il mio rom preferito.", "it") == {TargetGroup.OTHER}
    assert groups_named("The rom chip is broken.", "en") == set()


@pytest.mark.parametrize("language", list(NAMES))
def test_knows_words_for_each_group_in_each_language(language: str) -> None:
    assert set(words_for_groups()[language]) == set(TargetGroup)


def test_the_head_decides_where_it_is_sure() -> None:
    text = "Women who convert to Islam are traitors."
    assert attacked_group(text, "en", {TargetGroup.WOMEN: 0.2, TargetGroup.MUSLIMS: 0.8}) is TargetGroup.MUSLIMS


def test_a_single_named_group_decides_where_the_head_is_not() -> None:
    text = "Trans people are everywhere now."
    assert attacked_group(text, "en", {TargetGroup.OTHER: 0.7, TargetGroup.LGBT: 0.3}) is TargetGroup.LGBT
    assert attacked_group(text, "en", {TargetGroup.WOMEN: 0.4, TargetGroup.LGBT: 0.3}) is TargetGroup.LGBT


def test_nobody_is_told_where_neither_is_sure() -> None:
    assert attacked_group("They must go.", "en", {TargetGroup.WOMEN: 0.4, TargetGroup.MIGRANTS: 0.3}) is None
    assert attacked_group("They must go.", "eu", {}) is None
    assert (
        attacked_group("They must go.", "en", {TargetGroup.OTHER: 0.7, TargetGroup.MIGRANTS: 0.3}) is TargetGroup.OTHER
    )


def test_no_more_is_read_than_a_post_may_hold() -> None:
    """However long a text is that somebody sends."""
    assert groups_named("Muslims came " + "a " * MAX_POST_CHARACTERS) == {TargetGroup.MUSLIMS}
    assert groups_named("a " * MAX_POST_CHARACTERS + "Muslims came") == set()
