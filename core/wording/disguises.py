"""How the letters of a word are disguised, and how a disguise is undone.

Owns the tables: letters of other alphabets that look like Latin ones, and signs that are used for letters. Plain
functions; they do not know the words that are looked for.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from core.wording.text import clean

SIGNS: Final = {"0": "o", "1": "il", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s"}
"""Digits and signs, and the letters that each may replace."""
READINGS: Final = tuple(str.maketrans({sign: letters[at] for sign, letters in SIGNS.items()}) for at in (0, -1))
"""The tables for ``str.translate`` that replace the signs by letters."""

_LOOKALIKES: Final = str.maketrans(
    "аеорсухіѕјԁкмтвнһӏԛԝαοεικνρτυχАВЕКМНОРСТУХІЅЈҺԚԜΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxisjdkmtbhhlqwaoeikvptuxABEKMHOPCTYXISJHQWABEZHIKMNOPTYX",
)
"""Cyrillic and Greek letters, and the Latin letters that they look like."""
_COMPARED: Final = _LOOKALIKES | str.maketrans("ıɡĸ", "igk")
"""The same, with Latin letters that look like other Latin letters; used only to compare texts."""
_WORD_WITH_LOOKALIKE: Final = re.compile(rf"(?<!\w)\w*[{''.join(map(chr, _LOOKALIKES))}]\w*")


def bare(text: str) -> str:
    """A text in the form for comparison: cleaned, casefolded, without accents, with lookalikes as Latin letters."""
    folded = unicodedata.normalize("NFKD", clean(text)[0].casefold()).translate(_COMPARED)
    return "".join(character for character in folded if not unicodedata.combining(character))


def without_lookalikes(text: str) -> tuple[str, int]:
    """A text with lookalikes in Latin words turned into Latin letters, and how many words were changed.

    A word is changed if it mixes Latin letters with Cyrillic or Greek ones that all look like Latin ones. A word that
    is entirely in another alphabet stays, and so does one with a letter that looks like no Latin one, such as "μm".
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
