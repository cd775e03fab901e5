"""A text as a small encoder can read it: disguises undone, emoji and hashtags as words, chat in standard words.

People are always shown the text as it was written. Everyday speech, which a reader of standard English takes for
something else, is rewritten or told: dialect, chat, names and kind words.
"""

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, Final

from core.engine.wording.disguises import HUMP, READINGS, SIGNS, with_plain_letters, without_lookalikes
from core.engine.wording.slurs import replaced, senses_in, slurs_in
from core.engine.wording.target_groups import groups_named, undisguised
from core.engine.wording.text import clean, words

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
_MOST_BESIDE = 3  # words beside a slogan


def readable(text: str, language: str | None = None) -> str:
    """The text on one line with disguises and the signs that lay it out undone, and with neutral names.

    A word is changed only where letters stand on both sides of a sign, so that "mp3", "2nd" and "a/c" stay as they are;
    three single letters in a row or more are one word. An emoji becomes its Unicode name, and a hashtag its words.
    """
    plain = without_lookalikes(_plain_letters(_LAID_OUT.sub("", clean(text)[0])))[0]
    plain = _HASHTAG.sub(lambda tag: HUMP.sub(" ", tag.group(1)), plain)
    plain = undisguised(replaced(plain, senses_in(plain, language), names_only=True), language)
    plain = _SPACED.sub(lambda match: re.sub(r"[ .\-_*·,/]", "", match.group()), plain)
    plain = _DOTTED.sub("", plain)
    plain = _MIXED.sub(lambda match: _letters(match.group()), plain)
    plain = _REPEATED.sub(r"\1\1", plain)
    return _SPACES.sub(" ", "".join(map(_emoji_name, plain))).strip()


def _plain_letters(text: str) -> str:
    """Letters of mathematical and wide alphabets as plain ones; accents stay, stacked marks go."""
    folded = with_plain_letters(unicodedata.normalize("NFKC", text))
    return "".join(sign for sign in folded if unicodedata.category(sign) not in _DIACRITICS)


def _letters(word: str) -> str:
    """A word with its signs as letters: a doubled 1 is a doubled l, a single one an i."""
    plain = re.sub(r"[!|]", "i", word.replace("11", "ll"))
    return plain.translate(READINGS[0])


def _emoji_name(sign: str) -> str:
    if ord(sign) < _FIRST_PICTURE or unicodedata.category(sign) not in _PICTURES:
        return sign
    name = unicodedata.name(sign, "")
    if name.startswith(_FLAG_LETTER):
        return name.removeprefix(_FLAG_LETTER).casefold()
    return f" {_WORDS_IN_NAMES.sub(' ', name).casefold()} "


def in_standard_words(text: str) -> str:
    """The text in the words that a reader of standard English knows; unchanged where it holds no everyday speech.

    Neither is a text changed that then still holds a slur, or that names a group without one: it is read as it stands.
    """
    standard = _in_standard(_in_standard(text, "dialect"), "chat")
    standard = standard if standard == text else " ".join(standard.split()).strip(" ,")
    slurs = slurs_in(standard, "en")
    is_about_a_group = slurs or (groups_named(standard, "en") and not slurs_in(text, "en"))
    return text if is_about_a_group else standard


def with_neutral_names(text: str) -> str:
    """The text with "Alex" for names that are frequent in one group only, where nothing is said of a group."""
    return text if _pattern("of_a_group").search(text) else _names().sub("Alex", text)


def is_everyday(text: str) -> bool:
    """Whether an English text is in dialect, and names no group, holds no slur and speaks of nobody but one person."""
    standard = _in_standard(text, "dialect")
    if standard == text:
        return False
    return not (_pattern("charged").search(standard) or groups_named(standard, "en") or slurs_in(standard, "en"))


def is_friendly(text: str) -> bool:
    """Whether an English text says something kind of a group, and nothing that turns it round."""
    return bool(
        _pattern("friendly").search(text)
        and not _pattern("unfriendly").search(text)
        and groups_named(text, "en")
        and not slurs_in(text, "en")
    )


def is_slogan(text: str) -> bool:
    """Whether an English text is a call to stand by a group, such as "Black Lives Matter", and hardly anything else."""
    rest = _pattern("slogans").sub(" ", text)
    return rest != text and len(words(rest)) <= _MOST_BESIDE and not _pattern("unfriendly").search(rest)


def objects_to_quote(text: str) -> bool:
    """Whether an English text objects, in lines of its own, to lines that it quotes behind ">"."""
    own = [line for line in text.splitlines() if not line.lstrip().startswith(">")]
    answer = "\n".join(own).replace("’", "'")
    return len(own) < len(text.splitlines()) and bool(_pattern("objects").search(answer)) and not slurs_in(answer, "en")


@cache
def _names() -> re.Pattern[str]:
    names = "|".join(_rows()["names"].split())
    return re.compile(rf"(?<!\ban )(?<!\ba )(?<!\bno )(?<!\bthe )(?<!\bmore )\b(?:{names})\b", re.IGNORECASE)


@cache
def _rows() -> Mapping[str, Any]:
    return tomllib.loads(
        resources.files("core.engine.wording").joinpath("data/everyday.toml").read_text(encoding="utf-8")
    )


def _in_standard(text: str, kind: str) -> str:
    for pattern, standard in _words(kind):
        text = pattern.sub(standard, text)
    return text


@cache
def _words(kind: str) -> Sequence[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern, re.IGNORECASE), standard) for pattern, standard in _rows()[kind]]


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(_rows()[name], re.IGNORECASE)
