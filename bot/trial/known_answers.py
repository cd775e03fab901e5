"""The posts whose answers are known, and the pairs of replies of which one is better."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from core.engine.wording.language import NAMES, detectable
from core.errors import BadInput

LEAST: Final = 5
"""So many posts of each kind in a language."""
_FORM: Final = TypeAdapter(dict[str, dict[str, list[str]]])


@dataclass(frozen=True, slots=True)
class LabelledPost:
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
def known_readings() -> tuple[LabelledPost, ...]:
    """The posts that ship, ten for each language, a hateful one and a harmless one in turn."""
    return _known({language: posts for language, posts in _file().items() if language != "pairs"})


def readings_of(file: Path) -> tuple[LabelledPost, ...]:
    """The posts of somebody's own file, in languages that Antiphon does not write.

    Raises:
        BadInput: it cannot be read, has another form, or too few posts of a kind in a language.
    """
    try:
        answers = _FORM.validate_python(tomllib.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError) as err:
        raise BadInput(
            f"{file} cannot be read as posts with known answers: {str(err).splitlines()[0]}.",
            remedy="Write, for each language, [fr], hateful = [five posts or more], harmless = [as many].",
        ) from err
    for language, posts in answers.items():
        if language in NAMES or language not in detectable():
            others = ", ".join(sorted(detectable() - set(NAMES)))
            raise BadInput(f"{file} has posts in {language!r}.", remedy=f"Name one of these languages: {others}.")
        counts = {len(set(posts.get(kind, ()))) for kind in ("hateful", "harmless")}
        if posts.keys() != {"hateful", "harmless"} or len(counts) != 1 or min(counts) < LEAST:
            raise BadInput(
                f"{file} has too few posts in {language!r}.",
                remedy=f"Write {LEAST} hateful ones or more, and as many that are harmless.",
            )
    return _known(answers)


def _known(of: Mapping[str, Mapping[str, Sequence[str]]]) -> tuple[LabelledPost, ...]:
    return tuple(
        LabelledPost(text, language, is_hateful)
        for language, posts in of.items()
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
