"""A reply that rests on a fact says nothing that fact and post do not hold."""

from core.engine.cards.bank import load_stereotypes
from core.engine.scoring.grounding import unsupported
from core.engine.wording.text import words
from core.models import Evidence
from kb.starter.facts import STARTER_FACTS, load_facts
from training.corpus import DATA, posts, rows_of
from training.writer.examples import sourced

_MOST_WORDS = 75


def test_figures_and_names_are_in_the_fact_or_the_post() -> None:
    """What the gates would refuse must not be learnt."""
    facts = {fact.id: fact for fact in load_facts(STARTER_FACTS)}
    for row in rows_of(DATA / "sourced"):
        fact, known = facts[row["fact_id"]], frozenset(word.casefold() for word in words(row["post"]))
        passage = Evidence(fact.id, fact.text, fact.text, fact.source)
        assert unsupported(row["text"], [passage], row["language"], known) == [], row["text"]


def test_each_answers_a_post_that_may_be_learnt() -> None:
    """None of the development or test split; no reply twice, none long."""
    rows, kept = list(rows_of(DATA / "sourced")), {row.text for row in posts() if row.split != "train"}
    assert len({row["text"] for row in rows}) == len(rows) > 70
    assert not [row for row in rows if row["post"] in kept]
    assert {row["stereotype"] for row in rows} <= load_stereotypes().keys()
    assert max(len(words(row["text"])) for row in rows) <= _MOST_WORDS


def test_the_prompt_holds_the_fact() -> None:
    """As the engine gives it to the writer."""
    facts = {fact.id: fact.text for fact in load_facts(STARTER_FACTS)}
    rows = list(rows_of(DATA / "sourced"))
    for row, (example,) in zip(rows, sourced(), strict=True):
        assert facts[row["fact_id"]] in example.prompt[-1].content
        assert example.answer == row["text"]
