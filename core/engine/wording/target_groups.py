"""Which of the target groups a text names, by a list of words for them, also disguised ("J*ws", "musl1ms").

A word names a group, and people get a respectful name of their own instead: "Pakistani people", "Muslim women".
``core.engine.reading.signals`` decides whether the group is attacked.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, Final

from core.engine.wording.disguises import SIGNS
from core.engine.wording.text import MAX_POST_CHARACTERS
from core.models import TargetGroup

THOSE: Final = "those people"
"""What stands for a name where two English posts are compared."""
THOSE_ABROAD: Final = {"es": "esas personas", "it": "quelle persone", "eu": "pertsona horiek"}
"""The same in the other languages that have names."""
_AGAIN: Final = re.compile(rf"(?:(?:the|these|those) +)?{THOSE}(?: +(?:people|folks?|lot|men|women|{THOSE}))*")
_DISGUISED = re.compile(r"(?<![\w*@$])[^\W\d_][\w*@$]*[*\d@$][\w*@$]*(?![\w*@$])")
_LETTERS_OF = {"*": r"\w"} | {sign: f"[{letters}]" for sign, letters in SIGNS.items()}
_WORD: Final = re.compile(r"(?<!\w)(?<!\w')\w+")
_WORD_ABROAD: Final = re.compile(r"\w+")
"""Behind an apostrophe, too: "l'immigrato"."""
_REST: Final = re.compile(r"\w*")
_KEY: Final = 3
"""So many first letters of forms and of words are compared first."""
_SPACES: Final = re.compile(" +")
_LEAST_LETTERS = 2
_LONGEST = 30


@dataclass(frozen=True, slots=True)
class Name:
    """A people's name in the plural, and the groups that it may belong to.

    Attributes:
        plural: in English, whatever the language of the post.
        kinds: those of the replies with a place for a name that are true of them ("faith", "nation").
        within: the names of those of whom these people are a part: what is said for them is said for these people.
        said: what a reply in the post's language calls them, with the article; in Basque what an ending follows, and
            in English "".
    """

    plural: str
    groups: frozenset[TargetGroup]
    adjective: str = ""
    kinds: frozenset[str] = frozenset()
    within: frozenset[str] = frozenset()
    said: str = ""

    def before(self, other: Name) -> Name:
        """The name of those who are both: "Muslim" before "women"."""
        return Name(
            f"{self.adjective} {other.plural}",
            self.groups | other.groups,
            kinds=self.kinds | other.kinds,
            within=self.within | other.within | {self.plural, other.plural},
        )


def named(text: str, language: str = "en") -> list[Name]:
    """The peoples whom a post names, in its order, each once; in English "Muslim women" is one name."""
    return list(dict.fromkeys(name for name, _, _ in _found(_plain(text), language)))


def unnamed(text: str, language: str = "en") -> str:
    """A post with "those people" for each name, in small letters: two posts that say the same are alike."""
    plain, those = _plain(text), THOSE_ABROAD.get(language, THOSE)
    for _, start, end in reversed(_found(plain, language)):
        plain = f"{plain[:start]}{those}{plain[end:]}"
    return _AGAIN.sub(THOSE, plain)


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text[:MAX_POST_CHARACTERS].replace("’", "'").casefold())


def _found(plain: str, language: str) -> list[tuple[Name, int, int]]:
    """Each name in a text in small letters, with its start and end."""
    if language not in THOSE_ABROAD:
        return _found_in_english(plain)
    names = _names_abroad(language)
    return [(names[form], start, end) for form, start, end in _forms_in(plain, language)]


def _found_in_english(plain: str) -> list[tuple[Name, int, int]]:
    names, nouns = _name_rows("name"), _name_rows("noun")
    places, last, is_open = list[tuple[Name, int, int]](), 0, False
    for form, start, end in _forms_in(plain, "en"):
        noun = nouns.get(form) or names.get(form)
        if is_open and noun and not plain[last:start].strip():
            name, first, _ = places[-1]
            places[-1] = name.before(noun), first, end
            is_open = False
        elif form in names:
            places.append((names[form], start, end))
            is_open = bool(names[form].adjective)
        else:
            is_open = False
        last = end
    return places


def _forms_in(plain: str, language: str) -> Iterator[tuple[str, int, int]]:
    """The forms of names, nouns and things in a text, with where each begins and ends: the longest at each place."""
    forms, reached = _forms(language), 0
    for word in (_WORD_ABROAD if language in THOSE_ABROAD else _WORD).finditer(plain):
        at = word.start()
        for form in forms.get(word.group()[:_KEY], ()) if at >= reached else ():
            beginning = form.removesuffix("*")
            end = at + len(beginning)
            if plain.startswith(beginning, at):
                whole = _REST.match(plain, end).end()  # type: ignore[union-attr]  # it always matches
                if whole == end or beginning != form:
                    yield form, at, whole
                    reached = whole
                    break


@cache
def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("core.engine.wording").joinpath(f"data/{name}").read_text(encoding="utf-8"))


@cache
def _name_rows(kind: str) -> dict[str, Name]:
    """The names or the nouns of the list, by each form in which a post may have them."""
    table = _table("names.toml")
    return {
        form: Name(
            row["plural"],
            frozenset(map(TargetGroup, row["groups"])),
            row.get("adjective", ""),
            frozenset(row.get("kinds", ())),
            frozenset(row.get("within", ())),
        )
        for row in table[kind]
        for form in (row["plural"].casefold(), *row["forms"])
    }


@cache
def _names_abroad(language: str) -> Mapping[str, Name]:
    """The names by each form in which posts of another language have them; "*" ends a form whose endings vary."""
    english = {name.plural: name for name in (*_name_rows("noun").values(), *_name_rows("name").values())}
    return {
        form: replace(english[plural], adjective="", said=row["said"])
        for plural, row in _table(f"names_{language}.toml").items()
        for form in row["forms"]
    }


@cache
def _forms(language: str) -> Mapping[str, Sequence[str]]:
    """The forms of names and nouns, and the things that name nobody, by their first letters, the longest first."""
    if language in THOSE_ABROAD:
        forms = set(_names_abroad(language))
    else:
        forms = {*_name_rows("name"), *_name_rows("noun"), *_table("names.toml")["things"]}
    by_key = defaultdict[str, list[str]](list)
    for form in sorted(forms, key=lambda form: (-len(form), form)):
        by_key[re.match(r"\w{1,3}", form)[0]].append(form)  # type: ignore[index]  # a form begins with a word
    return by_key


def groups_named(text: str, language: str | None = None) -> frozenset[TargetGroup]:
    """The groups that a text names, in its language or, where that is not known, in any.

    A short word of one language may be another word in a second one, so a known language limits the search. A word
    inside a longer name belongs to that name: "born a man or a woman" is not about women. No more is read than a post
    may hold.
    """
    plain = text[:MAX_POST_CHARACTERS].replace("’", "'")
    patterns = words_for_groups()
    patterns_of = [patterns[language]] if language is not None and language in patterns else list(patterns.values())
    spans: dict[tuple[int, int], set[TargetGroup]] = {}
    for by_group in patterns_of:
        for group, words in by_group.items():
            for match in words.finditer(plain):
                spans.setdefault(match.span(), set()).add(group)
    groups, reached = set[TargetGroup](), 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if end > reached:  # what ends before lies inside a name that begins no later
            groups |= spans[start, end]
            reached = end
    return frozenset(groups)


def undisguised(text: str, language: str | None = None) -> str:
    """The text with the names of groups spelled out where stars, digits or signs replace some of their letters.

    A disguise that may hide names of several groups, or shows fewer than two letters, is not changed.
    """
    return _DISGUISED.sub(lambda match: _spelled_out(match.group(), language), text)


def _spelled_out(token: str, language: str | None) -> str:
    if sum(character.isalpha() for character in token) < _LEAST_LETTERS or len(token) > _LONGEST:
        return token
    folded = token.casefold()
    letters = [_LETTERS_OF.get(character, re.escape(character)) for character in folded]
    hidden: dict[TargetGroup, str] = {}
    for group, name, is_beginning in _names(language).get(folded[0], ()):
        ends = min(len(name), len(folded)) if is_beginning else len(folded)
        if re.fullmatch("".join(letters[:ends]), name):
            hidden.setdefault(group, name + folded[ends:].rstrip("*"))
    if len(hidden) != 1:
        return token
    (word,) = hidden.values()
    return word.capitalize() if token[0].isupper() else word


@cache
def _names(language: str | None) -> Mapping[str, Sequence[tuple[TargetGroup, str, bool]]]:
    """The single words for groups in a language, or in any, by their first letter, which no disguise hides.

    The longest come first, each with whether a word may go on.
    """
    names = [
        (TargetGroup(group), word.removesuffix("*").casefold(), word.endswith("*"))
        for group, by_language in _rows().items()
        for own, words in by_language.items()
        if own == language or language not in by_language
        for word in words
        if " " not in word
    ]
    names.sort(key=lambda name: -len(name[1]))
    return {first: [name for name in names if name[1][0] == first] for first in {name[1][0] for name in names}}


@cache
def _rows() -> Mapping[str, Mapping[str, list[str]]]:
    """The list: words by group and language."""
    return tomllib.loads(
        resources.files("core.engine.wording").joinpath("data/groups.toml").read_text(encoding="utf-8")
    )


@cache
def words_for_groups() -> Mapping[str, Mapping[TargetGroup, re.Pattern[str]]]:
    """The names of each group, by language."""
    patterns: dict[str, dict[TargetGroup, re.Pattern[str]]] = {}
    for group, by_language in _rows().items():
        for language, words in by_language.items():
            patterns.setdefault(language, {})[TargetGroup(group)] = _any(words)
    return patterns


def _any(words: list[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    escaped = (re.escape(word.removesuffix("*")) + (r"\w*" if word.endswith("*") else "") for word in longest_first)
    return re.compile(rf"(?<!\w)(?:{'|'.join(escaped)})(?!\w)", re.IGNORECASE)
