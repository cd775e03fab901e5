"""The form of the facts: what departs from it is refused by its field."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from core.models import TargetGroup
from kb.starter.facts import Fact, load_facts

GOOD: dict[str, Any] = {
    "id": "women-001",
    "target_group": "women",
    "text": "Women hold two thirds of the seats on our council.",
    "stereotypes": ["cannot lead"],
    "publisher": "Town hall",
    "title": "Council report",
    "year": 2024,
    "document": None,
    "url": "https://example.org/report",
    "confirmed": "publisher",
    "caution": None,
    "valid_until": "2030-12-31",
}


def write(folder: Path, *rows: dict[str, Any] | str) -> Path:
    path = folder / "facts.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def fact(**changes: Any) -> Fact:
    values: dict[str, Any] = GOOD | {
        "target_group": TargetGroup.WOMEN,
        "stereotypes": ("cannot lead",),
        "valid_until": date(2030, 12, 31),
    }
    return Fact(**(values | changes))


def test_good_line(tmp_path: Path) -> None:
    """Protects that every field arrives with its type."""
    loaded = load_facts(write(tmp_path, GOOD))
    assert loaded == (fact(),)
    assert loaded[0].source.title == "Council report"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", 7),
        ("id", " "),
        ("target_group", "cats"),
        ("text", ""),
        ("stereotypes", "cannot lead"),
        ("stereotypes", [3]),
        ("publisher", None),
        ("title", ""),
        ("year", "2024"),
        ("document", 5),
        ("url", "ftp://example.org"),
        ("url", "javascript:alert(1)"),
        ("confirmed", None),
        ("caution", False),
        ("valid_until", "31.12.2030"),
        ("valid_until", 2030),
        ("surprise", "x"),
    ],
)
def test_a_wrong_value_is_refused_by_its_field(tmp_path: Path, field: str, value: object) -> None:
    """Protects that nothing is guessed, and that whoever adds a fact finds what is wrong."""
    with pytest.raises(ValidationError, match=field):
        load_facts(write(tmp_path, GOOD, GOOD | {field: value}))


def test_a_missing_field_and_half_a_line_are_refused(tmp_path: Path) -> None:
    """Protects that no field is filled in silently."""
    for row in ({name: value for name, value in GOOD.items() if name != "url"}, json.dumps(GOOD)[:40]):
        with pytest.raises(ValidationError):
            load_facts(write(tmp_path, GOOD, row))


def test_searchable_holds_stereotypes() -> None:
    """Protects that a hateful post can find the fact that answers it."""
    assert fact().searchable == "Women hold two thirds of the seats on our council. cannot lead."


def test_expiry_is_the_day_after() -> None:
    """Protects the last day on which a figure may be used."""
    assert not fact().is_expired(date(2030, 12, 31))
    assert fact().is_expired(date(2031, 1, 1))
    assert not fact(valid_until=None).is_expired(date(2999, 1, 1))


def test_universal_norms_are_told_from_smaller_groups() -> None:
    """Protects that a fact about one of the other groups is not taken for a norm about everybody."""
    assert fact(target_group=TargetGroup.OTHER).is_universal
    assert not fact(target_group=TargetGroup.OTHER, stereotypes=("Roma: want to live in slums",)).is_universal
    assert not fact().is_universal
