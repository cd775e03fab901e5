"""A score that is missing has a reason, in words and as a code, and all that no draft has stand in one note."""

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from core.engine.llm.budget import LIVE, Budget
from core.engine.scoring.rewards import (
    WEIGHTS,
    Circumstances,
    MissingScore,
    note_of_missing,
    unanswered,
    unscored,
    why_in_words,
)
from core.i18n.sentences import from_json, to_json
from core.models import Scores
from tests.fakes.engine.brief import brief_of, passage
from tests.fakes.engine.readers import readers_saying

READERS = readers_saying()
NUMBERS = [score.name for score in fields(Scores) if score.name != "parts"]
PAGE = Path(__file__).parents[5] / "docs" / "reference" / "json.md"


def test_each_score_that_is_missing_has_its_reason() -> None:
    """A moderator who sees no number knows whether nobody asked, nobody could, or something broke."""
    whole = Scores(**dict.fromkeys(NUMBERS, 1.0))  # type: ignore[arg-type]
    assert unscored(whole, brief_of(), READERS, Circumstances()) == {}
    said = unscored(Scores(), brief_of(claim=""), READERS, Circumstances(failed={"stance"}))
    assert set(said) == set(NUMBERS)
    assert said["stance"] is MissingScore.FAILED
    assert said["fit"] is MissingScore.NOT_REACHED
    assert said["total"] is MissingScore.NOT_REACHED
    assert said["argument_quality"] is MissingScore.NOT_INSTALLED
    assert said["faithfulness_claim"] is MissingScore.NOT_APPLICABLE
    assert said["faithfulness_evidence"] is MissingScore.NOT_APPLICABLE
    assert said["judge"] is MissingScore.NOT_REACHED


def test_in_a_language_that_no_reader_knows_that_is_the_reason() -> None:
    """A moderator who works in Basque must not think that something broke."""
    said = unscored(Scores(), brief_of(passage(), language="eu"), READERS, Circumstances())
    unread = [name for name, why in said.items() if why is MissingScore.LANGUAGE]
    reader = {"stance", "non_toxicity", "fit", "faithfulness_post"}
    assert set(unread) == reader | {"faithfulness_claim", "faithfulness_evidence", "total"}


@pytest.mark.parametrize(
    ("known", "name", "why"),
    [
        (Circumstances(states_fact=True), "factuality", MissingScore.UNCHECKED),
        (Circumstances(), "factuality", MissingScore.NOT_APPLICABLE),
        (Circumstances(quality=MissingScore.FAILED), "argument_quality", MissingScore.FAILED),
    ],
)
def test_what_became_of_the_draft_says_why(known: Circumstances, name: str, why: MissingScore) -> None:
    """The same missing number has several causes."""
    assert unscored(Scores(), brief_of(), READERS, known)[name] is why


def test_a_model_that_was_asked_and_gave_nothing_says_why() -> None:
    """The time was over, the calls were spent, or it just did not answer."""
    now = 0.0
    budget = Budget(replace(LIVE, deadline_seconds=10, max_model_calls=1), clock=lambda: now)
    assert unanswered(budget) is MissingScore.FAILED
    budget.model_calls = 1
    assert unanswered(budget) is MissingScore.NOT_REACHED
    now = 10.0
    assert unanswered(budget) is MissingScore.NOT_REACHED


def test_one_note_names_all_that_no_draft_has() -> None:
    """In a language without readers a list of seven notes said nothing; a score that one draft has is not missing."""
    first = dict.fromkeys(["stance", "fit"], MissingScore.LANGUAGE) | {
        "argument_quality": MissingScore.NOT_REACHED,
        "judge": MissingScore.NOT_REACHED,
    }
    second = {**first, "factuality": MissingScore.NOT_APPLICABLE}
    said = note_of_missing([first, second])
    assert said == (
        "rewards: no draft has these scores: stance, fitness to be posted (no scorer knows the language); "
        "argument quality (the profile does not measure it, or ended before)"
    )
    again = from_json(json.loads(json.dumps(to_json(said))))
    assert again == said
    assert {name: again.values[name] for name in WEIGHTS if name in again.values} == {
        "stance": "no_scorer_for_language",
        "fit": "no_scorer_for_language",
        "argument_quality": "not_reached",
    }


def test_where_each_score_is_there_nothing_is_noted() -> None:
    """Without drafts nothing is missing either."""
    assert note_of_missing([{"stance": MissingScore.LANGUAGE}, {}]) is None
    assert note_of_missing([]) is None


def test_the_page_explains_every_reason() -> None:
    """A code that no page explains helps no program."""
    page = PAGE.read_text(encoding="utf-8")
    assert [why for why in MissingScore if f"`{why}`" not in page or not why_in_words(why)] == []
