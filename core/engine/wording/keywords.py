"""Words that a community names, found in a text as whole words, however they are disguised."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from core.engine.wording.disguises import HUMP, bare, hidden_by, spellings, starred
from core.engine.wording.text import clean

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
    return _pattern(keywords) is not None and _is_in(_readings_of(text), keywords)


def keyword_in(text: str, keywords: tuple[str, ...]) -> str | None:
    """The first of the keywords that the text holds, as ``has_keyword`` finds it; ``None`` for none."""
    if _pattern(keywords) is None:
        return None
    readings = _readings_of(text)
    return next((word for word in keywords if _is_in(readings, (word,))), None) if _is_in(readings, keywords) else None


@dataclass(frozen=True, slots=True)
class _Readings:
    """A text as it may be meant: its ``spellings``, words that are ``spaced`` apart, and words with stars."""

    spellings: tuple[str, ...]
    spaced: tuple[str, ...]
    starred: tuple[str, ...]


def _readings_of(text: str) -> _Readings:
    plain = _plain(text)
    unmasked = _MASKED_LINK.sub(r"\1", plain)
    forms = dict.fromkeys(
        (
            plain,
            _MARKUP.sub("", unmasked),
            _MARKUP.sub(" ", unmasked),
            _HASHTAG.sub(lambda tag: HUMP.sub(" ", tag.group(1)), unmasked),
            _HASHTAG.sub(lambda tag: _BY_DIGITS.sub(" ", tag.group(1)), unmasked),
            plain.translate(_FLAGS),
        )
    )
    readings = dict.fromkeys(spelling for form in forms for spelling in (form.casefold(), *spellings(form)))
    return _Readings(
        tuple(readings),
        tuple("".join(filter(str.isalnum, run)) for form in readings for run in _APART.findall(form)),
        tuple(word for word in starred(bare(plain)) if sum(map(str.isalpha, word)) >= _LEAST_SHOWN),
    )


def _is_in(readings: _Readings, keywords: tuple[str, ...]) -> bool:
    pattern = _pattern(keywords)
    if pattern is not None and any(pattern.search(spelling) for spelling in readings.spellings):
        return True
    plain = [word for word in map(bare, map(_plain, keywords)) if word and " " not in word]
    if any(word in run for run in readings.spaced for word in plain if len(word) >= _LEAST_APART):
        return True
    return any(hidden_by(word, plain) for word in readings.starred)


def _plain(text: str) -> str:
    """The text without what nobody sees; ñ is a letter of its own, no n with a sign."""
    return clean(text)[0].replace("ñ", "nj").replace("Ñ", "NJ")


@lru_cache(maxsize=1024)
def _pattern(keywords: tuple[str, ...]) -> re.Pattern[str] | None:
    forms = dict.fromkeys(word for keyword in keywords for word in _forms_of(_plain(keyword)))
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(forms)})(?![^\W_])") if forms else None


def _forms_of(keyword: str) -> Iterator[str]:
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
