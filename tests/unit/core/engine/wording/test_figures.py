"""What each language writes as a figure, what it is worth, and when one figure says another."""

import tomllib
from fractions import Fraction
from importlib import resources
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.wording.figures import Day, FigureKind, figures, says
from core.engine.wording.language import NAMES

VALUES = [
    ("en", "It was 47.6 per cent.", FigureKind.PERCENTAGE, "119/250"),
    ("en", "It was 1,200,000 people.", FigureKind.NUMBER, "1200000"),
    ("en", "It was 47.6 million people.", FigureKind.NUMBER, "47600000"),
    ("en", "They spent $5bn on it.", FigureKind.AMOUNT, "5000000000"),
    ("en", "They got £49.18 a week.", FigureKind.AMOUNT, "2459/50"),
    ("en", "We saw twenty-five boats.", FigureKind.NUMBER, "25"),
    ("en", "We saw two hundred and five boats.", FigureKind.NUMBER, "205"),
    ("en", "One in three agreed.", FigureKind.SHARE, "1/3"),
    ("en", "Nine out of ten agreed.", FigureKind.SHARE, "9/10"),
    ("en", "Two thirds agreed.", FigureKind.SHARE, "2/3"),
    ("en", "Half of us agreed.", FigureKind.SHARE, "1/2"),
    ("en", "It is three times as high.", FigureKind.AMOUNT, "3"),
    ("en", "It is the third-largest town.", FigureKind.ORDINAL, "3"),
    ("en", "The 21st century is young.", FigureKind.ORDINAL, "21"),
    ("en", "The 1990s were loud.", FigureKind.YEAR, "1990"),
    ("es", "Fue el 47,6 % de todas.", FigureKind.PERCENTAGE, "119/250"),
    ("es", "Son 1.200.000 personas.", FigureKind.NUMBER, "1200000"),
    ("es", "Son cuarenta y ocho mil ochocientas.", FigureKind.NUMBER, "48800"),
    ("es", "Cuesta dos millones de euros.", FigureKind.AMOUNT, "2000000"),
    ("es", "Cuesta mil quinientos millones de euros.", FigureKind.AMOUNT, "1500000000"),
    ("eu", "Mila eta bostehun milioi euro dira.", FigureKind.AMOUNT, "1500000000"),
    ("it", "Costa 1,5 mld di euro.", FigureKind.AMOUNT, "1500000000"),
    ("en", "It cost €2.5mn.", FigureKind.AMOUNT, "2500000"),
    ("en", "Some 1'500'000 people came.", FigureKind.NUMBER, "1500000"),
    ("es", "Cuesta tres mil millones.", FigureKind.NUMBER, "3000000000"),
    ("es", "Lo dice una de cada tres.", FigureKind.SHARE, "1/3"),
    ("es", "Lo dice la mitad de la clase.", FigureKind.SHARE, "1/2"),
    ("es", "Lo dicen tres cuartas partes.", FigureKind.SHARE, "3/4"),
    ("es", "Nació en el siglo XIX.", FigureKind.ORDINAL, "19"),
    ("it", "Era il 47,6% di tutte.", FigureKind.PERCENTAGE, "119/250"),
    ("it", "Sono 1.200.000 persone.", FigureKind.NUMBER, "1200000"),
    ("it", "Sono quarantotto barche.", FigureKind.NUMBER, "48"),
    ("it", "Sono duemilacinquecento barche.", FigureKind.NUMBER, "2500"),
    ("it", "Sono ventitré barche.", FigureKind.NUMBER, "23"),
    ("it", "Lo dice una donna su tre.", FigureKind.SHARE, "1/3"),
    ("it", "Lo dicono due terzi di noi.", FigureKind.SHARE, "2/3"),
    ("it", "Nel XX secolo era così.", FigureKind.ORDINAL, "20"),
    ("it", "Negli anni Duemila era così.", FigureKind.YEAR, "2000"),
    ("it", "Negli anni Novanta era così.", FigureKind.YEAR, "1990"),
    ("es", "Fue en los años noventa.", FigureKind.YEAR, "1990"),
    ("es", "Fue en la década de los dos mil.", FigureKind.YEAR, "2000"),
    ("eu", "Herritarren % 47,6 da.", FigureKind.PERCENTAGE, "119/250"),
    ("eu", "Herritarren %47,6k esan du.", FigureKind.PERCENTAGE, "119/250"),
    ("eu", "Ehuneko berrogeita zazpi da.", FigureKind.PERCENTAGE, "47/100"),
    ("eu", "1.200.000 herritar dira.", FigureKind.NUMBER, "1200000"),
    ("eu", "Berrogeita hamabost itsasontzi dira.", FigureKind.NUMBER, "55"),
    ("eu", "Bostehun eta hamar itsasontzi dira.", FigureKind.NUMBER, "510"),
    ("eu", "Bi milioi euro balio du.", FigureKind.AMOUNT, "2000000"),
    ("eu", "Hirutik batek esan du.", FigureKind.SHARE, "1/3"),
    ("eu", "Hiru herritarretik batek esan du.", FigureKind.SHARE, "1/3"),
    ("eu", "Bi herenek esan dute.", FigureKind.SHARE, "2/3"),
]

