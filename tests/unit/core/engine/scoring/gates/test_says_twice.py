"""The gates on drafts that say one thing in two sentences, or what the post or our prompt says."""

from dataclasses import replace

import pytest

from core.engine.llm.prompts import load_prompt
from core.engine.scoring.gates import GateContext, fault_of, faults_of
from tests.fakes.engine.brief import brief_of

ITALIAN = "Gli immigrati sono parassiti: arrivano, prendono e non danno niente. Lo sanno tutti!"
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


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        (ITALIAN, True),
        ("gli immigrati sono parassiti, arrivano prendono e non danno niente", True),
        ("Ti capisco. Gli immigrati sono parassiti: arrivano, prendono e non danno niente.", True),
        ("Gli immigrati sono parassiti: arrivano, prendono e non danno niente?", False),
        ("«Gli immigrati sono parassiti: arrivano, prendono e non danno niente.» Chi parla di persone?", False),
        ("Non è vero che gli immigrati sono parassiti: arrivano, lavorano e danno molto.", False),
        ("Lo sanno tutti!", False),
    ],
)
def test_a_sentence_of_the_post_is_not_said_again(text: str, repeats: bool) -> None:
    """Who denies, questions or quotes it may; a few words are said again by chance."""
    fault = fault_of(text, GateContext(brief_of(text=ITALIAN, language="it"), 400))
    assert (fault == "repeats the post") == repeats
