"""The form of the gaps, and which gap a text falls into: none where a fact answers it better."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import IndexUnavailable
from core.models import TargetGroup
from kb.starter.facts import STARTER_FACTS, STARTER_GAPS, Fact, Gap, Gaps, Instead, load_facts, load_gaps
from tests.fakes.engine.embedder import FakeEmbedder

GOOD: dict[str, Any] = {
    "target_group": "women",
    "stereotype": "cannot park a car",
    "why": "Nobody has counted it.",
    "instead": "norm",
    "norms": ["women-001"],
}


def fact(id: str, group: TargetGroup, *stereotypes: str) -> Fact:
    """A fact that answers the stereotypes."""
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


def write(folder: Path, *rows: dict[str, Any] | str) -> Path:
    """A file of gaps, one line for each row."""
    path = folder / "gaps.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def gap(group: TargetGroup, stereotype: str) -> Gap:
    """A gap that calls for a question."""
    return Gap(group, stereotype, "Nobody has counted it.", Instead.QUESTION, ())


# The file


def test_good_line(tmp_path: Path) -> None:
    """Protects that every field arrives with its type."""
    loaded = load_gaps(write(tmp_path, GOOD), FACTS)
    assert loaded == (
        Gap(TargetGroup.WOMEN, "cannot park a car", "Nobody has counted it.", Instead.NORM, ("women-001",)),
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("target_group", "cats"),
        ("stereotype", ""),
        ("stereotype", 3),
        ("why", " "),
        ("why", None),
        ("instead", "silence"),
        ("instead", True),
        ("norms", "women-001"),
        ("norms", [7]),
        ("norms", ["women-999"]),
        ("norms", []),
        ("surprise", "x"),
    ],
)
def test_wrong_value_is_named(tmp_path: Path, field: str, value: object) -> None:
    """Protects that a wrong gap is refused and found: file, line number and field."""
    path = write(tmp_path, GOOD, GOOD | {"stereotype": "cannot swim", field: value})
    with pytest.raises(IndexUnavailable) as caught:
        load_gaps(path, FACTS)
    assert f"{path}, line 2, field {field}" in caught.value.message
    assert "gaps" in caught.value.remedy


@pytest.mark.parametrize("field", sorted(GOOD))
def test_missing_field_is_named(tmp_path: Path, field: str) -> None:
    """Protects that no field is filled in silently."""
    row = {name: value for name, value in GOOD.items() if name != field}
    with pytest.raises(IndexUnavailable, match=f"line 1, field {field}"):
        load_gaps(write(tmp_path, row), FACTS)


def test_no_norm_is_needed_for_a_question(tmp_path: Path) -> None:
    """Protects that a gap may be answered without any norm."""
    assert load_gaps(write(tmp_path, GOOD | {"instead": "question", "norms": []}), FACTS)[0].norms == ()


def test_repeated_gap_is_named(tmp_path: Path) -> None:
    """Protects that one stereotype of a group says one thing only."""
    with pytest.raises(IndexUnavailable, match="line 3, field stereotype"):
        load_gaps(write(tmp_path, GOOD, "", GOOD), FACTS)


def test_missing_empty_and_broken_files(tmp_path: Path) -> None:
    """Protects that no gaps at all, or half a line, is an error."""
    with pytest.raises(IndexUnavailable, match=r"gaps .* cannot be read"):
        load_gaps(tmp_path / "nowhere.jsonl", FACTS)
    with pytest.raises(IndexUnavailable, match="no gaps"):
        load_gaps(write(tmp_path, ""), FACTS)
    with pytest.raises(IndexUnavailable, match="line 2, field the whole line"):
        load_gaps(write(tmp_path, GOOD, json.dumps(GOOD)[:30]), FACTS)


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
    gaps = load_gaps(STARTER_GAPS, facts.values())
    assert {gap.target_group for gap in gaps} == set(TargetGroup)
    assert {gap.instead for gap in gaps} == set(Instead)
    assert [norm for gap in gaps for norm in gap.norms if facts[norm].valid_until] == []


def test_shipped_gaps_are_no_stereotypes_with_a_fact() -> None:
    """Protects that the two files agree: what a fact answers is no gap."""
    facts = load_facts(STARTER_FACTS)
    answered = {(fact.target_group, words.casefold()) for fact in facts for words in fact.stereotypes}
    gaps = load_gaps(STARTER_GAPS, facts)
    assert [gap for gap in gaps if (gap.target_group, gap.stereotype.casefold()) in answered] == []
