"""What a post accuses a group of, and what a reply brings up that the post does not come near.

The lists are ``data/accusations.toml`` and ``data/smears.toml``. A fact or a sentence that speaks of crime, even
kindly, ties the group to crime. So it may only answer a post that does so already.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from core.models import TargetGroup


@dataclass(frozen=True, slots=True)
class Smear:
    """One thing that is said against people, in one language: in a reply, and in a post or near to it."""

    said: re.Pattern[str]
    near: re.Pattern[str]


@cache
def smears(language: str) -> Mapping[str, Smear]:
    """All smears by name; none in a language without a list."""
    file = resources.files("core.engine.wording").joinpath("data", "smears.toml")
    return {
        name: Smear(*(re.compile(row[key][language], re.IGNORECASE) for key in ("said", "near")))
        for name, row in tomllib.loads(file.read_text(encoding="utf-8")).items()
        if language in row["said"]
    }


def brought_in(reply: str, post: str, language: str) -> frozenset[str]:
    """The smears that a reply speaks of although nothing in the post comes near them, both in one language."""
    return frozenset(
        name
        for name, one in smears(language).items()
        if one.said.search(reply) is not None and one.near.search(post) is None
    )


@dataclass(frozen=True, slots=True)
class Accusation:
    """One accusation: the groups that a mere mention would tie to it, and the words that say and raise it."""

    groups: frozenset[TargetGroup]
    said: re.Pattern[str]
    raised: re.Pattern[str]


@cache
def accusations() -> Mapping[str, Accusation]:
    rows = tomllib.loads(
        resources.files("core.engine.wording").joinpath("data/accusations.toml").read_text(encoding="utf-8")
    )
    return {
        name: Accusation(
            frozenset(map(TargetGroup, row["groups"])),
            *(re.compile(row[key], re.IGNORECASE) for key in ("said", "raised")),
        )
        for name, row in rows.items()
    }


def said_of(text: str, group: TargetGroup | None) -> frozenset[str]:
    """The accusations against a group that a text about it brings up."""
    return frozenset(name for name, one in accusations().items() if group in one.groups and one.said.search(text))


def raised_in(*texts: str) -> frozenset[str]:
    """The accusations against any group that these texts bring up or come near to."""
    return frozenset(name for name, one in accusations().items() if any(map(one.raised.search, texts)))
