"""Which of the target groups a text names, by a list of words for them, also disguised ("J*ws", "musl1ms").

A word names a group, and people get a respectful name of their own instead: "Pakistani people", "Muslim women". In
Basque a name ends before the case. ``core.engine.reading.signals`` decides whether the
group is attacked.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from core.engine.wording.disguises import SIGNS
from core.engine.wording.text import MAX_POST_CHARACTERS
from core.models import TargetGroup

THOSE: Final = "those people"
"""What stands for a name where two posts are compared."""
_AGAIN: Final = re.compile(rf"(?:(?:the|these|those) +)?{THOSE}(?: +(?:people|folks?|lot|men|women|{THOSE}))*")
_DISGUISED = re.compile(r"(?<![\w*@$])[^\W\d_][\w*@$]*[*\d@$][\w*@$]*(?![\w*@$])")
_LETTERS_OF = {"*": r"\w"} | {sign: f"[{letters}]" for sign, letters in SIGNS.items()}
_WORD: Final = re.compile(r"(?<!\w)(?<!\w')\w+")
_GOES_ON: Final = re.compile(r"\w")
_SPACES: Final = re.compile(" +")
_LEAST_LETTERS = 2
_LONGEST = 30


@dataclass(frozen=True, slots=True)
class Name:
    """A people's name in the plural, and the groups that it may belong to.

    Attributes:
        kinds: those of the replies with a place for a name that are true of them ("faith", "nation").
        within: the names of those of whom these people are a part: what is said for them is said for these people.
    """

    plural: str
    groups: frozenset[TargetGroup]
    adjective: str = ""
    kinds: frozenset[str] = frozenset()
    within: frozenset[str] = frozenset()

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
    plain = _plain(text)
    places = _found_in_basque(plain) if language == "eu" else _found_in_english(plain)
    return list(dict.fromkeys(name for name, _, _ in places))


def unnamed(text: str) -> str:
    """An English post with "those people" for each name, in small letters: two posts that say the same are alike."""
    plain = _plain(text)
    for _, start, end in reversed(list(_found_in_english(plain))):
        plain = f"{plain[:start]}{THOSE}{plain[end:]}"
    return _AGAIN.sub(THOSE, plain)


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text[:MAX_POST_CHARACTERS].replace("’", "'").casefold())


def _found_in_english(plain: str) -> list[tuple[Name, int, int]]:
    """Each name in a text in small letters, with its start and end."""
    names, nouns = _name_rows("name"), _name_rows("noun")
    places, end, is_open = list[tuple[Name, int, int]](), 0, False
    for form, start in _forms_in(plain):
        noun = nouns.get(form) or names.get(form)
        if is_open and noun and not plain[end:start].strip():
            name, first, _ = places[-1]
            places[-1] = name.before(noun), first, start + len(form)
            is_open = False
        elif form in names:
            places.append((names[form], start, start + len(form)))
            is_open = bool(names[form].adjective)
        else:
            is_open = False
        end = start + len(form)
    return places


def _forms_in(plain: str) -> Iterator[tuple[str, int]]:
    """The forms of names, nouns and things in a text, with where each begins: the longest at each place."""
    end = 0
    for word in _WORD.finditer(plain):
        at = word.start()
        for form in _forms().get(word.group(), ()) if at >= end else ():
            if plain.startswith(form, at) and not _GOES_ON.match(plain, at + len(form)):
                yield form, at
                end = at + len(form)
                break


def _found_in_basque(plain: str) -> Iterator[tuple[Name, int, int]]:
    """Each name in a text in small letters, with its start and end."""
    for match in _basque_pattern().finditer(plain):
        yield basque_names()[int((match.lastgroup or "")[1:])], *match.span()


@cache
def basque_names() -> tuple[Name, ...]:
    """The names in Basque, in the order in which they are looked for."""
    return tuple(
        Name(row["name"], frozenset(map(TargetGroup, row["groups"])), kinds=frozenset(row["kinds"]))
        for row in _table("names_eu.toml")["name"]
    )


@cache
def _basque_pattern() -> re.Pattern[str]:
    """One group for each name, in the order of the list; "*" ends a form whose endings vary."""
    names = [
        "|".join(re.escape(form).replace(r"\*", r"\w*").replace(r"\ ", " +") for form in row["forms"])
        for row in _table("names_eu.toml")["name"]
    ]
    groups = "|".join(f"(?P<n{at}>{forms})" for at, forms in enumerate(names))
    return re.compile(rf"(?<!\w)(?:{groups})(?!\w)")


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
def _forms() -> Mapping[str, Sequence[str]]:
    """The forms of names and nouns, and the things that name nobody, by their first word, the longest first."""
    forms = {*_name_rows("name"), *_name_rows("noun"), *_table("names.toml")["things"]}
    by_word = defaultdict[str, list[str]](list)
    for form in sorted(forms, key=lambda form: -len(form)):
        by_word[_WORD.match(form)[0]].append(form)  # type: ignore[index]  # a form begins with a word
    return by_word


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
