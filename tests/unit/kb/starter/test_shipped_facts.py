"""The facts that ship with Antiphon: enough of them for each group, dated, sourced, and with their cautions."""

import re
from collections import Counter
from datetime import date

import pytest

from core.models import TargetGroup
from kb.starter.facts import STARTER_FACTS, Fact, load_facts

CONFIRMED = {"publisher", "partly publisher", "several secondary pages", "one secondary page"}
"""How well a fact can have been checked."""

_YEAR = re.compile(r"\b(?:1[3-9]|20)\d\d\b")


@pytest.fixture(scope="module")
def facts() -> tuple[Fact, ...]:
    return load_facts(STARTER_FACTS)


def test_enough_for_each_group(facts: tuple[Fact, ...]) -> None:
    """Protects the coverage: at least 174 facts, and 15 for each group."""
    counts = Counter(fact.target_group for fact in facts)
    assert len(facts) >= 174
    assert set(counts) == set(TargetGroup)
    assert min(counts.values()) >= 15


def test_ids_tell_the_group(facts: tuple[Fact, ...]) -> None:
    """Protects receipts and logs, where only the id is seen."""
    assert len({fact.id for fact in facts}) == len(facts)
    prefixes = {(fact.target_group, fact.id.split("-")[0]) for fact in facts}
    assert len(prefixes) == len({group for group, _ in prefixes}) == len({prefix for _, prefix in prefixes})


def test_each_can_be_shown(facts: tuple[Fact, ...]) -> None:
    """Protects that each fits into a reply and says what it answers."""
    assert [fact.id for fact in facts if len(fact.text) > 240 or not fact.stereotypes] == []


def test_a_norm_for_everybody_is_shipped(facts: tuple[Fact, ...]) -> None:
    """Protects what stands when nothing else is found: the Universal Declaration, which never expires."""
    declaration = next(fact for fact in facts if fact.id == "other-013")
    assert declaration.is_universal
    assert declaration.valid_until is None


def test_no_text_twice(facts: tuple[Fact, ...]) -> None:
    """Protects that one finding is not cited as two."""
    plain = Counter(" ".join(re.findall(r"\w+", fact.text.casefold())) for fact in facts)
    assert [text for text, count in plain.items() if count > 1] == []


def test_every_figure_says_its_year(facts: tuple[Fact, ...]) -> None:
    """Protects readers from a figure of unknown age."""
    undated = [fact.id for fact in facts if re.search(r"\d", fact.text) and not _YEAR.search(fact.text)]
    assert undated == []


def test_confirmation_is_one_of_four(facts: tuple[Fact, ...]) -> None:
    """Protects that people can tell how well each fact was checked."""
    assert {fact.confirmed for fact in facts} == CONFIRMED


def test_sources_are_opened_safely(facts: tuple[Fact, ...]) -> None:
    """Protects whoever opens a source: an encrypted address, without a blank in it."""
    assert [fact.id for fact in facts if not re.fullmatch(r"https://\S+", fact.url)] == []


def test_percentages_are_no_norms(facts: tuple[Fact, ...]) -> None:
    """Protects that findings in per cent age; what never expires is a norm, a ruling or history."""
    history = {"jews-018"}  # loans of 1935, said to be of then
    ageless = {fact.id for fact in facts if "%" in fact.text and fact.valid_until is None}
    assert ageless - history == {"poc-007"}  # the share of DNA that all people have in common


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("muslims-005", "Sunni extremists"),
        ("muslims-014", "not deaths"),
        ("muslims-007", "use muslims-006 first"),
        ("muslims-008", "use muslims-006 first"),
        ("poc-005", "per head of the offender group"),
        ("poc-008", "other rows"),
        ("other-001", "feed the stereotype"),
        ("lgbt-004", "56%"),
        ("lgbt-011", "quote it with year and size"),
        ("women-009", "only together with women-011"),
        ("women-014", "only together with women-011"),
        ("women-010", "not about driving skill"),
        ("jews-017", "disputed"),
        ("jews-006", "as they were in 2021"),
        ("jews-003", "only indirectly"),
        ("migrants-001", "not for all public spending"),
        ("migrants-004", "US only"),
        ("migrants-016", "US only"),
        ("migrants-015", "EEA migrants only"),
        ("disability-004", "employment rate"),
        ("disability-013", "2011"),
        # added later, and as easily turned round
        ("women-020", "unclear cases"),
        ("poc-021", "per head"),
        ("migrants-017", "over-represented"),
        ("migrants-020", "35% for women"),
        ("muslims-018", "every region"),
        ("jews-019", "early news"),
        ("lgbt-022", "Never liken people to animals"),
        ("lgbt-023", "disputed"),
        ("other-022", "Do not make light"),
        ("other-024", "highest costs a year"),
        ("other-026", "never use it to play down"),
    ],
)
def test_cautions_stand(facts: tuple[Fact, ...], id: str, words: str) -> None:
    """Protects moderators: what a hater could turn round comes with a warning."""
    fact = next(fact for fact in facts if fact.id == id)
    assert words in (fact.caution or "")


@pytest.mark.parametrize(
    "id",
    "women-013 disability-010 other-012 migrants-006 migrants-007 migrants-008 migrants-009 migrants-012 migrants-013 "
    "jews-003 lgbt-007 lgbt-008 muslims-006 other-014".split(),
)
def test_what_goes_out_of_date_says_so(facts: tuple[Fact, ...], id: str) -> None:
    """Protects from old counts: they expire, and until then ask for a look at the current one."""
    fact = next(fact for fact in facts if fact.id == id)
    assert fact.caution
    assert re.search(r"\bof (?:\w+ )*(?:1[3-9]|20)\d\d\b", fact.caution)
    assert fact.valid_until is not None


def test_nothing_expires_within_a_month_of_its_last_check(facts: tuple[Fact, ...]) -> None:
    """Protects a new installation from facts that vanish at once; all were looked through in November 2026."""
    assert [fact.id for fact in facts if fact.is_expired(date(2027, 1, 1))] == []
