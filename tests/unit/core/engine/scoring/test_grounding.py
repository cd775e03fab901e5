"""What a draft states is held by its passages, in four languages; what is not is pointed at."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.scoring.check import sentences_of
from core.engine.scoring.grounding import check, same_figures, unsupported
from core.engine.wording.language import NAMES
from tests.fakes.engine.brief import passage

DEGREES = passage("Eurostat reports that 47.6% of EU women aged 25-34 held a degree in 2022.", "women-1", year=2023)
VISIT = passage(
    "On 12 May 2021, WHO met 1,200,000 people in Germany and Austria. One in three of them came from Brenmoor.",
    "visit-1",
)
EVIDENCE = (DEGREES, VISIT)

HELD = [
    ("en", "In 2022, 47.6 per cent of women in the EU held a degree."),
    ("en", "Nearly half of women hold a degree, as Eurostat says."),
    ("en", "On 12 May 2021 a third of them came from Brenmoor."),
    ("en", "Germany’s neighbours, Muslims and Jews among them, met in May 2021."),
    ("es", "El 47,6 % de las mujeres de la UE tenía un título en 2022."),
    ("es", "El 12 de mayo de 2021, la OMS reunió a 1.200.000 personas en Alemania."),
    ("es", "Una de cada tres personas era de Brenmoor."),
    ("it", "Nel 2022 il 47,6% delle donne dell'UE era laureato."),
    ("it", "Il 12 maggio 2021 l'OMS era in Germania e in Austria."),
    ("it", "Una persona su tre era di Brenmoor."),
    ("eu", "2022an EBko emakumeen %47,6k zuten titulua."),
    ("eu", "2021eko maiatzaren 12an OME Alemanian eta Austrian izan zen."),
    ("eu", "Hirutik bat Brenmoorrekoa zen."),
]

STRANGE = [
    ("en", "Some 47.6 million women held a degree.", ["47.6 million"]),
    ("en", "About 48% of women held a degree.", ["48%"]),
    ("en", "Half of the women held a degree.", ["Half"]),
    ("en", "They met on 13 May 2021.", ["13 May 2021"]),
    ("en", "Twenty-six of them came from Brenmoor.", ["Twenty-six"]),
    ("en", "The mayor Helen Garrow greeted them.", ["Helen", "Garrow"]),
    ("en", "Garrow says that they came.", ["Garrow"]),
    ("en", "UNICEF counted them in Spain.", ["UNICEF", "Spain"]),
    ("en", "France counted them.", ["France"]),
    ("en", "Thousands of women held a degree for 3 years.", ["Thousands", "3 years"]),
    ("es", "El 48 % de las mujeres tenía un título en Francia.", ["48 %", "Francia"]),
    ("es", "La mitad de ellas llegó el 13 de mayo de 2021.", ["mitad", "13 de mayo de 2021"]),
    ("it", "Il 48% delle donne era laureato in Francia.", ["48%", "Francia"]),
    ("it", "Erano duemilacinquecento, dice Garrow.", ["duemilacinquecento", "Garrow"]),
    ("eu", "Emakumeen %48k zuten titulua Frantzian.", ["%48", "Frantzian"]),
    ("eu", "Hogeita sei lagun ziren, Garrowek dioenez.", ["Hogeita sei", "Garrowek"]),
]


@pytest.mark.parametrize(("language", "text"), HELD)
def test_what_a_passage_holds_is_held(language: str, text: str) -> None:
    """A figure in another writing, and a country or institution in another language, are the passage's own."""
    assert unsupported(text, EVIDENCE, language) == []


@pytest.mark.parametrize(("language", "text", "strange"), STRANGE)
def test_what_no_passage_holds_is_pointed_at(language: str, text: str, strange: list[str]) -> None:
    """Each figure, date and name on its own, at the place where it stands."""
    found = unsupported(text, EVIDENCE, language)
    assert [item.text for item in found] == strange
    assert all(text[item.start : item.end] == item.text for item in found)


@pytest.mark.parametrize("end", ["", ".", "/", ")."])
def test_the_address_of_a_source_states_nothing(end: str) -> None:
    """A person may cite it: its digits are no figure, and its words no names. What is added to it is read."""
    source = replace(DEGREES.source, url="https://data.brenmoor.example/Tables/2019/edat-lfse-03?Page=47")
    cited = replace(DEGREES, source=source)
    text = f"Look at {source.url}{end}"
    assert unsupported(text, [cited], "en") == []
    assert [one.unsupported for one in check(text, [cited], "en")] == [()]
    assert not any(one.is_unchecked for one in sentences_of(text, [cited], "en"))
    assert [item.text for item in unsupported(text, [DEGREES], "en")] != []
    assert [item.text for item in unsupported(f"Look at {source.url}&n=77", [cited], "en")][-1:] == ["77"]


