"""Packed sequences: the same tokens and the same loss as each example by itself."""

from typing import Any

import pytest
import torch

from core.models import Intent
from tests.fakes.training.tiny import tiny_model, tiny_tokenizer
from training.writer.examples import reply_prompt
from training.writer.sequences import IGNORED, Branch, Example, Tree, collate, fill, learnt, plant, tokens_of
from training.writer.sft import answer_loss

POSTS = ("Nobody wants them here.", "They should all go home now.")
REPLIES = {Intent.DENOUNCING: "That is not how we talk.", Intent.QUESTIONING: "Who told you that?"}


def _group(post: str) -> list[Example]:
    return [Example(reply_prompt(post, intent, "en"), text, "test") for intent, text in REPLIES.items()]


GROUPS = [_group(post) for post in POSTS]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """One that knows all words of the examples."""
    examples = [example for group in GROUPS for example in group]
    return tiny_tokenizer([text for e in examples for text in (*(m.content for m in e.prompt), e.answer)])


def test_a_tree_holds_what_its_examples_hold(tokenizer: Any) -> None:
    for group in GROUPS:
        tree = plant(group, tokenizer)
        for example, branch in zip(group, tree.branches, strict=True):
            prompt, answer = tokens_of(example, tokenizer)
            assert [*tree.stem, *branch.tokens] == [*prompt, *answer]
            assert list(branch.tokens[branch.answer :]) == answer
            assert tokenizer.decode(answer).endswith("<|im_end|>")
        assert len(tree) < sum(len(p) + len(a) for p, a in (tokens_of(e, tokenizer) for e in group))
        assert "denouncing" not in tokenizer.decode(tree.stem), "what differs is not shared"


def test_a_packed_sequence_has_the_loss_of_its_examples(tokenizer: Any) -> None:
    """The mean over all learnt tokens, each of which sees only its own post."""
    model = tiny_model(tokenizer).eval()
    packed = collate([plant(group, tokenizer) for group in GROUPS])
    total, count = 0.0, 0
    for group in GROUPS:
        for example in group:
            alone = collate([plant([example], tokenizer)])
            number = len(learnt(alone)[1])
            total += answer_loss(model, alone).item() * number
            count += number
    assert len(learnt(packed)[1]) == count
    assert answer_loss(model, packed).item() == pytest.approx(total / count, abs=1e-5)


def test_a_token_sees_its_beginning_and_itself_alone() -> None:
    batch = collate([Tree((1, 2), (Branch((3, 4), 1), Branch((5,), 0))), Tree((6,), (Branch((7,), 0),))])
    assert batch["input_ids"].tolist() == [[1, 2, 3, 4, 5, 6, 7]]
    assert batch["position_ids"].tolist() == [[0, 1, 2, 3, 2, 0, 1]]
    assert batch["labels"].tolist() == [[IGNORED, IGNORED, IGNORED, 4, 5, IGNORED, 7]]
    sees = batch["attention_mask"][0, 0].int().tolist()
    assert sees == [
        [1, 0, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 0],
        [1, 1, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 1, 1],
    ]


def test_sequences_are_filled_in_order_and_a_long_tree_stands_alone() -> None:
    trees = [Tree(tuple(range(size)), ()) for size in (3, 4, 9, 2)]
    assert [[len(tree) for tree in sequence] for sequence in fill(trees, 7)] == [[3, 4], [9], [2]]


def test_what_follows_the_last_stem_is_not_predicted_across_branches() -> None:
    """The first token of a second answer is predicted by its own prompt's last token, not by the first answer."""
    batch = collate([Tree((1, 2), (Branch((3, 4), 1), Branch((5, 6), 1)))])
    places, wanted = learnt(batch)
    assert wanted.tolist() == [4, 6]
    assert batch["input_ids"][0, places].tolist() == [3, 5]
    assert torch.equal(batch["labels"][0, places + 1], wanted)
