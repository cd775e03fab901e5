"""The words that a community watches for, found as whole words and despite common disguises and markup.

Owns the comparison, and the endings that a keyword may have in Spanish, Italian and Basque. Does not know messages or
policies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from core.wording.disguises import HUMP, bare, hidden_by, spellings, starred
from core.wording.text import clean

_MASKED_LINK: Final = re.compile(r"\[([^\[\]\n]{0,200})\]\([^()\s]{0,500}\)")
_MARKUP: Final = re.compile(
    r"\|\||~~|[*_`]+|\\(?=[^\w\s])|<a?:\w{2,32}:\d{1,20}>"
    r"|(?<=[^\W\d_])[\u2190-\u2bff\ufe0f\U0001f1e6-\U0001faff]+(?=[^\W\d_])"
)
"""Signs that lay text out, and emoji inside a word."""
_FLAGS: Final = {0x1F1E6 + place: chr(ord("a") + place) for place in range(26)}
_BY_DIGITS: Final = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_HASHTAG: Final = re.compile(r"#(\w+)")
_APART: Final = re.compile(r"(?<![^\W_])[^\W_](?:[\s.,/*_·-]{1,3}[^\W_])+(?![^\W_])")
_LEAST_APART: Final = 4
_SHORTEST: Final = 4
_LONG: Final = 5
"""A word may have endings from four letters on, and another gender from five on: "mora" is a berry."""
_LEAST_SHOWN: Final = 2
_BASQUE: Final = "ak|ek|ei|aren|ari|arekin|ekin|entzat|arentzat|engatik|arengatik|etatik"


def has_keyword(text: str, keywords: tuple[str, ...]) -> bool:
    """Whether the text holds one of the keywords as a word, or as words in a row, in any case.

    These are undone: markup and emoji around and inside a word, words run together in a hashtag, signs and letters of
    other alphabets that look like letters, accents (but ñ), letters that are repeated, spaced apart or invisible, and
    stars instead of letters. A keyword of four letters or more is found with the endings of Spanish, Italian and
    Basque, too.
    """
    pattern, plain = _pattern(keywords), _plain(text)
    if pattern is None:
        return False
    unmasked = _MASKED_LINK.sub(r"\1", plain)
    written = dict.fromkeys(
        (
            plain,
            _MARKUP.sub("", unmasked),
            _MARKUP.sub(" ", unmasked),
            _HASHTAG.sub(lambda tag: HUMP.sub(" ", tag.group(1)), unmasked),
            _HASHTAG.sub(lambda tag: _BY_DIGITS.sub(" ", tag.group(1)), unmasked),
            plain.translate(_FLAGS),
        )
    )
    read = dict.fromkeys(spelling for each in written for spelling in (each.casefold(), *spellings(each)))
    if any(pattern.search(each) for each in read):
        return True
    known = [word for word in map(bare, map(_plain, keywords)) if " " not in word]
    spaced = ["".join(filter(str.isalnum, run)) for each in read for run in _APART.findall(each)]
    if any(word in run for run in spaced for word in known if len(word) >= _LEAST_APART):
        return True
    stars = [found for found in starred(bare(plain)) if sum(map(str.isalpha, found)) >= _LEAST_SHOWN]
    return any(hidden_by(found, known) for found in stars)


def _plain(text: str) -> str:
    """The text without what nobody sees; ñ is a letter of its own, no n with a sign."""
    return clean(text)[0].replace("ñ", "nj").replace("Ñ", "NJ")


@lru_cache(maxsize=256)
def _pattern(keywords: tuple[str, ...]) -> re.Pattern[str] | None:
    written = dict.fromkeys(word for each in keywords for word in _written(_plain(each)))
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(written)})(?![^\W_])") if written else None


def _written(keyword: str) -> Iterator[str]:
    """A keyword as it stands, and in plain letters with its endings."""
    for plain in dict.fromkeys((keyword.casefold(), bare(keyword))):
        *first, last = plain.split() or [""]
        if last:
            yield r"[\s_-]+".join([*map(re.escape, first), _with_endings(last)])


def _with_endings(word: str) -> str:
    if len(word) < _SHORTEST or not word.isalpha():
        return re.escape(word)
    stem, ending = word[:-1], word[-1]
    hard = "h?" if stem[-1] in "cg" else ""
    others = {
        "a": [f"{word}s", f"{stem}(?:{_BASQUE}|en)", *([f"{stem}{hard}e"] if len(word) >= _LONG else [])],
        "e": [f"{word}s", f"{word}(?:{_BASQUE})", *([f"{stem}i"] if len(word) >= _LONG else [])],
        "o": [
            f"{word}s",
            f"{word}(?:{_BASQUE}|a|en)",
            f"{stem}{hard}i",
            *([f"{stem}as?", f"{stem}{hard}e"] if len(word) >= _LONG else []),
        ],
        "z": [f"{stem}ces", f"{word}(?:{_BASQUE})"],
    }
    if ending in "iu":
        others[ending] = [f"{word}s", f"{word}(?:{_BASQUE}|a|en)"]
    if ending in "dljnrs":
        others[ending] = [f"{word}(?:{_BASQUE})", *([f"{word}es"] if len(word) >= _LONG else [])]
    return f"(?:{'|'.join([re.escape(word), *others.get(ending, [f'{word}(?:{_BASQUE})'])])})"
