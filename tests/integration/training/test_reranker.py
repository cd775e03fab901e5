"""The reranker: what it learns from, and that it learns."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sentence_transformers.cross_encoder import CrossEncoder
from transformers import BertConfig, BertForSequenceClassification

from kb.starter.facts import STARTER_FACTS, load_facts
from tests.fakes.training.tiny import tiny_tokenizer
from training.reranker import RankedTexts, Values, columns, questions, ranked, scores, split_by_stereotype, train

COLOURS = "red green blue white black brown".split()


class _Letters:
    """Vectors of letters."""

    name = "letters"
    languages = frozenset({"en"})

    def encode(self, texts: Any) -> NDArray[np.float32]:
        counts = np.array([[text.lower().count(chr(97 + at)) for at in range(26)] for text in texts], np.float32)
        unit: NDArray[np.float32] = counts / np.linalg.norm(counts, axis=1, keepdims=True)
        return unit


def test_hard_negatives_are_about_the_same_group_and_answer_something_else() -> None:
    facts = {fact.text: fact for fact in load_facts(STARTER_FACTS)}
    asked = questions(posts_each=2)[:60]
    rows = ranked(asked, _Letters(), negatives=3)
    assert len(rows) >= len(asked)
    answers = {question.text: question.answers for question in asked}
    for row in rows:
        assert facts[row.positive].id in answers[row.question]
        assert len(set(row.negatives)) == len(row.negatives)
        for negative in row.negatives:
            assert facts[negative].id not in answers[row.question]
    assert {len(values) for values in columns(rows, 3).values()} == {sum(len(row.negatives) == 3 for row in rows)}


def test_no_stereotype_is_on_both_sides() -> None:
    learnt, held_out = split_by_stereotype(questions(posts_each=3))
    assert not {q.stereotype for q in learnt} & {q.stereotype for q in held_out}
    assert len(held_out) > 20


@pytest.fixture
def model(tmp_path: Path) -> CrossEncoder:
    """A tiny cross-encoder with random weights."""
    tokenizer = tiny_tokenizer([" ".join(COLOURS), "like is"])
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        pad_token_id=tokenizer.pad_token_id, hidden_dropout_prob=0.0,
    )  # fmt: skip
    config.num_labels = 1
    BertForSequenceClassification(config).save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    found: CrossEncoder = CrossEncoder(str(tmp_path / "base"), num_labels=1, local_files_only=True)
    return found


def test_the_answers_come_up(model: CrossEncoder, tmp_path: Path) -> None:
    rows = [
        RankedTexts(f"{one} is", f"like {one}", tuple(f"like {other}" for other in COLOURS if other != one))
        for one in COLOURS
    ]
    noted = list[dict[str, float]]()
    values = Values(epochs=40, learning_rate=5e-3, batch=6)
    before, after = train(model, rows, rows, tmp_path / "run", values, noted.append)
    assert after["map"] > before["map"]
    losses = [entry["loss"] for entry in noted if "loss" in entry]
    assert losses[-1] < losses[0]
    again = CrossEncoder(str(tmp_path / "run" / "model"), local_files_only=True)
    assert scores(again, rows)["map"] == pytest.approx(after["map"])
