"""Page text made clean: what is taken out, what is joined, and what must stay."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.wording.text import UNREADABLE
from kb.parsing.clean_text import clean_line, cleaned
from kb.parsing.raw_text import Raw


def text_of(page: str, *, is_wrapped: bool = False) -> str:
    return cleaned(Raw([page], is_wrapped=is_wrapped))[0][0]


def notes_of(*pages: str, hidden: int = 0) -> list[str]:
    return cleaned(Raw(list(pages), hidden=hidden))[1]


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("a\u200bb\u2060c\ufeffd", "abcd"),
        ("\u202eright\u202c and \u2066left\u2069", "right and left"),
        ("tagged\U000e0041\U000e0042", "tagged"),
        ("bell\x07 and\x00 null", "bell and null"),
        ("blank\u3164 letter", "blank letter"),
        ("co\u00adope\u00adration", "cooperation"),
        ("private \ue000 use", "private use"),
        ("don\x92t say \x93no\x94", "don’t say “no”"),
        ("the of\x00cers met", f"the of{UNREADABLE}cers met"),
        ("of\ufb01cial \ufb02ow", "official flow"),
        ("\uff34\uff48\uff45 \U0001d42d\U0001d41e\U0001d431\U0001d42d", "The text"),
        ("non\u00a0breaking\u2003space", "non breaking space"),
        ("e\u0301tat", "état"),
    ],
)
def test_what_shows_nothing_or_has_a_plain_form_is_taken_out_or_folded(raw, clean):
    assert text_of(raw) == clean


@pytest.mark.parametrize(
    "text", ["in 2019¹ it was 5 km²", "2½ million", "H₂O", "el 1º y la 2ª", "µm or μm", "naïve café"]
)
def test_superscripts_fractions_and_ordinals_stay_what_they_are(text):
    assert text_of(text).replace("μ", "µ") == text.replace("μ", "µ")


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("Muslіms аnd jеws", "Muslims and jews"),
        ("ΑΒC of Ηuman rights", "ABC of Human rights"),
        ("Права человека", "Права человека"),
        ("δικαιώματα", "δικαιώματα"),
        ("Иsаbel", "Иsаbel"),
    ],
)
def test_only_a_word_of_latin_letters_and_look_alikes_is_turned_back(raw, clean):
    assert text_of(raw) == clean


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("the discrimi-\nnation of people", "the discrimination of people"),
        ("the discrimi\u00ad\nnation of people", "the discrimination of people"),
        ("self-\ndetermination of peoples", "self-determination of peoples"),
        ("anti-\nSemitism is hatred", "anti-Semitism is hatred"),
        ("long-term aims and long-\nterm plans", "long-term aims and long-term plans"),
        ("a house hold of asylum seekers, asylum-\nseekers too", "a house hold of asylum seekers, asylum-seekers too"),
        ("HUMAN DIG-\nNITY", "HUMAN DIGNITY"),
        ("from 2010-\n2012", "from 2010-2012"),
        ("the years 2015–\n2020 and 737–\n9", "the years 2015–2020 and 737–9"),
        ("since COVID-\n19 came", "since COVID-19 came"),
        ("a Member State of the EU and EU-\nwide law", "a Member State of the EU and EU-wide law"),
        ("about one-\nthird of the people", "about one-third of the people"),
        ("a follow-\nup of the survey", "a follow-up of the survey"),
        ("the ten-\nants of the house", "the tenants of the house"),
        ("throu-\nghout the year and with-\nout delay", "throughout the year and without delay"),
        ("a twenty-\nfive year plan of the board", "a twenty-five year plan of the board"),
        (
            "the pro-\ngramme of the right-\nwing and of the so-\ncalled",
            "the programme of the right-wing and of the so-called",
        ),
        ("the ex-\ntremist and the ex-\nhusband of the land", "the extremist and the ex-husband of the land"),
        ("the post-\nponed plan of the low-\nincome towns", "the postponed plan of the low-income towns"),
        ("read the page at https://a.example/hate-\ncrime", "read the page at https://a.example/hate-crime"),
    ],
)
def test_a_word_that_a_line_end_divides_is_joined_and_a_compound_keeps_its_hyphen(raw, clean):
    assert text_of(raw) == clean


def test_lines_that_most_pages_repeat_at_their_edge_and_page_numbers_are_taken_out():
    pages = [
        f"General Assembly A/76/{page}\nWhat page {page} says, in words of its own: {page * 'x'}\n- {page} -"
        for page in range(1, 6)
    ]
    texts, notes = cleaned(Raw(pages))
    assert texts == [f"What page {page} says, in words of its own: {page * 'x'}" for page in range(1, 6)]
    assert notes == ["10 lines repeated at the head or foot of pages were taken out."]


def test_headers_of_left_and_right_pages_are_taken_out():
    heads = ["A report on rights", "The agency"]
    pages = [f"{heads[page % 2]}\n{chr(97 + page) * 9} is what this page says" for page in range(8)]
    assert all("is what" in text and "\n" not in text for text in cleaned(Raw(pages))[0])


def test_a_line_that_repeats_inside_pages_stays():
    pages = [
        f"{letter * 9} begins\nIt is so decided.\n{letter * 8} goes on\nand on\nto the end {letter}"
        for letter in "abcde"
    ]
    assert all("It is so decided." in text for text in cleaned(Raw(pages))[0])


def test_a_page_is_never_emptied_for_repeating_others():
    assert cleaned(Raw(["The same words."] * 4))[0] == ["The same words."] * 4


def test_two_pages_are_too_few_to_tell_a_header():
    assert cleaned(Raw(["Title\nOne text.", "Title\nAnother text."]))[0] == ["Title\nOne text.", "Title\nAnother text."]


def test_lines_as_wide_as_the_page_are_joined_to_paragraphs():
    page = (
        "1. Introduction\n"
        "Everybody has the right to be heard before a\n"
        "decision is taken that changes how they live\n"
        "and where.\n"
        "Nobody may be sent back to a place where they\n"
        "are in danger.\n"
        "\n"
        "(a) the first thing that has to be looked at;\n"
        "(b) the second thing that has to be looked at."
    )
    assert text_of(page, is_wrapped=True).split("\n") == [
        "1. Introduction",
        "Everybody has the right to be heard before a decision is taken that changes how they live and where.",
        "Nobody may be sent back to a place where they are in danger.",
        "",
        "(a) the first thing that has to be looked at;",
        "(b) the second thing that has to be looked at.",
    ]


def test_lines_of_a_file_without_printed_lines_are_not_joined():
    page = "A short heading\nand a paragraph"
    assert text_of(page) == page


def test_notes_count_what_was_taken_out():
    assert notes_of("A plain text.", "Another one.") == []
    assert notes_of("soft\u00adhyphen \ufeff and joiner\u200d") == []
    assert notes_of("a\u200bb\u202e", "nеw", hidden=12) == [
        "Text that people would not see was taken out: 12 characters.",
        "2 characters that show nothing were taken out.",
        "Letters of other alphabets that look like Latin ones were turned back in 1 word.",
    ]


def test_a_title_is_one_clean_line():
    assert clean_line(" On\r\n the rіghts\u200b of\tall ") == "On the rights of all"


@settings(database=None, derandomize=True)
@given(st.text(), st.booleans())
def test_clean_text_shows_all_it_holds_and_stays_as_it_is(raw, is_wrapped):
    once = text_of(raw, is_wrapped=is_wrapped)
    assert once == once.strip()
    assert "\n\n\n" not in once
    assert not any(character < " " and character != "\n" for character in once)
    assert cleaned(Raw([once]))[1] == [] or UNREADABLE in once


@pytest.mark.parametrize("part", ["a", "aа", "а", "a-\n", "-", "\u00ad\n", "A'", ". ", "1 ", "\n", "a-"])
def test_cleaning_ends_soon_whatever_a_text_repeats(part):
    assert len(text_of(part * 50_000, is_wrapped=True)) <= 2 * 50_000
