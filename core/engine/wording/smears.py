"""What a reply brings up against people that the post does not come near.

The list is in ``data/smears.toml``. A person who reads that a group is as clean as others hears of dirt, even where
the post was about scarves: blind readers called such replies harmful.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources


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
