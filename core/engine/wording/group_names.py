"""Whom a post is about, in a respectful name of their own: "Pakistani people", "Muslim women".

``data`` has a list in English and one in Basque, where a name ends before the case. A slur or a nickname becomes the
name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from core.engine.wording.text import MAX_POST_CHARACTERS
from core.models import TargetGroup

THOSE: Final = "those people"
"""What stands for a name where two posts are compared."""
_AGAIN: Final = re.compile(rf"(?:(?:the|these|those) +)?{THOSE}(?: +(?:people|folks?|lot|men|women|{THOSE}))*")


@dataclass(frozen=True, slots=True)
class Name:
    """A people's name in the plural, and the groups that it may belong to.

    ``kinds`` are those of the replies with a place for a name that are true of them ("faith", "nation").
    """

    plural: str
    groups: frozenset[TargetGroup]
    adjective: str = ""
    kinds: frozenset[str] = frozenset()

    def before(self, other: Name) -> Name:
        """The name of those who are both: "Muslim" before "women"."""
        return Name(f"{self.adjective} {other.plural}", self.groups | other.groups, kinds=self.kinds)


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
    return text[:MAX_POST_CHARACTERS].replace("’", "'").casefold()


def _found_in_english(plain: str) -> list[tuple[Name, int, int]]:
    """Each name in a text in small letters, with its start and end."""
    names, nouns = _rows("name"), _rows("noun")
    places, end, is_open = list[tuple[Name, int, int]](), 0, False
    for match in _pattern().finditer(plain):
        form = " ".join(match.group().split())
        name_of_form = names.get(form)
        if is_open and not plain[end : match.start()].strip():
            name, start, _ = places[-1]
            places[-1] = name.before(nouns.get(form) or names[form]), start, match.end()
            is_open = False
        elif name_of_form:
            places.append((name_of_form, *match.span()))
            is_open = bool(name_of_form.adjective)
        end = match.end()
    return places


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


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("core.engine.wording").joinpath(f"data/{name}").read_text(encoding="utf-8"))


@cache
def _rows(kind: str) -> dict[str, Name]:
    """The names or the nouns of the list, by each form in which a post may have them."""
    table = _table("names.toml")
    return {
        form: Name(
            row["plural"],
            frozenset(map(TargetGroup, row["groups"])),
            row.get("adjective", ""),
            frozenset(row.get("kinds", ())),
        )
        for row in table[kind]
        for form in row["forms"]
    }


@cache
def _pattern() -> re.Pattern[str]:
    forms = sorted({*_rows("name"), *_rows("noun")}, key=lambda form: -len(form))
    return re.compile(
        rf"(?<![\w'])(?:{'|'.join(re.escape(form).replace(chr(92) + ' ', ' +') for form in forms)})(?!\w)"
    )
