"""Raised text, once a reader has told it: a mark goes, an exponent stays, and what is unclear is no figure."""

import pytest

from core.engine.wording.figures import figures
from kb.parsing.clean_text import cleaned
from kb.parsing.raw_text import OFF, ON, Raw


def text_of(marked: str) -> str:
    return cleaned(Raw([marked.replace("^(", ON).replace(")", OFF)]))[0][0]


@pytest.mark.parametrize(
    ("marked", "clean"),
    [
        ("in 2019^(1), some 45 %^(2) of", "in 2019, some 45 % of"),
        ("1,204^(3) persons and 34^(12) per cent", "1,204 persons and 34 per cent"),
        ("says the agency.^(4) The rest", "says the agency. The rest"),
        ("says the agency.^(4)The rest", "says the agency. The rest"),
        ("in 2019 ^(1), some", "in 2019, some"),
        ("of 63^(1)^(,)^(2) per cent", "of 63 per cent"),
        ("of 63^(1), ^(2) per cent", "of 63 per cent"),
        ("of 63^(*) per cent and 12^(†) others", "of 63 per cent and 12 others"),
        ("of 63^(b) per cent", "of 63 per cent"),
        ("of 63^(iv) per cent", "of 63 per cent"),
        ("of 63^([5]) per cent", "of 63 per cent"),
        ("of 63^([5]), ^([6])^([a]) per cent", "of 63 per cent"),
        ("It was 63.^([citation needed]) Then", "It was 63. Then"),
        ("es la 3^(a) vez que lo hizo la policía", "es la 3ª vez que lo hizo la policía"),
        ("the share was 3^(a) of the men", "the share was 3 of the men"),
        ("the 21^(st) century and the 2^(nd) try", "the 21st century and the 2nd try"),
        ("el 1^(o) y la 2^(a), n^(o) 5", "el 1º y la 2ª, nº 5"),
        ("50 m^(2), 12 km^(2) and 3 m^(3)", "50 m², 12 km² and 3 m³"),
        ("50 m^(12) of wall", "50 m of wall"),
        ("x^(2) and R^(2)", "x² and R²"),
        ("per km^(-1)", "per km⁻¹"),
        ("the ions Ca^(2+)", "the ions Ca²⁺"),
        ("dated by ^(14)C here", "dated by ¹⁴C here"),
        ("3^(1)/2 years, ^(1)/4 of them", "3½ years, ¼ of them"),
        ("^(1)The survey asked many.", "1 The survey asked many."),
        ("10^(3) of them", "10³ of them"),
        ("Antiphon^(TM) and ^(long text) here", "AntiphonTM and long text here"),
    ],
)
def test_a_mark_is_taken_out_and_what_belongs_to_the_text_stays(marked, clean):
    assert text_of(marked) == clean


def test_the_marks_that_were_taken_out_are_named():
    assert cleaned(Raw([f"In 2019{ON}1{OFF} and 2020{ON}2{OFF}."]))[1] == [
        "2 raised marks of notes were taken out of the text: 1, 2."
    ]
    assert cleaned(Raw([f"In 2019{ON}1{OFF}."]))[1] == ["A raised mark of a note was taken out of the text: 1."]


@pytest.mark.parametrize(
    "text", ["10³ people", "$9⁹⁹ a head", "1\ufffd2 people", "34\ufffd per cent", "\ufffd34 people"]
)
def test_a_figure_that_cannot_be_told_has_no_value(text):
    assert all(not figure.values for figure in figures(text, "en"))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("34 % in 2019.15 Most of them", [0.34, 2019]),
        ("in 2019,5 most of them", [2019]),
        ("1,2043 persons", []),
        ("a share of 34.5 per cent", [0.345]),
        ("was 34.12 Most of them told nobody", []),
        ("was 34.5% of EU citizens", [0.345]),
        ("some 1,204 persons", [1204]),
        ("in 2019¹ it rose to 1,204³ persons", [2019, 1204]),
        ("3.5 Million people", [3500000]),
    ],
)
def test_marks_that_another_program_glued_to_figures_are_told_or_the_figure_has_no_value(text, values):
    found = [min(figure.values) for figure in figures(text, "en") if figure.values]
    assert [float(value) for value in found] == pytest.approx(values)
