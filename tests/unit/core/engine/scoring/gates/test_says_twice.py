"""The gate on drafts that say one thing in two sentences."""

from dataclasses import replace

import pytest

from core.engine.llm.prompts import load_prompt
from core.engine.scoring.gates import GateContext, fault_of, faults_of
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


@pytest.mark.parametrize(("between", "is_said"), [(40, True), (60, False)])
def test_only_so_many_sentences_are_compared_as_anybody_posts(between: int, is_said: bool) -> None:
    """All with all others would take the square of what a stranger pastes."""
    twice = "Our neighbours pay their taxes every year."
    others = " ".join(f"{'ABCDEF'[at // 10]}{'klmnopqrst'[at % 10]}an walks." for at in range(between))
    context = GateContext(brief_of(text=POSTS["en"]), 10_000)
    assert ("says the same twice" in faults_of(f"{twice} {others} {twice}", context)) is is_said


def test_a_run_of_our_prompts_is_no_reply() -> None:
    """Eight words in a row that the prompt has, and no fewer."""
    prompt = load_prompt("draft").messages[0].content.split()
    context = GateContext(brief_of(text=POSTS["en"]), 10_000)
    assert "prompt text" in faults_of(" ".join(["Well,", *prompt[:12]]), context)
    assert "prompt text" not in faults_of(" ".join(["Well,", *prompt[:5]]), context)
