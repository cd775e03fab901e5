"""Whom a post is about, in a respectful name of their own: "Pakistani people", "Muslim women".

Owns the English list beside this file. A slur or a nickname becomes the name.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from core.models import TargetGroup
from core.wording.text import MAX_POST_CHARACTERS


@dataclass(frozen=True, slots=True)
class Name:
    """A people's name in the plural, and the groups that it may belong to."""

    plural: str
    groups: frozenset[TargetGroup]
    adjective: str = ""

    def before(self, other: Name) -> Name:
        """The name of those who are both: "Muslim" before "women"."""
        return Name(f"{self.adjective} {other.plural}", self.groups | other.groups)


def named(text: str) -> list[Name]:
    """The peoples whom an English post names, in its order, each once; "Muslim women" is one name."""
    plain = text[:MAX_POST_CHARACTERS].replace("’", "'").casefold()
    names, nouns = _rows("name"), _rows("noun")
    found, end, is_open = list[Name](), 0, False
    for match in _pattern().finditer(plain):
        form = " ".join(match.group().split())
        name = names.get(form)
        if is_open and not plain[end : match.start()].strip():
            found[-1] = found[-1].before(nouns.get(form) or names[form])
            is_open = False
        elif name:
            found.append(name)
            is_open = bool(name.adjective)
        end = match.end()
    return list(dict.fromkeys(found))


@cache
def _rows(kind: str) -> dict[str, Name]:
    """The names or the nouns of the list, by each form in which a post may have them."""
    table = tomllib.loads(resources.files("core.wording.targets").joinpath("names.toml").read_text(encoding="utf-8"))
    return {
        form: Name(row["plural"], frozenset(map(TargetGroup, row["groups"])), row.get("adjective", ""))
        for row in table[kind]
        for form in row["forms"]
    }


@cache
def _pattern() -> re.Pattern[str]:
    forms = sorted({*_rows("name"), *_rows("noun")}, key=lambda form: -len(form))
    return re.compile(
        rf"(?<![\w'])(?:{'|'.join(re.escape(form).replace(chr(92) + ' ', ' +') for form in forms)})(?!\w)"
    )
