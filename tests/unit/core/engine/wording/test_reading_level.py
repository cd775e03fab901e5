"""The reading level: syllables as they are spoken, the published formulas, and fairness to the names of groups."""

import pytest

from core.engine.wording.reading_level import ReadingLevel, hard_to_read, reading_level, syllables_in

PLAIN = "The bus was late. We all got in."
LONG = "Responsible institutional representatives continuously demonstrated extraordinary determination."


def level_of(text: str, language: str = "en") -> ReadingLevel:
    level = reading_level(text, language)
    assert level is not None
    return level


@pytest.mark.parametrize(
    ("language", "syllables", "words"),
    [
        ("en", 1, "hate we're asked homes don't street's through eyes could judge likes"),
        (
            "en",
            2,
            "people wanted someone churches isn't settled going racists little hopeful middle",
        ),
        ("en", 3, "racism disease's nobody's disabled idea happier being-here anyone argument creating area"),
        ("en", 4, "community everybody television criticism society's"),
        ("en", 5, "disability opportunity"),
        ("es", 1, "y hay quien ley buey"),
        ("es", 2, "país guerra día causa ciudad leyes peor"),
        ("es", 3, "vecinos ahora idea poeta pingüino maestro"),
        ("es", 4, "comunidad todavía"),
    ],
)
def test_syllables_are_counted_as_they_are_spoken(language: str, syllables: int, words: str) -> None:
    """Silent letters, vowels that are spoken apart, endings, contractions and compounds."""
    expected = dict.fromkeys(words.split(), syllables)
    assert {word: syllables_in(word, language) for word in expected} == expected


def test_the_formulas_are_those_that_were_published() -> None:
    """By hand: 8 words, 8 syllables in 2 sentences; 6 words, 10 syllables in one; 6 words, 54 letters in one."""
    assert level_of(PLAIN).value == pytest.approx(0.39 * 4 + 11.8 * 1 - 15.59)
    assert level_of("El vecino canta en la calle.", "es").value == pytest.approx(206.835 - 62.3 * 10 / 6 - 6)
    assert level_of("L'amministrazione comunale organizza attività straordinarie.", "it").value == pytest.approx(
        89 + (300 - 540) / 6
    )


def test_a_figure_and_a_hyphenated_word_are_one_word_each() -> None:
    """A figure counts one syllable, whatever its length; parts joined by a hyphen are read in one go."""
    assert level_of("In 2,021 a left-handed man came.").value == pytest.approx(0.39 * 6 + 11.8 * 8 / 6 - 15.59)


def test_the_name_of_a_group_makes_no_reply_hard() -> None:
    """Nobody chooses whom a post attacks: the same sentence is as plain about one group as about another."""
    said = "Nobody should have to read that {} are worth less than you."
    women, immigrants, apartments = (level_of(said.format(name)) for name in ("women", "immigrants", "apartments"))
    assert women == immigrants
    assert apartments.value > women.value


@pytest.mark.parametrize("language", ["en", "es", "it"])
def test_a_hard_text_is_called_hard(language: str) -> None:
    """And a plain one is not; the sentence names the scale and its limit."""
    said = hard_to_read(LONG, language)
    assert said is not None
    assert level_of(LONG, language).scale in said
    assert f"{level_of(LONG, language).limit:.0f} at" in said
    assert hard_to_read(PLAIN, language) is None


def test_where_nothing_can_be_measured_nothing_is_told() -> None:
    """Basque has no formula, a language that Antiphon does not write neither, and a text without words no level."""
    assert [reading_level(LONG, language) for language in ("eu", "fr")] == [None, None]
    assert (reading_level("?!", "en"), reading_level("", "it"), hard_to_read(LONG, "eu")) == (None, None, None)
