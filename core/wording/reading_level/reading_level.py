"""The reading level of a reply, by the established formula of its language.

Owns the formulas, their limits, and what counts as a word and as a sentence:

- English: the grade of Kincaid, Fishburne, Rogers and Chissom (1975, Research Branch Report 8-75), in years of school
  in the United States. Above 9 is hard.
- Spanish: the perspicuity of Szigriszt Pazos (1993) on the INFLESZ scale of Barrio-Cantalejo and others (2008), in
  points, higher is easier. Below 55, "somewhat difficult", is hard.
- Italian: Gulpease of Lucisano and Piemontese (1988), in points from 0 to 100, higher is easier. Below 60, difficult
  for readers who left school after the eighth year, is hard.
- Basque has no established formula, so nothing is measured.

All of them were made for passages of a hundred words and more. On one or two sentences they are noisy: one long word,
or a sentence cut in two, moves the grade by one or two. So a level says where to look, and refuses nothing.

Each word of a group's name counts two syllables at most: a reply cannot choose whom a post attacks ("people with
disabilities", "immigrants").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from core.i18n.sentences import Sentence, sentence
from core.wording.reading_level.syllables import syllables_in
from core.wording.targets.groups import words_for_groups
from core.wording.text import sentences

MEASURED: Final = frozenset({"en", "es", "it"})
"""The languages with an established formula."""
HIGHEST_GRADE: Final = 9.0
LOWEST_INFLESZ: Final = 55.0
LOWEST_GULPEASE: Final = 60.0
_GRADE: Final = "US grade"
_IN_A_NAME: Final = 2
_WORD: Final = re.compile(r"[^\W_]+(?:['’\-.,][^\W_]+)*")
_ITALIAN_WORD: Final = re.compile(r"[^\W_]+(?:[.,-][^\W_]+)*")
"""The article before an apostrophe is a word of its own."""


@dataclass(frozen=True, slots=True)
class ReadingLevel:
    """How hard a text is to read: a value on a scale, and the limit beyond which it is hard."""

    scale: str
    value: float
    limit: float

    @property
    def is_hard(self) -> bool:
        """Whether it is beyond the limit: a high grade, or few points."""
        return self.value > self.limit if self.scale == _GRADE else self.value < self.limit


def reading_level(text: str, language: str) -> ReadingLevel | None:
    """The level of a text; ``None`` for a text without words, and in a language without an established formula."""
    words = [match.group() for match in (_ITALIAN_WORD if language == "it" else _WORD).finditer(text)]
    if language not in MEASURED or not words:
        return None
    counted = max(1, len(sentences(text)))
    if language == "it":
        return _gulpease(counted, words)
    formula = _inflesz if language == "es" else _grade
    return formula(len(words) / counted, _syllables(text, language) / len(words))


def hard_to_read(text: str, language: str) -> Sentence | None:
    """What a person is told of a text that is hard to read; ``None`` for any other."""
    level = reading_level(text, language)
    if level is None or not level.is_hard:
        return None
    if level.scale == _GRADE:
        return sentence(
            "It is hard to read: US grade {grade} (aim: {most} at most).",
            grade=f"{level.value:.1f}",
            most=f"{level.limit:.0f}",
        )
    return sentence(
        "It is hard to read: {points} points on the scale {scale} (aim: {least} at least).",
        points=f"{level.value:.0f}",
        scale=level.scale,
        least=f"{level.limit:.0f}",
    )


def _grade(words_a_sentence: float, syllables_a_word: float) -> ReadingLevel:
    grade = 0.39 * words_a_sentence + 11.8 * syllables_a_word - 15.59
    return ReadingLevel(_GRADE, grade, HIGHEST_GRADE)


def _inflesz(words_a_sentence: float, syllables_a_word: float) -> ReadingLevel:
    points = 206.835 - 62.3 * syllables_a_word - words_a_sentence
    return ReadingLevel("INFLESZ", points, LOWEST_INFLESZ)


def _gulpease(counted: int, words: list[str]) -> ReadingLevel:
    letters = sum(character.isalnum() for word in words for character in word)
    points = min(100.0, 89 + (300 * counted - 10 * letters) / len(words))
    return ReadingLevel("Gulpease", points, LOWEST_GULPEASE)


def _syllables(text: str, language: str) -> int:
    """The syllables of all words; of a word in a group's name two at most."""
    named = bytearray(len(text))
    for name in words_for_groups()[language].values():
        for match in name.finditer(text):
            named[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    return sum(
        min(counted, _IN_A_NAME) if any(named[match.start() : match.end()]) else counted
        for match in _WORD.finditer(text)
        for counted in [syllables_in(match.group(), language)]
    )
