"""Words that a community forbids: refused in every text, prepared or not, whoever wrote it."""

from dataclasses import replace

import pytest

from core.desk.rules.policy import CommunityPolicy
from core.engine.request import Voice
from core.engine.scoring.check import Level, check_reply, context_for, warnings_on
from core.engine.scoring.gates import fault_of
from core.engine.wording.community_rules import TextRules, broken_rule, check_rules
from core.engine.wording.text import sentences
from core.errors import BadInput
from tests.fakes.engine.brief import post_of
from tests.fakes.engine.gates import context
from tests.fakes.engine.suggestions import suggestion_for

RULES = TextRules(forbidden=("darkness", "snow flake"))
SAID = "it holds “darkness”, which this community forbids"


@pytest.mark.parametrize(
    "text",
    [
        "There is light beside the darkness.",
        "There is light beside the DARKNÉSS.",
        "There is light beside the d.a.r.k.n.e.s.s here.",
        "There is light beside the d4rkne55.",
        "There is light beside the dаrkness.",  # with a Cyrillic letter
        "There is light beside the **dark**ness.",
        "There is light beside the dar*ness.",
    ],
)
def test_a_forbidden_word_is_named_however_it_is_written(text: str) -> None:
    """As a keyword is found in a post."""
    assert broken_rule(text, RULES) == SAID


@pytest.mark.parametrize("text", ["It darkens early here.", "The semidarknesses of winter.", "Snow, and a flake.", ""])
def test_only_whole_words_are_forbidden(text: str) -> None:
    """A word within another one, or the parts of a phrase apart, stand for something else."""
    assert broken_rule(text, RULES) is None
    check_rules(text, RULES)


def test_a_phrase_is_forbidden_as_a_whole() -> None:
    """The words in a row, with the phrase as the community wrote it in what is said."""
    with pytest.raises(BadInput, match="snow flake") as refused:
        check_rules("No #SnowFlake, please.", RULES)
    assert "ask a manager" in (refused.value.remedy or "")


@pytest.mark.parametrize("is_prepared", [True, False])
def test_a_prepared_sentence_is_not_exempt(*, is_prepared: bool) -> None:
    """The community's word stands above the project's and above its own."""
    text = "Nobody here should have to live in darkness."
    prepared = tuple(sentences(text)) if is_prepared else ()
    assert fault_of(text, context(prepared=prepared)) is None
    assert fault_of(text, replace(context(prepared=prepared), rules=RULES)) == SAID


def test_drafts_edits_and_anybodys_words_are_held_against_the_same_rules() -> None:
    """One reading of a reply, wherever it is asked for."""
    text = "My street is better without the darkness of such words."
    checked = check_reply(text, context_for("They live off us.", "en", rules=RULES))
    assert (checked.level, checked.fault) == (Level.REFUSED, SAID)
    assert f"Antiphon would not have suggested this: {SAID}." in warnings_on(text, suggestion_for(post_of()), RULES)


def test_a_notice_that_breaks_a_rule_is_not_drafted() -> None:
    """Neither the project's nor the community's own."""
    voice = Voice(notices={"en": "Darkness is against our rules.", "es": "Aquí no."}, rules=RULES)
    assert (voice.notice_in("en"), voice.notice_in("es")) == ("", "Aquí no.")


def test_a_policy_is_the_rules_of_its_texts() -> None:
    """Alone, without what it sets besides."""
    assert CommunityPolicy(tone="dry", forbidden=("darkness",)).text_rules == TextRules(forbidden=("darkness",))
