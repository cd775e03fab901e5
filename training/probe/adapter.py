"""Trains the adapter through which the model reads posts, together with the outputs over its hidden states.

The loss counts whether a post is hateful, which stereotype it puts forward, and the words that name the stereotype
(CoARL, phase 1: an explanation first). The outputs begin as they were fitted over the model without an adapter. A run
that is killed goes on from its last checkpoint to the same result.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments

from core.engine.backends.embedded import AFTER, BEFORE, MOST_TOKENS
from core.engine.cards.bank import gist_in_words, load_stereotypes
from core.engine.cards.router import NONE
from training.heads.router import Outputs
from training.probe.outputs import FARTHEST, Fit
from training.probe.texts import Learnt
from training.runs.callbacks import Note, Notes, is_bf16, last_checkpoint, shared_arguments
from training.writer.sequences import Branch, Tokenizer, Tree, collate, fill, learnt

_OF_HATE, _OF_STEREOTYPES, _DROPPED = 0.5, 0.5, 0.5


@dataclass(frozen=True, slots=True)
class Values:
    """How the adapter learns. The rate falls as a cosine after ``warmup`` of the steps."""

    epochs: int = 2
    learning_rate: float = 3e-4
    sequence_tokens: int = 1024
    sequences_a_step: int = 14
    warmup: float = 0.04
    seed: int = 20261128


@dataclass(frozen=True, slots=True)
class LabelledTokens:
    """A text as tokens, and what is known of it.

    Attributes:
        tree: the post, and after the words that ask for it the stereotype in words, where there is one.
        point: the place in the tree of the last token before that answer.
        hateful: the share of readers who called it hateful; NaN where nobody was asked.
        stereotypes: shares of the router's outputs; all 0 where nothing is known.
    """

    tree: Tree
    point: int
    hateful: float
    stereotypes: NDArray[np.float32]


def labelled(texts: Learnt, outputs: Outputs, tokenizer: Tokenizer) -> list[LabelledTokens]:
    """What is learnt: the texts of the training split that no other split holds."""
    stereotypes, rows_at = load_stereotypes(), dict[int, list[Any]]()
    for at, row in texts.stereotypes:
        rows_at.setdefault(at, []).append(row)
    shares = {at: (split, share) for at, _, split, share in texts.posts}
    before, after = tokenizer.encode(BEFORE), tokenizer.encode(AFTER)
    rows = list[LabelledTokens]()
    for at, text in enumerate(texts.texts):
        rows_here, (split, share) = rows_at.get(at, []), shares.get(at, ("train", math.nan))
        if {split, *(row.split for row in rows_here)} != {"train"}:
            continue
        first = next((row.labels[0][0] for row in rows_here if row.labels[0][0] != NONE), None)
        answer = tokenizer.encode(f" {gist_in_words(stereotypes[first])}\n") if first else []
        stem = (*before, *tokenizer.encode(text)[:MOST_TOKENS])
        tree = Tree(stem, (Branch((*after, *answer), len(after)),))
        targets = [outputs.whole_target(row) for row in rows_here] or [np.zeros(len(outputs.at), np.float32)]
        rows.append(LabelledTokens(tree, len(stem) + len(after) - 1, share, np.mean(targets, axis=0, dtype=np.float32)))
    return rows


class ProbeModel(nn.Module):
    """The model with its adapter, and the outputs. Its state is what is trained alone.

    Args:
        model: a PEFT model.
        begun: the outputs as they were fitted without an adapter.
    """

    _keys_to_ignore_on_save = None
    """The trainer of transformers asks for it."""

    def __init__(self, model: Any, begun: Fit) -> None:
        super().__init__()
        self.model = model
        self.outputs = nn.Linear(begun.weight.shape[1], begun.weight.shape[0])
        self._mean, self._spread = torch.from_numpy(begun.mean), torch.from_numpy(begun.spread)
        with torch.no_grad():
            self.outputs.weight.copy_(torch.from_numpy(begun.weight))
            self.outputs.bias.copy_(torch.from_numpy(begun.bias))

    def state_dict(self, *args: Any, **options: Any) -> dict[str, Any]:  # type: ignore[override]  # torch has several
        """What is trained: a checkpoint holds neither the base nor its copy."""
        trained = {name for name, parameter in self.named_parameters() if parameter.requires_grad}
        return {name: tensor for name, tensor in super().state_dict(*args, **options).items() if name in trained}

    def forward(
        self,
        input_ids: Tensor,
        labels: Tensor,
        position_ids: Tensor,
        attention_mask: Tensor,
        spans: Tensor,
        hateful: Tensor,
        stereotypes: Tensor,
    ) -> dict[str, Tensor]:
        """The loss of one sequence of texts, and its parts.

        Args:
            input_ids, labels, position_ids, attention_mask: as ``packing.collate`` makes them.
            spans: of each text the places of its second token and of its point, shape [texts, 2].
            hateful: shape [texts]; NaN where nothing is known.
            stereotypes: shape [texts, outputs of the router]; 0 where nothing is known.
        """
        inner = self.model.get_base_model()
        inputs = {"input_ids": input_ids, "attention_mask": attention_mask, "position_ids": position_ids}
        hidden = inner.base_model(**inputs, use_cache=False).last_hidden_state[0]
        dropped = functional.dropout(self._scaled(hidden, spans), _DROPPED, self.training)
        with torch.autocast(dropped.device.type, enabled=False):  # in 32 bits, as in use
            said = self.outputs(dropped)
        parts = dict[str, Tensor]()
        is_labelled = ~hateful.isnan()
        if is_labelled.any():
            parts["hateful"] = functional.binary_cross_entropy_with_logits(said[is_labelled, 0], hateful[is_labelled])
        if stereotypes.any():
            parts["stereotypes"] = -(stereotypes * said[:, 1:].log_softmax(dim=1)).sum() / stereotypes.sum()
        places, wanted = learnt({"labels": labels})
        if len(places):
            logits = inner.get_output_embeddings()(hidden[places]).float()
            parts["words"] = functional.cross_entropy(logits, wanted)
        weights = {"hateful": _OF_HATE, "stereotypes": _OF_STEREOTYPES, "words": 1.0}
        return {"loss": torch.stack([weights[name] * part for name, part in parts.items()]).sum(), **parts}

    def _scaled(self, hidden: Tensor, spans: Tensor) -> Tensor:
        """Of each text the mean and the last vector, in standard deviations, as ``EmbeddedStates`` takes them."""
        vectors = hidden.float()
        rows = [torch.cat([vectors[a : b + 1].mean(dim=0), vectors[b]]) for a, b in spans.tolist()]
        mean, spread = (tensor.to(vectors.device) for tensor in (self._mean, self._spread))
        return ((torch.stack(rows) - mean) / spread).clamp(-FARTHEST, FARTHEST)


class Sequences(Dataset[dict[str, Tensor]]):
    """The texts of all epochs in sequences, in a fixed order, so that a run that goes on sees what it would have."""

    def __init__(self, texts: Sequence[LabelledTokens], values: Values) -> None:
        chance = random.Random(values.seed)  # nosec B311 # noqa: S311 - repeatable, no secret
        self._of = {id(text.tree): text for text in texts}
        trees = [text.tree for text in texts]
        self._sequences: Final = [
            sequence
            for _ in range(values.epochs)
            for sequence in fill(chance.sample(trees, len(trees)), values.sequence_tokens)
        ]

    def __len__(self) -> int:
        return len(self._sequences)

    def __getitem__(self, at: int) -> dict[str, Tensor]:
        return collated([self._of[id(tree)] for tree in self._sequences[at]])


def collated(texts: Sequence[LabelledTokens]) -> dict[str, Tensor]:
    """One sequence of texts, as ``ProbeModel.forward`` takes it."""
    spans, begins = list[tuple[int, int]](), 0
    for text in texts:
        spans.append((begins + 1, begins + text.point))
        begins += len(text.tree)
    return {
        **collate([text.tree for text in texts]),
        "spans": torch.tensor(spans),
        "hateful": torch.tensor([text.hateful for text in texts], dtype=torch.float32),
        "stereotypes": torch.from_numpy(np.stack([text.stereotypes for text in texts])),
    }


def adapt(
    model: Any,
    begun: Fit,
    texts: Sequence[LabelledTokens],
    folder: Path,
    values: Values,
    note: Note,
    *,
    save_steps: int = 20,
) -> Fit:
    """Train adapter and outputs, and leave the adapter in ``folder/adapter``; the newest checkpoint there is taken up.

    Args:
        model: a PEFT model with a fresh adapter.
        begun: the outputs over the model without it.

    Returns:
        the outputs over the model with its adapter.
    """
    reading, sequences = ProbeModel(model, begun), Sequences(texts, values)
    steps = math.ceil(len(sequences) / values.sequences_a_step)
    arguments = TrainingArguments(
        **shared_arguments(folder, seed=values.seed, save_steps=save_steps),
        num_train_epochs=1,
        per_device_train_batch_size=1,
        gradient_accumulation_steps=values.sequences_a_step,
        learning_rate=values.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=math.ceil(values.warmup * steps),
        weight_decay=0.0,
        max_grad_norm=1.0,
        bf16=is_bf16(model),
        remove_unused_columns=False,
        label_names=["labels"],
        train_sampling_strategy="sequential",
    )
    trainer = Trainer(
        model=reading,
        args=arguments,
        train_dataset=sequences,
        data_collator=lambda items: items[0],
        callbacks=[Notes(note)],
    )
    trainer.train(resume_from_checkpoint=last_checkpoint(folder))
    model.save_pretrained(folder / "adapter")
    weight, bias = (tensor.detach().float().cpu().numpy() for tensor in (reading.outputs.weight, reading.outputs.bias))
    return Fit(begun.mean, begun.spread, weight, bias)
