"""Examples as tokens: answers that share a prompt's beginning are learnt from one sequence that holds it once.

The tree of a prompt is its beginning, and branches that each end in an answer. Trees stand one after the other in a
sequence; a mask lets each branch see its own beginning and itself alone, and positions count as if it stood alone. So
the loss is that of separate sequences, for about half the tokens with five replies to a post.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import torch

from core.engine.ports import Message

IGNORED: Final = -100
"""The label of a token that is not learnt."""


class Tokenizer(Protocol):
    """What is needed of a tokenizer of transformers."""

    def apply_chat_template(self, conversation: list[dict[str, str]], **options: Any) -> Any:
        """The conversation in the form that the model knows."""

    def encode(self, text: str, **options: Any) -> list[int]: ...


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt and the answer to learn; ``source`` says where it comes from."""

    prompt: tuple[Message, ...]
    answer: str
    source: str


@dataclass(frozen=True, slots=True)
class Branch:
    """Tokens after a shared beginning; those from ``answer`` on are learnt."""

    tokens: tuple[int, ...]
    answer: int


@dataclass(frozen=True, slots=True)
class Tree:
    """The tokens that all branches begin with, and the branches."""

    stem: tuple[int, ...]
    branches: tuple[Branch, ...]

    def __len__(self) -> int:
        return len(self.stem) + sum(len(branch.tokens) for branch in self.branches)


def tokens_of(example: Example, tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """The tokens of a prompt, up to where the answer begins, and those of the answer with the end of the turn."""
    conversation = [{"role": m.role, "content": m.content} for m in example.prompt]
    prompt = tokenizer.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)
    whole = tokenizer.apply_chat_template(
        [*conversation, {"role": "assistant", "content": example.answer}], tokenize=False
    )
    if not whole.startswith(prompt):
        raise ValueError("The chat template changes the prompt where an answer follows.")
    return (
        tokenizer.encode(prompt, add_special_tokens=False),
        tokenizer.encode(whole[len(prompt) :].rstrip("\n"), add_special_tokens=False),
    )


def plant(examples: Sequence[Example], tokenizer: Tokenizer) -> Tree:
    """The tree of examples whose prompts begin alike: the longest beginning that all have in common is its stem."""
    pairs = [tokens_of(example, tokenizer) for example in examples]
    shortest = min(len(prompt) for prompt, _ in pairs)
    first = pairs[0][0]
    shared = 0
    while shared < shortest - 1 and all(prompt[shared] == first[shared] for prompt, _ in pairs):
        shared += 1
    branches = (Branch((*prompt[shared:], *answer), len(prompt) - shared) for prompt, answer in pairs)
    return Tree(tuple(first[:shared]), tuple(branches))


def fill(trees: Iterable[Tree], length: int) -> list[list[Tree]]:
    """The trees in sequences of at most ``length`` tokens, in their order; a longer tree has one of its own."""
    sequences: list[list[Tree]] = []
    room = 0
    for tree in trees:
        if not sequences or len(tree) > room:
            sequences.append([])
            room = length
        sequences[-1].append(tree)
        room -= len(tree)
    return sequences


def collate(trees: Sequence[Tree]) -> dict[str, torch.Tensor]:
    """One sequence of T tokens as a batch of one.

    Returns:
        ``input_ids``, ``labels`` and ``position_ids`` of shape [1, T], and ``attention_mask`` of shape [1, 1, T, T],
        true where a token (row) sees another one (column).
    """
    tokens: list[int] = []
    labels: list[int] = []
    positions: list[int] = []
    size = sum(map(len, trees))
    sees = torch.zeros(size, size, dtype=torch.bool)
    for tree in trees:
        stem = range(len(tokens), len(tokens) + len(tree.stem))
        tokens += tree.stem
        labels += [IGNORED] * len(stem)
        positions += range(len(stem))
        _see(sees, stem, stem)
        for branch in tree.branches:
            own = range(len(tokens), len(tokens) + len(branch.tokens))
            tokens += branch.tokens
            labels += [IGNORED] * branch.answer
            labels += branch.tokens[branch.answer :]
            positions += range(len(stem), len(stem) + len(own))
            sees[own.start : own.stop, stem.start : stem.stop] = True
            _see(sees, own, own)
    return {
        "input_ids": torch.tensor([tokens]),
        "labels": torch.tensor([labels]),
        "position_ids": torch.tensor([positions]),
        "attention_mask": sees[None, None],
    }


def _see(sees: torch.Tensor, rows: range, columns: range) -> None:
    """Let each token see itself and those before it."""
    block = torch.ones(len(rows), len(columns), dtype=torch.bool).tril()
    sees[rows.start : rows.stop, columns.start : columns.stop] = block


def learnt(batch: Mapping[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Where the tokens stand from which a learnt token follows, and these tokens; both of shape [learnt]."""
    labels = batch["labels"][0]
    places = (labels[1:] != IGNORED).nonzero().squeeze(1)
    return places, labels[places + 1]
