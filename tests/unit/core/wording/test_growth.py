"""What is done with a stranger's text takes no longer than the text is long: nobody stops the desk with one post."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from core.wording.code import is_code
from core.wording.giveaways.giveaways import leak_in, speaks_as_tool
from core.wording.injection.injection import instructs, obeys
from core.wording.language import language_of_post, words_alone
from core.wording.links import links_in
from core.wording.near_duplicates import likeness_of
from core.wording.targets.groups import groups_named
from core.wording.targets.slurs import slurs_in
from core.wording.text import clean, content_stems, sentences

FUNCTIONS: dict[str, Callable[[str], object]] = {
    "clean": clean,
    "words_alone": words_alone,
    "language_of_post": lambda text: language_of_post(text, "en"),
    "instructs": instructs,
    "obeys": obeys,
    "is_code": is_code,
    "links": lambda text: list(links_in(text)),
    "leak_in": leak_in,
    "speaks_as_tool": speaks_as_tool,
    "groups_named": lambda text: groups_named(text, "en"),
    "slurs_in": lambda text: slurs_in(text, "en"),
    "likeness_of": likeness_of,
    "content_stems": content_stems,
    "sentences": sentences,
}
UNITS = (
    "a-",
    "1.",
    "A.",
    "\n",
    " \n",
    "a",
    "¹",
    "**",
    "[a",
    "(",
    "【",
    "as 1 ",
    "1,1 ",
    "http://a.",
    "@a ",
    "# ",
    "the a ",
    "“",
)
SHORT, LONG = 3_000, 12_000
MOST = 9.0
"""A linear function takes 4 times as long for 4 times the text, one that grows with the square 16 times."""
SOON = 0.004
"""What takes less time than this, in seconds of the processor, is not compared: there is nothing to see."""


def cost(function: Callable[[str], object], text: str) -> float:
    """The least time of the processor, in seconds, that some tries took."""
    found = []
    for _ in range(3):
        begun = time.thread_time()
        function(text)
        found.append(time.thread_time() - begun)
    return min(found)


def growth(function: Callable[[str], object], unit: str) -> float:
    """How many times as long four times the text takes; 0 for what is done at once."""
    long = (unit * LONG)[:LONG]
    if cost(function, long) < SOON:
        return 0.0
    short = (unit * SHORT)[:SHORT]
    return min(cost(function, long) / max(cost(function, short), 1e-5) for _ in range(3))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_time_grows_no_faster_than_the_text(name: str) -> None:
    """For texts of one repeated piece, each of which was once slow somewhere."""
    FUNCTIONS[name]("a first call loads what is needed")
    assert {unit: seen for unit in UNITS if (seen := growth(FUNCTIONS[name], unit)) > MOST} == {}


def test_a_square_is_seen() -> None:
    """The measure finds a function that grows with the square of the text."""
    assert growth(lambda text: [text[at:].count("b") for at in range(0, len(text), 2)], "a") > MOST
