"""The reading level of a reply, by the established formula of its language.

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

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from core.engine.wording.target_groups import words_for_groups
from core.engine.wording.text import sentences
from core.i18n.sentences import Sentence, sentence

_PART: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_']+(?:'[^\W\d_]+)?")
_ENGLISH_VOWELS: Final = re.compile(r"[aeiouyàáâäèéêëìíîïòóôöùúûü]+")
_COMPOUND: Final = re.compile(r"(any|every|some|no)(body|one|thing|where|how|times?|place|way)")
_FRONT: Final = {"any": 2, "every": 2, "some": 1, "no": 1}
_NOT: Final = re.compile(r"\A(.+)n't")
_ONE_WITH_NOT: Final = frozenset("ai are ca do sha were wo".split())
_HISSES: Final = re.compile(r"(?:[sxz]|[cs]h|[cgsz]e)$")
_SUFFIXES: Final = (
    "board|boat|cast|dom|ful|head|hold|hood|less|load|ly|m[ae]n|mate|ment|ness|place|room|side|some|stock|style|table|"
    "times?|ty|where|wise|work"
)
_GLIDES: Final = re.compile(r"(?<![a-z])y(?=[aeiou])|(?<=[aeiou])y(?=[aeiou])|(?<=[qg])u(?=[aeio])")
"""Letters that are no vowel where they stand."""
_SILENT_E: Final = tuple(
    (re.compile(expression), left)
    for expression, left in (
        (r"(?<=[^aeiouylrtd])ed$|(?<=[aeiouylrw][lr])ed$|(?<=[aeouy])ed$", "d"),
        (r"(?<=[^aeiouyclrghsxz])es$|(?<=[^cs]h)es$|(?<=[aeiouyrw][lr])es$", "s"),
        (r"(?<=[aeiouy][^aeiouy])e$|(?<=[aeiouy][^aeiouy][^aeiouylr])e$|(?<=[aeiouy][^aeiouy]{2}[^aeiouylr])e$", ""),
        (rf"(?<=[aeiouy][^aeiouylr])e(?=(?:{_SUFFIXES})[a-z]{{0,20}}$)|(?<=[aeiouy][lr])e(?=(?:{_SUFFIXES})s?$)", ""),
    )
)
_APART: Final = re.compile(
    r"""(?<=[^tcszg])ia(?=ls?$|lly$|ns?$) | ia(?!ls?$|lly$|ns?$|ge|me) | (?<=[bdmprv])io(?!ur) | iu | iet | uou
    | (?<![gs])eo(?![pu]) | (?<=cr)ea(?=t[eio]) | ea(?=li[tsz]) | (?<=h)ei(?=s) | oe(?=[rv]) | ua(?!r|de) | ue[lnt]
    | ui(?=t[iy]) | [aeou](?=ing) | (?<=[^aeiou])y(?=ing) | (?:[dp]|cl|[^f]r|(?<!n)sc)ien
    | (?<=[a-z]{2}[^aeiouy])ie(?=rs?$|st$) | [aeiouy](?=(?:s|th)ms?$)""",
    re.VERBOSE,
)
"""Two vowels that are spoken apart, and the vowel that nobody writes in "racism"."""
_IRREGULAR: Final = {
    word: syllables
    for syllables, listed in {
        1: "drawer drawers suit suits eye eyed eyes hm mr mrs ms sh st",
        2: "argue argued argues business choir choirs client clients dr elsewhere evening evenings every eyeing "
        "eyesore liar liars lion lions maybe naked poem poems poet poets quiet riot riots ruin ruined ruins "
        "sacred scapegoat scapegoats soldier soldiers somewhat therefore tired truer wicked wretched crooked "
        "julia russia asia",
        3: "entire area areas argument arguing beforehand businesses caretaker creator everyday familiar genuine "
        "hatreds idea ideal ideals ideas mohammed museum parliament quietly recipe recipes scapegoating "
        "suicide takeover takeovers theatre vegetable",
        4: "catastrophe experience january february memorial",
    }.items()
    for word in listed.split()
}
_SPANISH_NUCLEUS: Final = re.compile(r"[íú]|[iuü]*[aeoáéó][iuüy]*(?![aeoáéóíú])|[iuü]*[aeoáéó]|[iuüy]+")
"""One syllable: a strong vowel with the weak ones beside it, or weak ones alone; an accented weak one stands alone."""
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


def syllables_in(word: str, language: str) -> int:
    """The syllables of an English or Spanish word, 1 at least; parts joined by hyphens are added, a figure counts 1."""
    count = _in_spanish if language == "es" else _in_english
    plain = word.casefold().replace("’", "'")
    return sum(1 if part[0].isdigit() else count(part) for part in _PART.findall(plain)) or 1


@lru_cache(maxsize=10_000)
def _in_english(word: str) -> int:
    if match := _NOT.fullmatch(word):
        return _in_english(match[1]) + (match[1] not in _ONE_WITH_NOT)
    bare, _, ending = word.partition("'")
    if ending == "s" and _HISSES.search(bare):
        return _in_english(bare) + 1
    if match := _COMPOUND.fullmatch(bare):
        return _FRONT[match[1]] + _in_english(match[2])
    return _IRREGULAR.get(bare) or _vowel_groups(bare)


def _vowel_groups(word: str) -> int:
    if not _ENGLISH_VOWELS.search(word):
        return len(word)
    word = _GLIDES.sub("j", word)
    apart = len(_APART.findall(word))
    for silent, left in _SILENT_E:
        word = silent.sub(left, word)
    return max(1, len(_ENGLISH_VOWELS.findall(word)) + apart)


@lru_cache(maxsize=10_000)
def _in_spanish(word: str) -> int:
    plain = re.sub(r"y(?=[aeiouáéíóú])", "j", re.sub(r"(?<=[qg])u(?=[eiéí])", "", word))
    return max(1, len(_SPANISH_NUCLEUS.findall(plain)))


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
    count = max(1, len(sentences(text)))
    if language == "it":
        return _gulpease(count, words)
    formula = _inflesz if language == "es" else _grade
    return formula(len(words) / count, _syllables(text, language) / len(words))


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


def _gulpease(count: int, words: list[str]) -> ReadingLevel:
    letters = sum(character.isalnum() for word in words for character in word)
    points = min(100.0, 89 + (300 * count - 10 * letters) / len(words))
    return ReadingLevel("Gulpease", points, LOWEST_GULPEASE)


def _syllables(text: str, language: str) -> int:
    """The syllables of all words; of a word in a group's name two at most."""
    in_name = bytearray(len(text))
    for name in words_for_groups()[language].values():
        for match in name.finditer(text):
            in_name[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    return sum(
        min(count, _IN_A_NAME) if any(in_name[match.start() : match.end()]) else count
        for match in _WORD.finditer(text)
        for count in [syllables_in(match.group(), language)]
    )
