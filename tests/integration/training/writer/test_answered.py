"""Replies that were written for one post or are offered under it: of posts that may be learnt, asked for as in use."""

from collections import Counter

from core.engine.cards.answers import PLACE
from core.engine.cards.bank import load_stereotypes
from core.engine.llm.prompts import quoted, wishes
from core.engine.request import Voice
from core.engine.writing.larger_search import Writer
from core.models import Intent
from tests.fakes.engine.brief import metered, post_of
from tests.fakes.engine.model import FakeModel
from training.corpus import DATA, posts, rows_in, rows_of
from training.writer.examples import answered, offered, reply_prompt

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


def test_replies_of_the_bank_are_learnt_under_the_posts_that_they_answer() -> None:
    """Of no post that is kept to measure on, each with the name of the people in its place."""
    kept = {row.text for row in posts() if row.split != "train"}
    of_posts = [row for row in rows_in(DATA / "answers" / "posts.jsonl") if "post" in row or "posts" in row]
    told = [post for row in of_posts for post in ([row["post"]] if "post" in row else row["posts"])]
    told = [post for post in told if post not in kept]
    groups = list(offered())
    assert len(groups) == len(told) > 10_000
    for (one,), post in zip(groups, told, strict=True):
        assert one.source == "answers"
        assert quoted(post) in one.prompt[-1].content
        assert PLACE not in one.answer
