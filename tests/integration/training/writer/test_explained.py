"""What explains a post in training is an answer that the product can read, and its claims need no source."""

import re

from core.engine.reading.posts import parse_explanations
from training.corpus import DATA, posts, rows_of
from training.writer.examples import explained, phases

_LONGEST = 85


def test_each_explanation_is_an_answer_that_is_read() -> None:
    """Of a post that is learnt from, once; short enough for a card."""
    rows = list(rows_of(DATA / "explained"))
    learnt = {row.id for row in posts() if row.split == "train"}
    assert len({row["post_id"] for row in rows}) == len(rows)
    assert {row["post_id"] for row in rows} <= learnt
    for (example,) in (group for group in explained() if group[0].source == "explanations"):
        said = parse_explanations(example.answer)
        assert max(len(words) for words in said.values() if isinstance(words, str)) <= _LONGEST


def test_each_post_has_three_claims_without_statistics() -> None:
    """A claim with a statistic would need a source, which this stage has not."""
    for row in rows_of(DATA / "explained"):
        assert len(set(row["claims"])) == 3
        assert not [claim for claim in row["claims"] if re.search(r"per cent|%|\d{3}", claim)]


def test_explanations_and_claims_are_the_first_phase() -> None:
    """As CoARL trains: first what a post means, then replies by intent."""
    found = phases(explained(), are_apart=True)
    assert {group[0].source for group in found["explanations"]} == {"explanations", "claims"}
    assert found["intents"] == []
