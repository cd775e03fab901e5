"""Replies that were written for one post or one facet: of posts that may be learnt, plain, and asked for as in use."""

from __future__ import annotations

from collections import Counter

from core.cards.bank import load_cards, load_stereotypes
from core.llm.short_prompts import reply_prompt
from core.models import Intent
from training.corpus import DATA, posts, rows_of
from training.writer.examples import STYLE, answered, faceted

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


def test_the_prompt_is_the_engine_s_without_and_with_the_gist() -> None:
    for row, group in zip(ROWS, answered(), strict=True):
        plain = reply_prompt(row["post"], Intent(row["intent"]), "en", style=STYLE)
        told = reply_prompt(row["post"], Intent(row["intent"]), "en", style=STYLE, gist=row["gist"])
        assert [list(one.prompt) for one in group] == [plain, told]
        assert {one.answer for one in group} == {row["text"]}


def test_replies_to_a_facet_are_learnt_under_its_posts() -> None:
    """Each once without and once with what the facet says; of no post that is kept to measure on."""
    kept = {row.text for row in posts() if row.split != "train"}
    facets = {post: facet for card in load_cards("en") for facet in card.facets for post in facet.posts}
    assert not kept & facets.keys()
    groups = list(faceted())
    assert len(groups) == len(facets) > 3500
    for group, (post, facet) in zip(groups, facets.items(), strict=True):
        assert {one.source for one in group} == {"facets"}
        answers = [(intent, text) for intent, texts in facet.replies.items() for text in texts]
        assert [one.answer for one in group] == [text for _, text in answers] * 2
        intent, _ = answers[0]
        assert list(group[0].prompt) == reply_prompt(post, intent, "en", style=STYLE)
        assert list(group[len(answers)].prompt) == reply_prompt(post, intent, "en", style=STYLE, gist=facet.says)
