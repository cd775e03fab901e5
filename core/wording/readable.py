"""A text as a small encoder can read it: the usual disguises undone, emoji and hashtags as words.

Owns what is rewritten before a reader sees a text; people are always shown the text as it was written. Plain
functions: they know letters and signs, and the names of groups through ``core.wording.targets``.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from core.wording.disguises import HUMP, READINGS, SIGNS, with_plain_letters, without_lookalikes
from core.wording.targets.groups import undisguised
from core.wording.targets.senses import replaced
from core.wording.targets.slurs import senses_in
from core.wording.text import clean

_SIGN: Final = re.escape("".join(SIGNS) + "!|")
_MIXED: Final = re.compile(rf"(?<![\w{_SIGN}])[{_SIGN}]?[^\W\d_]+(?:[{_SIGN}]+[^\W\d_]+)+[\d@$]?(?![\w@])")
_SPACED: Final = re.compile(r"(?<!\w)(?:[^\W\d_][ .\-_*·,/]{1,2}){2,}[^\W\d_](?!\w)")
_DOTTED: Final = re.compile(r"(?<=[^\W\d_])[.\-_*·](?=[^\W\d_][.\-_*·][^\W\d_])")
_REPEATED: Final = re.compile(r"([^\W\d_])\1{2,}")
_HASHTAG: Final = re.compile(r"#(\w+)")
_LAID_OUT: Final = re.compile(r"`+|\|\||~~|^[ \t]{0,9}(?:>{1,3}|-?#{1,3}) ", re.MULTILINE)
"""Signs of chats that show words as code, hidden, struck out, quoted, large or small."""
_SPACES: Final = re.compile(r"\s+")
_DIACRITICS: Final = frozenset("Mn Cf Me".split())
_PICTURES: Final = frozenset("So Sk".split())
_FIRST_PICTURE: Final = 0x2190
_FLAG_LETTER: Final = "REGIONAL INDICATOR SYMBOL LETTER "
_WORDS_IN_NAMES: Final = re.compile(r"\b(?:FACE|SIGN|SYMBOL|WITH|HEAVY|EMOJI COMPONENT|VARIATION SELECTOR.*)\b")


def readable(text: str, language: str | None = None) -> str:
    """The text on one line with disguises and the signs that lay it out undone, and with neutral names.

    A word is changed only where letters stand on both sides of a sign, so that "mp3", "2nd" and "a/c" stay as they are;
    three single letters in a row or more are one word. An emoji becomes its Unicode name, and a hashtag its words.
    """
    plain = without_lookalikes(_plain_letters(_LAID_OUT.sub("", clean(text)[0])))[0]
    plain = _HASHTAG.sub(lambda tag: HUMP.sub(" ", tag.group(1)), plain)
    plain = undisguised(replaced(plain, senses_in(plain, language), names_only=True), language)
    plain = _SPACED.sub(lambda found: re.sub(r"[ .\-_*·,/]", "", found.group()), plain)
    plain = _DOTTED.sub("", plain)
    plain = _MIXED.sub(lambda found: _letters(found.group()), plain)
    plain = _REPEATED.sub(r"\1\1", plain)
    return _SPACES.sub(" ", "".join(map(_named, plain))).strip()


def _plain_letters(text: str) -> str:
    """Letters of mathematical and wide alphabets as plain ones; accents stay, stacked marks go."""
    folded = with_plain_letters(unicodedata.normalize("NFKC", text))
    return "".join(sign for sign in folded if unicodedata.category(sign) not in _DIACRITICS)


def _letters(word: str) -> str:
    """A word with its signs as letters: a doubled 1 is a doubled l, a single one an i."""
    plain = re.sub(r"[!|]", "i", word.replace("11", "ll"))
    return plain.translate(READINGS[0])


def _named(sign: str) -> str:
    if ord(sign) < _FIRST_PICTURE or unicodedata.category(sign) not in _PICTURES:
        return sign
    name = unicodedata.name(sign, "")
    if name.startswith(_FLAG_LETTER):
        return name.removeprefix(_FLAG_LETTER).casefold()
    return f" {_WORDS_IN_NAMES.sub(' ', name).casefold()} "
