"""Drafts at the terminal: in plain words, each number with its scale, the first one as soon as it stands."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from adapters.sample import SampleCommunity
from bot.cli.render import DraftsAsTheyCome, show_suggestion
from core.models import Action, Draft, Intent, Progress, ReadBy, Scores
from tests.fakes.engine.suggestions import suggestion_for


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_first_draft_of_each_post_is_called_so(console: Console) -> None:
    """A later one of the same post is a better one; what is no draft is a line."""
    drafts = DraftsAsTheyCome(console)
    step = Progress("draft", "One.", 4.4, Draft(1, "One.", Intent.POSITIVE, Scores(), caution="Not under a threat."))
    for _ in range(2):
        drafts.next_post()
        drafts(Progress("evidence", "OECD", 1.0))
        drafts(step)
        drafts(replace(step, seconds=9.0))
    assert shown(console).count("The first draft, after 4 s") == 2
    assert shown(console).count("A better draft, after 9 s") == 2
    assert "Before you use it: Not under a threat." in shown(console)
    assert "1.0 s  looked for evidence: OECD" in shown(console)


def test_what_the_post_says_stands_over_its_first_draft(console: Console) -> None:
    """Who waits for the language model knows already what was read."""
    made = suggestion_for(SampleCommunity().flag("103", "mill_pond"))
    read = replace(made.reading, implied_meaning="It says that they take our jobs.")
    DraftsAsTheyCome(console)(Progress("draft", "One.", 1.0, made.drafts[0], read))
    before, _, _ = shown(console).partition("The first draft")
    assert "In short, the post says: It says that they take our jobs." in before
    assert "Whom it is about: " in before


@pytest.mark.parametrize(
    ("advice", "said"),
    [
        (Action.REPLY, "Advice: Reply. Why: a claim"),
        (Action.STAY_SILENT, "Advice: Leave the post without a reply. Why:"),
    ],
)
def test_advice_is_said_in_words(console: Console, advice: Action, said: str) -> None:
    """Not by the name that it has in JSON."""
    made = suggestion_for(SampleCommunity().flag("103", "mill_pond"))
    show_suggestion(console, replace(made, reading=replace(made.reading, recommended_action=advice)))
    assert said in shown(console)


def test_severity_is_said_with_its_scale(console: Console) -> None:
    """Also where nobody knows it."""
    made = suggestion_for(SampleCommunity().flag("103", "mill_pond"))
    show_suggestion(console, made)
    show_suggestion(console, replace(made, reading=replace(made.reading, severity=None)))
    assert "How severe: 2 of 5, moderate (1 is mild, 5 calls for violence)" in shown(console)
    assert "How severe: not known" in shown(console)


@pytest.mark.parametrize(
    ("calls", "compared", "rounds", "said"),
    [
        (0, 0, 0, "No language model was asked. It ended"),
        (1, 0, 0, "The model was asked 1 time; it read 1,210 tokens and wrote 1. It ended"),
        (
            9,
            2,
            1,
            "The model was asked 9 times, 2 of them to compare drafts; it read 1,210 tokens and wrote 1, in 1 round.",
        ),
        (9, 0, 3, "The model was asked 9 times; it read 1,210 tokens and wrote 1, in 3 rounds."),
    ],
)
def test_the_cost_is_said_with_what_there_was(
    console: Console, calls: int, compared: int, rounds: int, said: str
) -> None:
    """One is not "1 times", and what did not happen is not told as a zero."""
    made = suggestion_for(SampleCommunity().flag("103", "mill_pond"))
    cost = replace(
        made.cost, model_calls=calls, judge_calls=compared, rounds=rounds, prompt_tokens=1210, completion_tokens=1
    )
    show_suggestion(console, replace(made, cost=cost))
    assert said in shown(console)


def test_a_post_that_nobody_read_is_not_said_to_be_about_nobody(console: Console) -> None:
    """Where only the rules looked, whom it attacks is not known."""
    made = suggestion_for(SampleCommunity().flag("103", "mill_pond"))
    unread = replace(made.reading, target_group=None, read_by=ReadBy.RULES)
    show_suggestion(console, replace(made, reading=unread))
    assert "Whom it is about: not known, no reader has read it" in shown(console)
    assert "nobody in particular" not in shown(console)
    show_suggestion(console, replace(made, reading=replace(unread, read_by=ReadBy.SMALL)))
    assert "Whom it is about: nobody in particular" in shown(console)
