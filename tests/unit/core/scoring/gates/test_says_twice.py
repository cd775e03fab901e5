"""The gate on drafts that say one thing in two sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.scoring.gates import GateContext, fault_of
from tests.fakes.engine.brief import brief_of

POSTS = {"en": "Newcomers only take from us.", "es": "Los de fuera solo nos quitan."}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The town charter welcomes every family.", "The town charter of ours welcomes every new family."),
        ("La carta de la ciudad acoge a cada familia.", "La carta de la ciudad acoge a cada familia nueva."),
    ],
)
def test_a_reply_does_not_say_the_same_twice(first: str, second: str) -> None:
    """The same fact in two sentences reads like a machine; people's own sentences and the sources' are exempt."""
    language = "es" if first.startswith("La") else "en"
    bare = GateContext(brief_of(text=POSTS[language], language=language), 400)
    assert fault_of(f"{first} {second}", bare) == "says the same twice"
    assert fault_of(f"{first} {second}", replace(bare, prepared=frozenset({first, second}))) is None
    assert fault_of(f"{first} {second}", replace(bare, prepared=frozenset({first}))) == "says the same twice"


def test_two_sentences_on_one_topic_are_two_sentences() -> None:
    bare = GateContext(brief_of(text=POSTS["en"]), 400)
    assert fault_of("The town charter welcomes every family. Our clubs look for new players.", bare) is None
