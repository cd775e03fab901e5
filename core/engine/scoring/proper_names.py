"""Names of persons, places and institutions in a text, and whether a passage knows them.

A name is a word with a capital inside a sentence, and at its head an acronym, a country or the name of one of those who
report something. Names that differ by language are one name (CLDR for countries, ``names.toml`` for institutions).
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from importlib import resources

from babel import Locale

from core.engine.wording.giveaways import wordings_of
from core.engine.wording.language import NAMES
from core.engine.wording.text import NAME, stem, stop_words, words

_HEAD = re.compile(r"\A[\W_]*([A-ZÀ-ÖØ-Þ][\w’'-]*)")
_NEW_BEGINNING = re.compile(r"(?:^|\s)[^\w\s\"'’”»)(\[\],;&/#@%+]+\s+$")
_TOKEN = re.compile(r"[^\W_][\w’'-]*")
_ACRONYM = re.compile(r"(?:[A-ZÀ-ÖØ-Þ]{2,}|[A-Z]+-?\d[\w-]*)")
_POSSESSIVE = re.compile(r"'s?$")
_BASQUE_ENDING = re.compile(r"-?[a-z]{1,7}")
_PEOPLE_ENDING = re.compile(r"(?:|i?ans?|ns?|s|es|is?|[oae]s?|(?:an|in|eñ)[oaie]s?|ese|esi|ish|és|es[ae]s|t?ar\w{0,4})")
"""What the word for the people has where that for their country, or for one of them, ends: Chinese, Travellers."""
_OWN_ENDING, _COMMON = 2, 4
_SHORTEST = 3
_NEAR = 16


@dataclass(frozen=True, slots=True)
class TextNames:
    """The names that a text holds, in the other languages too: ``acronyms`` as written, all ``words`` casefolded."""

    words: frozenset[str] = frozenset()
    acronyms: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NameSpan:
    """A word of a text that is written as a name; ``start`` and ``end`` in code points."""

    text: str
    start: int
    end: int

    def is_known(self, passage: TextNames, known_words: AbstractSet[str], language: str) -> bool:
        """Whether a passage, or a set of casefolded words, holds this name; words that name nobody count as known."""
        plain = _POSSESSIVE.sub("", self.text.replace("’", "'"))
        folded = plain.casefold()
        if folded in _ordinary() or stem(folded) in wordings_of(language).group_stems:
            return True
        if folded in known_words and folded not in stop_words(language):
            return True
        if _ACRONYM.fullmatch(plain):
            return plain in passage.acronyms
        if any(character.isdigit() for character in plain) and folded not in passage.words:
            return False
        has = passage.words | known_words
        return all(word in has or (language == "eu" and _bent(word, has)) for word in words(plain))


def is_place(name: str) -> bool:
    """Whether a name is that of a country, a region, or their union, as the CLDR or ``names.toml`` has it."""
    return name in _places() or any(name in _same()[place] for place in _lists()["places"])


def of_people(name: str, known: AbstractSet[str]) -> bool:
    """Whether a text with the casefolded words names the people of a place, or one or several of those named."""
    word = name.casefold()
    if not {f"{word}s", f"{word}es", word.removesuffix("s")}.isdisjoint(known):
        return True
    return is_place(name) and any(
        _PEOPLE_ENDING.fullmatch(other[cut:])
        for cut in range(max(_COMMON, len(word) - _OWN_ENDING), len(word) + 1)
        for other in known
        if other[:cut] == word[:cut]
    )


def _bent(word: str, known: AbstractSet[str]) -> bool:
    """Whether a Basque word is a known one with the ending of a case."""
    return any(
        word[:cut] in known and _BASQUE_ENDING.fullmatch(word[cut:]) for cut in range(len(word) - 1, _SHORTEST - 1, -1)
    )


def known_by(text: str, language: str | None) -> TextNames:
    same = {name for match in _spellings().finditer(text) for name in _same()[match.group()]}
    whole = f"{text} {' '.join(same)}"
    tokens = [token.group().replace("’", "'") for token in _TOKEN.finditer(whole)]
    bare = {_POSSESSIVE.sub("", token) for token in tokens}
    acronyms = {token for token in bare if _ACRONYM.fullmatch(token)}
    if language == "eu":
        acronyms |= {match.group() for token in bare if (match := re.match(r"[A-ZÀ-ÖØ-Þ]{2,}", token))}
    return TextNames(frozenset(words(whole)) | {token.casefold() for token in bare}, frozenset(acronyms))


def names_in(text: str, spans: Sequence[tuple[int, int]], language: str) -> Iterator[NameSpan]:
    for start, end in spans:
        sentence = text[start:end]
        head = _HEAD.match(sentence)
        if head and _is_name_at_head(sentence, head, language):
            yield NameSpan(head.group(1), start + head.start(1), start + head.end(1))
        for match in NAME.finditer(sentence):
            if head is not None and match.start() == head.start(1):
                continue
            if not _begins_anew(sentence, match) or _is_name_at_head(sentence, match, language, group=0):
                yield _without_ending(match.group(), start + match.start(), language)


def _without_ending(word: str, start: int, language: str) -> NameSpan:
    """The name; of a Basque acronym only the capitals, without the ending after them."""
    acronym = re.match(r"[A-ZÀ-ÖØ-Þ]{2,}(?=-?[a-z])", word) if language == "eu" else None
    name = acronym.group() if acronym else word
    return NameSpan(name, start, start + len(name))


def _begins_anew(sentence: str, word: re.Match[str]) -> bool:
    """Whether an emoji, a dash or another sign stands before a word, so that its capital may be that of a beginning."""
    return _NEW_BEGINNING.search(sentence[max(0, word.start() - _NEAR) : word.start()]) is not None


def _is_name_at_head(sentence: str, head: re.Match[str], language: str, *, group: int = 1) -> bool:
    word = head.group(group)
    folded = _POSSESSIVE.sub("", word.casefold())
    rest = sentence[head.end() :]
    if folded in _ordinary() or not {folded, re.split("['’]", folded)[0]}.isdisjoint(stop_words(language)):
        return False
    if _ACRONYM.fullmatch(word):
        following = _TOKEN.search(rest)
        return following is None or not following.group().isupper()
    if word in _places() or (language == "eu" and _bent(word, _places())):
        return True
    lists = _lists()
    return (
        bool(re.match(lists["reporting"][_code(language)], rest)) and folded not in lists["speakers"][_code(language)]
    )


def _code(language: str) -> str:
    return language if language in NAMES else "en"


@cache
def _lists() -> Mapping[str, Mapping[str, str]]:
    rows: Mapping[str, Mapping[str, str]] = tomllib.loads(
        resources.files("core.engine.scoring").joinpath("names.toml").read_text(encoding="utf-8")
    )
    return rows


@cache
def _same() -> dict[str, frozenset[str]]:
    """What each name of a country or institution is called elsewhere."""
    locales = [Locale(code) for code in NAMES]
    groups = [frozenset(names) for names in _lists()["same"]]
    groups += [
        frozenset(str(locale.territories[code]) for locale in locales if code in locale.territories)
        for code in locales[0].territories
        if code != "001"
    ]
    others: dict[str, frozenset[str]] = {}
    for group in groups:
        for name in group:
            others[name] = others.get(name, frozenset()) | group
    return others


@cache
def _spellings() -> re.Pattern[str]:
    names = sorted(_same(), key=len, reverse=True)
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, names)) + r")(?!\w)")


@cache
def _places() -> frozenset[str]:
    """The names of countries and regions that are one word."""
    names = {str(name) for code in NAMES for name in Locale(code).territories.values()}
    return frozenset(name for name in names if name.isalpha() and len(name) > _SHORTEST)


@cache
def _ordinary() -> frozenset[str]:
    """Words that English writes with a capital although they do not name a person, place or institution."""
    english = Locale("en")
    calendar = [*english.days["format"]["wide"].values(), *english.months["format"]["wide"].values()]
    languages = [name for name in map(str, english.languages.values()) if name.isalpha()]
    return frozenset(str(word).casefold() for word in (*calendar, *languages, *_lists()["ordinary"]))
