"""The posts whose answers are known, and the pairs of replies of which one is better."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True, slots=True)
class Known:
    """A post, and whether it is hateful."""

    text: str
    language: str
    is_hateful: bool


@dataclass(frozen=True, slots=True)
class Pair:
    """Two replies to a post, of which one is plainly better."""

    language: str
    post: str
    better: str
    worse: str


@cache
def known_readings() -> tuple[Known, ...]:
    """All posts, ten for each language, a hateful one and a harmless one in turn."""
    return tuple(
        Known(text, language, is_hateful)
        for language, posts in _file().items()
        if language != "pairs"
        for hateful, harmless in zip(posts["hateful"], posts["harmless"], strict=True)
        for text, is_hateful in ((hateful, True), (harmless, False))
    )


@cache
def known_pairs() -> tuple[Pair, ...]:
    """All pairs, two for each language."""
    return tuple(Pair(**pair) for pair in _file()["pairs"])


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(resources.files("bot.trial").joinpath("readings.toml").read_text(encoding="utf-8"))
