"""What a file calls itself, and what programs write there instead."""

import pytest

from kb.parsing.clean_text import author_in, heading_in, title_in, year_in


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("Homes by the river", "Homes by the river"),
        ("Microsoft Word - Homes by the river", "Homes by the river"),
        ("Microsoft Word - homes_v3.docx", None),
        ("untitled", None),
        ("(anonymous)", None),
        ("", None),
        ("12/3", None),
        ("word " * 60, None),
    ],
)
def test_a_title_is_shown_unless_a_program_wrote_it(given: str, title: str | None) -> None:
    assert title_in(given) == title


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("Homes by the river\nThe council asked every household.", "Homes by the river"),
        ("2023\nHomes by the river\nThe council asked every household.", "Homes by the river"),
        ("The council asked every household.\nHomes by the river\nIt did.", None),
        ("and so on\nThe council asked every household.", None),
        ("Homes by the river", None),
        ("", None),
    ],
)
def test_the_first_heading_is_one_that_stands_above_the_text(text: str, heading: str | None) -> None:
    assert heading_in(["", text]) == heading


@pytest.mark.parametrize("given", ["anonymous", "Microsoft Office User", "python-docx", "a@example.org", "x"])
def test_a_program_or_a_user_of_a_computer_is_not_an_author(given: str) -> None:
    assert author_in(given) is None
    assert author_in("River towns") == "River towns"


@pytest.mark.parametrize(
    ("dated", "year"),
    [
        ("D:20230401120000+02'00'", 2023),
        ("2023-04-01T10:00:00Z", 2023),
        ("1 April 1998", 1998),
        ("20230401", 2023),
        ("202", None),
        ("3000", None),
        ("", None),
    ],
)
def test_the_year_of_a_date(dated: str, year: int | None) -> None:
    assert year_in(dated) == year
