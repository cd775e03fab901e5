"""Replies that were written for one post or one facet: of posts that may be learnt, plain, and asked for as in use."""

from __future__ import annotations

from collections import Counter

from core.engine.cards.bank import load_cards, load_stereotypes
from core.engine.llm.prompts import wishes
from core.engine.request import Voice
from core.engine.writing.writer import Writer
from core.models import Intent
from tests.fakes.engine.brief import metered, post_of
from tests.fakes.engine.model import FakeModel
from training.corpus import DATA, posts, rows_of
from training.writer.examples import answered, faceted, reply_prompt

ROWS = list(rows_of(DATA / "answered"))


def test_each_answers_a_post_that_may_be_learnt_and_none_stands_twice() -> None:
    kept = {row.text for row in posts() if row.split != "train"}
    assert not [row for row in ROWS if row["post"] in kept]
    assert {row["stereotype"] for row in ROWS} <= load_stereotypes().keys() | {"none"}
    assert len({(row["post"], row["intent"]) for row in ROWS}) == len(ROWS) > 5000


def test_they_are_short_and_of_every_intent() -> None:
    """One or two sentences; a question asks."""
    lengths = [len(row["text"].split()) for row in ROWS]
    assert min(lengths) >= 8
    assert max(lengths) <= 50
    assert min(Counter(row["intent"] for row in ROWS).values()) > 400
    questions = [row["text"] for row in ROWS if row["intent"] == Intent.QUESTIONING]
    assert sum("?" in text for text in questions) > 0.98 * len(questions)


async def test_the_prompt_is_the_engine_s() -> None:
    """What a larger model is asked that is served under a name of its own, with one intent chosen."""
    for row, (example,) in zip(ROWS, answered(), strict=True):
        assert example.prompt == reply_prompt(row["post"], Intent(row["intent"]), "en")
        assert example.answer == row["text"]
    intent = Intent(ROWS[0]["intent"])
    model = FakeModel(texts={"plain": "A reply."})
    await Writer(post_of(ROWS[0]["post"]), "en", metered(model), wishes(Voice().style, (intent,), None)).replies(1)
    [(_, messages, _)] = model.asked
    assert tuple(messages) == reply_prompt(ROWS[0]["post"], intent, "en")


def test_replies_to_a_facet_are_learnt_under_its_posts() -> None:
    """Of no post that is kept to measure on."""
    kept = {row.text for row in posts() if row.split != "train"}
    facets = {post: facet for card in load_cards("en") for facet in card.facets for post in facet.posts}
    assert not kept & facets.keys()
    groups = list(faceted())
    assert len(groups) == len(facets) > 3500
    for group, (post, facet) in zip(groups, facets.items(), strict=True):
        assert {one.source for one in group} == {"facets"}
        answers = [(intent, text) for intent, texts in facet.replies.items() for text in texts]
        assert [one.answer for one in group] == [text for _, text in answers]
        intent, _ = answers[0]
        assert group[0].prompt == reply_prompt(post, intent, "en")
