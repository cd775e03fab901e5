"""How texts are cleaned, cut and compared."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.engine.wording.disguises import without_lookalikes
from core.engine.wording.text import clean, content_stems, counted, join, numbers, sentences, stem, words

ANY = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
ROUGH = st.text(
    alphabet="ab \n\t\r\u0085\u00a0\u00a8\u0301\u200b\u200d\u202e\u2028\u034f\u3164\uff21\ufb01\u0345\U000e0041"
)


@settings(database=None, derandomize=True)
@given(st.one_of(ANY, ROUGH))
@example("\u00a8a")
@example("a\u200b\u0301")
@example("\u1100\u200b\u1161")
def test_a_clean_text_stays_as_it_is(text: str) -> None:
    """Cleaning twice changes nothing more, so a stored post is what the engine reads."""
    cleaned, _ = clean(text)
    assert clean(cleaned) == (cleaned, 0)
    assert unicodedata.is_normalized("NFKC", cleaned)


@settings(database=None, derandomize=True)
@given(st.one_of(ANY, ROUGH))
def test_nothing_unseen_is_left(text: str) -> None:
    """No control, zero-width or bidirectional character reaches a prompt or a terminal."""
    cleaned, removed = clean(text)
    assert all(c in "\n\t" or not unicodedata.category(c).startswith("C") for c in cleaned)
    assert removed >= 0
    assert cleaned == cleaned.strip()


@pytest.mark.parametrize(
    ("text", "cleaned", "removed"),
    [
        ("plain", "plain", 0),
        ("  a\r\nb\rc\u2028d \n", "a\nb\nc\nd", 0),
        ("a\tb", "a\tb", 0),
        ("\x00a\x1b[31mb\x07", "a[31mb", 3),
        ("a\u202eb\u2066c\u2069", "abc", 3),
        ("w\u200bo\ufeffr\u00add", "word", 3),
        ("\u2800\u3164\uffa0\u034f", "", 4),
        ("\uff37\uff4f\uff52\uff44 \ufb01ne", "Word fine", 0),
        ("\U0001f469\u200d\U0001f680", "\U0001f469\U0001f680", 0),
        ("Cafe\u0301", "Caf\u00e9", 0),
        ("\uff1c/post\uff1e", "</post>", 0),
        ("", "", 0),
    ],
)
def test_what_cleaning_does(text: str, cleaned: str, removed: int) -> None:
    """What was taken out is counted, save for the joiners of emoji, which nobody hides behind."""
    assert clean(text) == (cleaned, removed)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Ames met Mrs. Vale. They talked.", ["Dr. Ames met Mrs. Vale.", "They talked."]),
        ("The U.N. Charter says so. It does.", ["The U.N. Charter says so.", "It does."]),
        ("It was 3.5 per cent. In 2020, 4.", ["It was 3.5 per cent.", "In 2020, 4."]),
        ("He said “Stay.” She stayed.", ["He said “Stay.”", "She stayed."]),
        ("Wait… What?", ["Wait…", "What?"]),
        ("¿Quién eres? ¡Hola! Él vino.", ["¿Quién eres?", "¡Hola!", "Él vino."]),
        ("In Toonen v. Australia it won. Two!", ["In Toonen v. Australia it won.", "Two!"]),
        ("See No. 1 of D. H. Lawrence. Two.", ["See No. 1 of D. H. Lawrence.", "Two."]),
        ("No. They work, too.", ["No.", "They work, too."]),
        ("They said no. 4 people left.", ["They said no.", "4 people left."]),
        ("It is not the neighbour's. 4 people left.", ["It is not the neighbour's.", "4 people left."]),
        ("I said that I can't. 4 people left.", ["I said that I can't.", "4 people left."]),
        ("They live there, p. They left.", ["They live there, p.", "They left."]),
        ("One line\nand the next.", ["One line and the next."]),
        ("no end", ["no end"]),
        (" \n ", []),
    ],
)
def test_sentences(text: str, parts: list[str]) -> None:
    """A draft has two sentences at most, so they must be counted rightly."""
    assert [part.rstrip("”") for part in sentences(text)] == [part.rstrip("”") for part in parts]


@pytest.mark.parametrize(
    "text",
    [
        "See nos. 4 and 5 of the list.",
        "See p. 9 of the report.",
        "It is on pp. 3-5 there.",
        "Others say so (cf. 3 and cf. Ames).",
        "They live at no. 4, as the list says.",
        "The court held so in case no. 4 of that year.",
        "No. 10 is a house.",
        "Art. 14 and art. XIV say so, and Vol. II, too.",
        "It is in ch. 3, para. 4, fig. 2.",
        "There were approx. 300 of them c. 1900.",
        "Ames et al. 2019 counted them.",
        "Lo dice el núm. 7, en la pág. 9 y en las págs. 3-5.",
        "Lo dice el art. 14, párr. 2, cap. 3 de la ley.",
        "Lo dice l'art. 14, e cfr. 3, n. 7, pag. 9, artt. 3 e 4.",
        "Legeak dio: art. 14, zk. 7, or. 9, ik. 3.",
    ],
)
def test_an_abbreviation_before_a_number_ends_no_sentence(text: str) -> None:
    """A reply that cites its source by page has two sentences still; what follows is a sentence of its own."""
    assert sentences(f"{text} They work.") == [text, "They work."]


@settings(database=None, derandomize=True)
@given(ANY)
def test_sentences_keep_every_word(text: str) -> None:
    """Cutting loses no word: what the gates read is all of the draft."""
    assert words(" ".join(sentences(text))) == words(text)


def test_words() -> None:
    """Words are letters and an inner apostrophe, without case; digits and signs are none."""
    assert words("We’re HERE, l'amico! 12 x2 snake_case") == ["we're", "here", "l'amico", "x", "snake", "case"]
    assert words("Straße ÁRBOL") == ["strasse", "árbol"]
    assert words("... 42 !") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,200 and 1.200 and 1200", {"1200"}),
        ("1.234.567 or 1,234,567", {"1234567"}),
        ("3.5 and 3,5", {"3.5"}),
        ("61% in 2022.", {"61", "2022"}),
        ("none", set()),
    ],
)
def test_numbers_have_one_spelling(text: str, found: set[str]) -> None:
    """A number is the same in a draft and in its evidence, whatever the separator."""
    assert numbers(text) == found


def test_content_stems() -> None:
    """Words of meaning only, so that a reply which repeats a post in other forms is recognised."""
    assert content_stems("The migrants don't live off our welfare") == ["migran", "live", "welfar"]
    assert content_stems("Neighbours’ and neighbour's") == ["neighb", "neighb"]
    assert content_stems("Los inmigrantes no son así", "es") == ["inmigr", "así"]
    assert content_stems("the los gli eta", None) == ["the", "los", "gli", "eta"]


@pytest.mark.parametrize(
    ("word", "cut"), [("classes", "classe"), ("class", "class"), ("jobs", "job"), ("bus", "bus"), ("town's", "town")]
)
def test_stem(word: str, cut: str) -> None:
    """Singular and plural meet."""
    assert stem(word) == cut


def test_join() -> None:
    """Sentences are joined by one space, empty ones left out."""
    assert join([" One. ", "", " ", "Two."]) == "One. Two."


@pytest.mark.parametrize(
    ("text", "plain", "changed"),
    [
        ("Muslіms and jеws", "Muslims and jews", 2),
        ("Мuslims", "Muslims", 1),
        ("ΑCT οf 1951", "ACT of 1951", 2),
        ("Все люди", "Все люди", 0),
        ("μm, Δt and Иsabel", "μm, Δt and Иsabel", 0),
        ("ısınma", "ısınma", 0),
    ],
)
def test_only_latin_words_with_look_alikes_are_turned_back(text: str, plain: str, changed: int) -> None:
    """A word of another alphabet is no disguise."""
    assert without_lookalikes(text) == (plain, changed)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (counted(1, "passage"), "1 passage"),
        (counted(0, "passage"), "0 passages"),
        (counted(1_204_567, "passage"), "1,204,567 passages"),
        (counted(0.5, "minute"), "0.5 minutes"),
        (counted(1.0, "minute"), "1 minute"),
        (counted(2, "reply", "replies"), "2 replies"),
        (counted(1, "person", "people"), "1 person"),
    ],
)
def test_a_number_and_its_noun(said: str, expected: str) -> None:
    """Whatever the size, and where the plural is not an s."""
    assert said == expected
