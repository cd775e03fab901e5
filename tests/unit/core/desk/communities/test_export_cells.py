"""Cells of an export: no spreadsheet takes one for a formula, and none loses a character."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.desk.communities.export import cells, text_of

_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
_ALIKE = st.text(st.sampled_from("'=+-@\t\r\n,\";a1 "))


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_a_text_that_begins_like_a_formula_is_neutralised(begin: str) -> None:
    """Opened in a spreadsheet, it is text (ASVS 1.2.10)."""
    assert cells({"post": f"{begin}cmd|' /C calc'!A0"}) == {"post": f"'{begin}cmd|' /C calc'!A0"}


def test_what_is_no_text_is_written_as_in_json() -> None:
    """A number below zero is a number, and nothing is an empty cell."""
    row = {"number": -1.5, "is": True, "nothing": None, "text": "true"}
    assert cells(row) == {"number": "-1.5", "is": "true", "nothing": "", "text": "true"}


@given(st.one_of(_TEXTS, _ALIKE))
def test_every_text_comes_back_through_a_csv_file(text: str) -> None:
    """Quotes, line breaks, apostrophes before a sign: all of it."""
    file = io.StringIO(newline="")
    csv.DictWriter(file, ["post", "more"]).writerow(cells({"post": text, "more": "x"}))
    file.seek(0)
    [[cell, _]] = csv.reader(file)
    assert text_of(cell) == text
    assert cell[:1] not in tuple("=+-@\t\r")