DATES = [
    ("en", "On 12 May 2021 it rained.", Day(12, 5, 2021)),
    ("en", "On May 12, 2021, it rained.", Day(12, 5, 2021)),
    ("en", "In May 2021 it rained.", Day(None, 5, 2021)),
    ("en", "On 2021-05-12 it rained.", Day(12, 5, 2021)),
    ("en", "On 25/05/2021 it rained.", Day(25, 5, 2021)),
    ("es", "El 12 de mayo de 2021 llovió.", Day(12, 5, 2021)),
    ("es", "En mayo de 2021 llovió.", Day(None, 5, 2021)),
    ("it", "Il 12 maggio 2021 pioveva.", Day(12, 5, 2021)),
    ("it", "Nel maggio 2021 pioveva.", Day(None, 5, 2021)),
    ("eu", "2021eko maiatzaren 12an euria egin zuen.", Day(12, 5, 2021)),
    ("eu", "2021eko apirilean euria egin zuen.", Day(None, 4, 2021)),
]

UNCOUNTED = [
    ("en", "One of us is new, and the first year is hard for the two of them."),
    ("en", "Nearly half of the town came, and almost a third of them sang."),
    ("en", "A thousand thanks to every third party."),
    ("en", "The COVID-19 wards and the ICD-11 list."),
    ("es", "Uno de los dos vino, mil gracias."),
    ("es", "Casi la mitad de la gente cantó."),
    ("it", "Sei gentile: uno di noi ha detto due parole, mille grazie."),
    ("it", "Quasi la metà delle persone cantava."),
    ("eu", "Lagun bat etorri da, mila esker."),
    ("eu", "Ehuneko handi bat etorri da."),
]


@pytest.mark.parametrize(("language", "text", "kind", "value"), VALUES)
def test_a_figure_has_a_worth(language: str, text: str, kind: FigureKind, value: str) -> None:
    """Digits and words, points and commas, shares and multiples come to one value."""
    found = figures(text, language)
    assert [(figure.kind, Fraction(value) in figure.values) for figure in found] == [(kind, True)]


@pytest.mark.parametrize(("language", "text", "day"), DATES)
def test_a_date_is_one_figure(language: str, text: str, day: Day) -> None:
    """Day, month and year belong together, in each language's order."""
    assert [figure.days for figure in figures(text, language)] == [frozenset({day})]


def test_an_ambiguous_date_has_both_readings() -> None:
    assert figures("On 05/12/2021 it rained.", "en")[0].days == {Day(5, 12, 2021), Day(12, 5, 2021)}


@pytest.mark.parametrize(("language", "text"), UNCOUNTED)
def test_idioms_and_hedged_parts_are_no_figures(language: str, text: str) -> None:
    """Words that only sometimes count, and wordings such as "nearly half", are left to a checker."""
    assert figures(text, language) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("between 3% and 7%", ["3/100", "7/100"]),
        ("between 3 and 7%", ["3/100", "7/100"]),
        ("10 to 12 million", ["10000000", "12000000"]),
        ("in 2015-16", ["2015", "2016"]),
        ("aged 15-64", ["15", "64"]),
    ],
)
def test_a_range_shares_its_unit(text: str, values: list[str]) -> None:
    """The first number of a range has the unit of the second, and a short year the century of the first."""
    found = figures(text, "en")
    assert len(found) == len(values)
    assert all(Fraction(value) in figure.values for figure, value in zip(found, values, strict=True))


@pytest.mark.parametrize(
    ("passage", "draft", "is_said"),
    [
        ("47.6%", "47.6 per cent", True),
        ("47.6%", "47.6 million", False),
        ("47.6%", "47.6", False),
        ("47.6%", "48%", False),
        ("47.6", "47.6%", False),
        ("1,200", "1200", True),
        ("one in three", "a third of", True),
        ("50%", "half of", True),
        ("33%", "one in three", False),
        ("75 days", "75 hours", False),
        ("75 days", "75", True),
        ("5 euros", "5 dollars", False),
        ("5 euros", "5", False),
        ("five times", "5 times", True),
        ("12 May 2021", "May 2021", True),
        ("12 May 2021", "12 May", True),
        ("May 2021", "12 May 2021", False),
        ("12 May 2021", "13 May 2021", False),
        ("13,000 documents", "thousands", True),
        ("300 documents", "thousands", False),
        ("thousands", "13,000", False),
        ("in 2020", "thousands", False),
    ],
)
def test_a_figure_is_said_exactly(passage: str, draft: str, is_said: bool) -> None:
    """The same value of the same unit: no rounding, no other unit, no day that was added."""
    assert any(says(p, d) for p in figures(passage, "en") for d in figures(draft, "en")) is is_said


@settings(database=None, derandomize=True)
@given(st.integers(min_value=2, max_value=9_999_999), st.sampled_from(list(NAMES)))
def test_thousands_are_read_as_the_language_parts_them(number: int, language: str) -> None:
    """A number with separators is worth what it is worth without."""
    written = f"{number:,}" if language == "en" else f"{number:,}".replace(",", ".")
    assert [Fraction(number) in figure.values for figure in figures(f"({written})", language)] == [True]


@settings(database=None, derandomize=True)
@given(st.text(), st.sampled_from([*NAMES, None, "fr"]))
def test_any_text_can_be_read(text: str, language: str | None) -> None:
    """Whatever stands in a text, its figures lie within it, in order and apart."""
    found = figures(text, language)
    assert all(0 <= figure.start < figure.end <= len(text) for figure in found)
    assert all(first.end <= second.start for first, second in pairwise(found))


@pytest.mark.parametrize("language", NAMES)
def test_every_language_has_every_list(language: str) -> None:
    """A language that Antiphon writes has the lists that English has."""
    rows = {
        code: tomllib.loads(
            resources.files("core.engine.wording").joinpath(f"data/figures/{code}.toml").read_text(encoding="utf-8")
        )
        for code in ("en", language)
    }
    assert set(rows[language]) == set(rows["en"])
    assert set(rows[language]["grammar"]) == set(rows["en"]["grammar"])
