"""A few neutral words of a post, which a platform shows above a reply and refuses where the post no longer has them.

Only words of the list beside this file are quoted, so that nothing hateful is said a second time, and nobody is named.
A quote is an exact part of the post, byte for byte: do not tidy it.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Final

from core.engine.scoring.gates import fragment_fault
from core.engine.scoring.grounding import unsupported
from core.engine.wording.accusations import raised_in
from core.engine.wording.slurs import slurs_in
from core.engine.wording.target_groups import groups_named, undisguised
from core.engine.wording.text import NAME

LEAST_CHARACTERS: Final = 8
MOST_CHARACTERS: Final = 40
_WORD: Final = re.compile(r"(?<![^\s\"“«(¿¡])[^\W\d_]+(?:['’][^\W\d_]+)*(?=[\"”»).,;:!?…]*(?:\s|$))")
_JOINTS: Final = frozenset({" ", ", "})


def quote_of(text: str, language: str | None) -> str:
    """The longest run of neutral words in a post, of two words or more; "" where it has none.

    Args:
        language: the post's, ISO 639-1; there is no quote in one that Antiphon does not write.
    """
    if language is None or language not in _neutral_words():
        return ""
    runs = sorted(_runs(text, _neutral_words()[language]), key=len, reverse=True)
    return next((run for run in runs if is_neutral(run, language)), "")


def is_neutral(words: str, language: str) -> bool:
    """Whether words of a post pass what a draft passes, as far as it can be asked of a part, and more strictly.

    They name no group and no person, accuse nobody, hold no slur, not even a mild or a mentioned one, and no figure
    that a receipt would be asked for.
    """
    spelling = words.casefold() if words.isupper() else words  # who shouts writes no names
    return not (
        fragment_fault(words, language)
        or slurs_in(words)
        or groups_named(undisguised(words))
        or raised_in(words)
        or unsupported(spelling, (), language)
    )


def _runs(text: str, neutral: frozenset[str]) -> Iterator[str]:
    """The parts of one line that hold words of the list only, each as long as a quote may be, in order."""
    start = end = 0
    for word in _WORD.finditer(text):
        is_name = NAME.match(text, word.start()) is not None and not word.group().isupper()
        is_listed = not is_name and word.group().casefold().replace("’", "'") in neutral
        is_joined = end > start and text[end : word.start()] in _JOINTS
        if not (is_listed and is_joined and word.end() - start <= MOST_CHARACTERS):
            yield from _long_enough(text[start:end])
            start = end = word.start()
        if is_listed:
            end = word.end()
    yield from _long_enough(text[start:end])


def _long_enough(run: str) -> Iterator[str]:
    if LEAST_CHARACTERS <= len(run) <= MOST_CHARACTERS and " " in run:
        yield run


@cache
def _neutral_words() -> Mapping[str, frozenset[str]]:
    rows = tomllib.loads(resources.files("core.engine.scoring").joinpath("quoting.toml").read_text(encoding="utf-8"))
    return {language: frozenset(words.split()) for language, words in rows.items()}