def test_a_pronoun_is_no_institution() -> None:
    """Small letters do not hold an acronym."""
    people = passage("It is for us to say who may come.")
    assert [item.text for item in unsupported("Ask the WHO and the US.", [people], "en")] == ["WHO", "US"]
    assert [item.text for item in unsupported("Ask the WHO.", [], "en", {"who"})] == ["WHO"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "👍 We are all neighbours here."),
        ("en", "❤️ Everybody is welcome."),
        ("en", "– Nobody chose where to be born."),
        ("en", "- People live here."),
        ("en", "• Neighbours help."),
        ("en", "All of them work 🙂 Everybody knows it."),
        ("en", "That is so — Nobody asked them."),
        ("es", "👋🏽 Bienvenidas sean todas."),
        ("it", "➡️ Siamo tutti vicini."),
        ("eu", "✊ Denok gara auzokideak."),
        ("en", "Ask <@145607444308980001> about it, and <#12345678>, <@&778899>, <:wave:99887766>, <t:1700000000:R>."),
    ],
)
def test_signs_make_no_name_and_a_mention_no_figure(language: str, text: str) -> None:
    """An emoji or a dash before a sentence leaves its first word what it is."""
    assert list(unsupported(text, (), language)) == []


def test_a_name_behind_a_sign_stays_one() -> None:
    """Where it would be one at the head of a sentence, and where a dash stands in a sentence."""
    assert [item.text for item in unsupported("👍 Brenmoor says so, and 45 others.", (), "en")] == ["Brenmoor", "45"]


def test_without_evidence_everything_is_strange() -> None:
    """No passage holds anything; a known name stays known."""
    text = "In 2022, Brenmoor greeted them."
    assert [item.text for item in unsupported(text, (), "en")] == ["2022", "Brenmoor"]
    assert [item.text for item in unsupported(text, (), "en", {"brenmoor"})] == ["2022"]


def test_the_source_holds_its_publisher_and_year() -> None:
    """A draft may name who published a passage, and when."""
    assert unsupported("As the Town hall wrote in its Report of 2023, it was so.", [DEGREES], "en") == []


def test_check_tells_each_sentence_apart() -> None:
    """For live editing: what is checkable, which passage holds it, and where the rest stands in the exact text."""
    text = "  In 2022, 47.6% of EU women held a degree.\nEveryone belongs here!  Rome has 3 million. "
    first, second, third = check(text, EVIDENCE, "en")
    assert (first.is_quotation, first.evidence_id, first.unsupported) == (False, "women-1", ())
    assert (second.evidence_id, second.unsupported) == (None, ())
    assert third.evidence_id is None
    assert [(item.kind, text[item.start : item.end]) for item in third.unsupported] == [("number", "3 million")]
    assert text[third.start : third.end] == "Rome has 3 million."


def test_check_knows_a_quotation() -> None:
    """A sentence that stands in a passage word for word needs no figure to be carried."""
    (quoted,) = check("“One in three of them came from Brenmoor.”", EVIDENCE, "en")
    assert (quoted.is_quotation, quoted.evidence_id) == (True, "visit-1")


def test_one_passage_must_carry_a_sentence() -> None:
    """What two passages hold between them is supported by neither alone."""
    (mixed,) = check("On 12 May 2021, 47.6% held a degree.", EVIDENCE, "en")
    assert (mixed.evidence_id, mixed.unsupported) == (None, ())


@pytest.mark.parametrize(
    ("language", "text"),
    [("es", "Pagan más de lo que el Estado gasta en su salud."), ("it", "Pagano più di quanto lo Stato spende.")],
)
def test_the_state_is_no_name(language: str, text: str) -> None:
    """Spanish and Italian write any state with a capital."""
    assert unsupported(text, (), language) == []


def test_known_names_need_no_passage() -> None:
    """The post's own names are not looked up."""
    (sentence,) = check("We greet Brenmoor.", (), "en", {"brenmoor"})
    assert sentence.unsupported == ()


@settings(database=None, derandomize=True)
@given(st.text(alphabet='Ab1 .,!?%’"\n\té', max_size=60), st.sampled_from(list(NAMES)))
def test_check_covers_any_text(text: str, language: str) -> None:
    """An editor sends half-typed text: offsets always lie in it, sentence after sentence."""
    found = check(text, EVIDENCE, language)
    ends = [0, *(sentence.end for sentence in found)]
    assert all(before <= sentence.start < sentence.end for before, sentence in zip(ends, found, strict=False))
    assert all(text[item.start : item.end] == item.text for sentence in found for item in sentence.unsupported)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("It was 47.6%.", "Exactly 47.6 per cent it was.", True),
        ("It was 47.6%.", "It was 47.6 million.", False),
        ("It was 5 in 2020.", "It was 5.", False),
        ("It rained.", "It snowed.", True),
    ],
)
def test_summaries_keep_the_figures(left: str, right: str, same: bool) -> None:
    """Neither text may add or lose one."""
    assert same_figures(left, right) is same
