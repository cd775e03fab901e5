"""How the letters of a word are disguised, and how a disguise is undone.

Owns the tables: letters of other alphabets that look like Latin ones, and signs that stand for letters. Plain
functions; they know no word that is looked for.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from core.wording.text import clean

SIGNS: Final = {"0": "o", "1": "il", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s"}
"""Digits and signs, and the letters that each may stand for."""
READINGS: Final = tuple(str.maketrans({sign: letters[at] for sign, letters in SIGNS.items()}) for at in (0, -1))
"""The tables for ``str.translate`` that spell the signs out."""

_LOOKALIKES: Final = str.maketrans(
    "аеорсухіѕјԁкмтвнһӏԛԝαοεικνρτυχАВЕКМНОРСТУХІЅЈҺԚԜΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxisjdkmtbhhlqwaoeikvptuxABEKMHOPCTYXISJHQWABEZHIKMNOPTYX",
)
"""Cyrillic and Greek letters, and the Latin letters that they look like."""
_COMPARED: Final = _LOOKALIKES | str.maketrans("ıɡĸ", "igk")
"""With Latin letters that look like others, which are read as they are and compared as those."""
_WORD_WITH_LOOKALIKE: Final = re.compile(rf"(?<!\w)\w*[{''.join(map(chr, _LOOKALIKES))}]\w*")


def bare(text: str) -> str:
    """A text as it is compared: cleaned, casefolded, without accents, in Latin letters where others look like these."""
    folded = unicodedata.normalize("NFKD", clean(text)[0].casefold()).translate(_COMPARED)
    return "".join(character for character in folded if not unicodedata.combining(character))


def without_lookalikes(text: str) -> tuple[str, int]:
    """A text whose Latin words are Latin throughout, and how many words were changed for it.

    Changed is a word that mixes Latin letters with Cyrillic or Greek ones, all of which look like Latin ones. A word
    wholly of another alphabet stays, and so does one with a letter that looks like none, such as "μm".
    """
    changed = 0

    def plain(match: re.Match[str]) -> str:
        nonlocal changed
        word = match.group()
        others = {letter for letter in word if letter.isalpha() and ord(letter) not in _LOOKALIKES}
        if not others or not all(unicodedata.name(letter, "").startswith("LATIN ") for letter in others):
            return word
        changed += 1
        return word.translate(_LOOKALIKES)

    return _WORD_WITH_LOOKALIKE.sub(plain, text), changed
