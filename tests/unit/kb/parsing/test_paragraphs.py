"""Where paragraphs begin and end, and what is no paragraph."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.documents import Page
from kb.parsing.paragraphs import MOST_WORDS, spans


def sentence(words: int, start: str = "People") -> str:
    return " ".join([start, *["work"] * (words - 1)]) + "."


def found(*pages: str, language: str | None = "en") -> list[str]:
    numbered = [Page(number, text) for number, text in enumerate(pages, start=1)]
    return [pages[span.page - 1][span.start : span.end] for span in spans(numbered, language)]


def test_a_paragraph_of_the_right_length_stands_by_itself():
    first, second = sentence(80), sentence(120)
    assert found(f"{first}\n{second}") == [first, second]


def test_short_blocks_are_joined_until_they_are_long_enough():
    blocks = [sentence(25, start=name) for name in ("One", "Two", "Three", "Four", "Five", "Six")]
    assert found("\n\n".join(blocks)) == ["\n\n".join(blocks[:3]), "\n\n".join(blocks[3:])]


def test_a_short_rest_joins_the_paragraph_before():
    assert found(f"{sentence(80)}\n{sentence(30)}") == [f"{sentence(80)}\n{sentence(30)}"]


def test_a_short_rest_that_does_not_fit_stands_by_itself():
    assert found(f"{sentence(170)}\n{sentence(30)}") == [sentence(170), sentence(30)]


def test_a_long_block_is_cut_at_sentence_ends_into_like_parts():
    text = " ".join(sentence(40, start=name) for name in ("One", "Two", "Three", "Four", "Five", "Six"))
    parts = found(text)
    assert [len(part.split()) for part in parts] == [120, 120]
    assert all(part.endswith(".") for part in parts)


def test_a_sentence_that_is_too_long_is_cut_at_a_comma():
    clause = " ".join(["and"] * 69) + " work,"
    parts = found(" ".join([clause] * 5))
    assert all(len(part.split()) <= MOST_WORDS and part.endswith("work,") for part in parts)


def test_a_heading_stands_with_what_follows():
    assert found(f"{sentence(70)}\nThe right to work\n{sentence(70)}") == [
        sentence(70),
        f"The right to work\n{sentence(70)}",
    ]


def test_a_heading_with_nothing_below_is_dropped():
    assert found(f"{sentence(70)}\nThe right to work") == [sentence(70)]
    assert found("The right to work", sentence(70)) == [sentence(70)]


def test_of_a_title_page_the_last_two_headings_are_kept():
    assert found(f"United Nations\nGeneral Assembly\nSeventh session\nThe rights of all\n{sentence(70)}") == [
        f"Seventh session\nThe rights of all\n{sentence(70)}"
    ]


def test_no_paragraph_goes_over_a_page():
    assert found(sentence(30), sentence(30)) == [sentence(30), sentence(30)]


def test_a_sentence_that_a_page_break_divides_is_in_no_paragraph():
    above = f"{sentence(60)} It is not true that all of them"
    below = f"were guilty of it. {sentence(60)}"
    assert found(above, below) == [sentence(60), sentence(60)]


def test_a_page_that_ends_with_a_sentence_keeps_it():
    assert found(sentence(70), "of those, " + sentence(70)) == [sentence(70), "of those, " + sentence(70)]


@pytest.mark.parametrize(
    "line",
    [
        "1 204 3 442 18.2 77.1",
        "Spain 12.4 13.5 14.6 15.7 16.8",
        "Chapter one .................... 12",
        "Chapter one . . . . . . . . iv",
        "---------------",
        "12",
        "x" * 400,
    ],
)
def test_rows_of_figures_entries_of_contents_and_rules_are_dropped(line):
    assert found(f"{sentence(70)}\n{line}\n{sentence(75)}") == [sentence(70), sentence(75)]


def test_what_is_dropped_is_never_stepped_over():
    assert found(f"{sentence(30)}\n12 13 14 15 16\n{sentence(35)}") == [sentence(30), sentence(35)]


@pytest.mark.parametrize(
    ("language", "heading"),
    [("en", "Contents"), ("es", "Índice"), ("it", "Indice"), ("eu", "Aurkibidea"), (None, "Table of contents")],
)
def test_a_table_of_contents_is_dropped(language, heading):
    page = f"{heading}\nForeword 3\n1. Rights of women 5\nAnnex: the survey\n{sentence(70)}"
    assert found(page, language=language) == [sentence(70)]


REFERENCES = [
    "Rossi, M. (2019). On what newcomers pay into the state. Vol. 3, p. 12.",
    "[2] Agency for Rights (2021). Being heard. https://example.org/heard",
    "Council directive, OJ L 180, p. 22.",
]


@pytest.mark.parametrize(
    ("language", "heading"),
    [
        ("en", "References"),
        ("es", "Bibliografía"),
        ("it", "Riferimenti"),
        ("eu", "Erreferentziak"),
        (None, "6. References:"),
    ],
)
def test_a_list_of_references_is_dropped_over_pages_until_prose_comes(language, heading):
    first = "\n".join([sentence(70), heading, *REFERENCES])
    second = "\n".join([*REFERENCES, sentence(75)])
    assert found(first, second, language=language) == [sentence(70), sentence(75)]


def test_a_footnote_that_cites_is_dropped_and_prose_with_a_year_is_not():
    footnote = "12 See Rossi, M. (2019), para. 3, available at https://example.org"
    prose = sentence(70).replace("work work", "work (2019)", 1)
    assert found(f"{prose}\n{footnote}") == [prose]


def test_a_text_of_a_few_words_is_no_paragraph():
    assert found("Page not found.") == []
    assert found("") == []


def test_a_short_text_that_says_something_is_one():
    text = "Everyone has the right to life, liberty and security of person."
    assert found(text) == [text]


lines = st.sampled_from(
    [
        "",
        "A heading",
        "12 13 14",
        "References",
        "Contents",
        sentence(9),
        sentence(50),
        sentence(100),
        sentence(300),
        "and so on it goes over the page",
        "no end, " * 120,
        "Chapter ...... 9",
        REFERENCES[0],
    ]
)


@settings(database=None, derandomize=True)
@given(st.lists(st.lists(lines, max_size=8).map("\n".join), max_size=4))
def test_paragraphs_are_short_in_order_apart_and_without_blanks_around(texts):
    pages = [Page(number, text) for number, text in enumerate(texts, start=1)]
    result = spans(pages, "en")
    assert result == spans(pages, "en")
    assert list(result) == sorted(result, key=lambda span: (span.page, span.start))
    for span in result:
        text = texts[span.page - 1][span.start : span.end]
        assert text == text.strip()
        assert 0 < len(text.split()) <= MOST_WORDS
    for first, second in pairwise(result):
        assert first.page < second.page or first.end <= second.start


@pytest.mark.parametrize(
    "part", ["A. ", "A'", ".", "a ", "(", "Mr. ", "A, B. ", "1 ", "word. ", "\n", "A\n", ") ", ", "]
)
def test_cutting_ends_soon_whatever_a_text_repeats(part):
    assert all(len(text.split()) <= MOST_WORDS for text in found(part * 50_000))
